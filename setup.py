"""Builds every .pyx file under envs_c/ and trainer/. All other metadata of the package is in pyproject.toml.

    pip install -e .                         build and install in place
    python setup.py build_ext --inplace      build again after a change
    make wheel                               build a wheel; `pip install .` builds the same

A wheel runs on any CPU and with any Python from 3.11 (abi3). On x86-64 Linux it is compiled for x86-64-v2, and games,
console and kernels again for v3 and v4; envs_c/isa.py chooses among them. Only builds in place are made for one CPU.

Environment variables select the build. If one of them, the compiler or the CPU changes, everything is rebuilt:

    DEBUG=1      bounds, None and initialization checks in Cython code, -O1 -g
    MARCH=...    the CPU to compile for: native (the default), x86-64-v3, ...; empty for the compiler's default. Not for wheels
    SANITIZE=... address, undefined or thread
    NO_BUILD=1   `pip install -e .` compiles nothing: `make setup` compiles in place while pip installs

Each combination has its own folder under build/: switching between two of them compiles nothing twice.
"""

import contextlib
import filecmp
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "tools"))
import doctor
import leftovers
import package_page
import runtime

try:
    import Cython
    from Cython.Build import cythonize
    from Cython.Compiler.Errors import CompileError
    from setuptools import Extension, setup
    from setuptools.command.build_ext import build_ext
except ImportError as error:
    sys.exit(f"insertcoin: the build needs {error.name}: `make setup` installs it, or `pip install setuptools cython`")

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

ROOT = Path(__file__).resolve().parent
ROOTS = ("envs_c", "trainer")
HEADERS = {"envs_c.asynchronous": "envs_c/engine", "trainer.kernels": "trainer/kernels/shared"}  # more folders of headers
SANITIZERS = ("address", "undefined", "thread")
DEBUG = os.environ.get("DEBUG", "")
SANITIZE = os.environ.get("SANITIZE", "")
WHEEL = "bdist_wheel" in sys.argv
WINDOWS = sys.platform == "win32"
NO_BUILD = "editable_wheel" in sys.argv and os.environ.get("NO_BUILD") == "1"
ABI3 = WHEEL and not sysconfig.get_config_var("Py_GIL_DISABLED")  # no stable ABI without the GIL
# Packages that a wheel holds for each level, in folders of its name.
REPEATED = ("envs_c.games", "envs_c.console", "trainer.kernels")


def load(path: Path):
    """A module of envs_c, which itself is not built yet."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


flags, openmp = load(ROOT / "envs_c" / "flags.py"), load(ROOT / "envs_c" / "engine" / "openmp.py")

LEVELS = tuple(flags.LEVELS) if (sys.platform, platform.machine()) == ("linux", "x86_64") else ("",)

# The trainer's kernels are tested with a tolerance, the games bit by bit (see envs_c/flags.py).
KERNEL_FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast"]
LINES = ["-g1"]  # line numbers for profilers and sanitizers


def variant_flags() -> tuple[list[str], list[str]]:
    """The flags that DEBUG, SANITIZE and MARCH add, for compiling and for linking. Raises Missing for an unknown value."""
    if DEBUG not in ("", "0", "1"):
        raise doctor.Missing(f"DEBUG must be 1, 0 or empty, not {DEBUG}")
    if SANITIZE and SANITIZE not in SANITIZERS:
        raise doctor.Missing(f"SANITIZE must be {', '.join(SANITIZERS)} or empty, not {SANITIZE}")
    if WHEEL and os.environ.get("MARCH"):
        raise doctor.Missing(f"MARCH must be unset for a wheel, which runs on every CPU, not {os.environ['MARCH']}: "
                             "`pip install -e .` builds for one CPU")
    if WINDOWS and SANITIZE:
        raise doctor.Missing(f"SANITIZE must be empty on Windows, not {SANITIZE}")
    link_flags = [] if WINDOWS else ["-pthread"]
    compile_flags = [*link_flags, *([] if WHEEL else flags.cpu_flags()), *flags.debug_flags()]
    if SANITIZE:
        sanitizer = f"-fsanitize={SANITIZE}" + (",float-cast-overflow" if SANITIZE == "undefined" else "")
        compile_flags += [sanitizer, "-O1", "-g", "-fno-omit-frame-pointer"]
        link_flags.append(sanitizer)
    if SANITIZE == "undefined":
        # Python's own flags define signed overflow; here it is an error that ends the process.
        compile_flags += ["-fno-wrapv", "-fno-sanitize-recover=undefined,float-cast-overflow"]
    return compile_flags, link_flags


def extensions() -> list[Extension]:
    """The Extension of each .pyx file; in a wheel more than one of those in REPEATED.

    It is rebuilt if the file, a module that it cimports, or a header beside it, in the folder above or in HEADERS changed.
    """
    compile_flags, link_flags = variant_flags()
    threaded, linked = doctor.openmp_flags()
    if WHEEL and linked:
        linked += ["-Wl,-rpath,$ORIGIN"]  # where copy_runtime puts the library
    own_flags = {"envs_c": flags.GAME_FLAGS, "trainer": KERNEL_FLAGS + threaded}
    made = []
    for root in ROOTS:
        for source in sorted(Path(root).rglob("*.pyx")):
            name = ".".join(source.with_suffix("").parts)
            folders = [str(source.parent), str(source.parent.parent)]
            folders += [folder for package, folder in HEADERS.items() if name.startswith(package)]
            engine = name == "envs_c.engine.engine"
            for level in LEVELS if WHEEL and name.startswith(REPEATED) else LEVELS[:1]:
                compile_args = (own_flags[root] + (threaded if engine else []) + LINES + compile_flags
                                + (wheel_flags(level) if WHEEL else []))
                made.append(Extension(
                    name_at(name, level),
                    [str(source)],
                    depends=sorted(str(header) for folder in folders for header in Path(folder).glob("*.h")),
                    include_dirs=folders,
                    extra_compile_args=flags.for_clang_cl(compile_args) if WINDOWS else compile_args,
                    extra_link_args=link_flags + (linked if engine else []),
                    py_limited_api=ABI3,
                ))
    return made


def wheel_flags(level: str) -> list[str]:
    """The flags for a module of a wheel. level: one of LEVELS."""
    limited = ["-DPy_LIMITED_API=0x030b0000"] if ABI3 else []
    return [*limited, "-DOLD_GLIBC", *flags.LEVELS.get(level, [])]


def name_at(name: str, level: str) -> str:
    """The name of a module compiled for `level`: envs_c.games.x86-64-v3.pong.pong; the first level's modules have no folder."""
    if level == LEVELS[0]:
        return name
    root = next(root for root in REPEATED if name.startswith(root))
    return f"{root}.{level}{name.removeprefix(root)}"


def level_of(name: str) -> str:
    """The level that the module of this name is compiled for."""
    return next((level for level in LEVELS[1:] if f".{level}." in name), LEVELS[0])


def build_folder() -> str:
    """build/NAME: one folder for each combination of flags, compiler, CPU, Python and Cython."""
    version = subprocess.run([*doctor.compiler(), "--version"], capture_output=True, text=True, check=False,
                             env=os.environ | doctor.ENGLISH).stdout
    facts = [doctor.cpu(), version, sys.version, Cython.__version__]
    facts += [file.read_text(encoding="utf-8") for file in (ROOT / "setup.py", ROOT / "envs_c" / "flags.py")]
    facts += [f"{name}={os.environ.get(name)}" for name in doctor.BUILD_VARIABLES]
    name = "wheel" if WHEEL else "debug" if DEBUG == "1" else SANITIZE or "release"
    return f"build/{name}-{hashlib.sha256(repr(facts).encode()).hexdigest()[:10]}"


def size(extension: Extension) -> int:
    """The bytes of a module's C source and of the headers beside it."""
    return sum(Path(file).stat().st_size for file in [*extension.sources, *extension.depends])


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class BuildExtensions(build_ext):
    """build_ext with Cython's output in the build folder; it also removes modules from the tree when their source is gone."""

    def run(self):
        """Build; a second build of the same tree waits for the first."""
        Path("build").mkdir(exist_ok=True)
        with Path("build", "setup.lock").open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            if WHEEL:
                leftovers.remove_orphans(Path(self.build_lib), LEVELS[1:])
            super().run()

    def build_extensions(self):
        """Translate changed sources with Cython, then compile them, both on all cores, the largest first."""
        with leftovers.translation(Path(self.build_temp, "cython")):
            compiled = self.translate()
        everything, folder = self.extensions, self.build_temp
        if WINDOWS:
            self.take_clang_cl()
        for level in LEVELS:
            sources = {name_at(extension.name, level): extension.sources for extension in compiled
                       if level == LEVELS[0] or extension.name.startswith(REPEATED)}
            self.extensions = [extension for extension in everything if level_of(extension.name) == level]
            for extension in self.extensions:
                extension.sources = sources[extension.name]
            self.extensions.sort(key=size, reverse=True)  # so that no core is left with a large one at the end
            self.build_temp = str(Path(folder, level))  # the object files of a source have one name at all levels
            super().build_extensions()
        self.extensions, self.build_temp = everything, folder
        if WHEEL:
            self.copy_packages()
            self.copy_runtime()

    def translate(self) -> list[Extension]:
        """Translate changed sources with Cython; returns the extensions of the first level with their C files."""
        try:
            return cythonize(
                [Extension(extension.name, extension.sources) for extension in self.extensions
                 if level_of(extension.name) == LEVELS[0]],
                build_dir=str(Path(self.build_temp) / "cython"),
                compiler_directives=flags.directives(),
                nthreads=cores() if sys.platform == "linux" else 0,
                force=bool(self.force),
                quiet=self.verbose < 1,
            )
        except CompileError as error:  # Cython has printed the file and the line
            sys.exit(f"insertcoin: Cython cannot compile {error}")

    def take_clang_cl(self):
        """Compile with clang-cl, with the headers and the linker of Microsoft's compiler."""
        if not self.compiler.initialized:
            self.compiler.initialize(self.plat_name)
        self.compiler.cc = doctor.compiler()[0]
        with contextlib.suppress(ValueError):
            self.compiler.compile_options.remove("/GL")  # Microsoft's optimizer at link time

    def copy_packages(self):
        """Copy the __init__.py of each package beside its modules at the higher levels."""
        for extension in self.extensions:
            package = Path(*extension.name.split(".")[:-1], "__init__.py")
            plain = Path(*(part for part in package.parts if part not in LEVELS[1:]))
            if package != plain and package.parts[-2] not in LEVELS:
                shutil.copyfile(plain, Path(self.build_lib, package))

    def copy_runtime(self):
        """Copy the OpenMP library beside the engine, which takes it if torch brings none."""
        library = runtime.library(openmp)
        if library is not None:
            shutil.copyfile(library, Path(self.build_lib, "envs_c", "engine", openmp.NAME))

    def copy_extensions_to_source(self):
        """Copy the built modules to the folders of their sources; remove modules without a source.

        setuptools copies only newer files, but after a debug build the release build to restore is the older one.
        """
        modules = {Path(self.get_ext_filename(self.get_ext_fullname(extension.name))) for extension in self.extensions}
        for module in modules:
            built = Path(self.build_lib, module)
            if not module.exists() or not filecmp.cmp(built, module, shallow=False):
                shutil.copy2(built, f"{module}.new")
                os.replace(f"{module}.new", module)  # atomic: a running game keeps the file that it has loaded
        for root in ROOTS:
            for module in set(Path(root).rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}")) - modules:
                module.unlink()


def main():
    """Check the machine, then run setuptools."""
    os.chdir(ROOT)
    if doctor.report([name for name in doctor.CHECKS if not (WINDOWS and name == "system")]):
        sys.exit(1)
    try:
        ext_modules = [] if NO_BUILD else extensions()
        if WHEEL:
            runtime.library(openmp)  # if there is none, before anything is compiled
    except doctor.Missing as missing:
        sys.exit(f"insertcoin: {missing}")
    os.environ["CC"] = shlex.join(doctor.compiler())  # setuptools would take the compiler that built Python
    setup(
        long_description=package_page.text(),
        long_description_content_type="text/markdown",
        ext_modules=ext_modules,
        cmdclass={"build_ext": BuildExtensions},
        options={"build": {"build_base": build_folder()}, "build_ext": {"parallel": cores()},
                 "bdist_wheel": {"py_limited_api": "cp311"} if ABI3 else {}},
    )


if __name__ == "__main__":
    main()

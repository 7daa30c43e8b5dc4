"""The set-up: its messages if something is missing, and builds, which compile only changed modules."""

import ast
import shutil
import sys
import zipfile
from pathlib import Path

import pytest
from setup_support import ROOT, TOOLS, load, run

from envs_c.bare import emit

DOCTOR = TOOLS / "doctor.py"


@pytest.fixture
def doctor(monkeypatch):
    """The module tools/doctor.py, as setup.py imports it."""
    monkeypatch.syspath_prepend(TOOLS)
    module = load(DOCTOR)
    monkeypatch.setitem(sys.modules, "doctor", module)
    return module


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


# One line names the missing thing and the remedy.


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        ("check_python", (3, 10, 13), ("3.10.13 is too old", "PYTHON=")),
        ("check_python", (2, 7, 18), ("2.7.18 is too old", "PYTHON=")),
        ("check_system", "win32", ("win32 is not supported", "WSL")),
    ],
)
def test_an_unsuitable_python_or_system_is_named(doctor, check, value, message):
    with pytest.raises(doctor.Missing) as missing:
        getattr(doctor, check)(value)
    assert all(part in str(missing.value) for part in message)


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 1), (3, 14, 0), (4, 0, 0)])
@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_a_suitable_python_passes(doctor, version, system):
    doctor.check_python(version)
    doctor.check_system(system)


def test_the_check_itself_is_readable_by_an_old_python():
    ast.parse(DOCTOR.read_text(encoding="utf-8"), feature_version=(3, 4))


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_venv_is_named(doctor, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(doctor.Missing, match=f"no module {module} .*python3-venv"):
        doctor.check_venv()


def test_missing_headers_are_named(doctor, tmp_path):
    with pytest.raises(doctor.Missing, match=r"no Python\.h in .*python3-dev"):
        doctor.check_headers([str(tmp_path)])
    (tmp_path / "Python.h").touch()
    doctor.check_headers([str(tmp_path)])


def test_a_missing_compiler_is_named_in_one_line(tmp_path):
    result = run(sys.executable, DOCTOR, PATH=str(tmp_path), CC=None)
    assert result.returncode == 1
    assert result.stderr.startswith("insertcoin: no C compiler") and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("compiler", "message"),
    [
        ("exit 1", "cannot make a program"),
        ('for a; do [ "$a" = -fopenmp ] && exit 1; done; exec cc "$@"', "cannot build a program with OpenMP"),
    ],
    ids=["no program", "no OpenMP"],
)
def test_a_compiler_that_cannot_build_gives_one_line(tmp_path, compiler, message):
    result = run(sys.executable, DOCTOR, CC=str(script(tmp_path / "fakecc", compiler)))
    assert result.returncode == 1
    assert message in result.stderr and result.stderr.count("\n") == 1


def test_a_compiler_that_is_not_there_is_named(doctor, monkeypatch):
    monkeypatch.setenv("CC", "no-such-cc -m64")
    with pytest.raises(doctor.Missing, match="CC=no-such-cc -m64 is not on PATH"):
        doctor.compiler()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("WARNING: Retrying after 'NewConnectionError(...)'\nERROR: No matching distribution found", "no network"),
        ("WARNING: Retrying: NameResolutionError: Temporary failure in name resolution", "no network"),
        ("ERROR: Ignored the following versions: 1.0\nERROR: No version of six\nERROR: nothing", "No version of six"),
        ("  insertcoin: no C compiler\nERROR: Failed to build\n", "no C compiler"),
        ("  insertcoin: note: no OpenMP\n  insertcoin: no C compiler\nERROR: Failed to build\n", "no C compiler"),
        ("  insertcoin: note: no OpenMP\nERROR: No version of six", "pip failed: No version of six"),
        ("Traceback\nMemoryError\n", "pip failed: MemoryError"),
        ("", "pip failed: no reason given"),
    ],
)
def test_a_failed_pip_is_explained_in_one_line(doctor, output, message):
    assert message in doctor.explain_pip(output) and "\n" not in doctor.explain_pip(output)


def test_make_setup_names_a_missing_python_in_one_line():
    result = run("make", "setup", PYTHON="no-such-python")
    assert result.returncode != 0
    assert "no Python runs as 'no-such-python'" in result.stderr.splitlines()[0]


@pytest.mark.parametrize(("variable", "value"), [("DEBUG", "2"), ("SANITIZE", "memory")])
def test_an_unknown_kind_of_build_is_refused_in_one_line(variable, value):
    result = run(sys.executable, "setup.py", "--version", **{variable: value})
    assert result.returncode == 1
    assert f"{variable} must be " in result.stderr and f"not {value}" in result.stderr and result.stderr.count("\n") == 1


# A build compiles nothing twice and misses no change.


@pytest.fixture
def tree(tmp_path):
    """A small package of two modules, of which one cimports from the other, with our setup.py."""
    for name in ("setup.py", "pyproject.toml", "tools/doctor.py", "tools/leftovers.py", "tools/package_page.py",
                 "tools/runtime.py", "envs_c/flags.py", "envs_c/engine/openmp.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "README.md").touch()
    for name, text in {
        "__init__.py": "__version__ = '0'\n",
        "lone.pyx": "def answer(): return 1\n",
        "ten.pxd": "cdef inline int ten() noexcept nogil: return 10\n",
        "user.pyx": "from envs_c.ten cimport ten\ndef answer(): return ten()\n",
    }.items():
        (tmp_path / "envs_c" / name).write_text(text, encoding="utf-8")
    return tmp_path


def build(tree: Path, **environment) -> dict[str, int]:
    """Build in place; the time at which each module was compiled last in a release build."""
    result = run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=tree, MARCH="", **environment)
    assert result.returncode == 0, result.stderr
    return {file.stem: file.stat().st_mtime_ns for file in tree.glob("build/release-*/**/*.o")}


def answer(tree: Path, module: str) -> str:
    return run(sys.executable, "-c", f"from envs_c.{module} import answer; print(answer())", cwd=tree).stdout.strip()


def test_a_build_compiles_only_changed_modules(tree):
    first = build(tree)
    assert build(tree) == first and set(first) == {"lone", "user"}
    (tree / "envs_c" / "ten.pxd").write_text("cdef inline int ten() noexcept nogil: return 11\n", encoding="utf-8")
    second = build(tree)
    assert second["lone"] == first["lone"] and second["user"] > first["user"]
    assert answer(tree, "user") == "11"

    # Another kind of build takes the modules' places, and the way back compiles nothing.
    module = next((tree / "envs_c").glob("user*.so"))
    release = module.read_bytes()
    build(tree, DEBUG="1")
    assert module.read_bytes() != release
    assert build(tree) == second and module.read_bytes() == release

    # A module goes with its source.
    (tree / "envs_c" / "lone.pyx").unlink()
    build(tree)
    assert [file.name.split(".")[0] for file in (tree / "envs_c").glob("*.so")] == ["user"]


def test_a_translation_that_was_interrupted_begins_anew(tree):
    first = build(tree)
    (c_file,) = tree.glob("build/release-*/temp*/cython/envs_c/user.c")
    marker = c_file.parents[1].with_name("cython.unfinished")
    assert not marker.exists()
    marker.touch()  # as if the process had been killed
    c_file.write_text(c_file.read_text(encoding="utf-8")[:9999], encoding="utf-8")
    assert build(tree)["user"] > first["user"] and answer(tree, "user") == "10"
    assert not marker.exists()


@pytest.mark.parametrize(("end", "stays"), [(KeyboardInterrupt, True), (MemoryError, True), (SystemExit, False)])
def test_only_a_translation_that_did_not_end_leaves_its_marker(tmp_path, end, stays):
    leftovers = load(TOOLS / "leftovers.py")
    with pytest.raises(end), leftovers.translation(tmp_path / "cython"):
        (tmp_path / "cython" / "game.c").touch()
        raise end
    assert (tmp_path / "cython.unfinished").exists() == stays
    with leftovers.translation(tmp_path / "cython"):
        assert (tmp_path / "cython" / "game.c").exists() == (not stays)
    assert not (tmp_path / "cython.unfinished").exists()


def wheel(tree: Path) -> set[str]:
    """Build a wheel; the names of its modules."""
    result = run(sys.executable, "-W", "ignore", "setup.py", "-q", "bdist_wheel", cwd=tree)
    assert result.returncode == 0, result.stderr
    (file,) = (tree / "dist").glob("*.whl")
    with zipfile.ZipFile(file) as archive:
        return {Path(name).name.partition(".")[0] for name in archive.namelist() if name.startswith("envs_c/")}


def test_a_second_wheel_has_no_module_whose_source_is_gone(tree):
    (tree / "envs_c" / "plain.py").touch()
    assert wheel(tree) >= {"__init__", "lone", "user", "plain", "libgomp"}
    for name in ("lone.pyx", "plain.py"):
        (tree / "envs_c" / name).unlink()
    names = wheel(tree)
    assert names >= {"__init__", "user", "libgomp"} and not names & {"lone", "plain"}


def test_what_the_variants_have_beside_their_modules_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("games/__init__.py", "games/pong.pyx", "lib/games/__init__.py", "lib/games/pong.abi3.so", "lib/games/gone.pyd",
                 "lib/games/v3/__init__.py", "lib/games/v3/pong.abi3.so", "lib/games/v3/gone.abi3.so"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    load(TOOLS / "leftovers.py").remove_orphans(Path("lib"), ("v3",))
    left = {str(file.relative_to("lib/games")) for file in Path("lib").rglob("*.*")}
    assert left == {"__init__.py", "pong.abi3.so", "v3/__init__.py", "v3/pong.abi3.so"}


def test_a_compiler_in_a_folder_with_a_space_builds(tree):
    (tree / "my tools").mkdir()
    compiler = script(tree / "my tools" / "cc", f'echo called >>"{tree}/calls"; exec cc "$@"')
    build(tree, CC=f"'{compiler}'")
    assert answer(tree, "lone") == "1" and (tree / "calls").exists()


def test_a_wheel_without_an_openmp_library_ends_in_one_line_before_anything_is_compiled(tree):
    compiler = script(tree / "cc", 'case "$1" in -print-file-name=*) echo "${1#*=}"; exit;; esac; exec cc "$@"')
    openmp = "NAME = 'libgomp.so.1'\ndef of_torch(): return None\n"
    (tree / "envs_c" / "engine" / "openmp.py").write_text(openmp, encoding="utf-8")
    result = run(sys.executable, "-W", "ignore", "setup.py", "-q", "bdist_wheel", cwd=tree, CC=str(compiler))
    assert result.returncode == 1 and not (tree / "build").exists()
    assert result.stderr == (f"insertcoin: {compiler} -print-file-name=libgomp.so.1 finds no library for the wheel: "
                             "install GCC's libgomp\n")


def test_the_language_of_the_user_chooses_no_other_build_folder(tmp_path, monkeypatch):
    compiler = script(tmp_path / "cc", 'echo "cc 12.2, LC_ALL=$LC_ALL, LANGUAGE=$LANGUAGE"')
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(TOOLS)
    monkeypatch.setenv("CC", str(compiler))
    setup, folders = load(ROOT / "setup.py"), set()
    for language in ("de_DE.UTF-8", "C.UTF-8", ""):
        monkeypatch.setenv("LC_ALL", language)
        folders.add(setup.build_folder())
    assert len(folders) == 1


def test_an_error_of_cython_is_printed_without_a_traceback(tree):
    (tree / "envs_c" / "user.pyx").unlink()  # Cython itself prints a traceback if it translates several at once
    (tree / "envs_c" / "lone.pyx").write_text("cdef int (:\n", encoding="utf-8")
    result = run(sys.executable, "setup.py", "-q", "build_ext", "--inplace", cwd=tree)
    assert result.returncode == 1
    assert "insertcoin: Cython cannot compile envs_c/lone.pyx" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("source", sorted((ROOT / "envs_c" / "engine").glob("*.pyx")), ids=lambda source: source.stem)
def test_a_debug_build_of_the_engine_passes_cython(source, tmp_path, monkeypatch):
    """Under its directives some statements need the GIL that do not need it in the usual build."""
    monkeypatch.setenv("DEBUG", "1")
    emit.run_cython(source, tmp_path / "made.c")

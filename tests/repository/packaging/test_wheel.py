"""Wheels: the variants for x86-64, the choice among them, and the flags of every build. test_wheel_slow.py builds one."""

import platform
import sys

import pytest
from setup_support import ROOT, TOOLS, load, run

from envs_c import flags, isa

V1 = frozenset({"GenuineIntel", "fpu", "sse2"})
V2 = V1 | isa.LEVELS["v2"]
V3 = V2 | isa.LEVELS["v3"]
V4 = V3 | isa.LEVELS["v4"]


@pytest.mark.parametrize(("wanted", "features", "level"), [
    ("", V2, "v2"), ("", V3, "v3"), ("", V4, "v4"), ("", V4 - {"avx2"}, "v2"), ("", V4 - {"avx512vl"}, "v3"),
    ("", frozenset(), "v2"), ("v2", V4, "v2"), ("v3", V4, "v3"), ("v4", V4, "v4"), ("v2", V2, "v2"),
])
def test_the_best_variant_that_the_cpu_supports_is_used_or_the_one_that_is_named(wanted, features, level):
    assert isa.choose(wanted, True, features) == level


@pytest.mark.parametrize(("wanted", "variants", "features", "message"), [
    ("v4", True, V3, "INSERTCOIN_ISA must be v2 or v3 on this CPU, not v4"),
    ("v3", True, frozenset(), "INSERTCOIN_ISA must be v2 on this CPU, not v3"),
    ("v5", True, V4, "INSERTCOIN_ISA must be v2 or v3 or v4 on this CPU, not v5"),
    ("avx2", True, V4, "not avx2"),
    ("", True, V1, "this CPU must have the instructions of x86-64-v2"),
    ("v3", False, V4, "INSERTCOIN_ISA must be unset, not v3"),
])
def test_a_variant_that_cannot_be_used_is_refused_in_one_line(wanted, variants, features, message):
    with pytest.raises(ImportError) as error:
        isa.choose(wanted, variants, features)
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("command", ["envs_c", "trainer"])
def test_the_command_lines_refuse_a_wrong_variant_in_one_line(command):
    result = run(sys.executable, "-m", command, "games", INSERTCOIN_ISA="v9")
    assert result.returncode != 0
    assert "INSERTCOIN_ISA must be" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [("envs_c", "--version"), ("trainer", "--version"), ("envs_c", "games", "tmaze")])
def test_the_command_lines_print_the_variant_in_use(command):
    result = run(sys.executable, "-m", *command)
    assert result.returncode == 0, result.stderr
    assert isa.text() in result.stdout


def test_the_folder_of_the_variant_is_searched_first_if_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(isa, "chosen", lambda: "v3")
    assert isa.search([str(tmp_path)]) == [str(tmp_path)]
    (tmp_path / "x86-64-v3").mkdir()
    assert isa.search([str(tmp_path)]) == [str(tmp_path / "x86-64-v3"), str(tmp_path)]
    inside = str(tmp_path / "x86-64-v3" / "loss")  # a package that is found in this folder
    assert isa.search([inside]) == [inside, str(tmp_path / "loss")]


@pytest.mark.parametrize(("beside", "text"), [("pyproject.toml", "from source for one CPU"), ("METADATA", "for all CPUs")])
def test_only_a_checkout_says_that_it_is_compiled_for_one_cpu(tmp_path, monkeypatch, beside, text):
    monkeypatch.setattr(isa, "chosen", lambda: "")
    monkeypatch.setattr(isa, "PACKAGE", tmp_path / "envs_c")  # modules: .abi3.so, .cpython-314t.so, .pyd
    (tmp_path / beside).touch()
    assert isa.text().startswith(f"compiled {text}")


# The flags of each build.


def setup(monkeypatch, command: str):
    """The module setup.py, as it is loaded for a command."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(TOOLS)
    monkeypatch.setattr(sys, "argv", ["setup.py", command])
    monkeypatch.delenv("MARCH", raising=False)
    return load(ROOT / "setup.py")


def test_a_wheel_is_never_compiled_for_the_builders_cpu(monkeypatch):
    native = [extension for extension in setup(monkeypatch, "build_ext").extensions()
              if "native" in "".join(extension.extra_compile_args)]
    assert native  # a build in place is
    module = setup(monkeypatch, "bdist_wheel")
    for extension in module.extensions():
        assert "native" not in "".join(extension.extra_compile_args)
        assert extension.py_limited_api == module.ABI3


@pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="variants are for x86-64 Linux")
def test_a_wheel_has_games_console_and_kernels_for_each_level_and_the_rest_once(monkeypatch):
    module = setup(monkeypatch, "bdist_wheel")
    marches = {extension.name: extension.extra_compile_args for extension in module.extensions()}
    for name in ("envs_c.games{}.pong.pong", "envs_c.games{}.snake", "envs_c.console{}.console", "trainer.kernels{}.lstm.cpu"):
        assert "-mavx" not in marches[name.format("")] and "-msse4.2" in marches[name.format("")]
        assert "-mavx2" in marches[name.format(".x86-64-v3")] and "-mavx512f" not in marches[name.format(".x86-64-v3")]
        assert "-mavx512f" in marches[name.format(".x86-64-v4")]
    assert [name for name in marches if "engine" in name and "x86" in name] == []


def test_a_second_wheel_finds_the_tools_of_the_first_and_no_old_modules(tmp_path, monkeypatch):
    module = load(TOOLS / "build_wheel.py")
    monkeypatch.setattr(module, "BUILD", tmp_path)
    monkeypatch.setattr(module, "TOOLS", tmp_path / module.TOOLS.name)
    monkeypatch.setattr(module, "run", lambda command: (tmp_path / "wheel-raw" / "a.whl").write_text("", encoding="utf-8"))
    monkeypatch.setattr(module, "check", lambda wheel, folder: wheel)
    for folder in (module.TOOLS / "lib", tmp_path / "wheel-123" / "lib.linux", tmp_path / "wheel-raw"):
        folder.mkdir(parents=True)
    monkeypatch.setattr(module.shutil, "rmtree", lambda path, ignore_errors=False: path.exists() and removed.append(path.name))
    removed = []
    module.build(tmp_path / "dist")
    assert removed == ["lib.linux", "wheel-raw"]


def test_a_wheel_takes_no_flags_of_the_users():
    module, doctor = load(TOOLS / "build_wheel.py"), load(TOOLS / "doctor.py")
    assert set(module.UNSET) == set(doctor.BUILD_VARIABLES) - {"CC", "LIBOMP_PREFIX"}  # these two say where tools are


def test_march_is_refused_for_a_wheel():
    result = run(sys.executable, "setup.py", "bdist_wheel", "--help", MARCH="native")
    assert result.returncode == 1
    assert "MARCH must be unset for a wheel" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(("system", "machine", "flag"), [
    ("linux", "x86_64", "-march=native"), ("linux", "aarch64", "-march=native"),
    ("darwin", "arm64", "-mcpu=native"), ("darwin", "x86_64", "-march=native"),
])
def test_the_flag_for_the_cpu_is_one_that_the_compiler_of_the_system_takes(monkeypatch, system, machine, flag):
    monkeypatch.delenv("MARCH", raising=False)
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert flags.cpu_flags() == [flag]


@pytest.mark.parametrize("libomp", [False, True])
def test_a_mac_without_openmp_builds_for_one_thread_and_says_so(monkeypatch, capsys, tmp_path, libomp):
    doctor = load(TOOLS / "doctor.py")
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(doctor, "LIBOMP_PREFIXES", (str(tmp_path),))
    monkeypatch.delenv("LIBOMP_PREFIX", raising=False)
    monkeypatch.setattr(doctor, "_compiles", lambda program, flags: libomp or "-fopenmp" not in flags)
    doctor.check_openmp()
    note = capsys.readouterr().err
    if libomp:
        assert doctor.openmp_flags() == (["-Xpreprocessor", "-fopenmp", f"-I{tmp_path}/include"], []) and note == ""
    else:
        assert doctor.openmp_flags() == ([], [])
        assert "one thread" in note and "brew install libomp" in note and note.count("\n") == 1

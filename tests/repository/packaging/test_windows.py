"""The build for Windows: flags of clang-cl, and code that Windows has. tools/isa compiles and plays the games there."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from setup_support import ROOT, TOOLS, load


@pytest.fixture
def setup(monkeypatch):
    """The module setup.py, as it is loaded for a wheel on Windows that has clang-cl."""
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(TOOLS)
    monkeypatch.setattr(sys, "argv", ["setup.py", "bdist_wheel"])
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("MARCH", "SANITIZE", "DEBUG"):
        monkeypatch.delenv(name, raising=False)
    module = load(ROOT / "setup.py")
    monkeypatch.setattr(module.doctor.shutil, "which", lambda name: name if name == "clang-cl" else None)
    return module


def test_every_module_is_compiled_once_with_the_flags_of_its_package_and_with_one_thread(setup):
    extensions = {extension.name: extension for extension in setup.extensions()}
    for name, flag in (("envs_c.games.pong.pong", "/clang:-ffp-contract=off"), ("trainer.kernels.lstm.cpu", "/clang:-O3"),
                       ("envs_c.engine.engine", "/clang:-DPy_LIMITED_API=0x030b0000")):
        assert flag in extensions[name].extra_compile_args
    for extension in extensions.values():
        words = " ".join(extension.extra_compile_args)
        assert all(flag.startswith("/clang:-") for flag in extension.extra_compile_args)
        assert "openmp" not in words and "pthread" not in words and extension.extra_link_args == []
    assert setup.openmp_library() is None


def test_clang_takes_these_flags_as_clang_cl_does(setup, monkeypatch, tmp_path):
    ziglang = pytest.importorskip("ziglang")
    given = {flag for extension in setup.extensions() for flag in extension.extra_compile_args}
    contract = sorted(flag for flag in given if "fp-contract" in flag)
    assert len(contract) == 2  # of the games, and of the kernels
    (tmp_path / "one.c").write_text("int one(void) { return 1; }\n", encoding="utf-8")
    monkeypatch.undo()
    zig = f"{ziglang.__path__[0]}/zig"
    as_cl = [zig, "clang", "--driver-mode=cl", "--target=x86_64-pc-windows-msvc", "/nologo", "/WX", "/O2", "/MD", "/c"]
    done = subprocess.run([*as_cl, *sorted(given), "one.c"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "one.obj").exists()


def test_clang_cl_takes_the_place_of_microsofts_compiler(setup):
    began = []
    compiler = SimpleNamespace(initialized=False, initialize=began.append, cc="cl.exe", compile_options=["/nologo", "/GL"])
    setup.BuildExtensions.take_clang_cl(SimpleNamespace(compiler=compiler, plat_name="win-amd64"))
    assert (began, compiler.cc, compiler.compile_options) == (["win-amd64"], "clang-cl", ["/nologo"])


def test_a_windows_without_clang_cl_is_told_what_to_install(setup, monkeypatch):
    monkeypatch.setattr(setup.doctor.shutil, "which", lambda name: None)
    with pytest.raises(setup.doctor.Missing, match="clang-cl is not on PATH: install LLVM"):
        setup.doctor.compiler()


def test_a_sanitizer_is_refused(setup, monkeypatch):
    monkeypatch.setattr(setup, "SANITIZE", "address")
    with pytest.raises(setup.doctor.Missing, match="SANITIZE must be empty on Windows, not address"):
        setup.extensions()

"""The build for Windows: flags of clang-cl, and code that Windows has. tools/isa compiles and plays the games there."""

import errno
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from setup_support import ROOT, TOOLS, load

from envs_c import catalog, files, testing
from envs_c.console import compile, console, recompiled
from envs_c.errors import EnvsError


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
    assert setup.runtime.library(setup.openmp) is None


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


def test_files_are_written_there_without_opening_their_folder(monkeypatch, tmp_path):
    real = os.open

    def without_folders(path, *rest, **more):
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, *rest, **more)
    monkeypatch.setattr(os, "open", without_folders)
    monkeypatch.setattr(sys, "platform", "win32")
    files.write_atomically(tmp_path / "one", [b"1"])
    assert (tmp_path / "one").read_bytes() == b"1"


@pytest.mark.parametrize("check", [testing.check, testing.summary, lambda game: list(testing.verdicts(game, [*testing.RULES]))],
                         ids=["check", "summary", "verdicts"])
def test_the_check_of_a_game_says_that_it_needs_another_system(monkeypatch, check):
    game = catalog.game("cartpole")
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(EnvsError, match=r"^the check of a game needs Linux or macOS, not win32: on Windows run it under WSL$"):
        check(game)


def test_a_cartridge_is_compiled_there_with_the_usual_priority(monkeypatch):
    compiled = []
    monkeypatch.delattr(os, "nice")
    monkeypatch.setenv("ENVS_C_RECOMPILE", "0")  # it sets it
    monkeypatch.setattr(sys, "argv", ["compile", "--task"])
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"data": "00ff", "key": 7, "facts": {}}'))
    monkeypatch.setattr(console, "insert", lambda *task: None)
    monkeypatch.setattr(recompiled, "compiled", lambda *task: compiled.append(task))
    compile.main()
    assert compiled == [(b"\x00\xff", 7, {})]


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

"""The cache of compiled games: what it does while others use it, on a disk that cannot be written to, and after a power cut."""

import importlib.util
import os
import shutil
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from types import SimpleNamespace

import platformdirs
import pytest
from support import TOY

import envs_c
from envs_c import game_cache, outside
from envs_c.__main__ import main as envs_main
from envs_c.console import recompiled


def test_its_size_is_told_while_another_process_compiles(monkeypatch, tmp_path):
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path))
    for name in ("kept", "build-1/file", "build-1/deep/file"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(1000))
    status = Path.stat

    def going(path, **given):
        if path.parent.name == "build-1":  # the other process removes its folder now
            shutil.rmtree(path.parent, ignore_errors=True)
        return status(path, **given)
    monkeypatch.setattr(Path, "stat", going)
    assert game_cache.size() == 1000


def test_a_compiled_game_is_on_the_disk_before_it_has_its_name(fast_compiler, monkeypatch, tmp_path):
    synced, named = set(), []
    sync, rename = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: synced.add(os.fstat(number).st_ino) or sync(number))
    monkeypatch.setattr(os, "replace", lambda old, new: named.append(Path(old).stat().st_ino in synced) or rename(old, new))
    path = tmp_path / "synced.pyx"
    path.write_text("word = 'here'\n")
    outside.built(path)
    assert named[-1:] == [True]


@pytest.mark.parametrize("name", ["game.pxd", "breakout/rules.pxd"])
def test_a_change_of_what_a_game_may_cimport_compiles_it_again(monkeypatch, tmp_path, name):
    """A changed copy of Breakout cimports the rules of the built-in one."""
    def compiled(source, _texts, scratch, *_flags):
        (scratch / source.name).touch()
        return scratch / source.name
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(outside, "compile_module", compiled)
    path = tmp_path / "mine.pyx"
    path.touch()
    before, read = outside.built(path), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda file: read(file) + b"#" * file.as_posix().endswith(f"/{name}"))
    assert outside.built(path) != before


def test_games_that_threads_compile_at_once_leave_the_output_where_it_was(fast_compiler, tmp_path):
    outputs, paths, failed = (sys.stdout, sys.stderr), [tmp_path / f"at_once_{k}.pyx" for k in range(3)], []
    for path in paths:
        path.write_text(f"word = {path.stem!r}\n")

    def build(path):
        try:
            outside.built(path)
        except Exception as error:
            failed.append(error)
    threads = [threading.Thread(target=build, args=(path,)) for path in paths]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (sys.stdout, sys.stderr) == outputs and not failed
    finally:
        sys.stdout, sys.stderr = outputs


def test_a_cache_that_cannot_be_written_to_is_named_with_what_helps(monkeypatch, tmp_path):
    def refuse(*_given, **_settings):
        raise OSError(30, "Read-only file system")
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    path = tmp_path / "mine.pyx"
    path.touch()
    with pytest.raises(envs_c.InvalidArgument) as caught:
        envs_c.load(path)
    assert str(caught.value) == (f"the cache of compiled games, {tmp_path / 'cache'}, cannot be written to: Read-only file "
                                 "system; let ENVS_C_CACHE name another folder")


def no_home(_name, appauthor):
    raise RuntimeError("could not determine the home directory")


@pytest.mark.parametrize("found", [no_home, lambda name, appauthor: f"~/.cache/{name}"])  # newer and older platformdirs
def test_a_user_without_a_home_is_told_to_name_a_cache_and_cartridges_are_interpreted(monkeypatch, capsys, found):
    monkeypatch.delenv("ENVS_C_CACHE", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_dir", found)
    with pytest.raises(envs_c.InvalidArgument, match=r"no place: HOME is not set, .* let ENVS_C_CACHE name another folder$"):
        envs_c.load(TOY)
    assert envs_main(["cache"]) == 2 and "ENVS_C_CACHE" in capsys.readouterr().err
    monkeypatch.setenv("ENVS_C_RECOMPILE", "1")
    with pytest.warns(UserWarning, match="a cartridge plays by the interpreter, more slowly: the cache .* ENVS_C_CACHE"):
        recompiled.begin(bytes(4096), 1 << 60, {"kind": recompiled.FE, "last_line": 0})


@pytest.mark.parametrize(("flag", "kind", "text"), [
    ("ST_NOEXEC", envs_c.InvalidArgument, r"cannot hold programs, for its disk is mounted with noexec; let ENVS_C_CACHE"),
    ("ST_RDONLY", envs_c.ContractError, "ImportError: failed to map segment")])
@pytest.mark.skipif(not hasattr(os, "ST_NOEXEC"), reason="only Linux tells")
def test_a_cache_on_a_disk_without_programs_is_named_and_not_the_game(fast_compiler, monkeypatch, tmp_path, flag, kind, text):
    path = tmp_path / "disk.pyx"
    path.write_text("word = 'here'\n")

    def refuse(spec):
        raise ImportError("failed to map segment from shared object")
    monkeypatch.setattr(importlib.util, "module_from_spec", refuse)
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=getattr(os, flag)))
    with pytest.raises(kind, match=text):
        envs_c.load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="there is one compiler")
def test_without_the_compiler_of_python_another_is_taken_and_without_any_the_error_says_what_to_do(
        fast_compiler, monkeypatch, tmp_path):
    for name, value in (("CC", "no-such-cc -pthread"), ("LDSHARED", "no-such-cc -pthread -shared")):
        monkeypatch.setitem(sysconfig.get_config_vars(), name, value)
    monkeypatch.delenv("CC", raising=False)
    path = tmp_path / "compiled.pyx"
    path.write_text("word = 'here'\n")
    assert outside.built(path).is_file()
    path.write_text("word = 'there'\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(envs_c.CompileFailed, match="no-such-cc: No such file or directory; install gcc, or let CC name"):
        outside.built(path)

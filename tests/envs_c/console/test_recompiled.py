"""Compiled cartridges: equal to the interpreter in every byte of the console after every frame, whatever the program is."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from envs_c.console import cartridges, recompiled
from envs_c.console.recompiled.follow import Place, follow, length
from envs_c.console.recompiled.translate import processor, rows
from envs_c.errors import CompileFailed, InvalidArgument

pytest.importorskip("ale_py")

from benchmarks.console.comparison import Console

FLOW = {0x00, 0x20, 0x40, 0x4C, 0x60, 0x6C, *range(0x10, 0x100, 0x20)}  # jumps, calls, returns and branches
ZERO_PAGE = [*range(0x80, 0x100), *range(0x2D)]
ABSOLUTE = [0x284, 0x280, 0x282, 0x285, 0x296, 0x294, 0x297, 0x80, 0x1F3, 0x02, 0x1B, 0x30, 0x37, 0xF123, 0xF080, 0x10FE]


@pytest.fixture(autouse=True)
def quickly(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("ENVS_C_FLAGS", "-O0")
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def frames_differ(game, frames: int, seed: int = 0) -> int | None:
    """The first frame after which an interpreted and a compiled console differ; None without one."""
    data, key, facts = cartridges.INSERTED[game]
    library = recompiled.compiled(data, key, facts)
    sides, draw, action = (Console(game), Console(game)), random.Random(seed), 0
    try:
        for frame in range(frames):
            action = draw.randrange(18) if frame % 5 == 0 else action
            seen = []
            for side, start in zip(sides, (recompiled.detach, lambda key: recompiled.attach(library, key)), strict=True):
                start(key)
                side.act(action)
                state = side.env.get_state()[-game.state_size:]  # its head has random numbers, which differ
                seen.append((state, side.ram.tobytes(), side.env.render().tobytes()))
                if side.terminated[0]:
                    side.batch.reset()
            if seen[0] != seen[1]:
                return frame
    finally:
        recompiled.detach(key)
    return None


def random_rom(seed: int, size: int) -> bytes:
    """4 KB: a loop around `size` bytes, at most 3,800, of all instructions but jumps, some times in random orders with random
    operands, and of branches to the next but one."""
    draw, code = random.Random(seed), bytearray()
    while len(code) < size:
        ops = [op for op in range(256) if op not in FLOW or op & 0x1F == 0x10]
        draw.shuffle(ops)
        for op in ops:
            if op & 0x1F == 0x10:
                code += bytes([op, 2, 0xA9, draw.randrange(256)])
            elif length(op) == 3:
                code += bytes([op]) + draw.choice(ABSOLUTE).to_bytes(2, "little")
            else:
                code += bytes([op, draw.choice(ZERO_PAGE)][:length(op)])
            if draw.random() < 0.02:  # a call, by JSR and RTS, and one through the stack
                code += bytes([0xA2, 0xFF, 0x9A, 0x20, 0xF0, 0xFF])
    code = code[:3900] + bytes([0xEA] * 4 + [0x4C, 0x00, 0xF0])
    return bytes(code.ljust(0xFF0, b"\xea")) + bytes([0xE6, 0x90, 0x60] + [0xEA] * 9 + [0x00, 0xF0, 0x00, 0xF0])


def small_rom(number: int) -> bytes:
    """2 KB: a loop that counts in a byte of RAM."""
    return bytes([0xE6, 0x90 + number, 0x4C, 0x00, 0xF0]).ljust(2044, b"\xea") + bytes([0x00, 0xF0, 0x00, 0xF0])


@pytest.mark.parametrize(("seed", "size"), [(0, 800), pytest.param(0, 3800, marks=pytest.mark.slow),
                                            pytest.param(1, 3800, marks=pytest.mark.slow)])
def test_random_programs_do_the_same_compiled(seed, size):
    data = random_rom(seed, size)
    game = cartridges.game_of(data, None, cartridges.UNKNOWN)
    assert len({data[place.offset] for place in follow(data, 0, [Place(0, 0xF000)], []).places}) > 200
    assert frames_differ(game, 30, seed) is None


@pytest.mark.parametrize("branch", [0xD0, 0x10], ids=["BNE", "BPL"])
def test_loops_that_wait_for_the_timer_are_passed_over_to_the_same_cycle(branch):
    draw, code = random.Random(branch), bytearray()
    for _ in range(60):
        value = draw.choice([draw.randrange(256), draw.randrange(1, 20)])
        code += bytes([0xA9, value, 0x8D, draw.choice([0x95, 0x96, 0x97]), 0x02, *[0xEA] * draw.randrange(4)])
        for _ in range(draw.randrange(1, 3)):  # the second loop finds a timer that has ended
            code += bytes([draw.choice([0xAD, 0xAE, 0xAC]), 0x84, 0x02, branch, 0xFB])
        code += bytes([0x85, 0x90, 0x86, 0x91, 0x84, 0x92, 0xE6, 0x93])
    code += bytes([0xA9, 0x02, 0x85, 0x00, 0x85, 0x02, 0x85, 0x02, 0xA9, 0x00, 0x85, 0x00, 0x4C, 0x00, 0xF0])
    data = bytes(code.ljust(0xFFC, b"\xea")) + bytes([0x00, 0xF0, 0x00, 0xF0])
    game = cartridges.game_of(data, None, cartridges.UNKNOWN)
    assert recompiled.c_of(*cartridges.INSERTED[game]).count("waiting(m,") > 60
    assert frames_differ(game, 60) is None


@pytest.mark.parametrize("name", ["pong", *(pytest.param(name, marks=pytest.mark.slow) for name in (
    "asterix", "solaris", "montezuma_revenge", "robotank", "qbert", "pitfall", "frostbite"))])
def test_cartridges_do_the_same_compiled(name):
    assert frames_differ(cartridges.cartridge(f"atari:{name}"), 250) is None


def test_every_instruction_is_translated():
    assert sorted(rows()) == list(range(256))
    assert "INLINE void adc(Cpu* cpu, int value)" in processor()


def test_a_library_is_compiled_once_and_used_from_the_cache(monkeypatch):
    game = cartridges.game_of(small_rom(7), None, cartridges.UNKNOWN)
    library = recompiled.compiled(*cartridges.INSERTED[game])
    monkeypatch.setattr(recompiled, "c_of", None)
    assert recompiled.compiled(*cartridges.INSERTED[game]) == library


@pytest.mark.parametrize("name", ["alu.pxd", "instructions.pxd", "tia.pxd", "console.pyx", "translate.py", "prelude.h"])
def test_a_change_of_a_source_of_the_console_makes_another_library(monkeypatch, name):
    data, _, facts = cartridges.INSERTED[cartridges.game_of(small_rom(12), None, cartridges.UNKNOWN)]
    before, read = recompiled.folder_of(data, facts), Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == name))
    assert recompiled.folder_of(data, facts) != before


def test_without_a_compiler_the_message_says_so(monkeypatch):
    game = cartridges.game_of(small_rom(8), None, cartridges.UNKNOWN)
    monkeypatch.setenv("CC", "no_such_compiler")
    with pytest.raises(CompileFailed, match=r"cannot compile cartridge\.c"):
        recompiled.compiled(*cartridges.INSERTED[game])


@pytest.mark.parametrize("kind, compiles", [("F8", True), ("FE", True), ("F8SC", False), ("F6SC", False), ("F4SC", False)])
def test_cartridges_with_ram_are_left_to_the_interpreter(kind, compiles):
    assert recompiled.can_be_compiled({"kind": cartridges.KINDS[kind][0]}) == compiles


def test_in_the_background_a_failure_is_a_warning_and_the_interpreter_plays(monkeypatch):
    monkeypatch.setattr(recompiled, "DELAY", 0.0)
    monkeypatch.setenv("CC", "no_such_compiler")
    game = cartridges.game_of(small_rom(9), None, cartridges.UNKNOWN)
    with pytest.warns(UserWarning, match=r"plays by the interpreter, more slowly: the C compiler cannot compile cartridge\.c: "
                                         "no_such_compiler: No such file"):
        recompiled.in_background(*cartridges.INSERTED[game])
    ours = Console(game)
    ours.act(0)
    assert ours.ram.any()


def test_a_library_that_cannot_be_loaded_is_a_warning_and_the_interpreter_plays(monkeypatch, tmp_path):
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ENVS_C_RECOMPILE", "0")
    data, key, facts = cartridges.INSERTED[cartridges.game_of(small_rom(15), None, cartridges.UNKNOWN)]
    library = recompiled.compiled(data, key, facts)
    library.write_bytes(b"")  # as after a power cut, or as from a disk whose programs may not run
    monkeypatch.setenv("ENVS_C_RECOMPILE", "1")
    with pytest.warns(UserWarning, match=rf"plays by the interpreter, more slowly: {library}: "):
        recompiled.begin(data, key, facts)
    library.parent.parent.chmod(0o777)
    with pytest.warns(UserWarning, match="plays by the interpreter, more slowly: the cache of compiled games must be yours"):
        recompiled.begin(data, key, facts)


def test_the_compiler_in_the_background_imports_nothing_from_the_users_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(recompiled, "DELAY", 0.0)
    monkeypatch.setenv("CC", "no_such_compiler")
    for name in ("random.py", "json.py", "argparse.py"):
        (tmp_path / name).write_text("raise SystemExit('a file of the user')\n")
    monkeypatch.chdir(tmp_path)
    game = cartridges.game_of(small_rom(13), None, cartridges.UNKNOWN)
    with pytest.warns(UserWarning, match=r"the C compiler cannot compile cartridge\.c: no_such_compiler"):
        recompiled.in_background(*cartridges.INSERTED[game])


def test_a_cartridge_waits_once_for_its_compiler_and_no_more_after_a_failure(monkeypatch):
    begun, key, facts = [], -7, {"kind": 0, "last_line": 0}
    monkeypatch.setenv("ENVS_C_RECOMPILE", "1")
    monkeypatch.setattr(recompiled, "DELAY", 0.0)
    monkeypatch.setattr(recompiled, "_wait_for", lambda key, patience: begun.append(key))
    monkeypatch.setattr(recompiled, "_compile_apart", lambda *_: True)
    monkeypatch.setattr(recompiled, "compiled", lambda *_: 1 / 0)
    for _ in range(2):
        recompiled.begin(small_rom(1), key, facts)
    assert begun == [key] and key in recompiled._waiting
    with pytest.raises(ZeroDivisionError):
        recompiled.in_background(small_rom(1), key, facts)
    assert key not in recompiled._waiting


def test_a_signal_to_the_terminals_programs_does_not_reach_the_compiler_in_the_background(monkeypatch):
    groups = []

    class Compiler(subprocess.Popen):
        def communicate(self, task):
            groups.append(os.getpgid(self.pid))
            return super().communicate(task)

    monkeypatch.setattr(recompiled, "DELAY", 0.0)
    monkeypatch.setattr(subprocess, "Popen", Compiler)
    monkeypatch.setenv("CC", "no_such_compiler")
    game = cartridges.game_of(small_rom(11), None, cartridges.UNKNOWN)
    with pytest.warns(UserWarning, match="plays by the interpreter"):
        recompiled.in_background(*cartridges.INSERTED[game])
    assert groups and os.getpgid(0) not in groups


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes")
def test_the_compiler_in_the_background_ends_with_its_process_and_leaves_no_files(tmp_path):
    script, begun, cache = tmp_path / "slow_compiler", tmp_path / "begun", tmp_path / "cache"
    script.write_text(f"#!/bin/sh\necho $$ > {begun}.new && mv {begun}.new {begun}\nexec sleep 600\n")
    script.chmod(0o700)
    code = ("import sys, time; from pathlib import Path; from envs_c.console import cartridges, recompiled\n"
            "recompiled.DELAY = 0.0; data = bytes.fromhex(sys.argv[1]); cartridges.game_of(data, None, cartridges.UNKNOWN)\n"
            "while not Path(sys.argv[2]).exists(): time.sleep(0.05)")
    subprocess.run([sys.executable, "-c", code, small_rom(14).hex(), str(begun)], check=True, timeout=120,
                   env={**os.environ, "CC": str(script), "ENVS_C_CACHE": str(cache), "ENVS_C_RECOMPILE": "1"})
    compiler, end = Path("/proc", begun.read_text().strip()), time.monotonic() + 60
    while (list(cache.iterdir()) or compiler.exists()) and time.monotonic() < end:
        time.sleep(0.05)
    assert not list(cache.iterdir()) and not compiler.exists()


def test_the_switch_must_be_0_or_1(monkeypatch):
    monkeypatch.setenv("ENVS_C_RECOMPILE", "yes")
    with pytest.raises(InvalidArgument, match="ENVS_C_RECOMPILE must be 0 or 1, not 'yes'"):
        recompiled.wanted()


def test_the_command_compiles_a_file(tmp_path):
    path = tmp_path / "mine.bin"
    path.write_bytes(small_rom(10))
    command = [sys.executable, "-m", "envs_c.console.compile", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ}, check=True)
    assert "cartridge.so" in done.stdout


def test_the_command_says_what_is_wrong_with_the_folder_of_cartridges(tmp_path):
    done = subprocess.run([sys.executable, "-m", "envs_c.console.compile"], capture_output=True, text=True, check=False,
                          env={**os.environ, "ENVS_C_ROMS": str(tmp_path / "nowhere")})
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "error: ENVS_C_ROMS must name a folder with cartridges" in done.stderr


def test_code_is_found_through_calls_and_branches():
    rom = bytes([0x20, 0x08, 0xF0, 0xD0, 0xFB, 0x60, 0xFF, 0xFF, 0xA9, 0x01, 0x60]).ljust(2048, b"\xea")
    code = follow(rom, 0, [Place(0, 0xF000)], [])
    assert {place.offset for place in code.places} == {0, 3, 5, 8, 10}
    assert {place.offset for place in code.entries} == {3}
    assert np.all([place.pc & 0xF000 == 0xF000 for place in code.places])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize("patience", [0.0, 60.0], ids=["that it compiles", "that its parent compiles"])
def test_a_forked_process_takes_the_library_of_a_cartridge(monkeypatch, patience):
    """Although it was forked while its parent waited to compile it, with the lock held."""
    monkeypatch.setenv("ENVS_C_RECOMPILE", "1")
    monkeypatch.setattr(recompiled, "DELAY", 0.3)
    monkeypatch.setattr(recompiled, "PATIENCE", patience)
    game = cartridges.game_of(small_rom(20 + int(patience > 0)), None, cartridges.UNKNOWN)
    with recompiled._one_at_a_time.held():
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            while game.key not in recompiled._libraries:
                time.sleep(0.05)
            os._exit(0)
        if patience == 0:
            assert os.waitpid(child, 0)[1] == 0
    end = time.monotonic() + 60
    while game.key not in recompiled._libraries and time.monotonic() < end:
        time.sleep(0.05)
    assert patience == 0 or os.waitpid(child, 0)[1] == 0
    assert game.key in recompiled._libraries and game.key not in recompiled._waiting

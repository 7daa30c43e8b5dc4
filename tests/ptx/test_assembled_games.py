"""What NVIDIA's assembler makes of the games' kernels and of the trainer's, and `python -m benchmarks.device_games`."""

import importlib.util
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.device_games import __main__ as device_games
from benchmarks.device_games import assembler, parts
from envs_c.bare import device

SHORT, PTXAS, VIEWS = device_games.SHORT, assembler.find_ptxas(), ("features", "pixels")
# Of the kernels `step` and `draw`, in features and in pictures: at most this many registers, and bytes of stack, of a thread.
BOUNDS = {"asterix": (64, 16, 80, 14240), "asteroids": (64, 928, 128, 688), "breakout": (56, 16, 64, 112),
          "cartpole": (64, 16, 72, 112), "enduro": (96, 496, 255, 15392), "freeway": (64, 16, 80, 14240),
          "g2048": (64, 32, 64, 112), "go": (128, 544, 128, 1104), "pacman": (64, 2432, 80, 112),
          "platformer": (96, 16, 96, 896), "pong": (48, 16, 72, 112), "seaquest": (72, 16, 96, 14480),
          "snake": (56, 16, 64, 112), "space_invaders": (72, 16, 128, 528), "tetris": (56, 16, 64, 352),
          "tmaze": (40, 16, 64, 112)}

zig = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")
ptxas = pytest.mark.skipif(PTXAS is None, reason="ptxas, of CUDA, is not here")


@zig
@ptxas
@pytest.mark.parametrize(("name", "view"), [
    pytest.param(name, view, marks=() if name in SHORT and view == "features" else pytest.mark.slow)
    for name in BOUNDS for view in VIEWS])
def test_registers_and_stack_are_bounded_on_all_architectures_and_nothing_spills(name, view):
    registers, stack = BOUNDS[name][2 * VIEWS.index(view):][:2]
    found = parts.assemble(name, view, device_games.ARCHITECTURES, PTXAS)["used"]
    assert found.registers <= registers and found.stack <= stack and found.spills == 0, found


@ptxas
def test_a_text_that_ptxas_refuses_is_an_error(monkeypatch):
    broken = ".version 6.3\n.target sm_75\n.address_size 64\nnothing"
    with pytest.raises(RuntimeError, match=r"ptxas refuses it for sm_90: .*error"):
        assembler.assembled(broken, "90", PTXAS)
    monkeypatch.setattr(device, "ptx", lambda game, pixels: broken)
    assert "refused" in parts.assemble("pong", "features", ("75",), PTXAS)


def test_the_last_line_counts_equal_games_and_cubins():
    found = {"a, features, emulated": {"equal": "yes"}, "a, pixels, emulated": {"equal": "yes"},
             "b, features, emulated": {"equal": "no: reward"}, "b, pixels, emulated": {"equal": "yes"}}
    views = ("features", "pixels")
    assert device_games.closing(found, ["a", "b"], views, ("75",)) == (
        "1 of 2 games equal in features, 2 of 2 in pictures, no ptxas here, so no cubins")
    found |= {f"{name}, {view}, assembled": {"used": (1, 2, 3)} for name in "ab" for view in views}
    found["b, pixels, assembled"] = {"refused": "an error"}
    assert device_games.closing(found, ["a", "b"], views, ("75", "90")).endswith("in pictures, 1 of 2 cubins for sm_75, 90")
    assert device_games.row("b", views, found)["registers, pixels"] == "an error"


@zig
@pytest.mark.slow  # some minutes less: test_games.py and the bounds above have the same work without processes
def test_the_short_run_ends_with_its_line(tmp_path, capsys):
    assert device_games.main(["--short", "--json", str(tmp_path / "kept.json")]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert line.startswith("3 of 3 games equal in features, ")
    assert PTXAS is None or line.endswith("3 of 3 cubins for sm_75, 120")


@zig
def test_results_are_kept_as_they_come_and_not_computed_again(tmp_path, capsys):
    path = tmp_path / "kept.json"
    arguments = ["--games", "cartpole", "--views", "features", "--emulate", "--json", str(path)]
    assert device_games.main(arguments) == 0
    assert "cartpole, features, emulated: {'equal': 'yes'" in capsys.readouterr().out
    (key, kept), = json.loads(path.read_text()).items()
    path.write_text(json.dumps({key: kept | {"equal": "no: planted"}}))
    assert device_games.main(arguments) == 1
    assert "| cartpole | no: planted |" in capsys.readouterr().out
    path.write_text(json.dumps({key: kept | {"equal": "no: planted", "facts": "of another source"}}))
    assert device_games.main(arguments) == 0


def test_cubins_of_another_assembler_are_made_anew(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(device_games, "ProcessPoolExecutor", lambda *_: ThreadPoolExecutor(1))
    monkeypatch.setattr(device_games, "equal", lambda *_: {"equal": "yes"})
    monkeypatch.setattr(device_games, "assemble", lambda *_: made.append("cubin") or {"refused": "a test"})
    monkeypatch.setattr(device_games.compiler, "digest", lambda *_: "the same")
    (program := tmp_path / "ptxas").touch(0o755)
    for release in ("13.0", "13.0", "13.1"):
        program.write_text(f"#!/bin/sh\necho ptxas: NVIDIA\necho Cuda compilation tools, release {release}\n")
        device_games.work_through(device_games.options_of(["--games", "pong", "--views", "features", "--ptxas", str(program),
                                                           "--json", str(tmp_path / "kept.json")]), ("75",))
    assert made == ["cubin"] * 2


def test_a_difference_and_a_fault_are_results(monkeypatch):
    import game_runs
    from ptx.faults import Fault
    for error, text in ((AssertionError("reward"), "no: AssertionError: reward"), (Fault("a race"), "no: Fault: a race")):
        def fails(*arguments, error=error, **settings):
            raise error
        monkeypatch.setattr(game_runs, "played", fails)
        assert parts.equal("cartpole", "features") == {"equal": text}


@pytest.mark.parametrize("argv", [["--jobs", "0"], ["--games", "nothing"]])
def test_wrong_options_end_it(argv, capsys):
    with pytest.raises(SystemExit):
        device_games.options_of(argv)
    assert argv[-1] in capsys.readouterr().err

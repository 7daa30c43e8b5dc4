"""set_state accepts what games produce and refuses the rest, and an accepted state does no harm.

tools/crafted_states.py does the work; `make crafted` runs it under the sanitizers.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import envs_c
from tools import crafted_states

FRAGILE = Path(__file__).parents[2] / "support" / "fragile" / "fragile.pyx"


@pytest.mark.parametrize("states, steps, depth", [
    pytest.param(40, 100, 200, id="short"), pytest.param(2000, 1000, 3000, id="full", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", envs_c.games())
def test_a_crafted_state_is_refused_or_does_no_harm(name, states, steps, depth):
    result = crafted_states.try_game(name, crafted_states.parse([f"--{key}={value}" for key, value in
                                                                 {"states": states, "steps": steps, "depth": depth}.items()]))
    assert result.faults == []
    assert result.accepted + result.refused == states and min(result.accepted, result.refused) > states // 20


@pytest.mark.parametrize("steps", [600, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", envs_c.games())
def test_every_state_of_long_play_is_accepted(name, steps):
    """Under all options at their ends and mixed, in steps of 1 and of 4 frames, with no-op starts and time limits."""
    game = envs_c.game(name)
    noop_max = 30 if game.actions[0] == "NOOP" else 0
    for number, options in enumerate(crafted_states.all_options(game)):
        settings = [{}, {"frame_skip": 1}, {"noop_max": noop_max, "sticky": 0.25, "time_limit": 100}][number % 3]
        states = crafted_states.true_states(game, options, steps, seed=number, **settings)
        core = envs_c.VecEnv(game, len(states), options=options)
        saved = crafted_states.close_state(core._signature(), len(states), states.tobytes())
        core.set_state(saved)
        assert core.get_state() == saved


@pytest.fixture(scope="module")
def faults(shared_folder):
    """The lines that the tool prints for a game without `valid`, by fault."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVS_C_CACHE", str(shared_folder / "fragile"))
        command = [sys.executable, "-m", "tools.crafted_states", str(FRAGILE), "--states=18", "--steps=10", "--depth=10",
                   "--limit=1", "--faults=18"]
        done = subprocess.run(command, cwd=crafted_states.ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 1, done.stderr
        lines = done.stdout.splitlines()
        yield {line.partition(": ")[2]: lines[k : k + 3] for k, line in enumerate(lines) if line.startswith("FAULT")}


@pytest.mark.skipif("SANITIZE" in os.environ, reason="a sanitizer reports these faults in other words")
@pytest.mark.parametrize("fault", ["killed by SIGSEGV", "did not return within 1 seconds of CPU time",
                                   "AssertionError: reward is not finite", "AssertionError: a neighbour changed"])
def test_the_tool_finds_each_fault_and_prints_how_to_repeat_it(faults, fault):
    _, what, repeat = faults[fault]
    assert "state" in what and "options {" in what
    done = subprocess.run([sys.executable, *shlex.split(repeat)[1:]], cwd=crafted_states.ROOT, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 1 and f": {fault}\n" in done.stdout, done.stdout + done.stderr


def test_an_unknown_game_is_a_wrong_argument_and_no_fault(capsys):
    with pytest.raises(SystemExit):
        crafted_states.main(["pongo"])
    printed = capsys.readouterr()
    assert "unknown game 'pongo'" in printed.err.splitlines()[-1] and "FAULT" not in printed.out

"""What the trainer is for: presets learn their games. `pytest -m learn`; test_memory's rows are short enough for each run."""

import json

import pytest

from trainer.__main__ import main


def evaluated(tmp_path, *words) -> dict:
    """The evaluation at the end of a training by the command line."""
    folder = tmp_path / "run"
    assert main([*words, "--device", "cpu", "--no-gif", "--run-dir", str(folder)]) == 0
    return json.loads((folder / "evaluation.json").read_text())


@pytest.mark.parametrize(("memory", "low", "high"), [("lstm", 0.95, 1.0), ("none", 0.0, 0.6)])
def test_t_maze_is_solved_by_an_lstm_and_not_by_a_policy_without_memory(tmp_path, memory, low, high):
    """The preset as it is; the share of 500 episodes that reach the prize (0.6 is 4.5 standard errors above chance)."""
    assert low <= evaluated(tmp_path, "tmaze", "--memory", memory, "--eval-episodes", "500")["mean"] <= high


@pytest.mark.learn
@pytest.mark.parametrize(("words", "least"), [
    pytest.param("cartpole", 475, id="CartPole: 475 of 500"),
    pytest.param("breakout --total-steps 20_000_000", 300, id="Breakout: 300 of 864"),
    pytest.param("go --options size=5 opponent=0 --total-steps 8_000_000 --eval-episodes 1000", 0.9,
                 id="Go 5x5: 95% of games won, at 1 and -1 a game"),
])
def test_a_preset_learns_its_game(tmp_path, words, least):
    assert evaluated(tmp_path, *words.split())["mean"] >= least

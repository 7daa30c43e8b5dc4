"""T-maze needs a memory and no more than that: an LSTM solves it, a policy without memory stays at chance."""

import json

import pytest

from trainer.__main__ import main


@pytest.mark.parametrize(("memory", "low", "high"), [("lstm", 0.95, 1.0), ("none", 0.0, 0.6)])
def test_is_solved_by_an_lstm_and_not_by_a_policy_without_memory(tmp_path, memory, low, high):
    """The preset as it is; the share of 500 episodes that reach the prize (0.6 is 4.5 standard errors above chance)."""
    folder = tmp_path / "run"
    command = ["tmaze", "--memory", memory, "--device", "cpu", "--eval-episodes", "500", "--no-gif", "--run-dir", str(folder)]
    assert main(command) == 0
    assert low <= json.loads((folder / "evaluation.json").read_text())["mean"] <= high

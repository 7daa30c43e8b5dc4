"""Agents learn: a short T-maze in every run, the whole T-maze with `pytest -m slow`, other presets with `pytest -m learn`."""

import json
import math

import numpy as np
import pytest

import envs_c
from trainer.__main__ import main
from trainer.play import evaluate
from trainer.policy.load import load_run


def evaluated(tmp_path, *words) -> dict:
    """The evaluation at the end of a training by the command line."""
    folder = tmp_path / "run"
    assert main([*words, "--device", "cpu", "--no-gif", "--run-dir", str(folder)]) == 0
    return json.loads((folder / "evaluation.json").read_text())


SHORT = "--options length=2 --total-steps 200_000 --num-envs 64 --num-threads 1"  # a corridor of 2 cells, not 10


@pytest.mark.parametrize("options", [SHORT, pytest.param("", marks=pytest.mark.slow)], ids=["short", "preset"])
@pytest.mark.parametrize(("memory", "low", "high"), [("lstm", 0.95, 1.0), ("none", 0.0, 0.6)])
def test_t_maze_is_solved_by_an_lstm_and_not_by_a_policy_without_memory(tmp_path, memory, low, high, options):
    """The mean is the share of 500 episodes that reach the prize; 0.6 is 4.5 standard errors above chance."""
    result = evaluated(tmp_path, "tmaze", "--memory", memory, "--eval-episodes", "500", *options.split())
    assert low <= result["mean"] <= high


def training(words: str, least: float, name: str, *marks):
    """A case: the command's words, the least mean of its evaluation."""
    return pytest.param(words, least, id=name, marks=marks)


MINUTES = pytest.mark.slow  # CI leaves these out


@pytest.mark.learn
@pytest.mark.parametrize(("words", "least"), [
    training("cartpole --total-steps 100_000", 475, "CartPole, 100 thousand steps: 475 of 500"),
    training("breakout --total-steps 2_000_000", 4, "Breakout, 2 million steps: 4 (random play: 1.2)"),
    training("go --options size=5 opponent=0 --total-steps 1_000_000 --eval-episodes 500", 0.5,
             "Go 5x5, 1 million steps: 75% of games won, at 1 and -1 a game"),
    training("cartpole", 475, "CartPole: 475 of 500", MINUTES),
    training("breakout --total-steps 20_000_000", 300, "Breakout: 300 of 864", MINUTES),
    training("breakout --view pixels --total-steps 1_200_000 --lr-schedule constant --no-eval-greedy", 5,
             "Breakout from pictures: 5 of 864 (random play: 1.2)", MINUTES),
    training("gym:CartPole-v1 --total-steps 300_000", 475, "Gymnasium's CartPole: 475 of 500", MINUTES),
    training("gym:Pendulum-v1 --total-steps 200_000", -250, "Gymnasium's Pendulum, with continuous actions: -250", MINUTES),
    training("gym:MountainCarContinuous-v0 --total-steps 200_000", 90, "Gymnasium's MountainCarContinuous: 90 of 100", MINUTES),
    training("go --options size=5 opponent=0 --total-steps 8_000_000 --eval-episodes 1000", 0.9,
             "Go 5x5: 95% of games won, at 1 and -1 a game", MINUTES),
])
def test_a_preset_learns_its_game(tmp_path, words, least):
    assert evaluated(tmp_path, *words.split())["mean"] >= least


def largest_tiles(result: evaluate.Evaluation) -> np.ndarray:
    """(E,) the largest tile of every game of 2048, found by replaying the games."""
    count = len(result.returns)
    env = envs_c.VecEnv(envs_c.game("g2048"), count, seed=0)
    env.set_state(result.states["environments"].numpy().tobytes())
    observation = np.zeros((count, *env.observation_shape), env.observation_dtype)
    action, outputs = np.zeros(count, np.int32), np.zeros((3, count), np.float32)
    batch = env.bind(0, count, actions=action, observation=observation, reward=outputs[0], terminated=outputs[1],
                     truncated=outputs[2])
    largest = np.zeros(count, np.uint8)
    for step, actions in enumerate(result.actions):
        action[:] = actions
        batch.step()
        largest = np.where(step < result.lengths, np.maximum(largest, observation.reshape(count, -1).max(1)), largest)
    return 1 << largest.astype(int)


@pytest.mark.learn
@pytest.mark.slow  # 160 million steps: as long as all others together
def test_2048_s_preset_reaches_the_tile_of_2048_in_half_of_its_games(tmp_path):
    folder = tmp_path / "run"
    assert main(["g2048", "--device", "cpu", "--no-gif", "--eval-episodes", "0", "--run-dir", str(folder)]) == 0
    _, policy, config = load_run(folder, "cpu")
    result = evaluate.play(policy, config.game, config.env, episodes=1000, seed=1, filmed=math.inf)
    assert (largest_tiles(result) >= 2048).mean() >= 0.5

"""Cave keeps the contract of envs_c's games and its own rules."""

from pathlib import Path

import numpy as np
import pytest

import envs_c
from envs_c import testing

CAVE = str(Path(__file__).with_name("cave.pyx"))
COAST, THRUST = range(2)


def test_keeps_the_contract() -> None:
    testing.check(CAVE)


@pytest.mark.parametrize(("action", "frames"), [(COAST, 12), (THRUST, 12)])
def test_a_ship_that_never_changes_its_action_hits_the_rock_in_frame_12(action: int, frames: int) -> None:
    """The rock is 8 tiles away, 64 eighths: 1 + 2 + ... + 8 = 36 in 8 frames, then 8 in each frame."""
    env = envs_c.make(CAVE, 100, seed=1, autoreset="disabled")
    env.reset()
    for frame in range(1, frames + 1):
        _, reward, over, _, _ = env.step(np.full(100, action))
        assert (reward == 1).all() and (over == (frame == frames)).all()


def test_steering_for_the_middle_of_the_gap_gets_far() -> None:
    env = envs_c.make(CAVE, 100, seed=1)
    observation, scores = env.reset()[0], list[float]()
    while len(scores) < 100:
        ahead = observation[:, [4, 5, 6, 7]].mean(1)  # the middle of columns 2 and 3 ahead of the ship, from the ship
        observation, _, _, _, infos = env.step((observation[:, 0] > 2 * ahead).astype(int))
        if "episode_stats" in infos:
            scores += infos["episode_stats"]["r"][infos["_episode_stats"]].tolist()
    assert np.median(scores) > 200

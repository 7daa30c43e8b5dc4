"""Bonuses of presets for learning."""

import numpy as np
import pytest
import torch
from space_machine import FIRE, LEFT_FIRE, RIGHT_FIRE, begun

import envs_c
from trainer.errors import SettingError
from trainer.ppo.bonuses import seaquest, space_invaders
from trainer.ppo.own_code import Rollout
from trainer.training.api import Session


def rollout_of(observation) -> Rollout:
    """A rollout of one environment with these observations (T + 1, F), and rewards of 0."""
    observation = torch.as_tensor(observation)[:, None]
    steps = len(observation)
    flat = torch.zeros(steps - 1, 1)
    return Rollout(observation, flat, flat, torch.zeros(steps, 1), flat, flat, torch.zeros(steps, 1), flat + 1)


def rollout(game: str, count: int, **rows) -> Rollout:
    """A rollout of one environment with `count` features: some by name, one number an observation, the others 0."""
    names = [feature.name for feature in envs_c.game(game).features for _ in range(feature.count)]
    observation = torch.zeros(len(next(iter(rows.values()))), count)
    for name, values in rows.items():
        observation[:, names.index(name.replace("_", " "))] = torch.tensor(values)
    return rollout_of(observation)


@pytest.mark.parametrize("rows, bonus", [
    ({"divers": [0, 1 / 3, 1 / 3, 2 / 3]}, [1, 0, 1]),
    ({"divers": [1 / 3, 0], "docked": [1, 1]}, [-1]),
    ({"divers": [2, 0], "docked": [1, 0]}, [0]),                                        # a rescue has its own points
    ({"divers": [1 / 3, 0], "waiting": [0, 1]}, [0]),                                   # lost with a life
    ({"oxygen_used": [2, 62 / 32, 61 / 32], "docked": [1, 1, 1]}, [1, 0.5]),
    ({"oxygen_used": [41 / 32, 39 / 32, 37 / 32], "docked": [1, 1, 1]}, [1, 0]),        # 23 units, then 25
    ({"oxygen_used": [62 / 32, 60 / 32], "docked": [0, 0]}, [0]),
    ({"oxygen_used": [62 / 32, 0], "docked": [1, 0], "waiting": [0, 1]}, [0]),          # the tank of the next life
    ({"oxygen_used": [1, 33 / 32]}, [0])])
def test_seaquest_gives_a_bonus_for_divers_and_for_air(rows, bonus):
    assert seaquest(rollout("seaquest", 114, **rows))[:, 0].tolist() == pytest.approx(bonus)


def danger(left: list[int], top: int) -> float:
    """The danger of so many invaders in each row, the first of which is at y `top`."""
    return sum(count * 2 ** ((top + 18 * row - 161) / 20) for row, count in enumerate(left))


FULL = danger([6] * 6, 71)  # as the fifth wave begins


@pytest.mark.parametrize("rows, bonus", [
    ({"formation_y": [1, 1]}, [0]),
    ({"formation_y": [1, 1.25]}, [-100 * (danger([6] * 6, 81) - FULL)]),                # a turn
    ({"formation_y": [1, 1], "invaders_gone": [0, 1]}, [100 * danger([1], 71)]),        # the first of the highest row
    ({"formation_y": [1, 1, 1.25], "wave": [0.75, 1, 1]}, [0, -100 * (danger([6] * 6, 81) - FULL)])])
def test_space_invaders_gives_a_bonus_as_the_danger_falls_within_a_wave(rows, bonus):
    assert space_invaders(rollout("space_invaders", 121, **rows))[:, 0].tolist() == pytest.approx(bonus, rel=1e-4)


def test_space_invaders_rates_the_danger_of_a_game_as_its_state_has_it():
    """The sum over steps within a wave is the danger at their begin less that at their end."""
    space = begun(bombs=0, forecast=1)
    seen, dangers = [], []
    for step in range(1_200):
        space.step((FIRE, RIGHT_FIRE, LEFT_FIRE)[step // 40 % 3])
        seen.append(space.seen.copy())
        dangers.append(danger([int(row).bit_count() for row in space.row], int(space.y)))
    assert min(dangers) < 0.9 * dangers[0]
    rewards = space_invaders(rollout_of(np.stack(seen)))[:, 0]
    assert rewards.tolist() == pytest.approx((-100 * np.diff(dangers)).tolist(), abs=1e-3)


def test_the_bonus_is_added_to_rewards_of_valid_steps():
    one = rollout("seaquest", 114, divers=[0, 1 / 3, 2 / 3])
    one.reward[:], one.valid[1] = 5, 0
    assert seaquest(one)[:, 0].tolist() == [6, 5]


@pytest.mark.parametrize("game", ["seaquest", "space_invaders"])
def test_a_preset_trains_with_its_bonus_without_asking_for_permission(game):
    with Session(game, num_envs=8, horizon=8, minibatch=64, total_steps=10_000, num_threads=1) as session:
        next(iter(session))
        assert session.step == 64 and session.config.ppo.reward_transform == f"trainer.ppo.bonuses:{game}"


@pytest.mark.parametrize("game", ["seaquest", "space_invaders"])
@pytest.mark.parametrize("settings", [{"view": "pixels"}, {"normalize_observations": True}], ids=str)
def test_other_observations_are_refused_with_what_to_do(game, settings):
    with pytest.raises(SettingError, match=rf"reward_transform.*features of {game}.*use this game with view features"), \
            Session(game, num_envs=8, horizon=8, minibatch=64, total_steps=10_000, num_threads=1,
                    reward_transform=f"trainer.ppo.bonuses:{game}", **settings) as session:
        for _ in session:
            pass

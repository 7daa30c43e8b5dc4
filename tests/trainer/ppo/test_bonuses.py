"""Bonuses of presets for learning."""

import pytest
import torch

import envs_c
from trainer.errors import SettingError
from trainer.ppo.bonuses import seaquest
from trainer.ppo.own_code import Rollout
from trainer.training.api import Session

NAMES = [feature.name for feature in envs_c.game("seaquest").features for _ in range(feature.count)]


def rollout(**rows) -> Rollout:
    """A rollout of one environment: features by name, one number an observation; rewards of 0."""
    steps = len(next(iter(rows.values())))
    observation = torch.zeros(steps, 1, 114)
    for name, values in rows.items():
        observation[:, 0, NAMES.index(name.replace("_", " "))] = torch.tensor(values)
    flat = torch.zeros(steps - 1, 1)
    return Rollout(observation, flat, flat, torch.zeros(steps, 1), flat, flat, torch.zeros(steps, 1), flat + 1)


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
    assert seaquest(rollout(**rows))[:, 0].tolist() == pytest.approx(bonus)


def test_the_bonus_is_added_to_rewards_of_valid_steps():
    one = rollout(divers=[0, 1 / 3, 2 / 3])
    one.reward[:], one.valid[1] = 5, 0
    assert seaquest(one)[:, 0].tolist() == [6, 5]


def test_the_preset_of_seaquest_trains_with_the_bonus_without_asking_for_permission():
    with Session("seaquest", num_envs=8, horizon=8, minibatch=64, total_steps=10_000, num_threads=1) as session:
        next(iter(session))
        assert session.step == 64 and session.config.ppo.reward_transform == "trainer.ppo.bonuses:seaquest"


@pytest.mark.parametrize("settings", [
    {"view": "pixels", "reward_transform": "trainer.ppo.bonuses:seaquest"}, {"normalize_observations": True}], ids=str)
def test_other_observations_are_refused_with_what_to_do(settings):
    with pytest.raises(SettingError, match=r"reward_transform.*use the game seaquest with view features"), \
            Session("seaquest", num_envs=8, horizon=8, minibatch=64, total_steps=10_000, num_threads=1, **settings) as session:
        for _ in session:
            pass

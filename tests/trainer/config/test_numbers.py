"""Settings take NumPy's numbers, and what is no setting is refused by name."""

import json

import numpy as np
import pytest

import envs_c
from bridge import GameSource, GymnasiumSource, Pipeline, open_device
from envs_c.errors import InvalidArgument
from trainer import Session, preset, train
from trainer.config import Config
from trainer.config.games import GameName
from trainer.errors import TrainerError


def test_settings_of_numpy_become_pythons():
    config = preset("breakout", seed=np.int64(3), total_steps=np.int32(200_000), num_envs=np.uint16(128), gamma=np.float32(0.5),
                    learning_rate=np.int8(1), gif=np.bool_(False), options={"lives": np.int64(3)})
    kinds = [type(value) for value in (config.run.seed, config.ppo.total_steps, config.env.num_envs, config.ppo.gamma,
                                       config.ppo.learning_rate, config.run.gif, config.env.options["lives"])]
    assert kinds == [int, int, int, float, float, bool, int]
    assert json.loads(json.dumps(config.to_dict()))["run"]["seed"] == 3


def test_a_training_takes_numbers_of_numpy():
    settings = {"seed": 3, "num_envs": 8, "minibatch": 64, "total_steps": 2048}
    with Session("cartpole", **{name: np.int64(value) for name, value in settings.items()}) as mine, \
         Session("cartpole", **settings) as theirs:
        assert mine.config == theirs.config
        assert next(iter(mine))["loss_value"] == next(iter(theirs))["loss_value"]


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: preset(1.5), "game must be the name of a game, such as 'breakout', not 1.5"),
    (lambda: preset("cartpole", num_envs=True), "num_envs must be an integer"),
    (lambda: train("cartpole", num_threads={}), "num_threads must be an integer"),
    (lambda: train("cartpole", encoder=[]), "encoder must be"), (lambda: train([]), "config must be a Config or the name"),
    (lambda: Config("x", None), "env must be of class EnvConfig, not None"),
    (lambda: Config(GameName("x"), policy={}), "policy must be of class PolicyConfig"),
    (lambda: Session("cartpole").save("a\0"), "must not contain the character NUL"),
    (lambda: envs_c.make_async("cartpole", 2, render_mode=np.zeros(2)), "render_mode must be one of"),
    (lambda: open_device(0), "device must be auto, cpu, cuda, or cuda:1 for the second GPU, not 0"),
    (lambda: GameSource([]), r"env must be an envs_c.VecEnv, not \[\]"),
    (lambda: GymnasiumSource({}), r"envs must be .*, one or more, not \{\}"),
    (lambda: Pipeline([]), r"envs must be .*, one or more, not \[\]"), (lambda: Pipeline([1]), "envs must be"),
])
def test_a_wrong_argument_is_named(call, sentence):
    with pytest.raises((InvalidArgument, TrainerError), match=sentence):
        call()

"""The preset of an environment of Gymnasium follows from its spaces."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from trainer.commands import train as train_command
from trainer.commands.arguments import spaces_for
from trainer.config import Config, EnvConfig
from trainer.config.games import GameName
from trainer.config.preset import Spaces, preset
from trainer.environments import spaces_of
from trainer.training import train


class Blank(gymnasium.Env):
    """An environment with other spaces for each value of its options."""

    observation_space = spaces.Box(-1, 1, (3,), np.float32)
    action_space = spaces.Discrete(2)

    def __init__(self, pixels=0, continuous=0):
        if pixels:
            self.observation_space = spaces.Box(0, 255, (96, 96), np.uint8)
        if continuous:
            self.action_space = spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        return self.observation_space.sample(), 0.0, False, True, {}


@pytest.fixture(autouse=True)
def registered():
    gymnasium.register("Blank-v0", entry_point=Blank)
    yield
    gymnasium.registry.pop("Blank-v0")


@pytest.mark.parametrize(("options", "wanted"), [
    ({}, Spaces("discrete", True)),
    ({"continuous": 1.0}, Spaces("continuous", True)),
    ({"pixels": 1.0}, Spaces("pictures", False)),
    ({"pixels": 1.0, "continuous": 1.0}, Spaces("pictures", False)),
])
def test_pictures_decide_and_then_the_actions(options, wanted):
    assert spaces_of(GameName("gym:Blank-v0"), EnvConfig(options=options)) == wanted


@pytest.mark.parametrize(("game", "words", "wanted"), [
    ("gym:Blank-v0", "", Spaces("discrete", True)),
    ("gym:Blank-v0", "--options continuous=1 --num-envs 8 --memory lstm --no-gif -h", Spaces("continuous", True)),
    ("gym:Blank-v0", "--preset=own.toml", None),
    ("gym:ALE/Pong-v5", "", None),
    ("cartpole", "", None),
])
def test_the_options_of_the_environment_count_and_other_games_are_not_made(game, words, wanted):
    assert spaces_for(GameName(game), words.split()) == wanted


@pytest.mark.parametrize(("words", "wanted"), [
    ("", {"num_envs": 16, "epochs": 10, "memory": "none", "normalize_observations": True, "normalize_rewards": True}),
    ("--memory lstm --num-envs 8", {"num_envs": 8, "epochs": 10, "memory": "lstm"}),
    ("--options pixels=1", {"frame_stack": 4, "normalize_observations": False, "epochs": 4}),
])
def test_a_training_without_an_option_has_the_preset_and_options_change_it(monkeypatch, words, wanted):
    trained = []
    monkeypatch.setattr(train, "train", trained.append)
    train_command.main(["gym:Blank-v0", *words.split()])
    config, = trained
    settings = vars(config.env) | vars(config.policy) | vars(config.ppo)
    assert {name: settings[name] for name in wanted} == wanted


@pytest.mark.parametrize("kind", ["discrete", "continuous", "pictures"])
@pytest.mark.parametrize("numbers", [True, False])
def test_observations_without_numbers_are_not_normalized(kind, numbers):
    config = preset(GameName("gym:X-v0"), Spaces(kind, numbers))
    assert config.policy.normalize_observations == (numbers and kind != "pictures")
    assert config != Config("gym:X-v0")

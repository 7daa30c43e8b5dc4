"""The preset of an environment of Gymnasium follows from its spaces, on the command line and in Python."""

from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import trainer
from trainer.commands import train as train_command
from trainer.commands.arguments import spaces_for
from trainer.config import Config, EnvConfig
from trainer.config.config import overlay, sizes_checked_later
from trainer.config.games import GameName
from trainer.config.preset import Spaces, preset
from trainer.environments import spaces_of
from trainer.errors import ConfigError
from trainer.training import api, train

FILE = Path(__file__).parents[2] / "support/own/own_environments.py"


class Blank(gymnasium.Env):
    """An environment with other spaces for each value of its options."""

    observation_space = spaces.Box(-1, 1, (3,), np.float32)
    action_space = spaces.Discrete(2)
    made = 0

    def __init__(self, pixels=0, continuous=0):
        Blank.made += 1
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
def registered(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(Blank, "made", 0)
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


SAME = [  # the game, words of the command line, and the same in Python
    ("gym:Blank-v0", "", {}),
    ("gym:Blank-v0", "--options continuous=1 --num-envs 8 --minibatch 512", {"options": {"continuous": 1}, "num_envs": 8,
                                                                            "minibatch": 512}),
    ("gym:Blank-v0", "--options pixels=1 --memory lstm", {"options": {"pixels": 1}, "memory": "lstm"}),
    ("gym:Blank-v0", "--num-envs 8 --num-batches 2 --seed 3", {"num_envs": 8, "num_batches": 2, "seed": 3}),
    ("gym:Blank-v0", "--wrap gymnasium.wrappers:FlattenObservation --options pixels=1",
     {"wrap": "gymnasium.wrappers:FlattenObservation", "options": {"pixels": 1}}),
    ("gym:own_environments:Line", "", {}),
    (f"{FILE}:Mixed", "", {}),
    (f"{FILE}:Pictures", "--frame-stack 2", {"frame_stack": 2}),
]


@pytest.mark.parametrize(("game", "words", "settings"), SAME)
def test_python_and_the_command_line_train_with_the_same_settings(monkeypatch, game, words, settings):
    trained = []
    monkeypatch.setattr(train, "train", trained.append)
    monkeypatch.setattr(api, "train_run", lambda config, _: trained.append(config))
    train_command.main([game, *words.split()])
    made, Blank.made = Blank.made, 0
    trainer.train(game, **settings)
    assert trained[0] == trained[1] == trainer.preset(game, **settings)
    with sizes_checked_later():
        assert trained[0] != overlay(Config(trained[0].game), api.by_section(settings))  # the bare defaults
    assert Blank.made == 2 * made == 2 * game.endswith("Blank-v0")  # once in each call


def test_a_session_in_python_has_the_preset_too():
    with trainer.Session("gym:Blank-v0", num_envs=8, device="cpu") as session:
        assert session.config == trainer.preset("gym:Blank-v0", num_envs=8, device="cpu")


@pytest.mark.parametrize(("game", "settings"), [("gym:Blank-v0", {"file": "own.toml"}), ("cartpole", {}),
                                                ("gym:ALE/Pong-v5", {})])
def test_python_makes_no_environment_for_another_preset(monkeypatch, tmp_path, game, settings):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text("[ppo]\ngamma = 0.5\n")
    monkeypatch.setattr(api, "spaces_of", None)
    assert trainer.preset(game, **settings).game == game


@pytest.mark.parametrize(("settings", "words"), [
    ({"options": {"pixles": 1}}, "pixles"), ({"view": "pixels"}, "view must be left out for gym:Blank-v0"),
    ({"num_env": 3}, "unknown setting num_env; did you mean num_envs?")])
def test_python_names_what_keeps_an_environment_from_being_made(settings, words):
    with pytest.raises(ConfigError, match=words):
        trainer.preset("gym:Blank-v0", **settings)

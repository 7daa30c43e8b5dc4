"""Settings are checked wherever they come from, and an error names the setting, its value and what it may be."""

import dataclasses
import inspect
import json
import re

import pytest

import envs_c
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.config import preset as preset_module
from trainer.config.config import overlay
from trainer.config.preset import preset
from trainer.errors import ConfigError

SECTIONS = [EnvConfig, PolicyConfig, PPOConfig, SelfPlayConfig, RunConfig]
FIELDS = [(section, one.name) for section in SECTIONS for one in dataclasses.fields(section)]

REFUSED = [
    (EnvConfig, "view", "sound", "features or pixels"),
    (EnvConfig, "num_envs", 0, "an integer from 1 to 1,048,576"),
    (EnvConfig, "num_envs", 2.0, "an integer"),
    (EnvConfig, "num_envs", True, "an integer"),
    (EnvConfig, "num_envs", None, "an integer"),
    (EnvConfig, "num_envs", "many", "an integer"),
    (EnvConfig, "frame_skip", 0, "none, or an integer from 1"),
    (EnvConfig, "sticky", 1.5, "a number from 0 to 1"),
    (EnvConfig, "sticky", -0.1, "a number from 0 to 1"),
    (EnvConfig, "noop_max", -1, "an integer from 0"),
    (EnvConfig, "time_limit", 0, "none, or an integer from 1"),
    (EnvConfig, "reward_clip", 0.0, "none, or a number above 0"),
    (EnvConfig, "num_threads", -1, "an integer from 0"),
    (EnvConfig, "options", {"lives": "three"}, "a number each"),
    (EnvConfig, "options", {3: 1.0}, "names of options"),
    (EnvConfig, "options", ["lives"], "names of options"),
    (PolicyConfig, "encoder_size", 0, "an integer from 1"),
    (PolicyConfig, "lstm_size", 0, "an integer from 1"),
    (PolicyConfig, "precision", "float16", "auto, float32 or bfloat16"),
    (PPOConfig, "total_steps", 0, "an integer from 1"),
    (PPOConfig, "horizon", 0, "an integer from 1"),
    (PPOConfig, "minibatch", 0, "an integer from 1"),
    (PPOConfig, "epochs", 0, "an integer from 1"),
    (PPOConfig, "learning_rate", 0.0, "a number above 0"),
    (PPOConfig, "learning_rate", float("nan"), "a number above 0"),
    (PPOConfig, "learning_rate", float("inf"), "a number above 0"),
    (PPOConfig, "lr_schedule", "step", "constant, linear or cosine"),
    (PPOConfig, "gamma", 1.01, "a number from 0 to 1"),
    (PPOConfig, "gae_lambda", -0.01, "a number from 0 to 1"),
    (PPOConfig, "clip", 0.0, "a number above 0"),
    (PPOConfig, "value_clip", -0.1, "a number from 0"),
    (PPOConfig, "value_coef", -0.1, "a number from 0"),
    (PPOConfig, "entropy_coef", -0.1, "a number from 0"),
    (PPOConfig, "max_grad_norm", 0.0, "a number above 0"),
    (PPOConfig, "adam_beta1", 1.0, "a number from 0"),
    (PPOConfig, "adam_beta2", 1.0, "a number from 0"),
    (PPOConfig, "adam_eps", 0.0, "a number above 0"),
    (RunConfig, "seed", -1, "an integer from 0"),
    (RunConfig, "device", "tpu", "auto, cpu, cuda, or cuda:1"),
    (RunConfig, "run_dir", 3, "none, or a text"),
    (RunConfig, "stop_at", 0, "none, or an integer from 1"),
    (RunConfig, "dashboard", "yes", "true or false"),
    (RunConfig, "checkpoint_seconds", -1.0, "a number from 0"),
    (RunConfig, "eval_episodes", -1, "an integer from 0"),
    (RunConfig, "gif", 1, "true or false"),
]


@pytest.mark.parametrize(("section", "name", "value", "may_be"), REFUSED)
def test_a_bad_value_is_refused_by_name_with_what_it_may_be(section, name, value, may_be):
    with pytest.raises(ConfigError, match=f"^{name} is {re.escape(repr(value))}; it may be .*{re.escape(may_be)}"):
        section(**{name: value})


def test_the_errors_are_value_errors():
    with pytest.raises(ValueError, match="num_envs"):
        EnvConfig(num_envs=0)


@pytest.mark.parametrize(("section", "name", "value"), [
    (EnvConfig, "frame_skip", None), (EnvConfig, "frame_skip", 1), (EnvConfig, "sticky", 1),
    (EnvConfig, "reward_clip", 1), (EnvConfig, "options", {"lives": 3}), (PPOConfig, "gamma", 1),
    (PPOConfig, "value_clip", 0), (RunConfig, "seed", 0), (RunConfig, "checkpoint_seconds", 0),
])
def test_the_edges_of_a_range_are_taken(section, name, value):
    assert getattr(section(**{name: value}), name) == value


def test_an_integer_does_for_a_number():
    assert type(PPOConfig(gamma=1).gamma) is float


@pytest.mark.parametrize(("section", "name"), FIELDS, ids=lambda value: getattr(value, "__name__", value))
def test_every_field_is_frozen_and_described(section, name):
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(section(), name, None)
    source = inspect.getsource(section)
    assert re.search(rf'^    {name}: .*\n    """\S.*\."""$', source, re.MULTILINE)


def test_field_names_are_unique_since_options_are_flat():
    names = [name for _, name in FIELDS]
    assert len(names) == len(set(names))


def test_derived_sizes():
    config = Config("x", EnvConfig(num_envs=12), ppo=PPOConfig(horizon=8, minibatch=24, total_steps=200))
    assert (config.batch_steps, config.num_minibatches, config.sequences_per_minibatch) == (96, 4, 3)
    assert config.num_iterations == 3
    assert dataclasses.replace(config, ppo=dataclasses.replace(config.ppo, total_steps=192)).num_iterations == 2


@pytest.mark.parametrize(("num_envs", "horizon", "minibatch", "would_do"), [
    (12, 8, 100, "8, 16, 24, 32, 48 or 96"),   # not whole sequences
    (12, 8, 40, "8, 16, 24, 32, 48 or 96"),    # 12 environments are not a multiple of 5
    (12, 8, 192, "8, 16, 24, 32, 48 or 96"),   # larger than the rollout
    (7, 4, 8, "4 or 28"),
    (1, 64, 32, "64"),
    (1024, 64, 1000, "64, 128, 256, 512, 1,024, 2,048, 4,096, 8,192, 16,384 or 32,768"),
])
def test_a_minibatch_of_no_whole_sequences_is_refused_with_those_that_would_do(num_envs, horizon, minibatch, would_do):
    with pytest.raises(ConfigError, match=f"minibatch is {minibatch:,}; .* it may be {would_do}$"):
        Config("x", EnvConfig(num_envs=num_envs), ppo=PPOConfig(horizon=horizon, minibatch=minibatch))


def test_more_batches_than_environments_are_refused():
    with pytest.raises(ConfigError, match="num_batches is 5; with 4 environments"):
        EnvConfig(num_envs=4, num_batches=5)


@pytest.mark.parametrize("game", ["", None, 3])
def test_a_game_is_a_name(game):
    with pytest.raises(ConfigError, match="game is"):
        Config(game)


def test_a_config_survives_json():
    config = Config("x", EnvConfig(options={"lives": 3}, frame_skip=2), run=RunConfig(run_dir="a b", gif=False))
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda saved: saved["ppo"].pop("gamma"), "missing setting ppo.gamma"),
    (lambda saved: saved.pop("run"), "missing setting run"),
    (lambda saved: saved["env"].update(num_env=3), "unknown setting env.num_env; did you mean env.num_envs?"),
    (lambda saved: saved["policy"].update(xyz=1), "unknown setting policy.xyz; there are encoder, encoder_size"),
    (lambda saved: saved.update(extra={}), "unknown setting extra"),
    (lambda saved: saved.update(env=3), "the settings of env are 3"),
    (lambda saved: saved["ppo"].update(gamma="high"), "gamma is 'high'"),
])
def test_from_dict_is_strict(change, sentence):
    saved = Config("x").to_dict()
    change(saved)
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        Config.from_dict(saved)


@pytest.mark.parametrize("game", envs_c.games())
def test_presets_load(game):
    assert preset(game).game == game


def test_a_game_without_a_preset_has_the_defaults():
    assert preset("no_such_game") == Config("no_such_game")
    assert preset("../breakout") == Config("../breakout")


@pytest.mark.parametrize(("text", "sentence"), [
    ("[ppo]\ngama = 0.9", "presets/game.toml: unknown setting ppo.gama; did you mean ppo.gamma"),
    ("[learning]\ngamma = 0.9", "presets/game.toml: unknown setting learning"),
    ("gamma = 0.9", "presets/game.toml: unknown setting gamma"),
    ("[ppo]\ngamma = 2", "presets/game.toml: gamma is 2"),
    ("[ppo", "presets/game.toml: "),
    ("[run]\nresume = 'runs/x'", "presets/game.toml: run.resume is no setting of a preset; write --resume runs/x"),
])
def test_a_bad_preset_is_refused_by_name(tmp_path, monkeypatch, text, sentence):
    (tmp_path / "game.toml").write_text(text)
    monkeypatch.setattr(preset_module.resources, "files", lambda package: tmp_path)
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        preset("game")


def test_overlay_changes_only_what_it_names():
    config = overlay(Config("x"), {"ppo": {"gamma": 0.9}, "run": {"seed": 7}})
    assert (config.ppo.gamma, config.run.seed) == (0.9, 7)
    assert config.env == EnvConfig()

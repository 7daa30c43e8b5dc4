"""Settings are checked whatever they come from. An error names the setting, the requirement and the value."""

import dataclasses
import inspect
import json
import pickle
import re

import pytest

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig, sections
from trainer.config import preset as preset_module
from trainer.config.config import full_name, overlay
from trainer.config.games import GameName
from trainer.errors import ConfigError
from trainer.log.trackers import TRACKERS
from trainer.policy.encoders.make import ENCODERS
from trainer.policy.make import MEMORIES

SECTIONS = [EnvConfig, PolicyConfig, PPOConfig, SelfPlayConfig, RunConfig]
FIELDS = [(section, one.name) for section in SECTIONS for one in dataclasses.fields(section)]

# Never longer: a checkpoint without a later setting must go on, so such a setting belongs in `sections.ADDED_LATER`.
IN_THE_FIRST_CHECKPOINTS = [
    "view", "num_envs", "frame_skip", "sticky", "noop_max", "time_limit", "reward_clip", "sim", "num_threads",
    "num_batches", "options", "memory", "layers", "encoder", "frame_stack", "encoder_size", "lstm_size",
    "normalize_observations", "precision", "total_steps", "horizon", "minibatch", "epochs", "accumulate", "target_kl",
    "optimizer", "learning_rate", "lr_schedule", "reward_scale", "normalize_rewards", "gamma", "gae_lambda", "vtrace",
    "rho_clip", "c_clip", "priority_alpha", "priority_beta", "clip", "value_clip", "value_coef", "entropy_coef",
    "entropy_final", "max_grad_norm", "muon_momentum", "adam_beta1", "adam_beta2", "adam_eps", "seed", "device", "serial",
    "run_dir", "resume", "stop_at", "dashboard", "checkpoint_seconds", "eval_episodes", "gif", "track", "self_play",
    "pool_size", "pool_active", "current_share", "opponent_draw", "snapshot_every", "snapshot_win_rate", "anchor_games"]

REFUSED = [
    (EnvConfig, "view", "sound", "features, pixels or ram"),
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
    (EnvConfig, "options", {"lives": 1j}, "each once and with a value"),
    (EnvConfig, "options", {3: 1.0}, "names of options"),
    (EnvConfig, "options", ["lives"], "names of options"),
    (PolicyConfig, "encoder_size", 0, "an integer from 1"),
    (PolicyConfig, "lstm_size", 0, "an integer from 1"),
    (PolicyConfig, "memory", "gru", "lstm, mingru, none"),
    (PolicyConfig, "encoder", "transformer", "auto, mlp, conv, pixels, board, cells"),
    (PolicyConfig, "precision", "float16", "auto, float32, bfloat16 or measure"),
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
    (PPOConfig, "value_clip", -0.1, "a number from 0 to 1e+38"),
    (PPOConfig, "value_coef", -0.1, "a number of at least 0"),
    (PPOConfig, "entropy_coef", -0.1, "a number from 0 to 1e+38"),
    (PPOConfig, "max_grad_norm", 0.0, "a number above 0"),
    (PPOConfig, "adam_beta1", 1.0, "a number from 0"),
    (PPOConfig, "adam_beta2", 1.0, "a number from 0"),
    (PPOConfig, "adam_eps", 0.0, "a number above 0"),
    (RunConfig, "seed", -1, "an integer from 0"),
    (RunConfig, "device", "tpu", "auto, cpu, cuda, or cuda:1"),
    (RunConfig, "run_dir", 3, "none, or a text"),
    (RunConfig, "stop_at", 0, "none, or an integer from 1"),
    (RunConfig, "dashboard", "yes", "true or false"),
    (RunConfig, "checkpoint_seconds", -1.0, "a number of at least 0"),
    (RunConfig, "eval_episodes", -1, "an integer from 0"),
    (RunConfig, "gif", 1, "true or false"),
    (RunConfig, "track", "wandb,wandb", "each once"),
]


@pytest.mark.parametrize(("section", "name", "value", "requirement"), REFUSED)
def test_a_bad_value_is_refused_with_the_requirement(section, name, value, requirement):
    shown = repr(value).removesuffix(".0") if "a number" in requirement else repr(value)  # 0 for 0.0
    with pytest.raises(ConfigError, match=f"^{name} must be .*{re.escape(requirement)}.*, not {re.escape(shown)}$"):
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


@pytest.mark.parametrize(("num_envs", "horizon", "minibatch", "fitting"), [
    (12, 8, 100, "8, 16, 24, 32, 48 or 96"),   # a part of a sequence
    (12, 8, 40, "8, 16, 24, 32, 48 or 96"),    # 5 sequences do not divide 12 environments
    (12, 8, 192, "8, 16, 24, 32, 48 or 96"),   # larger than the rollout
    (7, 4, 8, "4 or 28"),
    (1, 64, 32, "64"),
    (1024, 64, 1000, "64, 128, 256, 512, 1,024, 2,048, 4,096, 8,192, 16,384 or 32,768"),
])
def test_a_minibatch_of_partial_sequences_is_refused_with_the_sizes_that_fit(num_envs, horizon, minibatch, fitting):
    with pytest.raises(ConfigError, match=f"^minibatch must be {fitting} with .*, not {minibatch:,}$"):
        Config("x", EnvConfig(num_envs=num_envs), ppo=PPOConfig(horizon=horizon, minibatch=minibatch))


def test_more_batches_than_environments_are_refused():
    with pytest.raises(ConfigError, match=r"^num_batches must be an integer from 0 to 4, .*, not 5$"):
        EnvConfig(num_envs=4, num_batches=5)


def test_the_names_of_memories_encoders_and_trackers_are_those_of_the_registries():
    assert set(sections.MEMORY_NAMES) == MEMORIES.keys()
    assert set(sections.ENCODER_NAMES) == ENCODERS.keys()
    assert set(sections.TRACKER_NAMES) == TRACKERS.keys()


@pytest.mark.parametrize("names", [sections.FREE_ON_RESUME, sections.FREE_BETWEEN_RANKS, sections.OF_THE_MACHINE,
                                   sections.OF_ONE_SESSION])
def test_sets_of_settings_hold_only_settings(names):
    assert names <= {name for _, name in FIELDS}


@pytest.mark.parametrize(("text", "kind", "short"), [
    ("breakout", (False, False), "breakout"), ("/games/dodge.pyx", (False, True), "dodge"),
    ("gym:ALE/Breakout-v5", (True, False), "gym:ALE/Breakout-v5"), ("gym:x.pyx", (True, False), "gym:x.pyx"),
])
def test_a_game_s_name_has_a_kind(text, kind, short):
    name = GameName(text)
    assert (name, (name.is_gym, name.is_file), name.short) == (text, kind, short)
    assert name.gym_id == text.removeprefix("gym:")


def test_a_config_parses_its_game_once_and_files_keep_the_text():
    made = Config("gym:X-v0")
    for config in (made, Config.from_dict(made.to_dict()), pickle.loads(pickle.dumps(made))):
        assert type(config.game) is GameName and config.game.is_gym
        assert config.game == "gym:X-v0" and type(config.to_dict()["game"]) is str


@pytest.mark.parametrize("changes", [
    {},
    {"env": {"num_envs": 12, "options": {"lives": 3.0, "keep_width": 1.0}},
     "ppo": {"horizon": 8, "minibatch": 24, "gamma": 0.5}},
    {"policy": {"encoder": 'my "own":Small'}, "self_play": {"self_play": True, "snapshot_win_rate": 0.75}},
])
def test_a_written_preset_gives_the_same_settings(tmp_path, changes):
    config = overlay(Config("breakout"), changes)
    path = tmp_path / "best.toml"
    path.write_text(preset_module.preset_text(config, "Two lines\nof comment."))
    assert path.read_text().startswith("# Two lines\n# of comment.\n")
    assert preset_module.preset_file(GameName("breakout"), str(path)) == config


@pytest.mark.parametrize("game", ["", None, 3])
def test_a_game_is_a_name(game):
    with pytest.raises(ConfigError, match="game must be"):
        Config(game)


def test_a_config_survives_json():
    config = Config("x", EnvConfig(options={"lives": 3}, frame_skip=2), run=RunConfig(run_dir="a b", gif=False))
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize("name", sections.ADDED_LATER)
def test_a_setting_that_an_older_checkpoint_does_not_have_gets_the_value_it_had(name):
    config, section = Config("x"), full_name(name).partition(".")[0]
    saved = config.to_dict()
    del saved[section][name]
    assert Config.from_dict(saved) == overlay(config, {section: {name: sections.ADDED_LATER[name]}})


def test_a_setting_that_the_first_checkpoints_do_not_have_says_what_they_go_on_with():
    names = {one.name for section in SECTIONS for one in dataclasses.fields(section)}
    assert names - set(sections.ADDED_LATER) == set(IN_THE_FIRST_CHECKPOINTS)


@pytest.mark.parametrize(("change", "sentence"), [
    (lambda saved: saved["ppo"].pop("gamma"), "missing setting ppo.gamma"),
    (lambda saved: saved.pop("run"), "missing setting run"),
    (lambda saved: saved["env"].update(num_env=3), "unknown setting env.num_env; did you mean num_envs?"),
    (lambda saved: saved["policy"].update(xyz=1), "unknown setting policy.xyz; the settings are encoder, encoder_size"),
    (lambda saved: saved.update(extra={}), "unknown setting extra"),
    (lambda saved: saved.update(env=3), "the settings of env must be a table of names and values, not 3"),
    (lambda saved: saved["ppo"].update(gamma="high"), "gamma must be a number from 0 to 1, not 'high'"),
])
def test_from_dict_is_strict(change, sentence):
    saved = Config("x").to_dict()
    change(saved)
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        Config.from_dict(saved)


def test_overlay_changes_only_the_named_settings():
    config = overlay(Config("x"), {"ppo": {"gamma": 0.9}, "run": {"seed": 7}})
    assert (config.ppo.gamma, config.run.seed) == (0.9, 7)
    assert config.env == EnvConfig()

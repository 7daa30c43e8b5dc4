"""The ranges of a sweep: they are checked like settings, and every draw is a valid config. Presets are read back unchanged."""

import sys
from types import SimpleNamespace

import optuna
import pytest

import envs_c
from trainer.__main__ import main
from trainer.config import Config
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.minibatches import nearest_minibatch
from trainer.config.preset import preset, preset_file, preset_text
from trainer.errors import ConfigError
from trainer.sweep.space import draw, parse_space, read_space, values_of

REFUSED = [
    ("", "there must be a range for at least one setting"),
    ("[ppo", "Expected"),
    ("learning_rate = 3", "the tables must be env, policy, ppo, self_play, not 'learning_rate'"),
    ("[run]\nseed = { low = 1, high = 2 }", "the tables must be env, policy, ppo, self_play, not 'run'"),
    ("[ppo]\nlearning_rat = { low = 1, high = 2 }", "unknown setting ppo.learning_rat; did you mean learning_rate?"),
    ("[ppo]\nlearning_rate = 0.1", "ppo.learning_rate must be a range, not 0.1: write { low = 1, high = 4 }"),
    ("[ppo]\nlearning_rate = { low = 0.1 }", "ppo.learning_rate must be a range, not {'low': 0.1}: write"),
    ("[ppo]\nlearning_rate = { low = 0.1, hihg = 1 }", "write { low = 1, high = 4 }"),
    ("[ppo]\nlearning_rate = { low = 0.0, high = 0.1 }", "low of ppo.learning_rate must be a number above 0, not 0"),
    ("[ppo]\ngamma = { low = 0.9, high = 1.5 }", "high of ppo.gamma must be a number from 0 to 1, not 1.5"),
    ("[ppo]\ngamma = { low = 0.9, high = 0.8 }", "low of ppo.gamma must be at most high, not 0.9 with high 0.8"),
    ("[ppo]\ngamma = { low = 0, high = 1, log = true }", "log = true of ppo.gamma needs a low above 0"),
    ("[ppo]\ngamma = { low = 0, high = 1, log = 1 }", "log of ppo.gamma must be true or false, not 1"),
    ("[ppo]\nepochs = { low = 1, high = 4, log = true, step = 1 }", "and no step, not low 1 with step 1"),
    ("[ppo]\nepochs = { low = 1, high = 4, step = 0.5 }", "step of ppo.epochs must be an integer above 0, not 0.5"),
    ("[ppo]\ngamma = { low = 0, high = 1, step = 0 }", "step of ppo.gamma must be a number above 0, not 0"),
    ("[ppo]\nepochs = { low = 1.0, high = 4 }", "low of ppo.epochs must be an integer from 1"),
    ("[ppo]\nhorizon = { choices = [] }", "ppo.horizon must be { choices = [16, 32] } or other values in the list"),
    ("[ppo]\nhorizon = { choices = 16 }", "must be { choices = [16, 32] }"),
    ("[ppo]\nhorizon = { choices = [16], low = 3 }", "must be { choices = [16, 32] }"),
    ("[ppo]\nhorizon = { choices = [16, 0] }", "a choice of ppo.horizon must be an integer from 1"),
    ("[ppo]\nhorizon = { choices = [\"none\"] }", "a choice of ppo.horizon must be an integer from 1"),
    ("[policy]\nmemory = { low = 1, high = 2 }", "policy.memory must be { choices = [...] }, since it is not a number"),
    ("[policy]\nmemory = { choices = [\"gru\"] }", "a choice of policy.memory must be lstm"),
    ("[ppo]\ngamma = { low = 0, high = 1, step = 1e-300 }", "step of ppo.gamma must leave at most 1,000,000,000 values"),
    ("[ppo]\ngamma = { low = 0, high = 1, step = inf }", "step of ppo.gamma must be a number above 0, not inf"),
    ("[ppo]\ngamma = 0x" + "f" * 5000, "ppo.gamma must be a range, not a value of type int that cannot be shown"),
    ("[ppo]\ngamma = { low = 0, high = " + "9" * 400 + " }", "high of ppo.gamma must be a number from 0 to 1, not 999"),
    ("[ppo]\ngamma = " + "{a=" * 5000, "nested too deeply"),
    ("[env]\noptions = { choices = [1] }", "env.options cannot be searched: leave it out"),
]


@pytest.fixture
def drawn():
    """A function: `count` random configs from ranges and a base."""
    def many(ranges, base, count=40):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
        return [draw(ranges, study.ask(), base) for _ in range(count)]
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return many


@pytest.mark.parametrize(("text", "sentence"), REFUSED, ids=[text[:60] or "empty" for text, _ in REFUSED])
def test_a_bad_range_is_refused_with_the_name_of_the_file(tmp_path, text, sentence):
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read_space(str(path))
    assert str(error.value).startswith(f"{path}: ")
    assert sentence in str(error.value)


def test_a_missing_file_is_refused():
    with pytest.raises(ConfigError, match=r"--space must be a file of ranges .* there is no file nowhere\.toml"):
        read_space("nowhere.toml")


@pytest.mark.parametrize("game", envs_c.games())
def test_every_draw_of_the_default_space_is_a_config_that_trains(drawn, game):
    base = preset(GameName(game))
    configs = drawn(read_space(None), base)  # Config checks the minibatches
    assert len({config.ppo.horizon for config in configs}) == 4
    assert len({config.ppo.minibatch for config in configs}) > 1
    assert all(config.env == base.env and config.run == base.run for config in configs)


def test_draws_keep_to_their_ranges(drawn):
    ranges = parse_space({"ppo": {"learning_rate": {"low": 0.001, "high": 0.1, "log": True},
                                  "gamma": {"low": 0, "high": 1, "step": 0.25}, "epochs": {"low": 2, "high": 6, "step": 2},
                                  "target_kl": {"choices": ["none", 0.1]}},
                          "policy": {"memory": {"choices": ["none", "mingru"]}}})
    configs = drawn(ranges, Config("cartpole"))
    assert all(0.001 <= config.ppo.learning_rate <= 0.1 for config in configs)
    assert {config.ppo.gamma for config in configs} == {0.0, 0.25, 0.5, 0.75, 1.0}
    assert {config.ppo.epochs for config in configs} == {2, 4, 6}
    assert {config.ppo.target_kl for config in configs} == {None, 0.1}
    assert {config.policy.memory for config in configs} == {"none", "mingru"}


def test_a_logarithmic_range_has_as_many_draws_below_its_geometric_middle_as_above(drawn):
    line = {"low": 1, "high": 4096, "log": True}
    ranges = parse_space({"ppo": {"learning_rate": line | {"low": 1e-4, "high": 1.0}}, "policy": {"encoder_size": line}})
    configs = drawn(ranges, Config("cartpole"))
    assert 12 <= sum(config.ppo.learning_rate < 0.01 for config in configs) <= 28
    assert 12 <= sum(config.policy.encoder_size < 64 for config in configs) <= 28


def test_a_minibatch_divides_a_rollout_whose_size_is_drawn_too(drawn):
    ranges = parse_space({"env": {"num_envs": {"choices": [12]}},
                          "ppo": {"horizon": {"choices": [10]}, "minibatch": {"choices": [55]}}})
    base = overlay(Config("cartpole"), {"env": {"num_envs": 16}, "ppo": {"minibatch": 512}})
    config, = drawn(ranges, base, 1)
    assert (config.env.num_envs, config.ppo.horizon, config.ppo.minibatch) == (12, 10, 60)


def test_settings_that_exclude_each_other_are_refused(drawn):
    ranges = parse_space({"policy": {"layers": {"choices": [2]}}})
    with pytest.raises(ConfigError, match="layers must be 1"):
        drawn(ranges, Config("cartpole"), 1)


@pytest.mark.parametrize(("num_envs", "horizon", "wanted", "nearest"), [
    (16, 32, 128, 128), (16, 32, 100, 128), (16, 32, 1, 32), (16, 32, 10**6, 512), (12, 10, 45, 40), (7, 10, 30, 70)])
def test_a_minibatch_is_the_nearest_that_divides_the_rollout(num_envs, horizon, wanted, nearest):
    assert nearest_minibatch(num_envs, horizon, wanted) == nearest
    assert (num_envs * horizon) % nearest == 0


def test_a_presets_settings_are_a_draw_if_the_ranges_hold_them(drawn):
    base = preset(GameName("breakout"))
    values = values_of(read_space(None), base)
    assert values["learning_rate"] == base.ppo.learning_rate
    study = optuna.create_study()
    study.enqueue_trial(values)
    assert draw(read_space(None), study.ask(), base) == base
    assert values_of(read_space(None), overlay(base, {"ppo": {"epochs": 9}})) is None


@pytest.mark.parametrize("game", [*envs_c.games(), "gym:CartPole-v1"])
def test_a_written_preset_is_read_back_unchanged(tmp_path, game):
    game = GameName(game)
    options = {"a b": 1.5} if game.is_gym else {name: option.low for name, option in envs_c.game(game).options.items()}
    config = overlay(preset(game), {"ppo": {"learning_rate": 1.23e-05, "target_kl": 0.1}, "env": {"options": options},
                                    "policy": {"encoder": 'own"encoders:Small'}})
    path = tmp_path / "best.toml"
    path.write_text(preset_text(config, "Two lines\nof a comment."))
    assert preset_file(game, str(path)) == config


def test_a_preset_for_others_has_no_settings_of_this_machine():
    config = overlay(preset(GameName("breakout")), {"env": {"num_threads": 2},
                                                    "run": {"device": "cpu", "run_dir": "x", "gif": False}})
    assert not any(word in preset_text(config, "") for word in ("num_threads", "device", "run_dir", "gif"))
    own = preset_text(config, "", own=True)
    assert "num_threads = 2" in own and 'device = "cpu"' in own and "gif = false" in own and "run_dir" not in own


@pytest.mark.parametrize(("text", "sentence"), [
    (None, "--preset must be a .toml file of settings, such as a sweep's best.toml; there is no '{path}'"),
    ("[ppo]\ngama = 0.9", "{path}: unknown setting ppo.gama; did you mean gamma?"),
    ("[ppo]\ngamma = 2.0", "{path}: ppo.gamma must be a number from 0 to 1, not 2"),
    ("[ppo]\ngamma = ", "{path}: Invalid value"),
    ("[ppo]\nepochs = " + "9" * 400, "{path}: ppo.epochs must be an integer from 1 to 1,000, not 999"),
    ("[ppo]\ngamma = 0x" + "f" * 5000, "{path}: ppo.gamma must be a number from 0 to 1, not a value of type int"),
    ("[env]\noptions = { lives = " + "9" * 400 + " }", "{path}: env.options must be names of options, each once and with"),
    ("[run]\ndevice = \"" + "a" * 9999 + "\"", "{path}: run.device must be auto, cpu, cuda, or cuda:1"),
    ("[ppo]\nepochs = " + "9" * 5000, "{path}: Exceeds the limit (4300 digits)"),
    ("[ppo]\ngamma = " + "[" * 5000, "{path}: nested too deeply"),
    ("[ppo" + ".a" * 5000 + "]", "{path}: unknown setting ppo.a"),
    ("[run]\nresume = \"x\"", "{path}: run.resume is no setting of a preset"),
])
def test_a_bad_preset_is_refused_in_one_line(capsys, tmp_path, text, sentence):
    path = tmp_path / "mine.toml"
    if text is not None:
        path.write_text(text)
    assert main(["cartpole", "--preset", str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: " + sentence.format(path=path))
    assert error.count("\n") == 1 and len(error) < 700


def test_a_resumed_run_takes_no_preset(capsys):
    assert main(["--resume", "x", "--preset", "y"]) == 2
    assert "--preset is for new runs" in capsys.readouterr().err


def test_options_change_the_settings_of_a_preset(tmp_path, monkeypatch):
    configs = []
    monkeypatch.setitem(sys.modules, "trainer.training.train", SimpleNamespace(train=configs.append))
    path = tmp_path / "mine.toml"
    path.write_text("[ppo]\ngamma = 0.5\nepochs = 3\n")
    assert main(["breakout", "--preset", str(path), "--epochs", "2"]) == 0
    assert configs == [overlay(Config("breakout"), {"ppo": {"gamma": 0.5, "epochs": 2}})]

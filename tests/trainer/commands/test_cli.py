"""The command line: settings, options and errors."""

import dataclasses
import re
from pathlib import Path

import pytest
import torch

import envs_c
from trainer.__main__ import main
from trainer.commands.eval import progress
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.config.short_help import FIRST
from trainer.runs import checkpoint

SECTIONS = (EnvConfig, PolicyConfig, PPOConfig, SelfPlayConfig, RunConfig)
FIELDS = [one.name for section in SECTIONS for one in dataclasses.fields(section)]


@pytest.fixture
def saved(tmp_path):
    """A saved run of breakout: its folder and its config."""
    config = overlay(preset(GameName("breakout")), {"env": {"num_envs": 512}, "ppo": {"gamma": 0.987654321},
                                          "run": {"stop_at": 1000, "gif": False}})
    folder = tmp_path / "run"
    checkpoint.save(folder, 64, {"x": torch.ones(1)}, {"config": config.to_dict()}, score=None)
    return folder, config


@pytest.fixture
def folder_of_a_run(tmp_path, monkeypatch):
    """A run under runs in the working folder."""
    checkpoint.save(tmp_path / "runs" / "x", 1, {}, {"config": Config("cartpole").to_dict()}, score=None)
    monkeypatch.chdir(tmp_path)
    return Path("runs/x")


def helptext(capsys, *argv):
    with pytest.raises(SystemExit) as exit_:
        main(argv)
    assert exit_.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("argv", [[], ["-h"], ["--help"]])
def test_the_overview_names_every_game_and_verb(capsys, argv):
    assert main(argv) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in (*envs_c.games(), "eval RUN", "--resume RUN"))


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_a_flat_option_of_a_game(capsys, name):
    assert f"--{name.replace('_', '-')} " in helptext(capsys, "breakout", "--help", "all").replace(",", " ")


def test_the_help_shows_the_presets_defaults(capsys):
    text = " ".join(helptext(capsys, "breakout", "--help", "all").replace("│", " ").split())
    assert f"on a longer schedule. (default: {preset(GameName('breakout')).ppo.total_steps:_})" in text
    assert "--no-dashboard" in text
    assert "None" not in text


@pytest.mark.parametrize("words", ["--help", "-h", "--seed 3 --help", "--help --view pixels"])
def test_the_short_help_shows_a_dozen_settings_with_the_presets_defaults_and_names_the_long_one(capsys, words):
    text = helptext(capsys, "breakout", *words.split())
    shown = re.findall(r"^\W*--([a-z-]+) (?:[A-Z]|\{)", text, re.MULTILINE)
    assert shown == [name.replace("_", "-") for name in FIRST] and len(shown) == 12 and len(text.splitlines()) < 50
    view = "pixels" if "pixels" in words else "features"
    steps = preset(GameName("breakout"), view=view).ppo.total_steps
    assert f"(default: {steps:_})" in text and "breakout --help all` shows all" in text


def test_all_is_no_value_for_other_options(trained):
    assert main(["breakout", "--run-dir", "all"]) == 0 and trained[0].run.run_dir == "all"


def test_the_help_of_eval_names_its_options(capsys):
    text = helptext(capsys, "eval", "--help")
    assert all(word in text for word in ("RUN", "--episodes", "--out", "--greedy", "--seed", "--device"))


@pytest.mark.parametrize("verb", ["list", "compare", "report"])
def test_the_help_of_the_verbs_that_show_scores_says_what_the_best_one_is(capsys, verb):
    assert "best: the highest score of a judgment (score_judged)" in " ".join(helptext(capsys, verb, "--help").split())


def test_a_game_alone_trains_with_its_preset(trained):
    assert main(["breakout"]) == 0
    assert trained == [preset(GameName("breakout"))]


@pytest.mark.parametrize(("words", "section", "name", "value"), [
    ("--num-envs 2048", "env", "num_envs", 2048),
    ("--num_envs 2_048", "env", "num_envs", 2048),
    ("--frame-skip 2", "env", "frame_skip", 2),
    ("--frame-skip none", "env", "frame_skip", None),
    ("--options lives=3 speed=0.5", "env", "options", {"lives": 3.0, "speed": 0.5}),
    ("--learning-rate 3e-4", "ppo", "learning_rate", 3e-4),
    ("--total-steps=1000", "ppo", "total_steps", 1000),
    ("--reward-clip 1", "env", "reward_clip", 1.0),
    ("--run-dir a/b", "run", "run_dir", "a/b"),
    ("--no-dashboard", "run", "dashboard", False),
    ("--dashboard", "run", "dashboard", True),
    ("--no-gif", "run", "gif", False),
    ("--device cpu", "run", "device", "cpu"),
    ("--resume none", "run", "resume", None),
    ("--resume last --resume none", "run", "resume", None),
])
def test_an_option_changes_its_setting_and_no_other(trained, words, section, name, value):
    assert main(["breakout", *words.split()]) == 0
    assert trained == [overlay(preset(GameName("breakout")), {section: {name: value}})]


@pytest.mark.parametrize("words", ["--view pixels", "--view=pixels", "--view pixels --preset none"])
def test_pictures_have_a_preset_of_their_own(trained, words):
    assert main(["breakout", "--gamma", "0.9", *words.split()]) == 0
    assert trained == [overlay(preset(GameName("breakout"), view="pixels"), {"ppo": {"gamma": 0.9}})]


@pytest.mark.parametrize("game", [[], ["breakout"]], ids=["without the game", "with the game"])
def test_resuming_takes_the_settings_of_the_run(trained, saved, game):
    folder, config = saved
    assert main([*game, "--resume", str(folder)]) == 0
    run = {"resume": str(folder), "run_dir": str(folder), "stop_at": None}
    assert trained == [overlay(config, {"run": run})]


def test_resuming_a_checkpoint_continues_in_its_folder(trained, saved):
    path = checkpoint.latest(saved[0])
    assert main([f"--resume={path}"]) == 0
    assert (trained[0].run.resume, trained[0].run.run_dir) == (str(path), str(saved[0]))


@pytest.mark.parametrize(("words", "section", "name", "value"), [
    ("--stop-at 5000", "run", "stop_at", 5000), ("--device cpu", "run", "device", "cpu"),
    ("--no-dashboard", "run", "dashboard", False), ("--checkpoint-seconds 1", "run", "checkpoint_seconds", 1.0),
    ("--eval-episodes 0", "run", "eval_episodes", 0), ("--gif", "run", "gif", True), ("--track wandb", "run", "track", "wandb"),
    ("--num-threads 1", "env", "num_threads", 1), ("--sim device", "env", "sim", "device"),
    ("--num-envs 512", "env", "num_envs", 512), ("--gamma 0.987654321", "ppo", "gamma", 0.987654321),  # unchanged
])
def test_a_resumed_run_accepts_changes_without_effect_on_the_learning(trained, saved, words, section, name, value):
    assert main(["--resume", str(saved[0]), *words.split()]) == 0
    assert getattr(getattr(trained[0], section), name) == value


@pytest.mark.parametrize(("words", "sentence"), [
    ("--num-envs 1024", "--num-envs is 1024 and was 512; leave it out"),
    ("--horizon 32", "--horizon is 32 and was"),
    ("--seed 9 --gamma 0.9", "; leave them out"),
    ("--options lives=3", "--options is {'lives': 3.0} and was {}"),
    ("--lstm-size 64", "--lstm-size is 64"),
    ("--run-dir elsewhere", ", the folder of the resumed run, not elsewhere"),
])
def test_a_resumed_run_refuses_changes_of_the_learning(refused, trained, saved, words, sentence):
    assert sentence in refused("--resume", str(saved[0]), *words.split())
    assert trained == []


def test_resuming_another_game_is_refused(refused, trained, saved):
    assert "is a run of breakout, not of cartpole" in refused("cartpole", "--resume", str(saved[0]))


@pytest.mark.parametrize("meta", [{}, {"config": {"game": "breakout"}}], ids=["no config", "another config"])
def test_resuming_a_run_of_another_version_is_refused(refused, trained, tmp_path, meta):
    checkpoint.save(tmp_path, 1, {}, meta, score=None)
    assert "another version" in refused("--resume", str(tmp_path))


def test_eval_passes_its_options_on_and_prints_the_result(capsys, evaluated, folder_of_a_run):
    options = ["--episodes", "5", "--out", "a.gif", "--greedy", "--seed", "3", "--device", "cpu",
               "--sticky", "0,0.25", "--noop-max", "30"]
    assert main(["eval", "runs/x", *options]) == 0
    assert evaluated == [{"run": folder_of_a_run, "episodes": 5, "seed": 3, "device": "cpu", "greedy": True, "out": "a.gif",
                          "sticky": [0.0, 0.25], "noop_max": 30, "ticker": progress}]
    assert capsys.readouterr().out == "mean 12.5\na.gif: an episode\n"


def test_eval_has_defaults_and_films_nothing(capsys, evaluated, folder_of_a_run):
    assert main(["eval", "runs/x"]) == 0
    assert evaluated == [{"run": folder_of_a_run, "episodes": 100, "seed": 1, "device": "auto", "greedy": None, "out": None,
                          "sticky": [], "noop_max": None, "ticker": progress}]
    assert capsys.readouterr().out == "mean 12.5\n"


@pytest.mark.parametrize(("options", "greedy"), [([], None), (["--greedy"], True), (["--no-greedy"], False),
                                                 (["--greedy", "--no_greedy"], False)])
def test_eval_plays_both_kinds_of_actions_or_the_one_that_is_asked_for(evaluated, folder_of_a_run, options, greedy):
    assert main(["eval", "runs/x", *options]) == 0
    assert [call["greedy"] for call in evaluated] == [greedy]


@pytest.mark.parametrize(("options", "says"), [
    ("--noop-max 30", True), ("--noop-max 30 --sticky 0.5", True), ("--noop-max 30 --sticky 0,0.5", False),
    ("--noop-max 0", False),
])
def test_eval_says_that_no_ops_are_for_evaluations_without_sticky_actions(capsys, evaluated, tmp_path, options, says):
    settings = Config("pong", EnvConfig(sticky=0.25)).to_dict()
    checkpoint.save(tmp_path / "x", 1, {}, {"config": settings}, score=None)
    assert main(["eval", str(tmp_path / "x"), *options.split()]) == 0 and len(evaluated) == 1
    assert capsys.readouterr().err == "with sticky actions there are 0 no-ops: --noop-max 30 is for --sticky 0\n" * says

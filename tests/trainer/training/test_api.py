"""The Python API: `from trainer import train, load, evaluate, preset, Session`."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import own_encoders
import own_learning
import pytest
from trainer_support import ROLLOUT, config, same

import envs_c
import trainer
from trainer.__main__ import main
from trainer.errors import ConfigError, RunError, SettingError, TrustError
from trainer.export.follow import Follower
from trainer.runs import checkpoint
from trainer.runs.summary import read_run
from trainer.training.train import train as train_run

ROOT = Path(__file__).parents[3]
SMALL = {"num_envs": 16, "num_threads": 1, "encoder_size": 16, "lstm_size": 12, "precision": "float32", "horizon": 32,
         "minibatch": 128, "device": "cpu", "dashboard": False, "eval_episodes": 0, "gif": False, "track": "none"}


def test_importing_trainer_loads_nothing_until_a_name_is_used():
    code = ("import sys, trainer\n"
            "assert not {'torch', 'numpy', 'trainer.config', 'trainer.waiting'} & set(sys.modules)\n"
            "from trainer import preset\nassert 'torch' in sys.modules\n")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize("name", trainer.__all__)
def test_every_public_name_has_a_docstring(name):
    assert getattr(trainer, name).__doc__ and name in dir(trainer)


def test_an_unknown_name_of_the_package_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        trainer.trian  # noqa: B018


def test_a_loop_of_one_s_own_gives_the_weights_of_a_training(tmp_path):
    settings = config(tmp_path / "whole", iterations=3)
    train_run(settings)
    with trainer.Session(settings) as session:
        steps = [session.step for _ in session]
        path = session.save(tmp_path / "mine")
    assert steps == [ROLLOUT, 2 * ROLLOUT, 3 * ROLLOUT]
    mine, whole = (checkpoint.load(one).tensors for one in (path, checkpoint.latest(tmp_path / "whole")))
    same(mine, whole)


def test_a_session_writes_nothing_by_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with trainer.Session("cartpole", total_steps=ROLLOUT, **SMALL) as session:
        assert [round(metrics["learning_rate"], 6) for metrics in session] == [0.003]
        assert list(session) == []
    assert list(tmp_path.iterdir()) == []


def test_a_saved_session_goes_on_bit_for_bit_and_is_a_run_for_load_evaluate_and_train(tmp_path):
    with trainer.Session("tmaze", total_steps=4 * ROLLOUT, **SMALL) as session:
        turns = iter(session)
        next(turns)
        next(turns)
        path = session.save(tmp_path / "run")
        list(session)
        wanted = {name: tensor.clone() for name, tensor in session.policy.state_dict().items()}
    with trainer.Session(resume=path) as session:
        assert session.step == 2 * ROLLOUT
        list(session)
        same(dict(session.policy.state_dict()), wanted)
        assert session.save(tmp_path / "run").parent == tmp_path / "run"  # it was resumed from there
    policy, settings = trainer.load(tmp_path / "run")
    same(dict(policy.state_dict()), wanted)
    result = trainer.evaluate(tmp_path / "run", 3, seed=2)
    assert result == trainer.load(tmp_path / "run").evaluate(3, seed=2) and result["episodes"] == 3
    assert trainer.train(resume=tmp_path / "run", total_steps=5 * ROLLOUT, dashboard=False) == tmp_path / "run"
    assert checkpoint.latest(tmp_path / "run").name == f"step_{5 * ROLLOUT:012d}.safetensors"
    assert settings.ppo.total_steps == 4 * ROLLOUT


def test_train_takes_settings_by_name_and_code_itself(tmp_path):
    folder = trainer.train("cartpole", total_steps=ROLLOUT, run_dir=tmp_path / "a", encoder=own_encoders.Small,
                           loss=own_learning.small_memory, **SMALL)
    saved = checkpoint.read_config(checkpoint.latest(folder))
    assert (saved.policy.encoder, saved.ppo.loss, saved.env.num_envs) == ("own_encoders:Small", "own_learning:small_memory", 16)
    assert "loss_hidden" in json.loads((folder / "metrics.jsonl").read_text())
    trainer.train(resume=folder, total_steps=2 * ROLLOUT)  # the training has named the code


def test_preset_starts_from_the_game_s_preset_or_from_a_file(tmp_path):
    assert trainer.preset("cartpole").env.num_envs == 64 and trainer.preset("cartpole", seed=3).run.seed == 3
    assert trainer.preset("cartpole", view="pixels").policy.encoder == "pixels"
    assert trainer.preset("go", self_play=True).policy.memory == "none" != trainer.preset("go").policy.memory
    (tmp_path / "mine.toml").write_text("[env]\nnum_envs = 8\n[ppo]\nminibatch = 64\n")
    own = trainer.preset("cartpole", file=tmp_path / "mine.toml", horizon=16, minibatch=128)
    assert (own.env.num_envs, own.ppo.horizon) == (8, 16)


@pytest.mark.parametrize(("call", "error", "words"), [
    (lambda: trainer.preset("cartpoel"), ConfigError, "unknown game 'cartpoel'; did you mean cartpole?"),
    (lambda: trainer.preset("cartpole", gama=0.9), ConfigError, "unknown setting gama; did you mean gamma?"),
    (lambda: trainer.train("cartpole", on_updates=print), ConfigError, "unknown setting on_updates; did you mean on_update?"),
    (lambda: trainer.train("cartpole", encodr=lambda: 0), ConfigError, "unknown setting encodr; did you mean encoder?"),
    (lambda: trainer.preset("cartpole", on_updates=print), ConfigError, "unknown setting on_updates; docs/settings.md lists"),
    (lambda: trainer.preset("cartpole", gamma=2), SettingError, "gamma must be a number from 0 to 1, not 2"),
    (lambda: trainer.train(), ConfigError, "a config or a game, or resume=RUN; give one of them, not neither"),
    (lambda: trainer.train(trainer.preset("cartpole"), resume="last"), ConfigError, "not both"),
    (lambda: trainer.train(3), ConfigError, "config must be a Config or the name of a game, not 3"),
    (lambda: trainer.train("cartpole", encoder=lambda shape, size: None), SettingError, "encoder must be importable"),
    (lambda: trainer.train(resume="nowhere"), RunError, "there is no run at nowhere"),
    (lambda: trainer.load("nowhere"), RunError, "there is no run at nowhere"),
    (lambda: trainer.load(None), SettingError, "run must be a str or a Path, such as 'last', not None"),
    (lambda: trainer.evaluate(3), SettingError, "run must be a str or a Path, such as 'last', not 3"),
    (lambda: trainer.train(resume=False), SettingError, "resume must be a str or a Path, such as 'last', not False"),
    (lambda: trainer.preset("cartpole", file=3), SettingError, "file must be a str or a Path, such as 'best.toml', not 3"),
    (lambda: trainer.Session("cartpole", **SMALL).save(None), SettingError, "folder must be a str or a Path, such as "),
    (lambda: trainer.evaluate("nowhere", 3), RunError, "there is no run at nowhere"),
    (lambda: trainer.Session(trainer.preset("cartpole", loss="own_learning:zero")), TrustError,
     "trust_code=True, or by naming it: loss='own_learning:zero'"),
])
def test_wrong_calls_are_refused_and_write_nothing(tmp_path, monkeypatch, call, error, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value) and list(tmp_path.iterdir()) == []


def test_an_evaluation_is_greedy_if_asked_and_has_the_episodes_of_its_seed(tmp_path):
    with trainer.Session("cartpole", **SMALL) as session:
        path, means = session.save(tmp_path / "run"), []
        for evaluate in (session.evaluate, trainer.load(path).evaluate, partial(trainer.evaluate, path)):
            played = [evaluate(2, greedy=greedy)["protocol"]["actions"] for greedy in (False, True)]
            assert played == ["sampled", "greedy"]
            means.append([evaluate(5, seed=seed)["mean"] for seed in (1, 2)])
        assert means == [means[0]] * 3 and means[0][0] != means[0][1]


@pytest.mark.parametrize(("arguments", "words"), [
    ({"episodes": True}, "episodes must be an integer from 1 to 16,777,216, not True"),
    ({"episodes": 0}, "episodes must be an integer from 1 to 16,777,216, not 0"),
    ({"episodes": 2.0}, "episodes must be an integer from 1 to 16,777,216, not 2.0"),
    ({"seed": True}, "seed must be an integer from 0 to 9,223,372,036,854,775,807, not True"),
    ({"seed": -1}, "seed must be an integer from 0 to 9,223,372,036,854,775,807, not -1"),
    ({"seed": "1"}, "seed must be an integer from 0 to 9,223,372,036,854,775,807, not '1'"),
    ({"greedy": "no"}, "greedy must be true or false, not 'no'"),
])
def test_wrong_arguments_of_an_evaluation_are_refused(arguments, words):
    with trainer.Session("cartpole", **SMALL) as session, pytest.raises(SettingError) as caught:
        session.evaluate(**{"episodes": 1, **arguments})
    assert str(caught.value) == words


@pytest.mark.parametrize("allowed", [{"trust_code": True}, {"loss": "own_learning:zero"}, {"loss": own_learning.zero}])
def test_code_in_a_config_is_allowed_by_the_call(allowed):
    settings = trainer.preset("cartpole", total_steps=ROLLOUT, loss="own_learning:zero", **SMALL)
    with trainer.Session(settings, **allowed) as session:
        assert [metrics["loss_zero"] for metrics in session] == [0.0]


@pytest.mark.parametrize("content", ["a run", "a file in it", "a file"])
def test_a_session_does_not_save_over_something_else(tmp_path, content):
    place = tmp_path / "here"
    if content == "a run":
        train_run(config(place, iterations=1))
    elif content == "a file in it":
        place.mkdir()
        (place / "notes.txt").write_text("mine")
    else:
        place.write_text("mine")
    with trainer.Session("cartpole", total_steps=ROLLOUT, **SMALL) as session, pytest.raises(RunError, match=r"here"):
        session.save(place)


def test_a_session_saves_again_to_each_of_its_folders(tmp_path):
    with trainer.Session("cartpole", total_steps=3 * ROLLOUT, **SMALL) as session:
        for _, name in zip(session, ("a", "b", "a"), strict=True):
            session.save(tmp_path / name)
    for name, iterations in {"a": 3, "b": 2}.items():
        assert checkpoint.latest(tmp_path / name).name == f"step_{iterations * ROLLOUT:012d}.safetensors"


def test_a_folder_of_a_session_is_a_run_for_reports_lists_and_a_page_and_compare_says_what_it_lacks(tmp_path, capsys):
    folders = [tmp_path / "runs" / name for name in ("a", "b")]
    for folder in folders:
        with trainer.Session("cartpole", total_steps=2 * ROLLOUT, **SMALL) as session:
            next(iter(session))
            session.save(folder)
    for words in ("report {}", "list --root {}/.."):
        assert main(words.format(folders[0]).split()) == 0
    assert (folders[0] / "report.html").exists() and "512 of 1.02K" in capsys.readouterr().out
    assert Follower(folders[0]).status("cartpole")["checkpoint"] == f"step_{ROLLOUT:012d}.safetensors"
    assert main(["compare", *map(str, folders)]) != 0
    assert "a has no scores, since it has checkpoints but no metrics.jsonl" in capsys.readouterr().err


def test_the_config_of_a_session_s_folder_has_each_session_once_and_where_it_began(tmp_path):
    with trainer.Session("cartpole", total_steps=2 * ROLLOUT, **SMALL) as session:
        for _ in session:
            session.save(tmp_path)
    with trainer.Session(resume=tmp_path, total_steps=4 * ROLLOUT) as session:
        for _ in session:
            session.save(tmp_path)
    kept = json.loads((tmp_path / "config.json").read_text())
    assert [one["from_step"] for one in kept["sessions"]] == [0, 2 * ROLLOUT]
    assert kept["config"]["ppo"]["total_steps"] == 4 * ROLLOUT
    trainer.train(resume=tmp_path, total_steps=5 * ROLLOUT)
    assert read_run(tmp_path).step == 5 * ROLLOUT


@pytest.mark.parametrize(("content", "words"), [
    ("config.json", "{name} must be an empty or a new folder, not {place}, whose config.json is damaged"),
    ("step_000000000300.safetensors", "; go on from it by resume='{place}/step_000000000300.safetensors', or choose "),
    ("a run", "{place} holds a run already; go on with it by resume='{place}', or choose another {name}"),
])
@pytest.mark.parametrize("name", ["run_dir", "folder"])
def test_the_error_about_a_folder_in_use_has_the_words_of_python(tmp_path, name, content, words):
    place = tmp_path / "a run, of mine"
    if content == "a run":
        train_run(config(place, iterations=1))
    else:
        place.mkdir()
        (place / content).write_text("mine")
    with trainer.Session("cartpole", **SMALL) as session, pytest.raises(RunError) as caught:
        session.save(place) if name == "folder" else trainer.train("cartpole", run_dir=place, **SMALL)
    assert words.format(name=name, place=place) in str(caught.value) and "--" not in str(caught.value)


def test_an_error_of_a_callback_reaches_the_caller_with_its_note(tmp_path):
    def fail(session, metrics):
        raise RunError("mine")
    with pytest.raises(RunError) as caught:
        trainer.train("cartpole", on_update=fail, run_dir=tmp_path / "run", **SMALL)
    assert str(caught.value) == "mine" and caught.value.__notes__[0].startswith("raised by on_update at step 512; the last ")


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("game", ["cartpole", "gym:CartPole-v1"])
def test_a_closed_session_is_saved_and_evaluated_but_does_not_go_on(tmp_path, game, overlap):
    with trainer.Session(game, total_steps=3 * ROLLOUT, overlap=overlap, **SMALL) as session:
        turns = iter(session)
        next(turns)
    for loop in (turns, iter(session)):
        with pytest.raises(envs_c.Closed, match=f"this session of {game} was closed at step {ROLLOUT}: loop over it inside"):
            next(loop)
    path = session.save(tmp_path / "run")
    assert session.evaluate(2)["episodes"] == 2
    with trainer.Session(resume=path) as again:
        assert len(list(again)) == 2
    assert list(again) == []  # it had ended before it was closed


def test_resume_keeps_the_settings_of_a_run(tmp_path):
    folder = train_run(config(tmp_path / "a", iterations=1))
    with pytest.raises(ConfigError, match=r"a resumed run keeps its settings, but gamma is 0.5 and was 0.99"):
        trainer.train(resume=folder, gamma=0.5)
    with pytest.raises(ConfigError, match=r"^total_steps must be above 512"):
        trainer.train(resume=folder, total_steps=2)

"""Callbacks of a training: when they are called, what they may change, and what their errors do."""

import json

import pytest
from trainer_support import ROLLOUT, config

import trainer
from trainer.errors import ConfigError
from trainer.runs import checkpoint

# Games and settings that differ from those of `config`: plain, with need of memory, with masks, and self-play.
GAMES = {"cartpole": {}, "tmaze": {}, "g2048": {"sticky": 0.0},
         "go": {"time_limit": None, "sticky": 0.0, "options": {"size": 5.0}, "self_play": True, "anchor_games": 0}}


@pytest.mark.parametrize("game", GAMES)
def test_each_is_called_at_its_time_with_the_same_session(tmp_path, game):
    calls, sessions = [], set()

    def note(name):
        def callback(session, *rest):
            sessions.add(id(session))
            calls.append((name, session.iteration, session.step))
        return callback
    folder = trainer.train(config(tmp_path / "a", iterations=2, game=game), on_rollout=note("rollout"),
                           on_update=note("update"), on_checkpoint=note("checkpoint"), **GAMES[game])
    assert calls == [("rollout", 0, 0), ("update", 1, ROLLOUT), ("checkpoint", 1, ROLLOUT), ("rollout", 1, ROLLOUT),
                     ("update", 2, 2 * ROLLOUT), ("checkpoint", 2, 2 * ROLLOUT), ("checkpoint", 2, 2 * ROLLOUT)]
    assert len(sessions) == 1 and checkpoint.latest(folder).exists()


def test_they_see_every_episode_and_the_files_of_checkpoints(tmp_path):
    episodes, paths = [], []
    trainer.train(config(tmp_path / "a", iterations=3),
                  on_episode=lambda session, score, length: episodes.append((score, length)),
                  on_checkpoint=lambda session, path: paths.append((path, path.exists())))
    meta = checkpoint.load(checkpoint.latest(tmp_path / "a")).meta
    assert len(episodes) == meta["episodes"] > 0 and [list(one) for one in episodes[-256:]] == meta["recent"]
    assert all(score == length for score, length in episodes) and all(there for _, there in paths)


def test_numbers_of_on_update_are_logged_and_a_changed_rollout_is_learned_from(tmp_path):
    def without_rewards(session):
        session.storage.reward.zero_()

    def add(session, metrics):
        metrics["mine"] = 2 * session.step
    for name, callback in (("changed", without_rewards), ("same", None)):
        trainer.train(config(tmp_path / name, iterations=2), on_rollout=callback, on_update=add)
    lines = [[json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
             for name in ("changed", "same")]
    assert [line["mine"] for line in lines[0]] == [2 * ROLLOUT, 4 * ROLLOUT]
    assert lines[0][0]["loss_value"] < lines[1][0]["loss_value"] and lines[0][0]["score_mean"] == lines[1][0]["score_mean"]


def test_stop_ends_a_training_after_the_iteration_and_it_can_be_resumed(tmp_path):
    folder = trainer.train(config(tmp_path / "a", iterations=4, eval_episodes=3),
                           on_update=lambda session, metrics: session.stop())
    assert checkpoint.latest(folder).name == f"step_{ROLLOUT:012d}.safetensors"
    assert not (folder / "evaluation.json").exists()
    trainer.train(resume=folder)
    assert checkpoint.latest(folder).name == f"step_{4 * ROLLOUT:012d}.safetensors"


@pytest.mark.parametrize("resumed", [False, True])
def test_a_training_goes_on_after_a_callback_has_saved_it_to_another_folder(tmp_path, resumed):
    first = trainer.train(config(tmp_path / "a", iterations=1))
    start = {"resume": first, "total_steps": 2 * ROLLOUT} if resumed else {"config": config(tmp_path / "b", iterations=2)}
    folder = trainer.train(**start, on_update=lambda session, metrics: session.save(tmp_path / "mine"))
    for one in (folder, tmp_path / "mine"):
        assert checkpoint.latest(one).name == f"step_{2 * ROLLOUT:012d}.safetensors"


@pytest.mark.parametrize("name", ["on_rollout", "on_update", "on_episode", "on_checkpoint"])
def test_an_error_in_one_is_raised_with_the_step_and_the_last_checkpoint(tmp_path, name):
    error = KeyError("mine")

    def fails(*_):
        raise error
    with pytest.raises(KeyError) as caught:
        trainer.train(config(tmp_path / "a", iterations=3), **{name: fails})
    note, = caught.value.__notes__
    assert caught.value is error and note.startswith(f"raised by {name} at step ") and str(tmp_path / "a") in note
    trainer.train(resume=tmp_path / "a")  # the folder is complete and not locked
    assert checkpoint.latest(tmp_path / "a").name == f"step_{3 * ROLLOUT:012d}.safetensors"


def test_without_a_folder_the_note_says_that_nothing_was_saved():
    def fails(session):
        raise ValueError("mine")
    with trainer.Session(config("unused"), on_rollout=fails) as session, pytest.raises(ValueError, match="mine") as caught:
        next(iter(session))
    assert caught.value.__notes__ == ["raised by on_rollout at step 0; there is no checkpoint"]


@pytest.mark.parametrize(("callbacks", "words"), [
    ({"on_update": 3}, "on_update must be a function of session, metrics, not the int 3"),
    ({"on_update": lambda session: None}, "on_update must be a function of session, metrics: too many positional arguments"),
    ({"on_episode": lambda session: None}, "on_episode must be a function of session, score, length"),
    ({"on_rollout": lambda: None}, "on_rollout must be a function of session"),
    ({"on_checkpoint": "print"}, "on_checkpoint must be a function of session, path, not the str 'print'"),
])
def test_a_wrong_callback_is_refused_before_anything_is_written(tmp_path, callbacks, words):
    with pytest.raises(ConfigError) as caught:
        trainer.train(config(tmp_path / "a"), **callbacks)
    assert words in str(caught.value) and not (tmp_path / "a").exists()


@pytest.mark.parametrize("value", ["text", [1], {}])
def test_what_is_no_number_is_no_metric(tmp_path, value):
    with pytest.raises(ConfigError, match="may add numbers by name to the metrics, but 'mine' is the"):
        trainer.train(config(tmp_path / "a", iterations=1), on_update=lambda session, metrics: metrics.update(mine=value))


@pytest.mark.parametrize("name", ["step", "seconds"])
def test_the_step_and_the_seconds_of_the_log_cannot_be_overwritten(tmp_path, name):
    with pytest.raises(ConfigError, match=rf"but '{name}' is the log's own: choose another name"):
        trainer.train(config(tmp_path / "a"), on_update=lambda session, metrics: metrics.update({name: 7.0}))

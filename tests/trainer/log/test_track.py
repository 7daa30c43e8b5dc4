"""Trackers: what each is told, that a resumed run goes on in its own, and what is refused. Those that are large packages are
stood in for by modules that keep what they are called with."""

import contextlib
import importlib.machinery
import json
import sqlite3
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from log_support import METRICS_OF_ITERATION, STEP, Clock, pipe, shown
from setup_support import ROOT, run
from trainer_support import config

from trainer.config import RunConfig
from trainer.errors import ConfigError, TrackerError
from trainer.log import trackers as track
from trainer.log.run_log import RunLog
from trainer.log.tensorboard import TAGS
from trainer.runs.metrics import read_metrics
from trainer.training.train import train


class Made:
    """A tracker's run: what it was made with, told, and whether it was finished."""

    def __init__(self, **given):
        self.given, self.told, self.finished, self.axes = given, [], False, []
        self.id, self.name = given.get("id", "made-up-id"), given["name"]

    def define_metric(self, name, step_metric):
        self.axes.append((name, step_metric))

    def log(self, metrics, step=None):
        self.told.append(metrics | {"step": step} if step is not None else metrics)

    def finish(self):
        self.finished = True


@pytest.fixture
def made(monkeypatch):
    """The runs that were made at stand-ins of wandb and trackio, in order."""
    runs = []

    def init(**given):
        runs.append(Made(**given))
        return runs[-1]

    for name in ("wandb", "trackio"):
        module = ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        module.init, module.Error, module.Settings = init, RuntimeError, SimpleNamespace
        module.finish = lambda: runs[-1].finish()
        monkeypatch.setitem(sys.modules, name, module)
    return runs


def log(folder, tracker, first, last, resume_step=None):
    """Log iterations first..last, half a second each, to a tracker; returns what was printed."""
    clock, console = Clock(), pipe()
    settings = config(folder, track=tracker)
    with RunLog(folder, settings, dashboard=False, facts={"device": "cpu"}, clock=clock, console=console,
                resume_step=resume_step) as opened:
        for index in range(first, last + 1):
            clock.now += 0.5
            opened.iteration(index * STEP, METRICS_OF_ITERATION)
    return shown(console)


@pytest.mark.parametrize("tracker", ["wandb", "trackio"])
def test_every_metric_reaches_the_tracker_under_its_tag(tmp_path, made, tracker):
    log(tmp_path, tracker, 1, 3)
    (run,) = made
    told = {tag: METRICS_OF_ITERATION[key] for key, tag in TAGS.items() if key in METRICS_OF_ITERATION}
    assert run.told == [{"step": k * STEP} | told for k in (1, 2, 3)]
    assert run.finished
    assert run.given["project"] == "insertcoin"
    assert run.given["config"]["ppo"]["horizon"] == 32
    assert run.given["config"]["facts"] == {"device": "cpu"}
    assert not list(tmp_path.glob("events.*"))


@pytest.mark.parametrize(("tracker", "key"), [("wandb", "id"), ("trackio", "name")])
def test_a_resumed_run_goes_on_in_the_same_one(tmp_path, made, tracker, key):
    log(tmp_path, tracker, 1, 2)
    log(tmp_path, tracker, 3, 4, resume_step=2 * STEP)
    first, second = made
    assert first.given["resume"] in (None, "never")
    assert second.given["resume"] == "allow"
    assert second.given[key] == getattr(first, key) == json.loads((tmp_path / track.IDS).read_text())[tracker]
    assert [told["step"] for told in second.told] == [3 * STEP, 4 * STEP]


def test_an_older_checkpoint_may_be_gone_on_from(tmp_path, made):
    log(tmp_path, "wandb", 1, 3)
    assert made[0].axes == [("*", "step")]  # not wandb's own counter, which never goes back


def test_a_run_that_gets_a_tracker_when_it_is_resumed_begins_there(tmp_path, made):
    log(tmp_path, "tensorboard", 1, 2)
    log(tmp_path, "tensorboard,wandb", 3, 4, resume_step=2 * STEP)
    assert made[0].given["resume"] is None
    assert "id" not in made[0].given


def test_another_project_is_named_by_the_environment(tmp_path, made, monkeypatch):
    monkeypatch.setenv("WANDB_PROJECT", "mine")
    log(tmp_path, "wandb", 1, 1)
    assert made[0].given["project"] == "mine"


def test_none_writes_the_metrics_alone(tmp_path):
    log(tmp_path, "none", 1, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "config.json", "metrics.jsonl"]


@pytest.mark.parametrize("asked", ["tensorbord", "", "wandb,", "none,wandb", "wandb,wandb"])
def test_an_unknown_tracker_is_refused(asked):
    with pytest.raises(ConfigError, match=r"track is .*; it may be none, or one or more of tensorboard, wandb, trackio"):
        RunConfig(track=asked)


@pytest.mark.parametrize(("asked", "missing"), [("wandb", "wandb is"), ("tensorboard,wandb,trackio", "wandb and trackio are")])
def test_a_tracker_that_is_not_installed_is_told_before_anything_is_made(tmp_path, monkeypatch, asked, missing):
    monkeypatch.setattr(track, "TRACKERS", track.TRACKERS | {"wandb": "wandb_of_nobody", "trackio": "trackio_of_nobody"})
    with pytest.raises(TrackerError, match=f"{missing} not installed: pip install wandb"):
        train(config(tmp_path / "run", track=asked))
    assert not (tmp_path / "run").exists()


def test_a_tracker_that_takes_no_run_is_told(tmp_path, made, monkeypatch):
    def init(**given):
        raise RuntimeError("no API key")

    monkeypatch.setattr(sys.modules["wandb"], "init", init)
    with pytest.raises(TrackerError, match=r"no API key; log in by `wandb login`, or set WANDB_MODE=offline"):
        log(tmp_path, "wandb", 1, 1)


def test_a_tracker_that_fails_does_not_end_the_training(tmp_path, made, monkeypatch):
    def fail(run, metrics):
        raise ConnectionError("gone")

    monkeypatch.setattr(Made, "log", fail)
    told = log(tmp_path, "wandb,tensorboard", 1, 3)
    assert told.count("the tracker Wandb failed and is left out from here on (ConnectionError: gone)") == 1
    assert len(read_metrics(tmp_path)) == 3
    assert len(list(tmp_path.glob("events.*"))) == 1


def test_damaged_ids_are_told(tmp_path, made):
    (tmp_path / track.IDS).write_text("{")
    with pytest.raises(TrackerError, match=r"trackers.json is damaged; remove it"):
        log(tmp_path, "wandb", 1, 1)


def test_weights_and_biases_itself_writes_offline(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="needs the extra 'track'")
    monkeypatch.setenv("WANDB_MODE", "offline")
    log(tmp_path, "wandb", 1, 2)
    log(tmp_path, "wandb", 3, 4, resume_step=2 * STEP)
    name = json.loads((tmp_path / track.IDS).read_text())["wandb"]
    written = list(tmp_path.glob("wandb/offline-run-*"))
    assert written
    assert all(folder.name.endswith(name) for folder in written)


def test_trackio_itself_goes_on_in_its_run(tmp_path):
    pytest.importorskip("trackio", reason="needs the extra 'track'")
    script = ("import sys; from pathlib import Path; sys.path[:0] = sys.argv[2:]; import test_track\n"
              "folder = Path(sys.argv[1]); test_track.log(folder, 'trackio', 1, 2)\n"
              "test_track.log(folder, 'trackio', 3, 4, resume_step=2 * test_track.STEP)")
    done = run(sys.executable, "-c", script, tmp_path / "run", Path(__file__).parent, ROOT / "tests" / "support",
               TRACKIO_DIR=str(tmp_path / "trackio"))
    assert done.returncode == 0, done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "trackio" / "insertcoin.db")) as kept:
        rows = kept.execute("select run_name, step from metrics order by step").fetchall()
    name = json.loads((tmp_path / "run" / track.IDS).read_text())["trackio"]
    assert rows == [(name, k * STEP) for k in (1, 2, 3, 4)]

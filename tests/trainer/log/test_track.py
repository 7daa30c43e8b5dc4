"""Trackers: their metrics, resumed runs, and refusals.

Recording modules stand in for large packages.
"""

import contextlib
import importlib.machinery
import importlib.util
import json
import sqlite3
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from log_support import FACTS, METRICS_OF_ITERATION, STEP, Clock, pipe, run_log, shown
from setup_support import ROOT, run
from trainer_support import config

from trainer.config import RunConfig
from trainer.config.sections import TRACKER_NAMES
from trainer.errors import ConfigError, TrackerError
from trainer.log import trackers
from trainer.log.tensorboard import TAGS
from trainer.runs.metrics import read_metrics
from trainer.training.train import train


class Made:
    """A run of a tracker: its arguments, the logged metrics, and whether it was finished."""

    def __init__(self, **given):
        self.given, self.logged, self.finished, self.axes = given, [], False, []
        self.id, self.name = given.get("id") or "made-up-id", given["name"]

    def define_metric(self, name, step_metric):
        self.axes.append((name, step_metric))

    def log(self, metrics, step=None):
        self.logged.append(metrics | {"step": step} if step is not None else metrics)

    def finish(self):
        self.finished = True


@pytest.fixture
def made(monkeypatch):
    """The runs made by the replacements of wandb and trackio, in order. They take those arguments that we give, no others."""
    runs = []

    def of_wandb(*, project=None, name=None, dir=None, config=None, resume=None, settings=None, id=None):
        runs.append(Made(project=project, name=name, dir=dir, config=config, resume=resume, settings=settings, id=id))
        return runs[-1]

    def of_trackio(*, project, name=None, config=None, resume="never", embed=True):
        runs.append(Made(project=project, name=name, config=config, resume=resume, embed=embed))
        return runs[-1]

    def settings(*, console="auto", silent=False):
        return SimpleNamespace(console=console, silent=silent)

    for name, init in (("wandb", of_wandb), ("trackio", of_trackio)):
        module = ModuleType(name)
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
        module.init, module.Error, module.Settings = init, RuntimeError, settings
        module.finish = lambda: runs[-1].finish()
        monkeypatch.setitem(sys.modules, name, module)
    return runs


def log(folder, tracker, first, last, resume_step=None):
    """Log the iterations first..last, half a second each, to a tracker; returns the output."""
    clock, console = Clock(), pipe()
    with run_log(folder, clock, console, config=config(folder, track=tracker), resume_step=resume_step) as opened:
        for index in range(first, last + 1):
            clock.now += 0.5
            opened.iteration(index * STEP, METRICS_OF_ITERATION)
    return shown(console)


@pytest.mark.parametrize("tracker", ["wandb", "trackio"])
def test_every_metric_reaches_the_tracker_under_its_tag(tmp_path, made, tracker):
    log(tmp_path, tracker, 1, 3)
    (run,) = made
    expected = {tag: METRICS_OF_ITERATION[key] for key, tag in TAGS.items() if key in METRICS_OF_ITERATION}
    assert run.logged == [{"step": k * STEP} | expected for k in (1, 2, 3)]
    assert run.finished
    assert run.given["project"] == "insertcoin"
    assert run.given["config"]["ppo"]["horizon"] == 32
    assert run.given["config"]["facts"] == FACTS
    assert run.given["name"].startswith(tmp_path.name)
    assert not list(tmp_path.glob("events.*"))


def test_weights_and_biases_is_asked_to_write_to_the_runs_folder_and_print_nothing(tmp_path, made):
    log(tmp_path, "wandb", 1, 1)
    given = made[0].given
    assert given["dir"] == str(tmp_path) and vars(given["settings"]) == {"console": "off", "silent": True}


@pytest.mark.parametrize(("tracker", "key"), [("wandb", "id"), ("trackio", "name")])
def test_a_resumed_run_continues_in_the_same_one(tmp_path, made, tracker, key):
    log(tmp_path, tracker, 1, 2)
    log(tmp_path, tracker, 3, 4, resume_step=2 * STEP)
    first, second = made
    assert first.given["resume"] in (None, "never")
    assert second.given["resume"] == "allow"
    assert second.given[key] == getattr(first, key) == json.loads((tmp_path / trackers.IDS).read_text())[tracker]
    assert [entry["step"] for entry in second.logged] == [3 * STEP, 4 * STEP]


def test_a_run_resumes_from_an_older_checkpoint(tmp_path, made):
    log(tmp_path, "wandb", 1, 3)
    assert made[0].axes == [("*", "step")]  # not wandb's own counter, which never decreases


def test_a_run_that_gets_a_tracker_when_it_is_resumed_begins_there(tmp_path, made):
    log(tmp_path, "tensorboard", 1, 2)
    log(tmp_path, "tensorboard,wandb", 3, 4, resume_step=2 * STEP)
    assert made[0].given["resume"] is None
    assert made[0].given["id"] is None


def test_the_environment_names_another_project(tmp_path, made, monkeypatch):
    monkeypatch.setenv("WANDB_PROJECT", "mine")
    log(tmp_path, "wandb", 1, 1)
    assert made[0].given["project"] == "mine"


def test_none_writes_only_the_metrics(tmp_path):
    log(tmp_path, "none", 1, 2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "config.json", "metrics.jsonl"]


@pytest.mark.parametrize("asked", ["tensorbord", "", "wandb,", "none,wandb", "wandb,wandb", ":Mine", "mine:"])
def test_an_unknown_tracker_is_refused(asked):
    with pytest.raises(ConfigError, match=r"track must be none, or one or more of tensorboard, wandb, trackio"):
        RunConfig(track=asked)


@pytest.mark.parametrize(("asked", "missing"), [
    ("wandb", "wandb, which is not installed: pip install wandb"),
    ("tensorboard,wandb,trackio", "wandb and trackio, which are not installed: pip install wandb trackio")])
def test_a_tracker_that_is_not_installed_is_refused_before_anything_is_made(tmp_path, monkeypatch, asked, missing):
    real = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec",
                        lambda name, *more: None if name in ("wandb", "trackio") else real(name, *more))
    with pytest.raises(TrackerError, match=f"needs {missing}"):
        train(config(tmp_path / "run", track=asked))
    assert not (tmp_path / "run").exists()


def test_the_reason_of_a_tracker_that_refuses_the_run_is_shown(tmp_path, made, monkeypatch):
    def init(**given):
        raise RuntimeError("no API key")

    monkeypatch.setattr(sys.modules["wandb"], "init", init)
    with pytest.raises(TrackerError, match=r"no API key; log in with `wandb login`, or set WANDB_MODE=offline"):
        log(tmp_path, "wandb", 1, 1)


def test_a_tracker_that_refuses_the_run_leaves_no_event_file_that_hides_steps(tmp_path, made, monkeypatch):
    log(tmp_path, "tensorboard", 1, 3)
    before = set(tmp_path.glob("events.*"))

    def init(**given):
        raise RuntimeError("no API key")

    monkeypatch.setattr(sys.modules["wandb"], "init", init)
    with pytest.raises(TrackerError):
        log(tmp_path, "tensorboard,wandb", 2, 2, resume_step=STEP)
    assert set(tmp_path.glob("events.*")) == before


def test_a_tracker_that_fails_does_not_end_the_training(tmp_path, made, monkeypatch):
    def fail(run, metrics):
        raise ConnectionError("gone")

    monkeypatch.setattr(Made, "log", fail)
    printed = log(tmp_path, "wandb,tensorboard", 1, 3)
    assert printed.count("the tracker Wandb failed (ConnectionError: gone) and gets no more metrics") == 1
    assert len(read_metrics(tmp_path)) == 3
    assert len(list(tmp_path.glob("events.*"))) == 1


def test_a_tracker_that_fails_at_its_end_fails_no_training(tmp_path, made, monkeypatch):
    def fail(run):
        raise ConnectionError("gone")

    monkeypatch.setattr(Made, "finish", fail)
    printed = log(tmp_path, "wandb,tensorboard", 1, 3)
    assert printed.count("the tracker Wandb failed at its end (ConnectionError: gone); metrics.jsonl has all metrics") == 1
    assert len(list(tmp_path.glob("events.*"))) == 1


def test_a_folder_with_the_name_of_a_tracker_is_not_taken_for_it(tmp_path, monkeypatch):
    (tmp_path / "made_up").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(trackers.TensorBoard, "package", "made_up")
    with pytest.raises(TrackerError, match=r"needs made_up, which is not installed: pip install made_up"):
        trackers.require(["tensorboard"])


def test_damaged_ids_are_refused(tmp_path, made):
    (tmp_path / trackers.IDS).write_text("{")
    with pytest.raises(TrackerError, match=r"trackers.json is damaged: remove it"):
        log(tmp_path, "wandb", 1, 1)


def test_the_settings_know_every_tracker():
    assert tuple(trackers.TRACKERS) == TRACKER_NAMES


class Own:
    """A tracker of the user's own, found by its import path."""

    made = []

    def __init__(self, folder, settings, resume_step):
        if settings["run"]["seed"] == 7:
            raise OSError("disk full")
        self.steps, self.closed = [resume_step], False
        self.made.append(self)

    def write(self, step, metrics):
        self.steps.append(step)

    def close(self):
        self.closed = True


@pytest.fixture
def own(monkeypatch):
    """Makes the class above importable as own_trackers:Own; gives its list of objects."""
    module = ModuleType("own_trackers")
    module.Own, module.__file__ = Own, __file__
    monkeypatch.setitem(sys.modules, "own_trackers", module)
    monkeypatch.setattr(Own, "made", [])
    return lambda: Own.made


def test_a_tracker_is_found_by_its_import_path(tmp_path, own):
    log(tmp_path, "tensorboard,own_trackers:Own", 1, 2)
    log(tmp_path, "own_trackers:Own", 3, 3, resume_step=2 * STEP)
    assert [tracker.steps for tracker in own()] == [[None, STEP, 2 * STEP], [2 * STEP, 3 * STEP]]
    assert all(tracker.closed for tracker in own())


@pytest.mark.parametrize(("path", "sentence"), [
    ("own_trackers:Nobody", "has no Nobody"),
    ("nobodys_trackers:Own", "there is no module nobodys_trackers"),
    ("pathlib:Path.cwd", "must accept the keyword arguments folder, settings, resume_step"),
])
def test_a_wrong_import_path_is_refused_before_anything_is_made(tmp_path, own, path, sentence):
    with pytest.raises(ConfigError, match=sentence):
        train(config(tmp_path / "run", track=path))
    assert not (tmp_path / "run").exists()


def test_the_error_of_an_own_tracker_names_it(tmp_path, own):
    with pytest.raises(ConfigError, match=r"'own_trackers:Own': making the tracker raised OSError: disk full"), \
         run_log(tmp_path, Clock(), pipe(), config=config(tmp_path, track="own_trackers:Own", seed=7)):
        pass


def test_weights_and_biases_itself_writes_offline(tmp_path, monkeypatch):
    pytest.importorskip("wandb", reason="needs the extra 'track'")
    monkeypatch.setenv("WANDB_MODE", "offline")
    log(tmp_path, "wandb", 1, 2)
    log(tmp_path, "wandb", 3, 4, resume_step=2 * STEP)
    name = json.loads((tmp_path / trackers.IDS).read_text())["wandb"]
    written = list(tmp_path.glob("wandb/offline-run-*"))
    assert written
    assert all(folder.name.endswith(name) for folder in written)


def test_trackio_itself_continues_in_its_run(tmp_path):
    pytest.importorskip("trackio", reason="needs the extra 'track'")
    script = ("import sys; from pathlib import Path; sys.path[:0] = sys.argv[2:]; import test_track\n"
              "folder = Path(sys.argv[1]); test_track.log(folder, 'trackio', 1, 2)\n"
              "test_track.log(folder, 'trackio', 3, 4, resume_step=2 * test_track.STEP)")
    done = run(sys.executable, "-c", script, tmp_path / "run", Path(__file__).parent, ROOT / "tests" / "support",
               TRACKIO_DIR=str(tmp_path / "trackio"))
    assert done.returncode == 0, done.stderr
    with contextlib.closing(sqlite3.connect(tmp_path / "trackio" / "insertcoin.db")) as kept:
        rows = kept.execute("select run_name, step from metrics order by step").fetchall()
    name = json.loads((tmp_path / "run" / trackers.IDS).read_text())["trackio"]
    assert rows == [(name, k * STEP) for k in (1, 2, 3, 4)]

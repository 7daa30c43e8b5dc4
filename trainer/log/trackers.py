"""Trackers: services and files for a run's metrics, beside its metrics.jsonl.

`TRACKERS` maps the names of the setting `track` to classes; the setting also accepts the import path of a class, such as
my_module:MyTracker. Every class is called with the same keyword arguments:

    folder         the run's folder
    settings       the run's config as nested dicts, and `facts` about the session
    resume_step    the step of the checkpoint of a resumed run; None for a new run

and its objects have `write` and `close`, see `Tracker`.

Weights & Biases and Trackio identify a run by their own id, which is kept in the folder's trackers.json: a resumed run goes
on under the same id. They cannot delete metrics: if a run is resumed from an older checkpoint, the metrics of later steps
stay beside the new ones.
"""

import contextlib
import importlib
import json
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from envs_c.files import write_atomically
from trainer import imports
from trainer.errors import TrackerError
from trainer.files import read_json
from trainer.log.tensorboard import TensorBoard, tagged

PROJECT = "insertcoin"   # unless WANDB_PROJECT or TRACKIO_PROJECT names another one
IDS = "trackers.json"


class Tracker(Protocol):
    """A receiver of metrics. Its constructor raises TrackerError if it does not accept the run."""

    def __init__(self, folder: Path, settings: dict[str, Any], resume_step: int | None) -> None: ...

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        """Write the metrics of a step; None stands for a metric without a value at this step."""

    def close(self) -> None:
        """End the session; called once."""


class Wandb:
    """A run of Weights & Biases. With WANDB_MODE=offline it only writes to the run's folder."""

    package = "wandb"

    def __init__(self, folder: Path, settings: dict[str, Any], resume_step: int | None) -> None:
        wandb, ids = importlib.import_module("wandb"), _ids(folder)
        given = {"id": ids["wandb"]} if resume_step is not None and "wandb" in ids else {}
        try:
            self._run = wandb.init(project=_project("WANDB_PROJECT"), name=folder.resolve().name, dir=str(folder),
                                   config=settings, resume="allow" if given else None,
                                   settings=wandb.Settings(console="off", silent=True), **given)
        except wandb.Error as error:
            raise TrackerError(f"Weights & Biases refuses the run: {error}; log in with `wandb login`, or set "
                               "WANDB_MODE=offline") from error
        self._run.define_metric("*", step_metric="step")  # wandb's own counter rejects the steps of an older checkpoint
        _keep_id(folder, "wandb", self._run.id)

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        self._run.log({"step": step} | tagged(metrics))

    def close(self) -> None:
        self._run.finish()


class Trackio:
    """A run of Trackio. Its id is its name: the folder's name and a random suffix."""

    package = "trackio"

    def __init__(self, folder: Path, settings: dict[str, Any], resume_step: int | None) -> None:
        self._trackio = importlib.import_module("trackio")
        known = _ids(folder).get("trackio") if resume_step is not None else None
        name = known or f"{folder.resolve().name}-{secrets.token_hex(3)}"
        try:
            self._run = self._trackio.init(project=_project("TRACKIO_PROJECT"), name=name, config=settings,
                                           resume="allow" if known else "never", embed=False)
        except (ValueError, OSError, RuntimeError) as error:
            raise TrackerError(f"Trackio refuses the run: {error}") from error
        _keep_id(folder, "trackio", self._run.name)

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        self._run.log(tagged(metrics), step=step)

    def close(self) -> None:
        self._trackio.finish()  # not self._run.finish(): Trackio would call it once more when Python ends


TRACKERS: dict[str, type[Tracker]] = {"tensorboard": TensorBoard, "wandb": Wandb, "trackio": Trackio}


def require(names: Sequence[str]) -> None:
    """Check the trackers of a run before it begins.

    names: names of TRACKERS or import paths, as `RunConfig.trackers` gives them.
    Raises TrackerError if a package is not installed, ConfigError if an import path is wrong.
    """
    packages = [TRACKERS[name].package for name in names if name in TRACKERS]
    missing = [package for package in packages if not imports.has_package(package)]
    if missing:
        raise TrackerError(f"--track {','.join(names)} needs {' and '.join(missing)}, which {_are(missing)} not installed: "
                           f"pip install {' '.join(missing)}, or choose other trackers")
    for name in names:
        tracker_class(name)


def tracker_class(name: str) -> type[Tracker]:
    """The class of a tracker, by its name in TRACKERS or by its import path. Raises ConfigError for a wrong path."""
    if name in TRACKERS:
        return TRACKERS[name]
    return imports.find("track", name, ("folder", "settings", "resume_step"))


def open_trackers(names: Sequence[str], folder: Path, settings: dict[str, Any], resume_step: int | None,
                  opened: contextlib.ExitStack, note: Callable[[str], None]) -> list[Tracker]:
    """Make the trackers of a run. TensorBoard hides the later steps of older files as soon as it is made, so it is the last.

    opened: closes them when it is left.
    note: called with a line about a tracker that cannot be closed.
    Raises TrackerError, and ConfigError as `require`.
    """
    require(names)
    trackers = []
    for name in sorted(names, key="tensorboard".__eq__):
        made = tracker_class(name)
        errors = contextlib.nullcontext() if name in TRACKERS else imports.user_errors("track", name, "making the tracker")
        with errors:
            tracker = made(folder=folder, settings=settings, resume_step=resume_step)
        opened.callback(_close, tracker, note)
        trackers.append(tracker)
    return trackers


def _close(tracker: Tracker, note: Callable[[str], None]) -> None:
    try:
        tracker.close()
    except Exception as error:  # any error of another package: the run has all that it made
        note(f"the tracker {type(tracker).__name__} failed at its end ({type(error).__name__}: {error}); metrics.jsonl has all "
             "metrics")


def _are(names: list[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _ids(folder: Path) -> dict[str, str]:
    """The id of the folder's run in each tracker."""
    path = folder / IDS
    if not path.exists():
        return {}
    try:
        ids = read_json(path)
        known = isinstance(ids, dict) and all(isinstance(one, str) for one in ids.values())
    except (OSError, ValueError):
        known = False
    if not known:
        raise TrackerError(f"{path} is damaged: remove it, and the trackers begin new runs")
    return ids


def _keep_id(folder: Path, name: str, value: str) -> None:
    ids = _ids(folder) | {name: value}
    write_atomically(folder / IDS, [json.dumps(ids, indent=2).encode(), b"\n"])


def _project(variable: str) -> str:
    return os.environ.get(variable) or PROJECT

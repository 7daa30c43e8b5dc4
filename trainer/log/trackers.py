"""Trackers: where a run's figures go, beside its metrics.jsonl. Each has

    write(step, metrics)   the figures of a step; None is left out
    close()                at the end of a session

events.EventFile, for TensorBoard, is the first; Weights & Biases and Trackio stand here. What they call a run is kept in the
folder's trackers.json, so that a run that is resumed goes on in the same one. They only ever add: what they were told of steps
after the one that a run is resumed from stays beside what comes then.
"""

import contextlib
import importlib
import importlib.util
import json
import os
import secrets
from pathlib import Path
from typing import Any, Protocol

from trainer.config import Config
from trainer.config.sections import TRACKERS
from trainer.errors import TrackerError
from trainer.files import write_atomically
from trainer.log.tensorboard import TAGS, EventFile

PROJECT = "insertcoin"   # where WANDB_PROJECT or TRACKIO_PROJECT names no other
IDS = "trackers.json"


class Tracker(Protocol):
    """Somewhere to write figures to."""

    def write(self, step: int, metrics: dict[str, float | None]) -> None: ...

    def close(self) -> None: ...


class Wandb:
    """A run of Weights & Biases, found again by its id. WANDB_MODE=offline writes to the run's folder alone."""

    def __init__(self, folder: Path, settings: dict[str, Any], resume: bool) -> None:
        wandb, ids = importlib.import_module("wandb"), _ids(folder)
        given = {"id": ids["wandb"]} if resume and "wandb" in ids else {}
        try:
            self._run = wandb.init(project=_project("WANDB_PROJECT"), name=folder.resolve().name, dir=str(folder),
                                   config=settings, resume="allow" if given else None,
                                   settings=wandb.Settings(console="off", silent=True), **given)
        except wandb.Error as error:
            raise TrackerError(f"Weights & Biases does not take the run: {error}; log in by `wandb login`, or set "
                               "WANDB_MODE=offline") from error
        self._run.define_metric("*", step_metric="step")  # its own counter would refuse the steps of an older checkpoint
        _keep_id(folder, "wandb", self._run.id)

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        self._run.log({"step": step} | _tagged(metrics))

    def close(self) -> None:
        self._run.finish()


class Trackio:
    """A run of Trackio, found again by its name, which is the folder's and a few letters that no other folder has."""

    def __init__(self, folder: Path, settings: dict[str, Any], resume: bool) -> None:
        self._trackio, known = importlib.import_module("trackio"), _ids(folder).get("trackio") if resume else None
        name = known or f"{folder.resolve().name}-{secrets.token_hex(3)}"
        try:
            self._run = self._trackio.init(project=_project("TRACKIO_PROJECT"), name=name, config=settings,
                                           resume="allow" if known else "never", embed=False)
        except (ValueError, OSError, RuntimeError) as error:
            raise TrackerError(f"Trackio does not take the run: {error}") from error
        _keep_id(folder, "trackio", self._run.name)

    def write(self, step: int, metrics: dict[str, float | None]) -> None:
        self._run.log(_tagged(metrics), step=step)

    def close(self) -> None:
        self._trackio.finish()  # not the run's own: that would be done once more when Python ends


def names(track: str) -> list[str]:
    """["wandb", "trackio"] of "wandb,trackio"; none of "none"."""
    return [] if track == "none" else track.split(",")


def require(track: str) -> None:
    """Raise TrackerError where a tracker that is asked for is not installed."""
    missing = [name for name in names(track) if importlib.util.find_spec(TRACKERS[name]) is None]
    if missing:
        raise TrackerError(f"track is {track!r}, but {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not "
                           f"installed: pip install {' '.join(missing)}, or leave it out of --track")


def open_trackers(folder: Path, config: Config, facts: dict[str, str], resume_step: int | None,
                  opened: contextlib.ExitStack) -> list[Tracker]:
    """The trackers that a run asks for; `opened` closes them. Raises TrackerError."""
    require(config.run.track)
    settings, trackers = config.to_dict() | {"facts": facts}, []
    for name in names(config.run.track):
        if name == "tensorboard":
            made: Tracker = EventFile(folder, resume_step)
        else:
            made = {"wandb": Wandb, "trackio": Trackio}[name](folder, settings, resume_step is not None)
        trackers.append(opened.enter_context(contextlib.closing(made)))
    return trackers


def _tagged(metrics: dict[str, float | None]) -> dict[str, float]:
    """By the tags that TensorBoard shows them under."""
    return {TAGS.get(key, f"charts/{key}"): value for key, value in metrics.items() if value is not None}


def _ids(folder: Path) -> dict[str, str]:
    """What trackers call the run of a folder."""
    path = folder / IDS
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise TrackerError(f"{path} is damaged; remove it, and the trackers begin new runs") from None


def _keep_id(folder: Path, name: str, value: str) -> None:
    ids = _ids(folder) | {name: value}
    write_atomically(folder / IDS, [json.dumps(ids, indent=2).encode(), b"\n"])


def _project(variable: str) -> str:
    return os.environ.get(variable) or PROJECT

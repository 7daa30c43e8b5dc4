"""The runs that there are: how one is named, and what a folder tells of its run. Loads no torch.

A RUN is named by a path (its folder, or one of its checkpoints), by `last`, or by the beginning of a folder's name under
runs. The newest run is the one that was started, or resumed, last.
"""

import difflib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from trainer.config import Config
from trainer.errors import ConfigError, RunError
from trainer.runs.metrics import METRICS, read_metrics
from trainer.runs.folder import CONFIG, is_locked

ROOT = Path("runs")
LAST = "last"
EVALUATION = "evaluation.json"
HINT = "`python -m trainer list` shows them all"
_NAMED = 5  # runs that an error names at most


def find(name: str, root: Path = ROOT) -> Path:
    """The folder or the checkpoint that `name` names. Whether a checkpoint is whole is for its reader to tell.

    Raises RunError, with the runs that there are, where it names none or several.
    """
    path = Path(name).expanduser()
    if path.is_file() or holds_run(path):
        return path
    if path.parent.is_dir() and path.parent != Path():  # the beginning of a path
        root, name = path.parent, path.name
    found = newest_first(root)
    if name == LAST and found:
        return next(filter(_has_checkpoint, found), found[0])
    matches = [folder for folder in found if folder.name.startswith(name)]
    exact = [folder for folder in matches if folder.name == name]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    if matches:
        raise RunError(f"{name!r} is the beginning of {len(matches)} runs under {root}: {_listed(matches)}; write more of it")
    raise RunError(f"{_nothing_at(path, name, root)}; {_what_there_is(name, found, root)}")


def folder_of(path: Path) -> Path:
    """The run's folder of what `find` gives."""
    return path.parent if path.is_file() else path


def holds_run(folder: Path) -> bool:
    """Whether a run was written into `folder`: it has a config.json or a checkpoint. False where it cannot be read."""
    return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK) and ((folder / CONFIG).is_file() or _has_checkpoint(folder))


def newest_first(root: Path) -> list[Path]:
    """The folders of runs right under `root`; [] where it is not there."""
    folders = [folder for folder in root.iterdir() if holds_run(folder)] if root.is_dir() else []
    return sorted(folders, key=lambda folder: (_last_start(folder), folder.stat().st_mtime_ns, folder.name), reverse=True)


@dataclass(frozen=True)
class Run:
    """What a folder tells of its run, over all the times that it was started."""

    folder: Path
    config: dict[str, Any]  # as config.json has it: of whichever version wrote it
    started: datetime       # first
    step: int               # all environments together
    seconds: float          # of training
    score: float | None     # mean of the episodes that ended lately
    best: float | None      # the highest that this was
    evaluation: float | None  # mean score of the evaluation at the end
    running: bool           # whether a process is training in it right now

    @property
    def game(self) -> str:
        return self.config["game"]

    @property
    def seed(self) -> int:
        return self.config["run"]["seed"]

    @property
    def total_steps(self) -> int:
        return self.config["ppo"]["total_steps"]

    @property
    def state(self) -> str:
        """running, finished or stopped."""
        return "running" if self.running else "finished" if self.step >= self.total_steps else "stopped"


def read_run(folder: Path) -> Run:
    """What `folder` tells. Raises RunError where it holds no run, or is damaged."""
    path = folder / CONFIG
    if not path.is_file():
        raise RunError(f"{folder} holds no run: it has no {CONFIG}")
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
        config, started = saved["config"], datetime.fromisoformat(saved["sessions"][0]["started"])
        known = isinstance(config["game"], str) and isinstance(config["run"]["seed"] + config["ppo"]["total_steps"], int)
    except (OSError, ValueError, TypeError, LookupError):
        known = False
    if not known:
        raise RunError(f"{path} is damaged, or of another program")
    entries = read_metrics(folder)
    if not all(map(_is_sound, entries)):
        raise RunError(f"{folder / METRICS} is damaged, or of another program")
    scores = [entry["score_mean"] for entry in entries if entry.get("score_mean") is not None]
    last = entries[-1] if entries else {"step": 0, "seconds": 0.0}
    return Run(folder, config, started, last["step"], last["seconds"], scores[-1] if scores else None,
               max(scores, default=None), _evaluation(folder), is_locked(folder))


def config_in(path: Path, meta: dict[str, Any]) -> Config:
    """The settings in a checkpoint's `meta`. Raises ConfigError where another version of the trainer wrote it."""
    try:
        return Config.from_dict(meta["config"])
    except (ConfigError, KeyError) as error:
        raise ConfigError(f"{path} was written by another version of the trainer: {error}") from None


def short_name(game: str) -> str:
    """A game's name, without the folder of one from outside."""
    return Path(game).stem if game.endswith(".pyx") else game


def _has_checkpoint(folder: Path) -> bool:
    return (folder / "best.safetensors").is_file() or any(folder.glob("step_*.safetensors"))


def _last_start(folder: Path) -> float:
    """When a run was started or resumed last, in seconds of the epoch; when its folder changed, where that is not told."""
    try:
        sessions = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["sessions"]
        return datetime.fromisoformat(sessions[-1]["started"]).timestamp()
    except (OSError, ValueError, TypeError, LookupError):
        return folder.stat().st_mtime


def _is_sound(entry: dict[str, Any]) -> bool:
    return isinstance(entry["step"], int) and isinstance(entry["seconds"], int | float) and \
        isinstance(entry.get("score_mean"), int | float | None)


def _evaluation(folder: Path) -> float | None:
    path = folder / EVALUATION
    if not path.is_file():
        return None
    try:
        return float(json.loads(path.read_text(encoding="utf-8"))["mean"])
    except (OSError, ValueError, TypeError, LookupError):
        raise RunError(f"{path} is damaged; move it away") from None


def _nothing_at(path: Path, name: str, root: Path) -> str:
    if path.is_dir():
        return f"{path} holds no run (neither a {CONFIG} nor a checkpoint), and none under {root} begins with {name!r}"
    return f"there is no run at {path}, and none under {root} begins with {name!r}"


def _what_there_is(name: str, found: Sequence[Path], root: Path) -> str:
    if not found:
        return f"there are no runs under {root} here: pass a run's folder, or one of its checkpoints"
    word = Path(name).name
    beginnings = difflib.get_close_matches(word, {folder.name[:len(word)] for folder in found}, _NAMED)
    near = [folder for folder in found if folder.name[:len(word)] in beginnings]
    if near:
        return f"the nearest {'are' if len(near) > 1 else 'is'} {_listed(near)}; {HINT}"
    return f"the newest {'are' if len(found) > 1 else 'is'} {_listed(found)}; {HINT}"


def _listed(folders: Sequence[Path]) -> str:
    names = [folder.name for folder in folders[:_NAMED]]
    more = len(folders) - len(names)
    if more:
        return ", ".join(names) + f" and {more} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

"""The checkpoints of a run: the last few, named after their step, and `best.safetensors`.

Each is one file, written atomically: a killed process leaves none half-written. checkpoint_file.py has the format and the
checks.
"""

import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch

from envs_c.files import remove_leftovers, write_atomically
from envs_c.numbers import is_stored
from envs_c.text import shown
from trainer.config import Config
from trainer.config.games import place_of
from trainer.errors import CheckpointError, ConfigError
from trainer.runs import checkpoint_file
from trainer.runs.checkpoint_file import DamagedError
from trainer.runs.metrics import ADVICE

BEST = "best.safetensors"

_NAME = re.compile(r"step_(\d{12,})\.safetensors")
_Content = TypeVar("_Content")


class Checkpoint(NamedTuple):
    """The content of a checkpoint."""

    tensors: dict[str, torch.Tensor]  # on the CPU
    meta: dict[str, Any]
    config: Config                    # of the run, read from meta["config"]


def path_of(folder: Path, step: int) -> Path:
    """The path of the checkpoint of a step."""
    return folder / f"step_{step:012d}.safetensors"


def save(folder: Path, step: int, tensors: dict[str, torch.Tensor], meta: dict[str, Any], *, score: float | None,
         stand_in: float | None = None, keep: int = 3, since: int | None = None) -> Path:
    """Write the checkpoint of `step` into `folder`, and also as `best.safetensors` if `score` is a record.

    tensors: of any device, dtype and layout; they are loaded on the CPU, contiguous, with equal bits.
    meta: JSON content; tuples are loaded as lists. "config" is the run's config (`Config.to_dict`).
    score: higher is better; None and NaN are never a record.
    stand_in: used without a score: the file becomes `best.safetensors` if there is no better score than this.
    keep: number of checkpoints to keep, at least 1; the best one is not counted.
    since: the step of the checkpoint from which this training came to `step`; None: any before it.

    Other checkpoints of steps later than `since` are removed, and such a best one is renamed: the run was resumed from before
    them. Raises CheckpointError if the file cannot be written, or if `best.safetensors` is damaged.
    """
    since = step if since is None else since
    if score is not None and math.isnan(score):
        score = None
    data = checkpoint_file.encode(tensors, {"step": step, "score": score, "meta": meta})
    path, whole = path_of(folder, step), ""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder, rf"{_NAME.pattern}|{re.escape(BEST)}")  # of a training; an export may be writing now
        try:
            if aside := name_aside(folder, since):
                (folder / BEST).rename(aside)
            best = best_score(folder)
            worth = stand_in if score is None else score
            if worth is not None and (best is None or worth > best):
                write_atomically(folder / BEST, [data])
                whole = f", or from {folder / BEST}, which holds this step"
        finally:  # after the record: a resumed run does not save this step again, so a kill in between would lose the record
            write_atomically(path, [data])
        steps = _by_step(folder)
        kept = [at for at in steps if at <= since or at == step][:keep]
        for at in steps.keys() - kept:
            steps[at].unlink()
    except OSError as error:
        raise CheckpointError(f"cannot write the checkpoint {path}: {error.strerror or error}; {ADVICE}{whole}") from error
    return path


def load(path: Path) -> Checkpoint:
    """Read a checkpoint and check all its bytes.

    Raises CheckpointError if the file is missing, damaged, not a checkpoint or of a newer format, and ConfigError if another
    version of the trainer wrote its config.
    """
    tensors, envelope = _or_name_another(path, checkpoint_file.read)
    return Checkpoint(tensors, envelope["meta"], _config(path, envelope["meta"]))


def read_meta(path: Path) -> dict[str, Any]:
    """The `meta` of a checkpoint, checked; the tensors are neither read nor checked. Raises CheckpointError as `load`."""
    return _or_name_another(path, checkpoint_file.read_envelope)["meta"]


def read_config(path: Path) -> Config:
    """The config of a checkpoint's run, read as by `read_meta`. Raises as `load`."""
    return _config(path, read_meta(path))


def latest(run: str | Path) -> Path:
    """The newest checkpoint in a run's folder; a path to a file is returned unchanged. The file is not opened.

    Raises CheckpointError if there is none.
    """
    run = Path(run)
    if run.is_file():
        return run
    if not run.is_dir():
        raise CheckpointError(f"there is no run at {run}; pass a run's folder, or one of its checkpoints")
    steps = _by_step(run)
    if steps:
        return next(iter(steps.values()))
    best = f"; to go on from the best one, pass {run / BEST}" if (run / BEST).is_file() else ""
    raise CheckpointError(f"{run} has no checkpoint (step_....safetensors){best}")


def progress(path: Path, meta: dict[str, Any]) -> dict[str, Any]:
    """The progress of a training in the `meta` of its checkpoint at `path`: precision, num_batches, iteration, seconds,
    episodes, recent (the returns and lengths of the last episodes), and judged (the steps of all judgments and of the last).

    Raises CheckpointError that names the first one that is missing or has a wrong value.
    """
    meta = {"judged": [0, 0]} | meta  # the first checkpoints have none
    for name, (requirement, fits) in _PROGRESS.items():
        if name not in meta or not fits(meta[name]):
            given = f", not {shown(meta[name])}" if name in meta else ", and it is missing"
            raise CheckpointError(f"{path} does not fit this run's settings: {name} must be {requirement}{given}")
    return {name: meta[name] for name in _PROGRESS}


def require_finite(path: Path, tensors: Mapping[str, torch.Tensor], allowed: Mapping[str, torch.Tensor],
                   prefix: str = "") -> None:
    """Check that the checkpoint at `path` has no infinite or NaN number, unless `allowed` has one at the same place.

    allowed: tensors by name, such as those of a new policy, whose buffers may hold -inf. Others than in the checkpoint, and of
        other shapes, are not used.
    prefix: of the names in the error message.
    Raises CheckpointError that names the first tensor with such a number.
    """
    for name, tensor in sorted(tensors.items()):
        if not tensor.is_floating_point():
            continue
        bad = ~torch.isfinite(tensor)
        if name in allowed and allowed[name].shape == tensor.shape:
            bad &= torch.isfinite(allowed[name].to(tensor.device))
        if bool(bad.any()):
            raise CheckpointError(f"{path} cannot be used: {prefix}{name} must be finite, but it holds "
                                  f"{tensor[bad][0].item()}; pass another checkpoint of this run, or choose another run")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


# Entries of `meta` with their requirement, as text and as a function.
_PROGRESS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "precision": ("float32 or bfloat16", lambda value: value in ("float32", "bfloat16")),
    "num_batches": ("an integer of at least 1", lambda value: _is_count(value) and value > 0),
    "iteration": ("an integer of at least 0", _is_count),
    "seconds": ("a number of at least 0", lambda value: is_stored(value) and value >= 0),
    "episodes": ("an integer of at least 0", _is_count),
    "judged": ("a list of two integers of at least 0", lambda value: isinstance(value, list) and len(value) == 2
               and all(map(_is_count, value))),
    "recent": ("a list of returns and lengths", lambda value: isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 2 and all(map(is_stored, one)) for one in value)),
}


def best_score(folder: Path) -> float | None:
    """The score of `best.safetensors`; None if it has none or does not exist. Raises CheckpointError if it is damaged."""
    path = folder / BEST
    return _of_best(path, lambda path: checkpoint_file.read(path)[1])["score"] if path.exists() else None


def name_aside(folder: Path, step: int) -> Path | None:
    """The new path that `save` gives to `best.safetensors` in a run resumed from `step`; None if it is not of a later step.

    Without a later checkpoint the record stays: the run was killed after it had saved the record and before it saved the
    step's own checkpoint. Raises CheckpointError if the file is damaged.
    """
    path = folder / BEST
    if not path.exists() or max(_by_step(folder), default=step) <= step:
        return None
    at = _of_best(path, checkpoint_file.read_envelope)["step"]
    if at <= step:
        return None
    names = (folder / f"best_{at:012d}{suffix}.safetensors" for suffix in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(name for name in names if not name.exists())


def _of_best(path: Path, read: Callable[[Path], _Content]) -> _Content:
    """read(path) of `best.safetensors`. Raises CheckpointError that says what to do if it is damaged."""
    try:
        return read(path)
    except DamagedError as error:
        raise CheckpointError(f"{error}; move it away, and go on with --resume {shlex.quote(str(path.parent))}") from None


def _config(path: Path, meta: dict[str, Any]) -> Config:
    try:
        config = Config.from_dict(meta["config"])
        return replace(config, game=place_of(config.game))
    except (ConfigError, KeyError) as error:
        raise ConfigError(f"{path} was written by another version of the trainer: {error}") from None


def _by_step(folder: Path) -> dict[int, Path]:
    """The checkpoints in a folder by step, newest first."""
    named = ((_NAME.fullmatch(path.name), path) for path in folder.iterdir())
    return dict(sorted(((int(match[1]), path) for match, path in named if match), reverse=True))


def _or_name_another(path: Path, read: Callable[[Path], _Content]) -> _Content:
    """read(path). If the file is damaged, the error names an intact checkpoint of the same folder."""
    try:
        return read(path)
    except DamagedError as error:
        for other in [*_by_step(path.parent).values(), path.parent / BEST]:
            if other != path and _is_intact(other):
                raise CheckpointError(f"{error}; {other} is intact: pass it instead to go on from there") from None
        raise CheckpointError(f"{error}; {path.parent} holds no other intact checkpoint") from None


def _is_intact(path: Path) -> bool:
    try:
        checkpoint_file.read(path)
    except CheckpointError:
        return False
    return True

"""Callbacks: functions of the user's own that a training calls, in Python only."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from envs_c.numbers import BOOLEANS, NUMBERS
from trainer.errors import ConfigError
from trainer.imports import describe

Callback = Callable[..., Any]
RESERVED = ("step", "seconds")  # in metrics.jsonl, of every iteration


@dataclass(frozen=True)
class Callbacks:
    """Functions that a training calls; what they return is ignored, and what they raise ends the training.

    on_rollout: called with the session after a rollout and before the learning. session.storage holds the rollout, and may be
        changed in place.
    on_update: called with the session and the metrics after an iteration. Numbers that it adds to the metrics are logged,
        under other names than "step" and "seconds".
    on_episode: called with the session, the score and the length in steps of an episode that has ended.
    on_checkpoint: called with the session and the path of a checkpoint that was written.

    An exception gets a note with the step and the last checkpoint. In a job of torchrun each rank calls its own functions, and
    only rank 0 calls on_checkpoint.

    Raises ConfigError if one cannot be called with these arguments.
    """

    on_rollout: Callback | None = None
    on_update: Callback | None = None
    on_episode: Callback | None = None
    on_checkpoint: Callback | None = None

    def __post_init__(self) -> None:
        arguments = {"on_rollout": ("session",), "on_update": ("session", "metrics"),
                     "on_episode": ("session", "score", "length"), "on_checkpoint": ("session", "path")}
        for name, given in ((one.name, getattr(self, one.name)) for one in fields(self)):
            if given is not None:
                _require(name, given, arguments[name])

    def rollout(self, session: Any) -> None:
        """A rollout was played."""
        if self.on_rollout is not None:
            self._call("on_rollout", session)

    def update(self, session: Any, metrics: dict[str, Any]) -> None:
        """An iteration is over. Raises ConfigError if the function has added what is no number, or a name of RESERVED."""
        if self.on_update is not None:
            self._call("on_update", session, metrics)
            _require_numbers(metrics)

    def episode(self, session: Any, score: float, length: int) -> None:
        """An episode has ended."""
        if self.on_episode is not None:
            self._call("on_episode", session, score, length)

    def checkpoint(self, session: Any, path: Path) -> None:
        """A checkpoint was written."""
        if self.on_checkpoint is not None:
            self._call("on_checkpoint", session, path)

    def _call(self, name: str, session: Any, *arguments: Any) -> None:
        """Call the function of this name. What it raises gets a note."""
        try:
            getattr(self, name)(session, *arguments)
        except Exception as error:
            kept = f"the last checkpoint is {session.saved}" if session.saved is not None else "there is no checkpoint"
            error.add_note(f"raised by {name} at step {session.step:,}; {kept}")
            raise


def _require_numbers(metrics: dict[str, Any]) -> None:
    """Raises ConfigError if on_update has added something else than a number to the metrics, or a reserved name."""
    for name, value in metrics.items():
        if name in RESERVED:
            raise ConfigError("on_update may add numbers by name to the metrics, but "
                              f"{name!r} is the log's own: choose another name")
        if value is not None and not (isinstance(name, str) and isinstance(value, NUMBERS + BOOLEANS)):
            raise ConfigError("on_update may add numbers by name to the metrics, but "
                              f"{name!r} is {describe(value)}: use float(...)")


def _require(name: str, given: Any, arguments: tuple[str, ...]) -> None:
    """Raises ConfigError unless `given` can be called with these arguments, by position."""
    wanted = f"{name} must be a function of {', '.join(arguments)}"
    if not callable(given):
        raise ConfigError(f"{wanted}, not {describe(given)}")
    try:
        inspect.signature(given).bind(*arguments)
    except TypeError as error:
        raise ConfigError(f"{wanted}: {error}") from None
    except ValueError:  # a compiled function without a signature
        return

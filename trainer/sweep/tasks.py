"""The trainings of a bench in its storage: which are done, which are taken, and by which process.

Each training of a bench is a trial of an Optuna study that waits until a process takes it. A training that was interrupted, or
whose process died, waits again as a new trial; it goes on in the same folder.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.storages._heartbeat import BaseHeartbeat
from optuna.trial import FrozenTrial, TrialState

from trainer.config.games import GameName
from trainer.errors import SweepError
from trainer.sweep.study import fail_the_dead, first_difference, identity, this_process

_KIND, _JOIN = "bench", 10  # the mark of a bench's study; seconds to wait for it
_BEAT = 15.0                # seconds between two heartbeats of a trial
_LIVE = (TrialState.WAITING, TrialState.RUNNING, TrialState.COMPLETE)


@dataclass(frozen=True)
class Task:
    """A training of a bench.

    name: unlike all others, fit for the name of a folder.
    sticky: the probability of sticky actions; None for a Gymnasium environment, which has its own.
    """

    name: str
    game: GameName
    sticky: float | None
    seed: int

    @property
    def label(self) -> str:
        """The task in words."""
        sticky = "" if self.sticky is None else f" sticky {self.sticky:g}"
        return f"{self.game}{sticky} seed {self.seed}"


def open_bench(storage: optuna.storages.BaseStorage, name: str, settings: dict[str, dict[str, Any]]) -> optuna.Study:
    """Begin the bench `name`, or join it. More games and seeds may join a bench.

    settings: by game, ready for JSON; equal in all processes.
    Raises SweepError if it is no bench, or if it has other settings for a game.
    """
    try:
        study = optuna.create_study(storage=storage, study_name=name, direction="maximize")
        identity(study)
        study.set_user_attr("kind", _KIND)
    except optuna.exceptions.DuplicatedStudyError:
        try:
            study = optuna.load_study(storage=storage, study_name=name)
        except KeyError:
            raise optuna.exceptions.StorageInternalError(f"its table of studies has no {name!r}, but another has") from None
        stop = time.monotonic() + _JOIN
        while "kind" not in study.user_attrs and time.monotonic() < stop and "facts" not in study.user_attrs:
            time.sleep(0.1)
        if study.user_attrs.get("kind") != _KIND:
            raise SweepError(f"{name!r} is no bench, or was killed when it began: choose another --name") from None
    known = study.user_attrs
    for game, ours in settings.items():
        if f"game {game}" in known and (difference := first_difference(known[f"game {game}"], ours)):
            raise SweepError(f"the bench {name!r} exists, but {game} had other settings ({difference}): give the options of "
                             "its first command, or choose another --name and --out")
    for game in settings:
        if f"game {game}" not in known:
            study.set_user_attr(f"game {game}", settings[game])
    return study


class Tasks:
    """The tasks of a bench that this process wants done."""

    def __init__(self, study: optuna.Study, tasks: Sequence[Task]):
        self.study, self.tasks = study, {task.name: task for task in tasks}
        self._beats: dict[int, float] = {}
        self._own: dict[int, FrozenTrial] = {}  # by number: those that this process has begun and not ended
        self._offer(again=True)

    def take(self) -> tuple[FrozenTrial, Task] | None:
        """Take a task that nobody has taken; None if there is none. Tasks of dead processes are offered again.

        Our own trials beat first: they could not while the computer slept.
        """
        for trial in self._own.values():
            self.beat(trial)
        fail_the_dead(self.study)
        self._offer(again=False)
        order = list(self.tasks)
        for trial in sorted(self._trials(TrialState.WAITING), key=lambda trial: order.index(trial.user_attrs["task"])):
            if not self._begin(trial):
                continue
            if self._is_twice(trial):
                self._end(trial, TrialState.PRUNED)
                continue
            for key, value in this_process().items():
                self._note(trial, key, value)
            return trial, self.tasks[trial.user_attrs["task"]]
        return None

    def beat(self, trial: FrozenTrial) -> None:
        """Note that the process of a trial lives; other machines take the task over after some time without it."""
        now = time.time()  # the monotonic clock stands still while the computer sleeps
        if isinstance(self.study._storage, BaseHeartbeat) and abs(now - self._beats.get(trial.number, 0.0)) >= _BEAT:
            self.study._storage.record_heartbeat(trial._trial_id)
            self._beats[trial.number] = now

    def done(self, trial: FrozenTrial, facts: dict[str, Any]) -> None:
        """Note the results of a training. facts: with "evaluations", the first of them the main one."""
        for key, value in facts.items():
            self._note(trial, key, value)
        self._end(trial, TrialState.COMPLETE, facts["evaluations"][0]["mean"])

    def failed(self, trial: FrozenTrial, key: str, reason: str) -> None:
        """Note that a training ended without results. key: "failed", or "reason" for one that is to go on later."""
        self._note(trial, key, reason)
        self._end(trial, TrialState.FAIL)

    def results(self) -> dict[str, FrozenTrial]:
        """The finished trials, by name of their task."""
        found: dict[str, FrozenTrial] = {}
        for trial in self._trials(TrialState.COMPLETE):
            found.setdefault(trial.user_attrs["task"], trial)
        return found

    def failures(self) -> dict[str, str]:
        """The reasons of failed tasks that nobody has done or tries again, by name."""
        live = {trial.user_attrs["task"] for trial in self._trials(*_LIVE)}
        return {trial.user_attrs["task"]: str(trial.user_attrs["failed"]) for trial in self._trials(TrialState.FAIL)
                if "failed" in trial.user_attrs and trial.user_attrs["task"] not in live}

    @property
    def open(self) -> int:
        """Tasks that wait, or that a process is working on."""
        return len({trial.user_attrs["task"] for trial in self._trials(TrialState.WAITING, TrialState.RUNNING)})

    @property
    def advice(self) -> str:
        """What to do if one of the other processes has died, behind a line about them; "" where it is noticed by itself."""
        return "" if isinstance(self.study._storage, BaseHeartbeat) else (
            "; with a journal only its own machine notices that one has died: give the same command there, or end all "
            "processes and go on with another --name and the same --out")

    def _trials(self, *states: TrialState) -> list[FrozenTrial]:
        """The trials of our tasks."""
        return [trial for trial in self.study.get_trials(deepcopy=False, states=states)
                if isinstance(task := trial.user_attrs.get("task"), str) and task in self.tasks]

    def _offer(self, *, again: bool) -> None:
        """Let each task wait for a process that nobody has done or taken. again: also those that failed."""
        passed = {trial.user_attrs["task"] for trial in self._trials(*_LIVE)}
        if not again:
            passed |= {trial.user_attrs["task"] for trial in self._trials(TrialState.FAIL) if "failed" in trial.user_attrs}
        for name in self.tasks:
            if name not in passed:
                self.study.enqueue_trial({}, user_attrs={"task": name})

    def _is_twice(self, trial: optuna.Trial) -> bool:
        """True if an earlier trial of the same task waits, runs or is done: then two processes offered it at once."""
        return any(other.number < trial.number and other.user_attrs["task"] == trial.user_attrs["task"]
                   for other in self._trials(*_LIVE))

    def _begin(self, trial: FrozenTrial) -> bool:
        """Take a waiting trial; False if another process was faster."""
        with contextlib.suppress(optuna.exceptions.UpdateFinishedTrialError):
            if self.study._storage.set_trial_state_values(trial._trial_id, TrialState.RUNNING):
                self._own[trial.number] = trial
                self.beat(trial)
                return True
        return False

    def _note(self, trial: FrozenTrial, key: str, value: Any) -> None:
        with contextlib.suppress(optuna.exceptions.UpdateFinishedTrialError):  # another machine took this process for dead
            self.study._storage.set_trial_user_attr(trial._trial_id, key, value)

    def _end(self, trial: FrozenTrial, state: TrialState, value: float | None = None) -> None:
        self._own.pop(trial.number, None)
        with contextlib.suppress(optuna.exceptions.UpdateFinishedTrialError):
            self.study._storage.set_trial_state_values(trial._trial_id, state, None if value is None else [value])

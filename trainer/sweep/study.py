"""The study of a sweep, in a storage: a sweep can be stopped, resumed, and shared by several processes."""

import contextlib
import os
import secrets
import socket
import time
import warnings
from collections.abc import Callable, Collection
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import BaseSampler, TPESampler
from optuna.trial import FrozenTrial, TrialState

from trainer.config import Config
from trainer.config.before_parse import option_of, written
from trainer.config.config import comparable
from trainer.config.sections import OF_THE_MACHINE
from trainer.errors import SweepError
from trainer.sweep.storage import is_there, open_storage

_JOIN = 10       # seconds to wait for the facts from the process that begins a sweep
_LARGEST_PID = 2**31 - 1
_PROCESS = secrets.token_hex(4)  # another process of this host may have had our number before, as in a container


class SeededByTrial(BaseSampler):
    """TPE; its random numbers depend only on the seed and on the number of the trial.

    A resumed sweep therefore draws the same values as one without a stop, and two processes draw different ones.
    Values near those of trials that run in other processes are avoided (`constant_liar`, the default since Optuna 5.0).

    TPE: Bergstra et al., 2011, "Algorithms for Hyper-Parameter Optimization"; Watanabe, 2023, arXiv:2304.11127.
    """

    def __init__(self, seed: int, startup: int):
        """startup: trials drawn from a uniform distribution before TPE begins."""
        self.seed, self.startup, self.tpe = seed, startup, TPESampler(seed=seed % 2**32, n_startup_trials=startup)

    def before_trial(self, study, trial):
        self.tpe = TPESampler(seed=(self.seed * 1_000_003 + trial.number) % 2**32, n_startup_trials=self.startup)
        self.tpe.before_trial(study, trial)

    def infer_relative_search_space(self, study, trial):
        return self.tpe.infer_relative_search_space(study, trial)

    def sample_relative(self, study, trial, search_space):
        return self.tpe.sample_relative(study, trial, search_space)

    def sample_independent(self, study, trial, param_name, param_distribution):
        return self.tpe.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study, trial, state, values):
        self.tpe.after_trial(study, trial, state, values)


def open_study(storage: optuna.storages.BaseStorage, name: str, facts: dict[str, Any], first: dict[str, Any] | None,
               **choices: Any) -> tuple[optuna.Study, bool]:
    """Begin the study `name`, or join it if it exists.

    facts: equal in all processes of a sweep, see `facts_of`.
    first: the values of the first trial, or None.
    choices: the sampler and the pruner.

    Returns the study, and True if it was begun here. Raises SweepError if it is a sweep with other facts.
    """
    directions = ["maximize", "minimize"] if _costs(facts) else ["maximize"]
    try:
        study = optuna.create_study(storage=storage, study_name=name, directions=directions, **choices)
    except optuna.exceptions.DuplicatedStudyError:
        try:
            study = optuna.load_study(storage=storage, study_name=name, **choices)
        except KeyError:
            raise optuna.exceptions.StorageInternalError(f"its table of studies has no {name!r}, but another has") from None
        there = _facts(study)
        _check_readable(study)
        _check_same(name, there, facts)
        return study, False
    offer_first(study, first)
    identity(study)
    study.set_user_attr("facts", facts)
    return study, True


def find_study(url: str, name: str) -> optuna.Study | None:
    """The study `name` in the storage at a URL; None if there is none. Makes no storage. Raises SweepError."""
    if is_there(url):
        with contextlib.suppress(KeyError):
            return optuna.load_study(storage=open_storage(url), study_name=name)
    return None


def offer_first(study: optuna.Study, first: dict[str, Any] | None) -> None:
    """Give the values `first` to the next trial, unless a trial that counts, or one that waits, has them.

    The trial that had them may have been interrupted, or its process may have died. Two processes may do this at once; see
    `offered_twice`.
    """
    if first is not None and not _having(study, first):
        study.enqueue_trial(first)


def offered_twice(trial: optuna.Trial) -> bool:
    """True if two processes offered the values of this trial at once, and it is not the first that has them."""
    offered = trial.study.get_trials(deepcopy=False)[trial.number].system_attrs.get("fixed_params")
    return offered is not None and min(_having(trial.study, offered)) < trial.number


def _having(study: optuna.Study, values: dict[str, Any]) -> list[int]:
    """The numbers of the trials with these values that count or wait.

    The storage is read once: between two reads a waiting trial may begin, and would be in neither.
    """
    return [trial.number for trial in study.get_trials(deepcopy=False) if (_counts(trial) or trial.state == TrialState.WAITING)
            and values in (trial.params, trial.system_attrs.get("fixed_params"))]


def load_study(storage: optuna.storages.BaseStorage, name: str) -> optuna.Study:
    """The study `name`. Raises SweepError if it is not a sweep, or, with the names of the others, if it does not exist."""
    try:
        study = optuna.load_study(storage=storage, study_name=name)
        _check_readable(study)
        return study
    except KeyError:
        others = optuna.get_all_study_names(storage)
        found = ", ".join(sorted(map(str, others)))
        raise SweepError(f"there is no sweep {name!r} in this storage; it contains "
                         + (f"{found}: choose one with --name" if found else "none")) from None


def identity(study: optuna.Study) -> str:
    """A text that no other study has; a study without one gets it."""
    if not isinstance(study.user_attrs.get("id"), str):
        study.set_user_attr("id", secrets.token_hex(8))
    return study.user_attrs["id"]


def _check_readable(study: optuna.Study) -> None:
    """Raise SweepError unless a study contains all that a report reads: it may be damaged, or not of this trainer."""
    facts = study.user_attrs.get("facts")
    readable = isinstance(facts, dict) and isinstance(facts.get("settings"), dict) and isinstance(facts.get("ranges"), dict)
    readable = readable and isinstance(facts["settings"].get("game"), str)
    readable = readable and len(study.directions) == 1 + _costs(facts)
    readable = readable and all(isinstance(line, dict) and isinstance(line.get("section"), str)
                                for line in facts["ranges"].values())
    if not readable:
        raise SweepError(f"{study.study_name!r} is damaged or not a sweep of this trainer: choose another --name")
    for trial in study.get_trials(deepcopy=False):
        _check_trial(study, trial, set(facts["ranges"]))


def _check_trial(study: optuna.Study, trial: FrozenTrial, searched: set[str]) -> None:
    """Raise SweepError unless a trial contains what a report reads. searched: the names of the ranges."""
    readable = isinstance(trial.user_attrs.get("reason", ""), str)
    if trial.state == TrialState.COMPLETE:
        numbers = [*(trial.values or [None]), *(trial.user_attrs.get(name) for name in ("minutes", "steps", "standard_error"))]
        settings = trial.user_attrs.get("settings")
        readable = readable and all(isinstance(value, int | float) for value in numbers)
        readable = readable and isinstance(settings, dict) and {"minibatch", *searched} <= settings.keys()
    if not readable:
        raise SweepError(f"trial {trial.number} of {study.study_name!r} is damaged: choose another --name, or begin again in "
                         "another --storage")


def is_cost_aware(study: optuna.Study) -> bool:
    """True if fewer minutes of training are an objective of a sweep."""
    return _costs(study.user_attrs["facts"])


def _costs(facts: dict[str, Any]) -> bool:
    """True if the facts are those of a cost-aware sweep; older ones do not say, and damaged ones may have no `run`."""
    run = facts["settings"].get("run")
    return isinstance(run, dict) and run.get("cost_aware") is True


def score_of(trial: FrozenTrial) -> float:
    """The score of a finished trial."""
    return trial.values[0]


def facts_of(config: Config, ranges: tuple, seeds: int = 1, cost_aware: bool = False) -> dict[str, Any]:
    """The facts of a sweep, ready for JSON: the game, the common settings of all trials, their seeds, and the ranges."""
    settings = config.to_dict()
    run = settings.pop("run")
    for name in OF_THE_MACHINE:
        settings["env"].pop(name)
    settings["run"] = chosen(run, "seed", "eval_episodes", "judge_episodes") | {"seeds": seeds, "cost_aware": cost_aware}
    searched = {one.name: {"section": one.section, "choices": list(one.choices)} if one.choices else
                {"section": one.section, "low": one.low, "high": one.high, "log": one.log, "step": one.step} for one in ranges}
    return {"settings": settings, "ranges": searched}


def chosen(run: dict[str, Any], *names: str) -> dict[str, Any]:
    """These settings of the section `run`, and where the weights are from, unless they are new."""
    return {name: run[name] for name in (*names, *(["init_from"] if run["init_from"] else []))}


def counted(study: optuna.Study) -> list[FrozenTrial]:
    """The trials for --trials: all but interrupted ones and ones of dead processes."""
    return [trial for trial in study.get_trials(deepcopy=False) if _counts(trial)]


def _counts(trial: FrozenTrial) -> bool:
    """True if a trial is one of those in `counted`."""
    return trial.state in (TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED) or "failed" in trial.user_attrs


def this_process() -> dict[str, Any]:
    """The host of this process, a text that no other process has, and its number."""
    return {"host": socket.gethostname(), "process": _PROCESS, "pid": os.getpid()}


def fail_the_dead(study: optuna.Study) -> None:
    """Mark the running trials of dead processes as failed.

    A process of this machine is looked up. In a database, a trial of another machine counts as dead after 90 seconds without
    a heartbeat.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        optuna.storages.fail_stale_trials(study)
    here = this_process()
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        pid = trial.user_attrs.get("pid")
        noted = isinstance(pid, int) and 0 < pid <= _LARGEST_PID  # a process notes its number last
        ours = trial.user_attrs.get("process", here["process"]) == here["process"]  # an older version did not note it
        dead = not ours if pid == here["pid"] else noted and not _alive(pid)
        if noted and trial.user_attrs.get("host") == here["host"] and dead:
            with contextlib.suppress(ValueError, UpdateFinishedTrialError):  # another process has marked it, perhaps just now
                study.tell(trial.number, state=TrialState.FAIL)


def _alive(pid: int) -> bool:
    """True if a process with this number exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _facts(study: optuna.Study) -> dict[str, Any]:
    """The facts of a study. If another process is beginning it, waits for them up to _JOIN seconds."""
    deadline = time.monotonic() + _JOIN
    while "facts" not in study.user_attrs:
        if time.monotonic() > deadline:
            raise SweepError(f"{study.study_name!r} is not a sweep of this trainer, or was killed when it began: choose "
                             "another --name")
        time.sleep(0.1)
    return study.user_attrs["facts"]


def first_difference(there: Any, here: dict[str, Any], named: Callable[[str], str] = option_of,
                     searched: Collection[str] = ()) -> str | None:
    """The first difference between nested settings in a storage and those of this command, in words; None if they are equal.

    The game comes first: another one has other settings too. Settings that were added after the storage was written are no
    difference while they have the value from before.
    named: the name of a setting in a section, as the user knows it. searched: the settings that a sweep draws.
    """
    if not isinstance(there, dict):
        return "they are damaged"
    for section in sorted(there.keys() | here.keys(), key=lambda section: (section != "game", section)):
        before, settings = there.get(section), here.get(section)
        if not (isinstance(before, dict) and isinstance(settings, dict)):
            if before != settings:
                return f"{section} is {written(settings)} and was {written(before)}"
            continue
        before, settings = (comparable(one, settings, searched) for one in (before, settings))
        if before != settings:
            key = min(key for key in settings.keys() | before.keys() if settings.get(key) != before.get(key))
            return f"{named(key)} is {written(settings.get(key))} and was {written(before.get(key))}"
    return None


def _check_same(name: str, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Raise SweepError with the first difference between the facts of a study and those of this command."""
    if isinstance(run := there["settings"].get("run"), dict):  # that of an older sweep has neither
        there["settings"]["run"] = {"seeds": 1, "cost_aware": False} | run
    ranges = [{"ranges": {f"the range of {key}": line for key, line in facts["ranges"].items()}} for facts in (there, here)]
    searched = there["ranges"].keys() | here["ranges"].keys()
    if difference := (first_difference(there["settings"], here["settings"], searched=searched)
                      or first_difference(*ranges, named=str)):
        raise SweepError(f"the sweep {name!r} exists, but {difference}; give the options of its first command, or choose "
                         "another --name")

"""The study of a sweep: where Optuna keeps its trials, so that it can be stopped, gone on with, and shared.

A storage is a database's URL (sqlite, PostgreSQL, MySQL: what SQLAlchemy opens) or journal:FILE, Optuna's file for several
machines that share a folder and have no database. All trials of all processes are in it, and all that a report needs.
"""

import contextlib
import os
import socket
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import sqlalchemy
from optuna.samplers import BaseSampler, TPESampler
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from trainer.config import Config
from trainer.errors import SweepError

JOURNAL = "journal:"
DATABASE = "sweep.db"
_HEARTBEAT = 30  # seconds between a trial's signs of life
_GRACE = 90      # seconds without one, after which a trial's process is taken for dead
_OPENINGS, _OPENING_PAUSE = 5, 0.4  # tries, and seconds between them
_JOIN = 10       # seconds that the process which begins a sweep may take to write what it is
_OWN = ("num_threads", "num_batches")  # of env: each process may have its own, since they do not change what is learned


class SeededByTrial(BaseSampler):
    """TPE whose random numbers depend on the seed and the trial's number alone.

    So a resumed sweep draws what one that never stopped would have, and no two processes draw the same.
    TPE: Bergstra et al., 2011, "Algorithms for Hyper-Parameter Optimization"; Watanabe, 2023, arXiv:2304.11127.
    """

    def __init__(self, seed: int, startup: int):
        """startup: trials that are drawn evenly at random before anything is concluded from them."""
        self.seed, self.startup, self.tpe = seed, startup, TPESampler(seed=seed, n_startup_trials=startup)

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


def shown(url: str) -> str:
    """A storage's URL without its password."""
    if url.startswith(JOURNAL):
        return url
    try:
        return sqlalchemy.make_url(url).render_as_string(hide_password=True)
    except sqlalchemy.exc.ArgumentError:
        raise SweepError("storage is no URL of a database; it may be one such as sqlite:///sweep.db or "
                         "postgresql://user@host/name, or journal:FILE") from None


def default_storage(folder: Path) -> str:
    """The URL of the database in the sweep's own folder."""
    return sqlalchemy.URL.create("sqlite", database=str(folder.resolve() / DATABASE)).render_as_string()


@contextlib.contextmanager
def storage_errors(url: str, *others: type[Exception]) -> Iterator[None]:
    """What goes wrong with a storage becomes a SweepError in a sentence, without the password.

    others: further errors that mean it; Optuna's and SQLAlchemy's always do.
    """
    try:
        yield
    except (optuna.exceptions.StorageInternalError, sqlalchemy.exc.SQLAlchemyError, *others) as error:
        raise SweepError(f"the storage {shown(url)} does not work: {_reason(error, url)}; put it right and give the same "
                         "command again, or choose another --storage") from None


def open_storage(url: str) -> optuna.storages.BaseStorage:
    """The storage at a URL, its tables made if need be. Raises SweepError."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    shown(url)
    with storage_errors(url, ImportError, RuntimeError, OSError):
        if url.startswith(JOURNAL):
            return optuna.storages.JournalStorage(JournalFileBackend(url.removeprefix(JOURNAL)))
        for _ in range(_OPENINGS - 1):
            with contextlib.suppress(sqlalchemy.exc.SQLAlchemyError):  # another process is making the tables, too
                return _database(url)
            time.sleep(_OPENING_PAUSE)
        return _database(url)


def _database(url: str) -> optuna.storages.RDBStorage:
    settings = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {"pool_pre_ping": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return optuna.storages.RDBStorage(url, settings, heartbeat_interval=_HEARTBEAT, grace_period=_GRACE)


def open_study(storage: optuna.storages.BaseStorage, name: str, facts: dict[str, Any], first: dict[str, Any] | None,
               **choices: Any) -> tuple[optuna.Study, bool]:
    """The study called `name`, and whether it was begun here; otherwise it is joined.

    facts: what all of its processes have to agree on, see `facts_of`. first: the values that its first trial tries, or None.
    choices: the sampler and the pruner.
    Raises SweepError where it is a sweep of something else.
    """
    try:
        study = optuna.create_study(storage=storage, study_name=name, direction="maximize", **choices)
    except optuna.exceptions.DuplicatedStudyError:
        study = optuna.load_study(storage=storage, study_name=name, **choices)
        _check_same(name, _facts(study), facts)
        return study, False
    if first is not None:
        study.enqueue_trial(first)
    study.set_user_attr("facts", facts)
    return study, True


def load_study(storage: optuna.storages.BaseStorage, name: str) -> optuna.Study:
    """A study that is there. Raises SweepError with the names of those that are, where it is not."""
    try:
        return optuna.load_study(storage=storage, study_name=name)
    except KeyError:
        others = optuna.get_all_study_names(storage)
        raise SweepError(f"there is no sweep called {name!r} in this storage; there "
                         + (f"is {', '.join(sorted(others))}" if others else "is none")) from None


def facts_of(config: Config, ranges: tuple) -> dict[str, Any]:
    """What makes a sweep: the game, the settings that all trials share, and the ranges, as JSON has them."""
    settings = config.to_dict()
    run = settings.pop("run")
    for name in _OWN:
        settings["env"].pop(name)
    settings["run"] = {name: run[name] for name in ("seed", "eval_episodes")}
    searched = {one.name: {"section": one.section, "choices": list(one.choices)} if one.choices else
                {"section": one.section, "low": one.low, "high": one.high, "log": one.log, "step": one.step} for one in ranges}
    return {"settings": settings, "ranges": searched}


def counted(study: optuna.Study) -> list[FrozenTrial]:
    """The trials that --trials counts: under way or ended in any way but by an interrupt or the death of their process."""
    return [trial for trial in study.get_trials(deepcopy=False)
            if trial.state in (TrialState.RUNNING, TrialState.COMPLETE, TrialState.PRUNED) or "failed" in trial.user_attrs]


def whereabouts() -> dict[str, Any]:
    """Where a trial runs."""
    return {"host": socket.gethostname(), "pid": os.getpid()}


def fail_the_dead(study: optuna.Study) -> None:
    """Mark as failed the trials whose process is gone: at once on this machine, elsewhere (in a database) after 90 seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        optuna.storages.fail_stale_trials(study)
    here = whereabouts()
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        pid = trial.user_attrs.get("pid")
        if trial.user_attrs.get("host") == here["host"] and pid != here["pid"] and not _alive(pid):
            with contextlib.suppress(ValueError):  # another process was quicker
                study.tell(trial.number, state=TrialState.FAIL)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _facts(study: optuna.Study) -> dict[str, Any]:
    """What a study is of; waits a little for the process that begins it."""
    deadline = time.monotonic() + _JOIN
    while "facts" not in study.user_attrs:
        if time.monotonic() > deadline:
            raise SweepError(f"{study.study_name!r} is no sweep of this trainer, or one that was killed as it began; choose "
                             "another --name")
        time.sleep(0.1)
    return study.user_attrs["facts"]


def _check_same(name: str, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Raise SweepError with the first difference between what a study is of and what it should be."""
    for section, settings in {**here["settings"], "ranges": here["ranges"]}.items():
        before = there["ranges"] if section == "ranges" else there["settings"].get(section)
        if settings == before:
            continue
        if not isinstance(settings, dict) or not isinstance(before, dict):
            difference = f"{section} is {settings!r} where it was {before!r}"
        else:
            key = min(key for key in settings.keys() | before.keys() if settings.get(key) != before.get(key))
            what = f"the range of {key}" if section == "ranges" else key
            difference = f"{what} is {settings.get(key)!r} where it was {before.get(key)!r}"
        raise SweepError(f"the sweep {name!r} is there already, but {difference}; give the options that it was begun with, "
                         "or choose another --name")


def _reason(error: BaseException, url: str) -> str:
    """The innermost cause's first line, without the URL's password."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = next(iter(str(error).strip().splitlines()), type(error).__name__)
    password = None if url.startswith(JOURNAL) else sqlalchemy.make_url(url).password
    return text.replace(str(password), "***") if password else text

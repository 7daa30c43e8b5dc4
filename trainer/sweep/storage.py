"""The storages of sweeps and benches: they may be damaged, or of a stranger, which is an error of one line.

A storage is the URL of a database (sqlite, PostgreSQL, MySQL: those of SQLAlchemy), or journal:FILE, Optuna's file for
machines with a shared folder and no database. It contains the trials of all processes, and everything for the report.
"""

import contextlib
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import optuna
import sqlalchemy
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial

from trainer.errors import SweepError
from trainer.files import require_text, user_path

JOURNAL = "journal:"
DATABASE = "sweep.db"
_HEARTBEAT = 30  # seconds between two heartbeats of a trial
_GRACE = 90      # seconds without a heartbeat, after which the process of a trial counts as dead
_OPENINGS, _OPENING_PAUSE = 5, 0.4  # attempts to open a database, and seconds between them
_OPENING_ERRORS = (ImportError, RuntimeError, OSError, ValueError)  # of packages for databases
_TABLE = "studies"  # of Optuna's databases


def shown(url: str) -> str:
    """The URL of a storage without its password. Raises SweepError if it is not a URL, and FileError."""
    if url.startswith(JOURNAL):
        user_path(url.removeprefix(JOURNAL))
        return url
    try:
        return sqlalchemy.make_url(url).render_as_string(hide_password=True)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        given = f", not {url!r}" if ":" not in url else ""  # a text with a colon may hold a password
        raise SweepError("--storage must be the URL of a database, such as sqlite:///sweep.db or "
                         f"postgresql://user@host/name, or journal:FILE{given}") from None


def default_storage(folder: Path, database: str = DATABASE) -> str:
    """The URL of the database in the folder of a sweep. Raises FileError if no URL can name it."""
    path = str(folder.resolve() / database)
    require_text(path)
    return sqlalchemy.URL.create("sqlite", database=path).render_as_string()


@contextlib.contextmanager
def storage_errors(url: str, *others: type[Exception]) -> Iterator[None]:
    """Turn errors of a storage into a SweepError of one sentence, without the password.

    others: more types of errors to turn, beside those of Optuna and SQLAlchemy.
    """
    try:
        yield
    except (optuna.exceptions.StorageInternalError, sqlalchemy.exc.SQLAlchemyError, *others) as error:
        raise SweepError(f"the storage {shown(url)} does not work: {_reason(error, url)}; repair it and repeat the "
                         "command, or choose another --storage") from None


def is_there(url: str) -> bool:
    """True if there is a storage at a URL. Makes no file and no table. Raises SweepError."""
    file = _file(url)
    with storage_errors(url, *_OPENING_ERRORS):
        if file is not None and not file.is_file():
            return False
        if url.startswith(JOURNAL):
            return True
        engine = sqlalchemy.create_engine(url, **_settings(url), poolclass=sqlalchemy.NullPool)
        return sqlalchemy.inspect(engine).has_table(_TABLE)


def open_storage(url: str) -> optuna.storages.BaseStorage:
    """Open the storage at a URL; a new database gets its tables. Raises SweepError."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    file = _file(url)
    with storage_errors(url, *_OPENING_ERRORS):
        missing = file is not None and not file.parent.is_dir()
    if missing:
        raise SweepError(f"--storage must be in a folder that exists, not {shown(url)}: make {file.parent} first")
    with storage_errors(url, *_OPENING_ERRORS):
        if url.startswith(JOURNAL):
            return _Journal(_journal_file(url.removeprefix(JOURNAL)))
        for _ in range(_OPENINGS - 1):
            with contextlib.suppress(sqlalchemy.exc.SQLAlchemyError):  # another process is making the tables
                return _database(url)
            time.sleep(_OPENING_PAUSE)
        return _database(url)


class _Journal(optuna.storages.JournalStorage):
    """A journal whose damage raises StorageInternalError. Its lines are JSON. A file has no snapshots: nothing is unpickled."""

    def _sync_with_backend(self) -> None:
        try:
            super()._sync_with_backend()
        except (OSError, optuna.exceptions.OptunaError):
            raise
        except Exception:  # Optuna does not check the lines: any type of error can come of a damaged one
            line = self._replay_result.log_number_read
            raise optuna.exceptions.StorageInternalError(f"its line {line} or {line + 1} is damaged") from None

    def create_new_study(self, *args: Any, **kwargs: Any) -> int:
        try:
            return super().create_new_study(*args, **kwargs)
        except AssertionError:  # Optuna wrote the study behind a line without an end, and does not find it
            raise optuna.exceptions.StorageInternalError("its last line is damaged") from None


@contextlib.contextmanager
def _damage() -> Iterator[None]:
    """Turn the errors of Optuna and SQLAlchemy about damaged rows into StorageInternalError."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise optuna.exceptions.StorageInternalError(f"it holds a damaged row: {error}") from None


class _Database(optuna.storages.RDBStorage):
    """A database whose damage raises StorageInternalError."""

    def get_study_user_attrs(self, study_id: int) -> dict[str, Any]:
        with _damage():
            return super().get_study_user_attrs(study_id)

    def get_study_system_attrs(self, study_id: int) -> dict[str, Any]:
        with _damage():
            return super().get_study_system_attrs(study_id)

    def _get_trials(self, *args: Any, **kwargs: Any) -> list[FrozenTrial]:
        with _damage():
            return super()._get_trials(*args, **kwargs)


def _file(url: str) -> Path | None:
    """The file of a storage; None if it is not known, as for a server. Raises SweepError if the URL names no file."""
    shown(url)
    if url.startswith(JOURNAL):
        name = url.removeprefix(JOURNAL)
    else:
        address = sqlalchemy.make_url(url)
        if address.get_backend_name() != "sqlite" or "uri" in address.query:
            return None
        name = address.database
    if name in (None, "", ":memory:"):  # SQLite takes these for a database in memory, which no second command finds
        raise SweepError(f"--storage must name a file, such as sqlite:///sweep.db or journal:FILE, not {shown(url)}")
    return user_path(name) if url.startswith(JOURNAL) else Path(name)


def _journal_file(path: str) -> JournalFileBackend:
    """The file of a journal. Raises OSError if it is something else, such as a pipe, which would never end."""
    if user_path(path).exists() and not user_path(path).is_file():
        raise OSError(f"{path} is not a file")
    return JournalFileBackend(str(user_path(path)))


def _database(url: str) -> optuna.storages.RDBStorage:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return _Database(url, _settings(url), heartbeat_interval=_HEARTBEAT, grace_period=_GRACE)


def _settings(url: str) -> dict[str, Any]:
    """The arguments of `create_engine`: SQLite waits up to 60 seconds for a lock."""
    return {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {"pool_pre_ping": True}


def _reason(error: BaseException, url: str) -> str:
    """The first line of the innermost cause, without the password of the URL."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = next(iter(str(error).strip().splitlines()), type(error).__name__)
    password = None if url.startswith(JOURNAL) else sqlalchemy.make_url(url).password
    return text.replace(str(password), "***") if password else text

"""The folder of a sweep: it holds the trials of one study, and no training of a killed sweep goes on in it."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import optuna

from envs_c.files import write_atomically
from trainer.errors import SweepError
from trainer.files import read_json, writing
from trainer.process import TRIAL, is_program
from trainer.sweep.storage import shown
from trainer.sweep.study import identity
from trainer.sweep.trial import PRESET

OWNER = "study.json"
MAY_WRITE = "name a folder that you may write to with --out"
_TRIAL = re.compile(r"trial-(\d{4,})(?:-s\d+)?")
_PATIENCE = 10.0  # seconds for a killed process to end


def folder_of(trial: int, folder: Path, seed: int | None = None) -> Path:
    """The folder of a trial's run in the folder of its sweep. seed: of the run, if the trial has several."""
    return folder / (f"trial-{trial:04d}" + ("" if seed is None else f"-s{seed}"))


@contextlib.contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a folder. If the context raises, the folders that were made here and are still empty are removed.

    Raises FileError if it cannot be made.
    """
    new = [path for path in (folder, *folder.parents) if not os.path.exists(path)]  # noqa: PTH110, a long name is new too
    try:
        with writing(folder, MAY_WRITE):
            folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in new:
            with contextlib.suppress(OSError):  # it is not empty, or was not made
                path.rmdir()
        raise


def claim(folder: Path, study: optuna.Study, url: str) -> None:
    """Make `folder` if need be, and note in it that it holds the trials of `study`.

    url: of the study's storage.
    Raises SweepError if the folder holds the trials of another study, and FileError if it cannot be written.
    """
    refuse_other(folder, lambda: study)
    with writing(folder, MAY_WRITE):
        folder.mkdir(parents=True, exist_ok=True)
        owner = {"study": study.study_name, "storage": shown(url), "id": identity(study)}
        write_atomically(folder / OWNER, [json.dumps(owner, indent=2).encode(), b"\n"])


def refuse_other(folder: Path, find: Callable[[], optuna.Study | None]) -> None:
    """Raises SweepError if `folder` holds the trials of another study than the one that `find` returns.

    find: called after the folder is read, for another process may begin a study at this moment. None: there is no study yet.
    """
    trials = {int(found[1]) for path in (folder.iterdir() if folder.is_dir() else ())
              if (found := _TRIAL.fullmatch(path.name))}  # read before the study: another process adds to the study first
    try:
        owner = read_json(folder / OWNER)
        owner, other = owner["id"], f"the sweep {owner['study']!r} in {owner['storage']}"
    except (FileNotFoundError, NotADirectoryError):
        owner, other = None, "another sweep"
    except (OSError, ValueError, TypeError, LookupError):
        raise SweepError(f"{folder / OWNER} is damaged: remove it, or choose another folder with --out") from None
    study = find()
    if owner is None:
        ours = trials <= {trial.number for trial in (study.get_trials(deepcopy=False) if study else ())}
    else:
        ours = study is not None and study.user_attrs.get("id") == owner
    if not ours:
        raise SweepError(f"--out must be a folder for this sweep only, not {folder}, which holds the trials of {other}: name "
                         f"a new folder, such as --out {folder}-2, or go on with that sweep by its --storage and --name")


def mark_of(trial: int, study: optuna.Study) -> str:
    """The mark in the environment of a trial's training."""
    return f"{identity(study)}/{trial}"


def end_leftovers(folder: Path, study: optuna.Study) -> list[int]:
    """End the trainings in `folder` whose sweep was killed; returns the numbers of their trials.

    On Linux they usually end with their sweep, see `trainer.process.end_with_parent`. Only processes with our program and this
    study's mark are ended.
    Raises SweepError if one does not end.
    """
    stop, ended = time.monotonic() + _PATIENCE, set()
    while left := _leftovers(folder, study):
        if time.monotonic() > stop:
            raise SweepError(f"the process {next(iter(left))}, left over by a killed sweep, trains in {folder} and cannot be "
                             "ended: end it, or choose another --out")
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        ended |= set(left.values())
        time.sleep(0.05)
    return sorted(ended)


def _leftovers(folder: Path, study: optuna.Study) -> dict[int, int]:
    """The trainings in `folder` that are not children of the sweep which runs their trial: process and trial."""
    running = _trainings(folder, study)  # before the trials are read: a sweep notes its process there first
    if not running:
        return {}
    sweeps = {trial.number: trial.user_attrs.get("pid") for trial in study.get_trials(deepcopy=False)}
    return {process: trial for process, parent, trial in running if sweeps.get(trial) != parent}


def _trainings(folder: Path, study: optuna.Study) -> list[tuple[int, int, int]]:
    """The trainings of the study's trials in `folder` on this machine: process, its parent, and trial.

    A command that names a trial's files may be anyone's, such as an editor's. Ours has our program and the study's mark.
    """
    mark = re.compile(rf"(?:^|[\s\0]){TRIAL}={re.escape(mark_of(0, study)).removesuffix('0')}(\d+)(?=[\s\0]|$)")
    found = []
    for one in _processes():
        marked = mark.search(one.environment) if is_program(one.words) else None
        if marked and _has_preset(one.command, folder_of(int(marked[1]), folder.resolve())):
            found.append((one.number, one.parent, int(marked[1])))
    return found


def _has_preset(command: str, run: Path) -> bool:
    """True if a command names the preset of a trial's run, or of one of its seeds."""
    return re.search(rf"{re.escape(str(run))}(?:-s\d+)?/{re.escape(PRESET)}", command) is not None


class _Process(NamedTuple):
    """A process of this machine."""

    number: int
    parent: int
    words: list[str]   # of its command
    command: str       # these as one text
    environment: str   # empty for another user's


def _processes() -> list[_Process]:
    """The processes of this machine whose environment can be read."""
    if sys.platform != "linux":
        lines = subprocess.run(["ps", "-axwwE", "-o", "pid=,ppid=,args="], capture_output=True, text=True, errors="replace",
                               check=False).stdout.splitlines()
        rows = [line.split(None, 2) for line in lines]  # the environment follows on the command
        return [_Process(int(row[0]), int(row[1]), row[2].split(), row[2], row[2]) for row in rows if len(row) == 3]
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended, or is hidden
            command, environment = ((place / name).read_bytes().decode(errors="replace") for name in ("cmdline", "environ"))
            parent = (place / "stat").read_bytes().rpartition(b")")[2].split()[1]
            found.append(_Process(int(place.name), int(parent), command.split("\0"), command, environment))
    return found

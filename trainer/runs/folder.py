"""A run's folder: its name, its lock, config.json (settings, machine, versions, command) and README.md."""

import contextlib
import errno
import fcntl
import json
import os
import re
import shlex
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from envs_c.files import write_atomically
from trainer.config import Config, RunConfig
from trainer.errors import RunError
from trainer.files import read_json, writing
from trainer.process import program_name
from trainer.runs.evaluation import read_evaluations
from trainer.runs.machine import machine_facts

CONFIG = "config.json"
README = "README.md"
CHECKPOINT = re.compile(r"(best|step_(\d{12,}))\.safetensors")
# What trainings and verbs write into a run's folder; .NAME.tmp are the files of an atomic writing.
OF_A_RUN = (r"(config|evaluation|trackers|ratings)\.json|metrics\.jsonl|README\.md|report\.html|curves\.png|preset\.toml"
            r"|output\.txt|(best|step)_?\w*\.safetensors|policy\.(onnx|safetensors)|episode.*\.(gif|mp4)"
            r"|events\.out\.tfevents\..*|wandb|\..*\.tmp")
FILES_OF_A_TRAINING = (CONFIG, README, "metrics.jsonl", "report.html", "curves.png", "episode.gif")  # evaluation.json is read
BEFORE_A_RUN = ("preset.toml", "output.txt")  # a sweep writes them before it starts the trial
LOCK_TRIES = 10        # for a run's lock
LOCK_INTERVAL = 0.02   # seconds between tries
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # from file systems without locks, such as some network ones

_README = """\
# A run of {game}

Made by insertcoin's trainer: {total_steps:,} steps with seed {seed}. Some of these files are written only at the end of the
training.

| file | content |
| --- | --- |
| `config.json` | settings; and for each session its start, machine, versions and command |
| `metrics.jsonl` | metrics of every iteration, one JSON object a line; `step` counts the steps of all environments |
| `report.html` | one page with the curves, the evaluation, the film, the settings and the machine, for any browser |
| `curves.png` | the metrics as a picture |
| `step_*.safetensors` | the last checkpoints, by step: weights, optimizer, environments, random numbers |
| `best.safetensors` | the best checkpoint so far, by {judges} |
| `best_*.safetensors` | a best checkpoint of steps that were given up: the run was resumed from an earlier checkpoint |
| `evaluation.json` | scores of whole episodes, played at the end; `step` is that of the checkpoint which played them |
| `episode.gif` | the best of these episodes; `record` writes `episode-best.gif` and so on |
| `events.out.tfevents.*` | the metrics for TensorBoard |
| `trackers.json`, `wandb/` | the ids of this run in other trackers, and their files |
| `ratings.json` | self-play: the ratings of all players, from the games between them |
| `policy.onnx`, `policy.safetensors` | the exported policy |

In the folder in which it was started (`folder` in config.json):

```
{program} --resume {run}  # resume it
{program} eval {run}      # play 100 episodes
{program} record {run}    # film the best, the median and the worst of them
{program} export {run}    # as ONNX and safetensors
tensorboard --logdir {run}  # show the metrics
```
"""


def new_run_folder(game: str, run: RunConfig, root: Path = Path("runs")) -> Path:
    """Make the folder of a new run: `run_dir`, or a new folder root/GAME-DATE-TIME-sSEED.

    Raises RunError if `run_dir` is not an empty or a new folder, or if it cannot be made.
    """
    if run.run_dir is None:
        stem = re.sub(r"[^\w.]+", "_", Path(game).stem)
        folder = root / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}-s{run.seed}"
        try:
            return _make_unique(folder)
        except OSError as error:
            raise RunError(f"cannot make a folder in {root}: {error.strerror}; name one with --run-dir") from None
    folder = Path(run.run_dir)
    if not run.run_dir.strip():
        raise RunError(f"--run-dir must be a folder or the name of a new one, not {run.run_dir!r}")
    try:
        refuse_run(folder)
        folder.mkdir(parents=True, exist_ok=True)
        refuse_files(folder)
    except OSError as error:
        raise RunError(f"--run-dir must be a folder or the name of a new one, not {folder} ({error.strerror})") from None
    return folder


def refuse_run(folder: Path, name: str = "--run-dir") -> None:
    """Raises RunError if `folder` holds a run already. name: of the folder, as the user knows it."""
    if not (folder / CONFIG).exists():
        return
    if not _is_config(folder / CONFIG):
        raise RunError(f"{name} must be an empty or a new folder, not {folder}, whose {CONFIG} is damaged or of another "
                       "program; choose another folder")
    if any(folder.glob("*.safetensors")):
        raise RunError(f"{folder} holds a run already; go on with it by --resume {shlex.quote(str(folder))}, or choose "
                       f"another {name}")
    raise RunError(f"{folder} holds a run that ended before its first checkpoint; remove it, or choose another {name}")


def refuse_files(folder: Path, name: str = "--run-dir") -> None:
    """Raises RunError if `folder` holds anything that a new run did not put there: a run removes its older checkpoints.

    name: of the folder, as the user knows it.
    """
    files = sorted(path.name for path in folder.iterdir() if path.name not in BEFORE_A_RUN)
    checkpoints = [file for file in files if CHECKPOINT.fullmatch(file)]
    if checkpoints:
        raise RunError(f"{name} must be an empty or a new folder, not {folder}, which holds {checkpoints[-1]} but no "
                       f"{CONFIG}; go on from it by --resume {shlex.quote(str(folder / checkpoints[-1]))}, or choose another "
                       "folder")
    if files:
        raise RunError(f"{name} must be an empty or a new folder, not {folder}, which holds {files[0]}; choose another folder")


def refuse_links(folder: Path, names: str = OF_A_RUN) -> None:
    """Raises RunError if `folder` holds a link where a file of ours belongs: the one who made it may have meant another file.

    names: of our files, a regular expression.
    """
    links = sorted(path for path in folder.iterdir() if path.is_symlink() and re.fullmatch(names, path.name))
    if links:
        raise RunError(f"{links[0]} is a link to {links[0].readlink()}, and the files in {folder} must be no links: remove it, "
                       "or put a copy of the file there")


def refuse_folders(folder: Path) -> None:
    """Raises RunError if `folder` holds a folder where a training writes a file: it would fail at its end."""
    for name in FILES_OF_A_TRAINING:
        if (folder / name).is_dir():
            raise RunError(f"{folder / name} is a folder, and a training writes a file of this name: move it away")


def steps_saved(folder: Path) -> list[int]:
    """The steps of the checkpoints in a run's folder, without that of the best one."""
    return [int(match[2]) for path in folder.iterdir() if (match := CHECKPOINT.fullmatch(path.name)) and match[2]]


@contextlib.contextmanager
def open_folder(folder: Path, settings: dict[str, Any], facts: dict[str, str], resume_step: int | None) -> Iterator[None]:
    """Lock the folder of a run during one session, and write its config.json and README.md.

    settings: the run's config as nested dicts.
    facts: about this session, such as its device; facts about the machine and versions are added.
    resume_step: the step of the checkpoint to resume from; None for a new run.
    Raises RunError if the folder holds another run (and resume_step is None), a link, a folder in the place of a file or a
    damaged evaluation.json, or if another process has locked it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        refuse_links(folder)
        refuse_folders(folder)
        read_evaluations(folder)
        if resume_step is None:
            refuse_run(folder)
        with writing(folder, "a training writes into its run's folder: make room, and let your user write there"):
            write_config(folder, settings, facts, resume_step or 0)
            write_readme(folder, settings)
        yield


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock `folder` against other writers; the system unlocks it when this process ends.

    The folder itself is locked and no lock file is made: `is_locked` also works in a read-only folder.
    Raises RunError if another process has locked it.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(LOCK_TRIES):  # `is_locked` of another process holds the lock for a moment
            if _lock(descriptor, fcntl.LOCK_EX):
                break
            time.sleep(LOCK_INTERVAL)
        else:
            raise RunError(f"another process is training in {folder}; wait for it, or stop it first")
        yield
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """True if a process has locked `folder`. Several processes can call this at once."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return not _lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def write_config(folder: Path, settings: dict[str, Any], facts: dict[str, str], from_step: int) -> None:
    """Write config.json: the settings and one entry for each session of the run. Arguments as in `open_folder`."""
    path = folder / CONFIG
    try:
        sessions = [] + read_json(path)["sessions"] if path.exists() else []
    except (OSError, ValueError, TypeError, LookupError):
        raise RunError(f"{path} is damaged; move it away, the checkpoints hold the settings too") from None
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    sessions.append({"started": started, "from_step": from_step, "facts": machine_facts() | facts})
    text = json.dumps({"config": settings, "sessions": sessions}, indent=2)
    write_atomically(path, [text.encode(), b"\n"])


def write_readme(folder: Path, settings: dict[str, Any]) -> None:
    """Write README.md: the files of the folder and the commands for the run."""
    config = Config.from_dict(settings)
    judges = (f"one whole episode in each of {config.judges:,} environments" if config.judges else
              "its rating" if config.self_play.self_play else "the recent episodes")
    text = _README.format(program=program_name(), game=config.game, run=shlex.quote(str(folder)), seed=config.run.seed,
                          total_steps=config.ppo.total_steps, judges=judges)
    write_atomically(folder / README, [text.encode()])


def _is_config(path: Path) -> bool:
    """True if `path` is the config.json of a run."""
    try:
        return {"config", "sessions"} <= read_json(path).keys()
    except (OSError, ValueError, AttributeError):
        return False


def _lock(descriptor: int, kind: int) -> bool:
    """Try to lock; returns True on success, and on file systems without locks."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _make_unique(folder: Path) -> Path:
    """Make `folder`, or the first of folder-2, folder-3, ... not in use."""
    number, unique = 1, folder
    while True:
        try:
            unique.mkdir(parents=True)
            return unique
        except FileExistsError:
            if not unique.parent.is_dir():
                raise OSError(errno.ENOENT, "it is a link to a folder that does not exist") from None
            number += 1
            unique = folder.with_name(f"{folder.name}-{number}")

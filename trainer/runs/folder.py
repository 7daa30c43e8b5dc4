"""A run's folder: its name, its lock, config.json, which says what was run, on what, with which versions, and README.md."""

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

from trainer.config import Config
from trainer.errors import RunError
from trainer.files import write_atomically
from trainer.runs.machine import machine_facts

CONFIG = "config.json"
README = "README.md"
LOOKS = 10  # tries for a run's lock, 0.02 seconds apart
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)  # from file systems that have none, as some over a network

_README = """\
# A run of {game}

Made by insertcoin's trainer: {total_steps:,} steps with seed {seed}. A training that has not ended may not have all of these
files yet.

| file | what it is |
| --- | --- |
| `config.json` | settings; and for each time it was started: when, on what machine, with which versions, by which command |
| `metrics.jsonl` | the figures of every iteration, a JSON object a line; `step` counts the steps of all environments |
| `curves.png` | the same, drawn |
| `step_*.safetensors` | the last checkpoints, by step: weights, optimizer, environments, random numbers |
| `best.safetensors` | the checkpoint with the best mean score so far (in self-play: with the best rating) |
| `evaluation.json` | scores of whole episodes, played at the end |
| `episode.gif` | the best of them; `episode-best.gif` and so on are what `record` filmed |
| `events.out.tfevents.*` | the figures for TensorBoard |
| `trackers.json`, `wandb/` | what other trackers call this run, and what they keep of it here |
| `ratings.json` | self-play: how strong each player is, from the games between them |
| `policy.onnx`, `policy.safetensors` | the policy, exported |

In the folder that it was started from (`folder` in config.json):

```
python -m trainer --resume {run}                  # go on with it
python -m trainer eval {run}                      # play 100 episodes
python -m trainer record {run}                    # film the best, the median and the worst of them
python -m trainer export {run}                    # as ONNX and safetensors
tensorboard --logdir {run}                        # look at the figures
```
"""


def new_run_folder(config: Config, root: Path = Path("runs")) -> Path:
    """The folder of a new run, made if need be: `run_dir`, or root/GAME-DATE-TIME-sSEED that no other run has.

    Raises RunError when `run_dir` holds a run already, or when no folder can be made there.
    """
    if config.run.run_dir is None:
        game = re.sub(r"[^\w.]+", "_", Path(config.game).stem)
        folder = root / f"{game}-{datetime.now():%Y%m%d-%H%M%S}-s{config.run.seed}"
        try:
            return _make_unique(folder)
        except OSError as error:
            raise RunError(f"cannot make a folder in {root}: {error.strerror}; name one with --run-dir") from None
    folder = Path(config.run.run_dir)
    refuse_run(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"run_dir is {folder}; it may be a folder or the name of a new one ({error.strerror})") from None
    return folder


def refuse_run(folder: Path) -> None:
    """Raise RunError when a run was written into `folder` before."""
    if (folder / CONFIG).exists() and any(folder.glob("*.safetensors")):
        raise RunError(f"{folder} holds a run already; go on with it by --resume {shlex.quote(str(folder))}, or choose "
                       "another --run-dir")
    if (folder / CONFIG).exists():
        raise RunError(f"{folder} holds a run that ended before its first checkpoint; remove it, or choose another "
                       "--run-dir")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold `folder` against a second process that would write into it; the system lets go when this one ends or dies.

    Raises RunError when another process holds it.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(LOOKS):  # who only looks, holds it for a moment
            if _lock(descriptor, fcntl.LOCK_EX):
                break
            time.sleep(0.02)
        else:
            raise RunError(f"another process is training in {folder}; wait for it, or stop it first")
        yield
    finally:
        os.close(descriptor)


def is_locked(folder: Path) -> bool:
    """Whether a process holds `folder`; several may look at once."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        return not _lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def write_config(folder: Path, config: Config, facts: dict[str, str], from_step: int) -> None:
    """Write config.json: the settings, and for each time that the run was started when, from which step and on what.

    facts: what the caller knows about this session (device, precision, threads); machine and versions are added.
    """
    path = folder / CONFIG
    try:
        sessions = json.loads(path.read_text(encoding="utf-8"))["sessions"] if path.exists() else []
    except (ValueError, TypeError, LookupError):
        raise RunError(f"{path} is damaged; move it away, the checkpoints hold the settings too") from None
    started = datetime.now().astimezone().isoformat(timespec="seconds")
    sessions.append({"started": started, "from_step": from_step, "facts": machine_facts() | facts})
    text = json.dumps({"config": config.to_dict(), "sessions": sessions}, indent=2)
    write_atomically(path, [text.encode(), b"\n"])


def write_readme(folder: Path, config: Config) -> None:
    """Write README.md: what the folder's files are, and what can be done with them."""
    text = _README.format(game=config.game, run=shlex.quote(str(folder)), seed=config.run.seed,
                          total_steps=config.ppo.total_steps)
    write_atomically(folder / README, [text.encode()])


def _lock(descriptor: int, kind: int) -> bool:
    """Whether the lock could be had; True where the file system has none."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def _make_unique(folder: Path) -> Path:
    """Make `folder`, or folder-2, folder-3, ..., whichever does not exist yet."""
    number, unique = 1, folder
    while True:
        try:
            unique.mkdir(parents=True)
            return unique
        except FileExistsError:
            number += 1
            unique = folder.with_name(f"{folder.name}-{number}")

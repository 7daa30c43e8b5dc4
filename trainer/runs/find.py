"""Find runs by name. Loads no torch.

On the command line a RUN is a path (of a run's folder or of one of its checkpoints), the beginning of a folder's name under
runs, or `last`: the run that was started or resumed most recently.
"""

import difflib
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from trainer.errors import RunError
from trainer.files import read_json, user_path
from trainer.process import program_name
from trainer.runs.folder import CONFIG

ROOT = Path("runs")
LAST = "last"
_NAMED = 5  # the most runs in an error message


def find(name: str, root: Path = ROOT) -> Path:
    """The folder or the checkpoint named by a RUN. The checkpoint is not opened.

    Raises RunError with similar names if there is no such run, if several begin with this name, or if it is empty; and RunError
    if a folder may not be read.
    """
    matches = find_all(name, root)
    if len(matches) > 1:
        root, beginning = matches[0].parent, user_path(name).name
        raise RunError(f"{len(matches)} runs under {root} begin with {beginning!r}: {_listed(matches)}; write more of the name")
    return matches[0]


def find_all(name: str, root: Path = ROOT) -> list[Path]:
    """As `find`; the beginning of several names gives all of these runs, newest first."""
    path = user_path(name)
    if not name.strip() or not path.absolute().name:  # every name begins with an empty one
        raise RunError(f"RUN must be a run's folder, one of its checkpoints, the beginning of a folder's name under {root}, or "
                       f"{LAST}, not {name!r}; {hint()}")
    _require_readable(path)
    if path.is_file() or holds_run(path):
        return [path]
    if path.parent.is_dir() and path.parent != Path():  # the beginning of a path
        root, name = path.parent, path.name
    _require_readable(root)
    found = newest_first(root)
    if name == LAST and found:
        return [next(filter(_has_checkpoint, found), found[0])]
    matches = [folder for folder in found if folder.name.startswith(name)]
    if matches:
        return [folder for folder in matches if folder.name == name] or matches
    raise RunError(f"{_not_found(path, name, root)}; {_suggestion(name, found, root)}")


def find_folders(name: str) -> list[Path]:
    """The folders of the runs that `find_all` finds. Raises RunError as it does, and for a file in no run's folder."""
    found = find_all(name)
    for path in found:
        if path.is_file() and not holds_run(path.parent):
            raise RunError(f"RUN must be a run's folder, or one of its checkpoints, not the file {path}: leave it out; "
                           f"{hint()}")
    return list(map(folder_of, found))


def hint() -> str:
    """The end of error messages about runs."""
    return f"`{program_name()} list` shows all runs"


def folder_of(path: Path) -> Path:
    """The run's folder for a path returned by `find`."""
    return path.parent if path.is_file() else path


def holds_run(folder: Path) -> bool:
    """True if `folder` has a config.json or a checkpoint; False if it cannot be read."""
    return folder.is_dir() and os.access(folder, os.R_OK | os.X_OK) and ((folder / CONFIG).is_file() or _has_checkpoint(folder))


def newest_first(root: Path) -> list[Path]:
    """The folders of runs directly under `root`; [] if it does not exist."""
    folders = [folder for folder in root.iterdir() if holds_run(folder)] if root.is_dir() else []
    return sorted(folders, key=lambda folder: (_last_start(folder), folder.stat().st_mtime_ns, folder.name), reverse=True)


def _require_readable(path: Path) -> None:
    """Raises RunError that says what to do if this user may not read the folder `path`, or may not enter one above it."""
    for folder in (*reversed(path.parents), path):
        if folder.is_dir() and not os.access(folder, os.X_OK | (os.R_OK if folder == path else 0)):
            raise RunError(f"RUN must be in a folder that you may read, not {str(folder)!r}: let your user read it, or choose "
                           "another run")


def _has_checkpoint(folder: Path) -> bool:
    return (folder / "best.safetensors").is_file() or any(folder.glob("step_*.safetensors"))


def _last_start(folder: Path) -> float:
    """Seconds since the epoch when the last session of a run started; without that, when its folder changed."""
    try:
        sessions = read_json(folder / CONFIG)["sessions"]
        return datetime.fromisoformat(sessions[-1]["started"]).timestamp()
    except (OSError, ValueError, TypeError, LookupError):
        return folder.stat().st_mtime


def _not_found(path: Path, name: str, root: Path) -> str:
    if path.is_dir():
        return f"{path} holds no run (neither a {CONFIG} nor a checkpoint), and none under {root} begins with {name!r}"
    return f"there is no run at {path}, and none under {root} begins with {name!r}"


def _suggestion(name: str, found: Sequence[Path], root: Path) -> str:
    """Runs with similar names, or else the newest ones."""
    if not found:
        return f"there are no runs under {root} here: pass a run's folder, or one of its checkpoints"
    word = Path(name).name
    beginnings = difflib.get_close_matches(word, {folder.name[:len(word)] for folder in found}, _NAMED)
    near = [folder for folder in found if folder.name[:len(word)] in beginnings]
    if near:
        return f"the nearest {'are' if len(near) > 1 else 'is'} {_listed(near)}; {hint()}"
    return f"the newest {'are' if len(found) > 1 else 'is'} {_listed(found)}; {hint()}"


def _listed(folders: Sequence[Path]) -> str:
    names = [folder.name for folder in folders[:_NAMED]]
    more = len(folders) - len(names)
    if more:
        return ", ".join(names) + f" and {more} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

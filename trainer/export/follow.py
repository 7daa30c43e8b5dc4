"""What the page of `insertcoin watch` asks about a run, read from its files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from envs_c.arcade.serve import Route
from envs_c.errors import EnvsError
from trainer.config.games import place_of
from trainer.errors import CheckpointError, TrainerError
from trainer.export.agents import agent_bytes
from trainer.files import open_file
from trainer.runs import checkpoint
from trainer.runs.folder import is_locked
from trainer.runs.metrics import METRICS, entries_of
from trainer.runs.summary import read_run

CHUNK = 1 << 20  # bytes of metrics in one answer


class Follower:
    """Answers for one run. folder: of the run. Raises RunError if it holds no run."""

    def __init__(self, folder: Path):
        run = read_run(folder)
        self.folder, self.game, self.total_steps = folder, place_of(run.game), run.total_steps
        self._agent: tuple[str, bytes | Exception] | None = None  # of the newest checkpoint that was asked for, or why not

    def routes(self, on_page: str | None) -> Mapping[str, Route]:
        """The answers, by path. on_page: name of the page's game; None if it has none."""
        def status(_query):
            return json.dumps(self.status(on_page)).encode(), "application/json"
        return {"/run/status.json": status, "/run/metrics": self.metrics, "/run/agent.safetensors": self.agent}

    def status(self, on_page: str | None) -> dict:
        """The run at present; `checkpoint` is None before the first, and `gone` is true if the folder was removed.

        `metrics` is another number once the training was resumed: metrics.jsonl was then written anew, perhaps shorter.
        """
        newest, gone = self.newest(), not self.folder.is_dir()
        return {"run": self.folder.name, "game": on_page, "title": self.game.short, "total_steps": self.total_steps,
                "running": not gone and is_locked(self.folder), "checkpoint": newest and newest.name,
                "metrics": file_number(self.folder / METRICS), "gone": gone}

    def newest(self) -> Path | None:
        """The newest checkpoint; None before the first."""
        try:
            return checkpoint.latest(self.folder)
        except CheckpointError:
            return None

    def metrics(self, query: dict[str, str]) -> tuple[bytes, str]:
        """The complete lines of metrics.jsonl from the byte `from` on, at most CHUNK bytes. LookupError without the file.

        A damaged line, and one that is longer than CHUNK, becomes spaces: the page counts the bytes that it got.
        """
        begin = query.get("from", "0")
        if not (begin.isascii() and begin.isdigit() and len(begin) < 16):
            raise LookupError("from must be a number of bytes")
        try:
            with open_file(self.folder / METRICS, follow=False) as file:
                inside = begin != "0" and ends_inside(file, int(begin))
                file.seek(int(begin))
                data = file.read(CHUNK)
        except FileNotFoundError:
            raise LookupError("no metrics yet") from None
        return whole_lines(data, inside=inside), "application/x-ndjson"

    def agent(self, _query) -> tuple[bytes, str]:
        """The policy of the newest checkpoint. LookupError before the first, and with the reason if it cannot be loaded."""
        newest = self.newest()
        if newest is None:
            raise LookupError("no checkpoint yet")
        name, found = self._agent or ("", b"")
        if name != newest.name:
            try:
                found = agent_bytes(newest)[1]
            except (TrainerError, EnvsError) as error:  # damaged, or of code that was replaced or does not compile; or gone
                if not newest.exists():
                    raise LookupError("the training has replaced this checkpoint") from None
                found = error
            self._agent = newest.name, found
        if isinstance(found, Exception):
            raise LookupError(str(found))
        return found, "application/octet-stream"


def file_number(path: Path) -> int | None:
    """A number that changes when another file takes this place; None without a file."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def ends_inside(file: BinaryIO, end: int) -> bool:
    """True if the first `end` bytes of a file end inside a line."""
    file.seek(end - 1)
    return file.read(1) not in (b"\n", b"")


def whole_lines(data: bytes, *, inside: bool) -> bytes:
    """The whole lines at the beginning of `data`, which has at most CHUNK bytes; those that are no entries as spaces.

    inside: the data begins inside a line, which was too long for one answer.
    """
    *lines, rest = data.split(b"\n")
    shown = [line if entries_of([line + b"\n"]) and not (inside and index == 0) else b" " * len(line)
             for index, line in enumerate(lines)]
    if not lines and (inside or len(data) == CHUNK):  # a line without an end
        return b" " * len(rest)
    return b"".join(line + b"\n" for line in shown)

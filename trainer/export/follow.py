"""What the page of `insertcoin watch` asks about a run, read from its files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import envs_c
from envs_c.arcade.serve import Route
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
        self.folder, self.game, self.total_steps = folder, run.game, run.total_steps
        self._agent: tuple[str, bytes] | None = None  # of the newest checkpoint that was asked for

    def routes(self, *, playable: bool) -> Mapping[str, Route]:
        """The answers, by path. playable: whether the page has the game."""
        def status(_query):
            return json.dumps(self.status(playable=playable)).encode(), "application/json"
        return {"/run/status.json": status, "/run/metrics": self.metrics, "/run/agent.safetensors": self.agent}

    def status(self, *, playable: bool) -> dict:
        """The run at present; `checkpoint` is None before the first.

        `metrics` is another number once the training was resumed: metrics.jsonl was then written anew, perhaps shorter.
        """
        newest = self.newest()
        name = envs_c.game(self.game).name if playable else None
        return {"run": self.folder.name, "game": name, "title": self.game.short, "total_steps": self.total_steps,
                "running": is_locked(self.folder), "checkpoint": newest and newest.name,
                "metrics": file_number(self.folder / METRICS)}

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
        """The policy of the newest checkpoint. LookupError before the first."""
        newest = self.newest()
        if newest is None:
            raise LookupError("no checkpoint yet")
        kept = self._agent
        if kept is None or kept[0] != newest.name:
            try:
                kept = self._agent = newest.name, agent_bytes(newest)[1]
            except TrainerError as error:  # damaged, or of code that was replaced; or gone
                reason = str(error) if newest.exists() else "the training has replaced this checkpoint"
                raise LookupError(reason) from None
        return kept[1], "application/octet-stream"


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

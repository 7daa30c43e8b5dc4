"""Disks that fill up: a write may fail after any byte. What was there before stays whole, and the error names a file."""

import json
import os
import re
import resource
from pathlib import Path
from random import Random

from tools.fuzz import runs
from tools.fuzz.case import Box, Fault

WRITING = [("report", "RUN"), ("export", "RUN", "--format=safetensors"), ("compare", "RUN", runs.MADE),
           ("record", "RUN", "--episodes=1", "--device=cpu"), ("--resume", "RUN", "--total-steps=96"), ("new", "mine")]


def setup(box: Box) -> None:
    """Make a run."""
    os.chdir(box.folder)
    runs.setup(box)


def case(rng: Random, box: Box) -> None:
    """Run a command that writes, while no file may be longer than some bytes."""
    with runs.copied(box) as folder:
        words = [word.replace("RUN", folder.name) for word in rng.choice(WRITING)]
        before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        most = rng.choice([0, 1, rng.randrange(300), rng.randrange(20_000), rng.randrange(200_000)])
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
        try:
            code, _, errors = runs.call(words, box)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        if code and "File too large" in errors and not re.search(r"\w\.\w|\bmine\b|output", errors):
            raise Fault(f"the error of {words} must name a file: {errors}")
        if left := [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]:
            raise Fault(f"{words} left {left}")
        whole(folder, before, words)
    box.tidy()


def whole(folder: Path, before: dict[str, bytes], words: list[str]) -> None:
    """Raises Fault unless each file is the one from before, or complete."""
    for name in before:
        data = (folder / name).read_bytes() if (folder / name).exists() else None
        if name == "metrics.jsonl":
            for line in (data or b"").splitlines(keepends=True):
                if not line.endswith(b"\n") or not isinstance(json.loads(line), dict):
                    raise Fault(f"{words} left a torn line in {name}: {line[:99]!r}")
        elif name.endswith(".json") and data is not None:
            json.loads(data)

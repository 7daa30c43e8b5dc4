"""A run whose settings, metrics and evaluation are damaged: other types, huge values, missing names, other bytes."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

from tools.fuzz import runs
from tools.fuzz.case import Box

FILES = ["config.json", "config.json", "metrics.jsonl", "evaluation.json"]
VALUES = [None, True, -1, 0, 2**31, 2**63, 10**400, -0.5, 1e308, float("inf"), float("nan"), "", "x", "9" * 5000,
          [], [[]], {}, {"x": {}}]


def setup(box: Box) -> None:
    """Make a run."""
    os.chdir(box.folder)
    runs.setup(box)


def case(rng: Random, box: Box) -> None:
    """Damage a copy, and run a command, for instance a training that begins with its weights."""
    with runs.copied(box) as folder:
        for _ in range(rng.choice([1, 1, 3])):
            damage(rng, folder / rng.choice(FILES))
        new = [*runs.NEW[:-1], "--run-dir=new", f"--init-from={folder.name}"]
        words = new if rng.random() < 0.05 else runs.chosen(rng, folder)
        runs.call(words, box)
    box.tidy()


def damage(rng: Random, path: Path) -> None:
    """Change some values of a file of JSON, or its bytes. A missing file gets a value of the wrong type."""
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else "{}"
    if not text:  # cut to nothing before
        return
    if rng.random() < 0.2:
        data = bytearray(text.encode())
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[:rng.choice([len(data), rng.randrange(len(data))])])
        return
    try:
        lines = [json.loads(line) for line in (text.splitlines() if path.suffix == ".jsonl" else [text])]
    except ValueError:  # damaged before
        return
    for _ in range(rng.choice([1, 2, 6])):
        at = rng.randrange(len(lines))
        lines[at] = changed(rng, lines[at])
    path.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")


def changed(rng: Random, value: Any) -> Any:
    """The value with one change somewhere inside it."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.1:
        return rng.choice(VALUES)
    value = value.copy()
    at = rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
    if rng.random() < 0.15:
        del value[at]
    else:
        value[at] = changed(rng, value[at])
    return value

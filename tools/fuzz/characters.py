"""Characters that a terminal acts on, in the names, settings and files of a run: no command hands them to the terminal."""

import json
import os
from pathlib import Path
from random import Random

from tools.fuzz import runs
from tools.fuzz.case import Box, Fault

HOSTILE = ["\x1b[2J", "\x1b]0;title\x07", "\x9b31m", "\u202e", "\u2066", "\u200b", "\n", "\r", "\t", "\x7f", "\x00", "\u2028",
           "\x85", "\x08"]
VERBS = ["eval", "report", "cartpole", "play", "--resume", "check", "replay"]
SETTINGS = [("policy", "memory"), ("policy", "encoder"), ("env", "view"), ("env", "wrap"), ("run", "track"), ("ppo", "loss"),
            ("run", "device"), (None, "game")]


def setup(box: Box) -> None:
    """Make a run."""
    os.chdir(box.folder)
    runs.setup(box)


def hostile(rng: Random, *, name: bool = False) -> str:
    """A short text with such characters. name: of a file."""
    parts = [rng.choice(["run", "x", "step", " ", "é", *HOSTILE]) for _ in range(rng.randint(1, 6))]
    text = "".join([*parts, rng.choice(HOSTILE)])
    return text.replace("\x00", "").replace("/", "") + "x" if name else text


def case(rng: Random, box: Box) -> None:
    """Damage a copy, and run a command."""
    with runs.copied(box, hostile(rng, name=True) if rng.random() < 0.7 else runs.COPY) as folder:
        damage(rng, folder)
        words = runs.chosen(rng, folder)
        if rng.random() < 0.2:
            words = [rng.choice(VERBS), hostile(rng), "--seed=1"]
        _, out, errors = runs.call(words, box)
        for line in (out + errors).split("\n"):
            if not line.isprintable():
                raise Fault(f"{words} printed {line[:300]!r}")
    box.tidy()


def damage(rng: Random, folder: Path) -> None:
    """Such characters in the settings, the facts and the evaluation."""
    path = folder / "config.json"
    content = json.loads(path.read_text())
    for _ in range(rng.randrange(3)):
        section, name = rng.choice(SETTINGS)
        (content["config"] if section is None else content["config"][section])[name] = hostile(rng)
    content["sessions"][0]["facts"][hostile(rng)] = hostile(rng)
    path.write_text(json.dumps(content))
    if rng.random() < 0.5:
        protocol = {"actions": rng.choice(["sampled", hostile(rng)]), "sticky": 0.25, "time_limit": rng.choice([None, 5])}
        (folder / "evaluation.json").write_text(json.dumps({"mean": 1.5, "episodes": 3, "protocol": protocol, hostile(rng): 1}))

"""Links in a run's folder where files belong: no command reaches what they lead to."""

import os
from pathlib import Path
from random import Random

from tools.fuzz import runs
from tools.fuzz.case import Box, Fault

NAMES = ["config.json", "metrics.jsonl", "README.md", "report.html", "curves.png", "evaluation.json", "episode.gif",
         "episode-best.gif", "best.safetensors", "policy.safetensors", "policy.onnx", "trackers.json", "wandb", "output.txt",
         "preset.toml", "notes.md"]
TEXT = b"of the user\n"


def setup(box: Box) -> None:
    """Make a run, and a file and a folder outside it."""
    os.chdir(box.folder)
    runs.setup(box)
    (box.folder / "outside").write_bytes(TEXT)
    (box.folder / "elsewhere").mkdir()


def case(rng: Random, box: Box) -> None:
    """Put links into a copy, and run a command."""
    with runs.copied(box) as folder:
        for _ in range(rng.choice([1, 1, 2, 5])):
            link(rng, folder, box.folder)
        words = list(runs.NEW) if rng.random() < 0.05 else runs.chosen(rng, folder)
        runs.call(words, box)
        if (box.folder / "outside").read_bytes() != TEXT or any((box.folder / "elsewhere").iterdir()):
            raise Fault(f"{words} reached what is outside the run's folder")
    for name in ("compare.png", "nowhere"):
        (box.folder / name).unlink(missing_ok=True)


def link(rng: Random, folder: Path, top: Path) -> None:
    """One link, under the name of a file of the run or of a temporary file beside one."""
    name = rng.choice(NAMES)
    if rng.random() < 0.3:
        name = f".{name}.{rng.choice([os.getpid(), 1, '0' * 16])}.tmp"
    path = folder / name
    if path.is_dir() and not path.is_symlink():
        return
    path.unlink(missing_ok=True)
    path.symlink_to(rng.choice([top / "outside", top / "elsewhere", top / "elsewhere" / "new", folder, path]))

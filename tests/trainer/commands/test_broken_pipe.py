"""What reads the output ends before the command, as `head -1` does: the status is 141, and a training saves what it has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def read_lines(count: int, *words: str, folder: Path) -> tuple[int, str, list[str]]:
    """Run a command whose reader ends after `count` lines; its status, its errors and these lines."""
    process = subprocess.Popen([sys.executable, "-m", "insertcoin", *words], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""})
    lines = [process.stdout.readline() for _ in range(count)]
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    return process.wait(120), errors, lines


@pytest.mark.parametrize("words", ["list", "compare one two", "games pong", "--help", "report one"])
def test_a_command_ends_with_141(there, words):
    status, errors, _ = read_lines(0, *words.split(), folder=there / "runs" if "one" in words else there)
    assert (status, errors) == (141, "")


def test_a_training_saves_what_it_has(tmp_path):
    words = "cartpole --num-envs=32 --minibatch=1024 --total-steps=50_000_000 --lstm-size=8 --device=cpu --no-gif --run-dir=run"
    status, errors, lines = read_lines(1, *words.split(), "--track=none", folder=tmp_path)
    assert (status, errors) == (141, "") and lines[0].startswith("cartpole  run")
    steps = [int(path.stem.partition("_")[2]) for path in (tmp_path / "run").glob("step_*.safetensors")]
    assert max(steps) > 0 and (tmp_path / "run" / "report.html").exists()

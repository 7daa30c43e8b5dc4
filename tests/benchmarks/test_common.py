"""The head of a benchmark's page: it names the command as it was given."""

import sys
from pathlib import Path

import pytest

from benchmarks import common

FOLDER = Path(common.__file__).parent


@pytest.mark.parametrize(("file", "module"), [
    ("envs.py", "benchmarks.envs"),
    ("speed/scaling.py", "benchmarks.speed.scaling"),
    ("console/__main__.py", "benchmarks.console"),
])
def test_the_head_of_a_page_is_the_command_that_makes_it_again(file, module, monkeypatch):
    assert (FOLDER / file).is_file()
    monkeypatch.setattr(sys, "argv", [str(FOLDER / file), "pong", "--out", "a page.md"])
    assert f"\n`python -m {module} pong --out 'a page.md'`, " in common.head("Title")

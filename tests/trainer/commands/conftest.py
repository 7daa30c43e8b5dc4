"""Commands without their work: what they would train or evaluate, and the errors that they print."""

import sys
from types import SimpleNamespace

import pytest

from trainer.__main__ import main

RESULT = {"mean": 12.5, "path": "runs/x/best.safetensors", "film": "a.gif: an episode", "missing": []}


@pytest.fixture
def trained(monkeypatch):
    """The configs with which train() was called."""
    configs = []
    monkeypatch.setitem(sys.modules, "trainer.training.train", SimpleNamespace(train=configs.append))
    return configs


@pytest.fixture
def evaluated(monkeypatch):
    """The arguments with which evaluate_run() was called."""
    calls = []

    def evaluate_run(run, **keywords):
        calls.append({"run": run, **keywords})
        return RESULT

    monkeypatch.setitem(sys.modules, "trainer.play.evaluate", SimpleNamespace(evaluate_run=evaluate_run))
    monkeypatch.setitem(sys.modules, "trainer.play.described", SimpleNamespace(describe=lambda one: f"mean {one['mean']}"))
    return calls


@pytest.fixture
def refused(capsys):
    """A function of the words of a command that is refused: the one line on stderr; its exit code is 2."""
    return lambda *argv: _refused(capsys, argv)


def _refused(capsys, argv):
    try:
        code = main(argv)
    except SystemExit as ended:  # of argparse, for the verbs of envs_c
        code = ended.code
    assert code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err

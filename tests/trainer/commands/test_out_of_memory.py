"""Memory that is not there: one line on the command line."""

import pytest

from envs_c import __main__ as games
from envs_c import machine
from trainer.__main__ import main


@pytest.fixture
def little_memory(tmp_path, monkeypatch):
    """A machine with 1 MB of free memory."""
    file = tmp_path / "meminfo"
    file.write_text("MemAvailable: 1000 kB\n", encoding="utf-8")
    monkeypatch.setattr(machine, "MEMORY", file)


def test_a_training_that_does_not_fit_ends_with_one_line(little_memory, tmp_path, capsys):
    run = tmp_path / "run"
    assert main(["breakout", "--num-envs=65536", "--device=cpu", "--no-dashboard", f"--run-dir={run}"]) == 2
    printed = capsys.readouterr().err.splitlines()
    assert printed[-1].startswith("error: ") and "environments of breakout need" in printed[-1]
    assert not run.exists() or not any(run.rglob("*.safetensors"))


def test_an_allocation_that_fails_without_a_reason_is_one_line(monkeypatch, capsys):
    def fail(_):
        raise MemoryError
    monkeypatch.setattr(games, "list_games", fail)
    assert games.main(["list"]) == 2
    assert capsys.readouterr().err == "error: out of memory\n"

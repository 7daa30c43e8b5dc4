"""Memory that is not there: one line on the command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import trainer.commands.main
from envs_c import __main__ as games
from envs_c import machine
from trainer.__main__ import main

ROOT = Path(__file__).parents[3]


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


@pytest.mark.parametrize("reason", ["torch.so: failed to map segment from shared object", "x.so: cannot allocate memory"])
def test_a_library_that_does_not_fit_is_one_line(reason, monkeypatch, capsys):
    def fail(_):
        raise ImportError(reason)
    monkeypatch.setattr(trainer.commands.main, "run", fail)
    assert main(["cartpole"]) == 2
    assert capsys.readouterr().err == f"error: out of memory: {reason} (`ulimit -v` is the limit of a shell)\n"


@pytest.mark.parametrize(("error", "said"), [
    ("[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.\n",
     "out of memory: can't allocate memory: you tried to allocate 9 bytes."),
    ("can't start new thread", "out of memory: can't start new thread"),
    ("CUDA out of memory. Tried to allocate 2 GiB.\nmore", "out of memory: CUDA out of memory. Tried to allocate 2 GiB.")])
def test_torch_s_errors_of_memory_are_one_line_and_others_stay(error, said, monkeypatch, capsys):
    def fail(_):
        raise RuntimeError(error)
    monkeypatch.setattr(trainer.commands.main, "_run", fail)
    assert main(["cartpole"]) == 2
    assert capsys.readouterr().err == f"error: {said}\n"
    error = "another error"
    with pytest.raises(RuntimeError, match="another error"):
        main(["cartpole"])


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="only Linux limits addresses")
def test_a_limit_of_addresses_is_one_line(tmp_path):
    words = f"import sys; from trainer.__main__ import main; sys.exit(main(['cartpole', '--run-dir={tmp_path / 'run'}']))"
    done = subprocess.run(["sh", "-c", 'ulimit -v 450000; exec "$0" "$@"', sys.executable, "-c", words], cwd=ROOT,
                          env=os.environ | {"OPENBLAS_NUM_THREADS": "1"}, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("error: out of memory: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "run").exists()

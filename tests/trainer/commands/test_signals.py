"""Signals and limits of the process, while it starts and while it works: no traceback."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from trainer.process import Interrupt

ROOT = Path(__file__).parents[3]
TRAINING = ["cartpole", "--num-envs=32", "--minibatch=1024", "--total-steps=50_000_000", "--lstm-size=8", "--device=cpu",
            "--no-gif", "--run-dir=run"]
SITE = """\
import os, signal, sys

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


def take_interrupts() -> None:
    """A shell may have started the tests with SIGINT ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start(folder: Path, *words: str, **more) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-m", "insertcoin", *words], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, **more)


def test_signals_within_a_moment_are_no_traceback(tmp_path):
    process = start(tmp_path, *TRAINING, "--track=none")
    process.stdout.readline()
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert errors == "" and process.returncode in (130, -signal.SIGINT, -signal.SIGTERM, -signal.SIGHUP)


@pytest.mark.parametrize("order", [(signal.SIGTERM, signal.SIGINT), (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)])
def test_signals_that_are_pending_together_lose_no_handler(order, capfd):
    """Blocked, they come at once, as on a busy machine."""
    seen = []
    before = {number: signal.signal(number, lambda number, _: seen.append(number)) for number in order}
    try:
        with Interrupt() as interrupt:
            signal.pthread_sigmask(signal.SIG_BLOCK, order)
            for number in order:
                signal.pthread_kill(threading.main_thread().ident, number)  # other threads have not blocked them
            signal.pthread_sigmask(signal.SIG_UNBLOCK, order)
            time.sleep(0.01)
            assert interrupt.asked
        assert sorted(seen) == sorted(order)[1:]
        assert capfd.readouterr() == ("", "")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_ctrl_c_while_the_packages_are_loaded_is_no_traceback(tmp_path):
    """From the first line of insertcoin/__main__.py on; before it, Python itself is starting."""
    (tmp_path / "sitecustomize.py").write_text(SITE)
    done = subprocess.run([sys.executable, "-m", "insertcoin", "list"], cwd=tmp_path, capture_output=True, text=True,
                          check=False, preexec_fn=take_interrupts,
                          env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"})
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("files", [6, 8])
def test_few_open_files_are_one_line_or_enough(tmp_path, files):
    words = [word.replace("50_000_000", "4096") for word in TRAINING]
    process = start(tmp_path, *words, "--eval-episodes=0", "--track=tensorboard",
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
    _, errors = process.communicate(timeout=120)
    lines = errors.splitlines()
    assert process.returncode in (0, 2) and all(line.startswith("error: ") for line in lines), errors
    assert len(lines) <= 4 and "Traceback" not in errors

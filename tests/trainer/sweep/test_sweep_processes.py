"""Sweeps from the command line, and the processes of their trials: two with a common storage, a terminated one."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from optuna.trial import TrialState

from envs_c import install
from trainer.__main__ import main
from trainer.config import Config
from trainer.config.games import GameName
from trainer.config.preset import preset_file
from trainer.sweep import trial as trial_module
from trainer.sweep.storage import default_storage, open_storage
from trainer.sweep.study import counted, load_study
from trainer.sweep.trial import MetricsReader, Training, TrialFailed, run_trial

ROOT = Path(__file__).parents[3]
SPACE_FILE = """\
[ppo]
learning_rate = { low = 0.001, high = 0.1, log = true }
horizon = { choices = [8, 16] }
"""
TINY = ["--num-envs", "8", "--minibatch", "64", "--num-threads", "1", "--lstm-size", "4", "--encoder-size", "4",
        "--memory", "none", "--device", "cpu", "--eval-episodes", "3", "--precision", "float32", "--track", "none"]
STAND_IN = """\
import sys, time
from trainer.__main__ import main
from trainer.sweep import report, sweep
from trainer.sweep.trial import Outcome

def run_trial(config, folder, watch, options, mark):
    # A trial without a training. It waits for a file WAIT, if there is one, to be removed.
    watch({"step": 2000, "seconds": 1.0, "score_mean": config.ppo.learning_rate})
    folder.mkdir(parents=True)
    while (folder.parent / "WAIT").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    return Outcome(config.ppo.learning_rate, 0.1)

sweep.run_trial, report._PICTURES = run_trial, {}
sys.exit(main(sys.argv[1:]))
"""
COUNTS_SIGNALS = """\
import pathlib, signal, sys, time
count, file = 0, pathlib.Path(sys.argv[1])
def note(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, note)
file.touch()
while not count:
    time.sleep(0.01)
time.sleep(0.5)
file.write_text(str(count))
"""


@pytest.mark.parametrize("interrupts", [0, 1, 2])
def test_a_training_is_interrupted_once_however_often_it_is_told(tmp_path, monkeypatch, interrupts):
    """A second SIGINT ends a training at once, without its checkpoint."""
    monkeypatch.setattr(trial_module, "program_command", lambda: [sys.executable, "-c", COUNTS_SIGNALS])
    training = Training(tmp_path, [tmp_path / "signals"])
    while not (tmp_path / "signals").exists():
        assert not training.ended(0.01)
    for _ in range(interrupts):
        training.interrupt()
        assert not training.ended(0.1)  # signals that come at once count as one
    training.end()
    assert (tmp_path / "signals").read_text() == "1"


@pytest.mark.parametrize(("words", "sentence"), [
    ("", "GAME is missing: write python -m trainer sweep GAME"),
    ("breakot", "did you mean breakout?"),
    ("breakout --trials 0", "--trials must be an integer of at least 1, not 0"),
    ("breakout --startup 0", "--startup must be an integer of at least 1, not 0"),
    ("breakout --minutes 0", "--minutes must be none, or a number above 0, not 0"),
    ("breakout --name a/b", "--name must be none, or letters, digits, and any of _ . -, and not only dots, not 'a/b'"),
    ("breakout --out setup.py", "--out must be a folder or the name of a new one, not the file 'setup.py'"),
    ("breakout --space nowhere.toml", "and there is no file nowhere.toml"),
    ("breakout --gamma 2", "--gamma must be a number from 0 to 1, not 2"),
    ("breakout --eval-episodes 0", "--eval-episodes must be an integer of at least 1, not 0"),
    ("breakout --resume x", "--resume is no option of a sweep"),
    ("breakout --run-dir x", "--run-dir is no option of a sweep"),
    ("breakout --stop_at 100", "--stop-at is no option of a sweep"),
    ("nothing --report --out nowhere", "there is no sweep at nowhere"),
    ("nothing --report --gamma 0.9", "--report does not accept options of training: leave --gamma 0.9 out"),
])
def test_a_mistake_is_answered_in_one_line(capsys, monkeypatch, words, sentence):
    monkeypatch.chdir(ROOT)
    assert main(["sweep", *words.split()]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert sentence in error


def test_without_optuna_the_error_names_the_command_that_installs_it():
    code = ("import importlib.util as util, sys\nfind = util.find_spec\n"
            "util.find_spec = lambda name, *more: None if name == 'optuna' else find(name, *more)\n"
            "from trainer.__main__ import main\nsys.exit(main(['sweep', 'cartpole']))")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"error: a sweep needs optuna: {install.hint('sweep')}\n")


def test_metrics_are_read_line_by_line_while_they_are_written(tmp_path):
    metrics = MetricsReader(tmp_path)
    assert metrics.read() == []
    with (tmp_path / "metrics.jsonl").open("w") as file:
        for text, entries in (('{"step": 1, "seconds": 1}\n{"st', [1]), ('ep": 2, "seconds": 1}\n', [2]), ("", []),
                              ('damaged\n{"step": 3, "seconds": 1}\n', [3])):
            file.write(text)
            file.flush()
            assert [entry["step"] for entry in metrics.read()] == entries


def test_what_a_training_wrote_just_before_its_end_is_read(tmp_path, monkeypatch):
    """It may end between two looks at its metrics."""
    class Ended:
        def __init__(self, *_):
            self.folder = tmp_path

        def ended(self, seconds):
            return True

        def entries(self):
            return [{"step": 7, "seconds": 2.0}]

        def end(self):
            pass

        def evaluations(self):
            return [{"mean": 3.0, "standard_error": 0.5}]
    monkeypatch.setattr(trial_module, "Training", Ended)
    seen = []
    assert run_trial(Config("cartpole"), tmp_path / "trial", seen.append) == (3.0, 0.5)
    assert seen == [{"step": 7, "seconds": 2.0}]


@pytest.mark.parametrize(("script", "reason"), [
    ("kill -KILL $$", "its process was killed by SIGKILL"),
    ("echo some lines; echo 'error: device is wrong'; echo; exit 2", "device is wrong"),
    ("echo 'RuntimeError: boom'; exit 1", "RuntimeError: boom"),
    ("exit 3", "its process ended with code 3"),
    ("exit 0", "its process ended with code 0"),
])
def test_a_failed_trial_has_the_last_error_of_its_process(tmp_path, monkeypatch, script, reason):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(TrialFailed, match=f"^{reason}$"):
        run_trial(Config("cartpole"), tmp_path / "trial", lambda entry: None)


def start(folder, *options, program=("-m", "trainer")) -> subprocess.Popen:
    """A sweep of small trainings in a process of its own; `program` may replace the trainings."""
    space = folder / "space.toml"
    space.write_text(SPACE_FILE)
    command = [sys.executable, *program, "sweep", "cartpole", "--space", space, "--startup", "2", *options, *TINY]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def shared(tmp_path, trials, **program):
    """Run two processes of one sweep to the end; checks the part of each, and returns the study."""
    url = f"sqlite:///{tmp_path}/shared.db"
    options = ["--storage", url, "--trials", str(trials), "--total-steps", "2000", "--name", "together"]
    processes = [start(tmp_path, *options, "--out", str(tmp_path / name), **program) for name in ("one", "two")]
    printed = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], printed
    study = load_study(open_storage(url), "together")
    assert len(counted(study)) == trials
    assert {trial.user_attrs["pid"] for trial in counted(study)} == {process.pid for process in processes}
    assert len({trial.params["learning_rate"] for trial in counted(study)}) == trials
    assert max(printed, key=len).count("best.toml: the best settings") == 1
    settings = preset_file(GameName("cartpole"), str(tmp_path / "one" / "best.toml"))
    assert settings.ppo.learning_rate in {trial.params["learning_rate"] for trial in counted(study)}
    return study


def test_two_processes_share_the_trials_of_a_sweep(tmp_path):
    shared(tmp_path, 6, program=("-c", STAND_IN))


@pytest.mark.slow
def test_two_processes_share_the_trainings_of_a_sweep(tmp_path):
    for trial in counted(shared(tmp_path, 5)):
        folder = Path(trial.user_attrs["folder"])
        if trial.state == TrialState.COMPLETE:
            assert trial.value == json.loads((folder / "evaluation.json").read_text())["mean"]
            assert trial.user_attrs["steps"] >= 2000


def terminated(process, begun, folder):
    """Terminate a sweep once `begun()`, and check the mark of its trial."""
    while process.poll() is None and not begun():
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    printed = process.communicate()[0]
    assert process.returncode == 130, printed
    assert "trial 0: interrupted" in printed
    (trial,) = load_study(open_storage(default_storage(folder)), "cartpole").trials
    assert (trial.state, trial.user_attrs["reason"]) == (TrialState.FAIL, "interrupted")


def test_a_terminated_sweep_marks_its_trial(tmp_path):
    folder = tmp_path / "sweep"
    folder.mkdir()
    (folder / "WAIT").touch()
    process = start(tmp_path, "--out", str(folder), "--trials", "2", program=("-c", STAND_IN))
    terminated(process, (folder / "trial-0000").exists, folder)


@pytest.mark.slow
def test_a_terminated_sweep_ends_its_training_with_a_checkpoint(tmp_path):
    folder = tmp_path / "sweep"
    metrics = folder / "trial-0000" / "metrics.jsonl"
    process = start(tmp_path, "--out", str(folder), "--total-steps", "1_000_000_000", "--trials", "2")
    terminated(process, lambda: metrics.exists() and metrics.read_text(), folder)
    assert "interrupted at step" in (metrics.parent / "output.txt").read_text()

"""Sweeps from the command line, and the processes that their trials are: two that share a storage, one that is terminated."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from optuna.trial import TrialState

from trainer.__main__ import main
from trainer.config import Config
from trainer.config.preset import preset_file
from trainer.sweep.study import counted, default_storage, load_study, open_storage
from trainer.sweep.trial import Curve, TrialFailed, run_trial

ROOT = Path(__file__).parents[3]
SPACE_FILE = """\
[ppo]
learning_rate = { low = 0.001, high = 0.1, log = true }
horizon = { choices = [8, 16] }
"""
TINY = ["--num-envs", "8", "--minibatch", "64", "--num-threads", "1", "--lstm-size", "4", "--encoder-size", "4",
        "--memory", "none", "--device", "cpu", "--eval-episodes", "3", "--precision", "float32", "--track", "none"]


@pytest.mark.parametrize(("words", "sentence"), [
    ("", "no game is named; write python -m trainer sweep GAME"),
    ("breakot", "did you mean breakout?"),
    ("breakout --trials 0", "trials is 0; it may be an integer from 1 up"),
    ("breakout --startup 0", "startup is 0"),
    ("breakout --minutes 0", "minutes is 0.0; it may be none, or a number above 0"),
    ("breakout --name a/b", "name is 'a/b'; it may be letters"),
    ("breakout --out setup.py", "out is 'setup.py', which is a file"),
    ("breakout --space nowhere.toml", "there is no file of ranges at nowhere.toml"),
    ("breakout --gamma 2", "gamma is 2.0; it may be a number from 0 to 1"),
    ("breakout --eval-episodes 0", "eval_episodes is 0; it may be an integer from 1 up"),
    ("breakout --resume x", "--resume is no option of a sweep"),
    ("breakout --run-dir x", "--run-dir is no option of a sweep"),
    ("breakout --stop_at 100", "--stop-at is no option of a sweep"),
    ("nothing --report --out nowhere", "there is no sweep at nowhere"),
    ("nothing --report --gamma 0.9", "a report takes no options of training"),
])
def test_a_mistake_is_answered_in_a_line(capsys, monkeypatch, words, sentence):
    monkeypatch.chdir(ROOT)
    assert main(["sweep", *words.split()]) == 2
    told = capsys.readouterr().err
    assert told.startswith("error: ") and told.count("\n") == 1
    assert sentence in told


def test_without_optuna_a_sentence_says_what_to_install():
    code = ("import importlib.util as util, sys\nfind = util.find_spec\n"
            "util.find_spec = lambda name, *more: None if name == 'optuna' else find(name, *more)\n"
            "from trainer.__main__ import main\nsys.exit(main(['sweep', 'cartpole']))")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "error: a sweep needs optuna: pip install 'insertcoin[sweep]'\n")


def test_a_curve_is_read_line_by_line_as_it_grows(tmp_path):
    curve = Curve(tmp_path)
    assert curve.read() == []
    with (tmp_path / "metrics.jsonl").open("w") as file:
        for text, entries in (('{"step": 1}\n{"st', [{"step": 1}]), ('ep": 2}\n', [{"step": 2}]), ("", [])):
            file.write(text)
            file.flush()
            assert curve.read() == entries


@pytest.mark.parametrize(("script", "reason"), [
    ("kill -KILL $$", "its process was killed by SIGKILL"),
    ("echo some lines; echo 'error: device is wrong'; echo; exit 2", "device is wrong"),
    ("echo 'RuntimeError: boom'; exit 1", "RuntimeError: boom"),
    ("exit 3", "its process ended with code 3"),
    ("exit 0", "its process ended with code 0"),
])
def test_a_trial_fails_with_what_its_process_said_last(tmp_path, monkeypatch, script, reason):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(TrialFailed, match=f"^{reason}$"):
        run_trial(Config("cartpole"), tmp_path / "trial", lambda entry: None)


def start(folder, *options) -> subprocess.Popen:
    """The sweep of the command line, with trainings of a small network, in a process of its own."""
    space = folder / "space.toml"
    space.write_text(SPACE_FILE)
    command = [sys.executable, "-m", "trainer", "sweep", "cartpole", "--space", space, "--startup", "2", *options, *TINY]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_two_processes_share_the_trials_of_a_sweep(tmp_path):
    url = f"sqlite:///{tmp_path}/shared.db"
    options = ["--storage", url, "--trials", "8", "--total-steps", "2000", "--name", "together"]
    processes = [start(tmp_path, *options, "--out", str(tmp_path / name)) for name in ("one", "two")]
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], said
    study = load_study(open_storage(url), "together")
    assert len(counted(study)) == 8
    assert {trial.user_attrs["pid"] for trial in counted(study)} == {process.pid for process in processes}
    assert len({trial.params["learning_rate"] for trial in counted(study)}) == 8
    for trial in counted(study):
        folder = Path(trial.user_attrs["folder"])
        if trial.state == TrialState.COMPLETE:
            assert trial.value == json.loads((folder / "evaluation.json").read_text())["mean"]
            assert trial.user_attrs["steps"] >= 2000
    assert max(said, key=len).count("best.toml: the best settings") == 1
    settings = preset_file("cartpole", str(tmp_path / "one" / "best.toml"))
    assert settings.ppo.learning_rate in {trial.params["learning_rate"] for trial in counted(study)}


def test_a_sweep_that_is_terminated_ends_its_trial_and_marks_it(tmp_path):
    process = start(tmp_path, "--out", str(tmp_path / "sweep"), "--total-steps", "1_000_000_000", "--trials", "2")
    metrics = tmp_path / "sweep" / "trial-0000" / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and metrics.read_text()):
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[0]
    assert process.returncode == 130, said
    assert "trial 0: interrupted" in said
    (trial,) = load_study(open_storage(default_storage(tmp_path / "sweep")), "cartpole").trials
    assert (trial.state, trial.user_attrs["reason"]) == (TrialState.FAIL, "interrupted")
    assert "interrupted at step" in (metrics.parent / "output.txt").read_text()  # with a checkpoint

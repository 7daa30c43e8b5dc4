"""The folder of a sweep belongs to one study, and no training outlives its sweep for long."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest

from trainer.config import Config
from trainer.errors import SweepError
from trainer.process import TRIAL
from trainer.sweep import folder as sweep_folder
from trainer.sweep.folder import OWNER, claim, end_leftovers, folder_of, mark_of, refuse_other
from trainer.sweep.storage import open_storage
from trainer.sweep.study import open_study
from trainer.sweep.trial import OUTPUT, PRESET, TrialFailed, run_trial

ROOT = Path(__file__).parents[3]


@pytest.fixture
def study(tmp_path):
    """Makes studies in storages of their own, by the name of the storage's file."""
    def make(name, study_name="test"):
        facts = {"settings": {"game": "pong"}, "ranges": {}}
        return open_study(open_storage(f"journal:{tmp_path / name}"), study_name, facts, None)[0]
    return make


def test_the_folder_of_a_sweep_takes_no_other_study(tmp_path, study):
    folder = tmp_path / "sweep"
    claim(folder, study("one"), "sqlite:///one.db")
    claim(folder, study("one"), "sqlite:///one.db")
    for other in (study("two"), study("one", "another name")):
        with pytest.raises(SweepError, match=r"^--out must be a folder for this sweep only, not .*/sweep, which holds "
                                             r"the trials of the sweep 'test' in sqlite:///one.db: name a new folder, such as"):
            claim(folder, other, "journal:two")
    assert json.loads((folder / OWNER).read_text())["storage"] == "sqlite:///one.db"


def test_the_folder_of_a_deleted_storage_is_not_used_again(tmp_path, study):
    claim(tmp_path / "sweep", study("one"), "journal:one")
    (tmp_path / "one").unlink()
    with pytest.raises(SweepError, match="must be a folder for this sweep only"):
        claim(tmp_path / "sweep", study("one"), "journal:one")


def test_trials_without_an_owner_belong_to_a_study_that_knows_them(tmp_path, study):
    folder_of(1, tmp_path / "sweep").mkdir(parents=True)
    known = study("one")
    known.ask()
    with pytest.raises(SweepError, match="which holds the trials of another sweep"):
        refuse_other(tmp_path / "sweep", lambda: known)
    known.ask()
    claim(tmp_path / "sweep", known, "journal:one")


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"[" * 99_999, b"\xff", None])
def test_a_damaged_owner_is_one_line(tmp_path, study, content):
    if content is None:
        (tmp_path / OWNER).mkdir()
    else:
        (tmp_path / OWNER).write_bytes(content)
    with pytest.raises(SweepError, match=r"study.json is damaged: remove it, or choose another folder with --out$"):
        claim(tmp_path, study("one"), "journal:one")


SLEEPER = "import time; print('up', flush=True); time.sleep(600)"


def sleeper(folder, preset, *, mark=None, program="trainer"):
    """A process whose command looks like that of a trial's training.

    mark: in its environment; None for none.
    program: the module that it runs.
    """
    (folder / program).mkdir(parents=True, exist_ok=True)
    (folder / program / "__init__.py").touch()  # a package, which comes before an installed one
    (folder / program / "__main__.py").write_text(SLEEPER)
    process = subprocess.Popen([sys.executable, "-m", program, "pong", "--preset", str(preset)], stdout=subprocess.PIPE,
                               cwd=folder, env=os.environ | ({TRIAL: mark} if mark else {}))
    process.stdout.readline()
    return process


def test_without_proc_the_processes_are_those_of_ps(monkeypatch, study):
    one, row = study("one"), "python -m trainer pong --preset /a b/trial-0007/preset.toml"
    marked = f"{row} HOME=/ {TRIAL}={mark_of(7, one)} LANG=C"
    listed = f"    1     0 /sbin/launchd\n  812   811 {marked}\n  813   1 \n  814   1 {row}\n  815  1 vi {marked}\n"
    monkeypatch.setattr(sweep_folder.subprocess, "run", lambda command, **more: subprocess.CompletedProcess(command, 0, listed))
    monkeypatch.setattr(sweep_folder.sys, "platform", "darwin")
    assert [process[:2] for process in sweep_folder._processes()] == [(1, 0), (812, 811), (814, 1), (815, 1)]
    assert sweep_folder._trainings(Path("/a b"), one) == [(812, 811, 7)]


def test_the_next_sitting_ends_trainings_whose_sweep_is_gone(tmp_path, study):
    one = study("one")
    numbers = [one.ask().number for _ in range(3)]
    for number, pid in zip(numbers, (os.getpid() + 1, os.getpid(), None), strict=True):
        trial = one._storage.get_trial_id_from_study_id_trial_number(one._study_id, number)
        one._storage.set_trial_user_attr(trial, "pid", pid)
    presets = [folder_of(number, tmp_path) / PRESET for number in numbers]
    processes = [sleeper(tmp_path, preset, mark=mark_of(number, one)) for number, preset in zip(numbers, presets, strict=True)]
    others = [sleeper(tmp_path, tmp_path / "elsewhere" / "trial-0000" / PRESET, mark=mark_of(0, one)),
              sleeper(tmp_path, presets[0]), sleeper(tmp_path, presets[0], mark=mark_of(0, study("two"))),
              sleeper(tmp_path, presets[0], mark=mark_of(0, one), program="editor")]
    try:
        assert end_leftovers(tmp_path, one) == [numbers[0], numbers[2]]
        assert [processes[number].wait(10) for number in (0, 2)] == [-signal.SIGKILL] * 2
        assert processes[1].poll() is None and [other.poll() for other in others] == [None] * len(others)
        assert end_leftovers(tmp_path, one) == []
    finally:
        for process in (*processes, *others):
            process.kill()
            process.communicate()


def test_a_program_that_reads_a_trials_files_is_not_ended(tmp_path, study):
    """It was, for its command has the path of the preset."""
    one = study("one")
    one.ask()
    preset = folder_of(0, tmp_path) / PRESET
    preset.parent.mkdir(parents=True)
    preset.touch()
    reader = subprocess.Popen(["tail", "-f", preset])
    try:
        assert end_leftovers(tmp_path, one) == [] and reader.poll() is None
    finally:
        reader.kill()
        reader.wait()


def test_a_training_has_the_mark_of_its_trial(tmp_path, study, monkeypatch):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho ${TRIAL}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(TrialFailed):
        run_trial(Config("cartpole"), tmp_path / "trial", lambda entry: None, (), mark_of(5, one := study("one")))
    assert (tmp_path / "trial" / OUTPUT).read_text() == f"{one.user_attrs['id']}/5\n"


START = """\
import subprocess, sys, time
from pathlib import Path
from trainer.config import Config
from trainer.sweep.trial import run_trial
run_trial(Config("cartpole"), Path(sys.argv[1]), print)
"""
TRAINING = """\
import ctypes, os, sys, time
from pathlib import Path
from trainer.process import end_with_parent
signal, alive = ctypes.c_int(), end_with_parent()
ctypes.CDLL(None).prctl(2, ctypes.byref(signal))  # PR_GET_PDEATHSIG
Path(sys.argv[1]).write_text(f"{os.getpid()} {alive} {'INSERTCOIN_PARENT' in os.environ} {signal.value} .")
time.sleep(600)
"""


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no signal at a parent's end")
def test_a_killed_sweep_takes_its_training_with_it(tmp_path):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c \"$TRAINING\" '{tmp_path / 'note'}'\n")
    program.chmod(0o755)
    code = f"import sys; real = sys.executable; sys.executable = {str(program)!r}\n" + START
    sweep = subprocess.Popen([sys.executable, "-c", code, tmp_path / "trial-0000"], cwd=ROOT, env=os.environ | {
        "TRAINING": TRAINING})
    try:
        while not (tmp_path / "note").exists() or len((tmp_path / "note").read_text().split()) < 5:
            assert sweep.poll() is None
            time.sleep(0.05)
        training, *facts = (tmp_path / "note").read_text().split()
        assert is_running(int(training))
        assert facts == ["True", "False", str(int(signal.SIGKILL)), "."]
    finally:
        sweep.kill()
        sweep.wait()
    while is_running(int(training)):
        time.sleep(0.05)


def test_a_training_whose_sweep_has_already_ended_does_not_begin(tmp_path):
    done = subprocess.run([sys.executable, "-m", "trainer", "cartpole", "--run-dir", tmp_path / "run"], cwd=ROOT, check=False,
                          env=os.environ | {"INSERTCOIN_PARENT": "1"}, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "error: the sweep that started this training has ended\n")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", ["", "[]", '{"mean": "x", "standard_error": 1}', "[" * 99_999,
                                     '{"mean": 1%s}' % ("0" * 400)])
def test_a_damaged_evaluation_fails_its_trial(tmp_path, monkeypatch, content):
    (tmp_path / "evaluation").write_text(content)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncp '{tmp_path / 'evaluation'}' '{tmp_path / 'trial' / 'evaluation.json'}'\n"
                       f"echo '{'[' * 999}' > '{tmp_path / 'trial' / 'metrics.jsonl'}'\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(TrialFailed, match=r"^its evaluation.json is damaged$"):
        run_trial(Config("cartpole"), tmp_path / "trial", lambda entry: None)


def test_the_study_has_one_identity(study):
    one = study("one")
    assert optuna.load_study(storage=one._storage, study_name="test").user_attrs["id"] == one.user_attrs["id"]
    assert study("two").user_attrs["id"] != one.user_attrs["id"]

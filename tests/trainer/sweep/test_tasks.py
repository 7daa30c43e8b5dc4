"""The tasks of a bench, which several processes share: each is taken once, and those of dead processes again."""

import subprocess
import sys
import time
from types import SimpleNamespace

import optuna
import pytest
import sqlalchemy

from trainer.config.games import GameName
from trainer.errors import SweepError
from trainer.sweep import bench
from trainer.sweep import study as study_module
from trainer.sweep import tasks as tasks_module
from trainer.sweep.storage import open_storage
from trainer.sweep.study import this_process
from trainer.sweep.tasks import Task, Tasks, open_bench


@pytest.fixture(params=["database", "journal"])
def tasks(request, tmp_path):
    """A function: the tasks of a bench of two, as a process of its own sees them."""
    url = f"journal:{tmp_path / 'j'}" if request.param == "journal" else f"sqlite:///{tmp_path / 'd'}"
    listed = [Task(f"t{seed}", GameName("cartpole"), 0.0, seed) for seed in (1, 2)]
    return lambda: Tasks(open_bench(open_storage(url), "bench", {"cartpole": {}}), listed)


def test_two_processes_take_no_task_twice(tasks):
    one, other = tasks(), tasks()
    taken = [one.take(), other.take(), one.take(), other.take()]
    assert [entry and entry[1].name for entry in taken] == ["t1", "t2", None, None]
    assert one.open == 2
    one.done(taken[0][0], {"evaluations": [{"mean": 3.0}]})
    assert (one.open, list(other.results())) == (1, ["t1"])
    assert tasks().take() is None


def test_tasks_that_two_processes_offered_at_once_are_taken_once(tasks):
    one = tasks()
    for name in ("t1", "t2", "t1"):
        one.study.enqueue_trial({}, user_attrs={"task": name})
    taken = [one.take() for _ in range(4)]
    assert [entry and entry[1].name for entry in taken] == ["t1", "t2", None, None]


def test_the_task_of_a_dead_process_is_taken_over(tasks, monkeypatch):
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    with monkeypatch.context() as patch:
        patch.setattr("os.getpid", lambda: child.pid)
        dead = tasks()
        trial, task = dead.take()
    one = tasks()
    assert task.name == "t1"
    assert [entry and entry[1].name for entry in (one.take(), one.take(), one.take())] == ["t1", "t2", None]
    dead.done(trial, {"evaluations": [{"mean": 3.0}]})  # it was not dead: its results come too late
    assert one.results() == {}


def test_the_task_of_a_dead_process_with_our_number_is_taken_over(tasks, monkeypatch):
    """As in a container, whose first process always has the number 1."""
    with monkeypatch.context() as patch:
        patch.setattr(study_module, "_PROCESS", "another")
        assert tasks().take()[1].name == "t1"
    one = tasks()
    assert [entry and entry[1].name for entry in (one.take(), one.take(), one.take())] == ["t1", "t2", None]


def test_a_process_does_not_take_its_own_task_for_dead_after_the_computer_slept(tasks, monkeypatch):
    """The storage's clock goes on meanwhile, and the monotonic one does not."""
    one, now = tasks(), time.time()
    trial, _ = one.take()
    if (database := getattr(one.study._storage, "_backend", None)) and hasattr(database, "engine"):
        with database.engine.begin() as connection:
            connection.execute(sqlalchemy.text("update trial_heartbeats set heartbeat = datetime('now', '-1 hour')"))
    monkeypatch.setattr(tasks_module.time, "time", lambda: now + 3600)
    assert [entry and entry[1].name for entry in (one.take(), one.take())] == ["t2", None]
    one.done(trial, {"evaluations": [{"mean": 3.0}]})
    assert list(one.results()) == ["t1"]


def test_a_bench_that_waits_says_what_to_do_where_nothing_tells_of_a_death_on_another_machine(tasks, monkeypatch, capsys):
    """With a journal. A database has heartbeats."""
    others = tasks()
    running = [others.take()[0] for _ in range(2)]
    work = bench._Work(SimpleNamespace(jobs=1), tasks())
    monkeypatch.setattr(bench.time, "sleep", lambda seconds: [
        others.done(trial, {"evaluations": [{"mean": 3.0}]}) for trial in running])
    work.run()
    line, = capsys.readouterr().out.splitlines()
    journal = hasattr(others.study._storage, "_replay_result")
    assert line == "waiting for the trainings of other processes" + (
        "; with a journal only its own machine notices that one has died: give the same command there, or end all processes "
        "and go on with another --name and the same --out" if journal else "")


def test_a_storage_that_fails_leaves_no_training_running(tmp_path):
    ended = []

    class Full:
        def failed(self, trial, key, reason):
            raise SweepError("no storage")
    work = bench._Work(None, Full())
    for name in ("t1", "t2"):
        training = SimpleNamespace(interrupt=lambda: None, end=lambda name=name: ended.append(name))
        work.running.append((training, None, None))
    with pytest.raises(SweepError):
        work._end()
    assert ended == ["t1", "t2"]


def test_two_processes_may_mark_the_same_dead_process_at_once(tasks, monkeypatch):
    """The other one is faster by so little that `tell` still sees a running trial, as a PostgreSQL server showed."""
    one = tasks()
    with monkeypatch.context() as patch:
        patch.setattr(tasks_module, "this_process", lambda: this_process() | {"pid": 2**22 + 1})
        assert one.take()[1].name == "t1"

    def faster(study, number, state):
        (trial,) = study.get_trials(states=(optuna.trial.TrialState.RUNNING,))
        study._storage.set_trial_state_values(trial._trial_id, state)
        raise optuna.exceptions.UpdateFinishedTrialError
    monkeypatch.setattr(optuna.Study, "tell", faster)
    assert [entry and entry[1].name for entry in (one.take(), one.take(), one.take())] == ["t1", "t2", None]


def test_a_task_of_a_process_that_is_still_noting_itself_is_left_alone(tasks, monkeypatch):
    one = tasks()
    with monkeypatch.context() as patch:
        patch.setattr(tasks_module, "this_process", lambda: {"host": this_process()["host"]})  # and soon its number
        assert one.take()[1].name == "t1"
    assert [entry and entry[1].name for entry in (one.take(), one.take())] == ["t2", None]

"""Sweeps and benches whose four processes share a real PostgreSQL server, and one of them is killed."""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

from trainer.sweep.storage import open_storage
from trainer.sweep.study import counted, load_study

ROOT = Path(__file__).parents[3]
USER = "nobody"  # the server refuses to run as root
TINY = ["--num-envs=8", "--horizon=16", "--minibatch=64", "--lstm-size=4", "--encoder-size=4", "--memory=none", "--device=cpu",
        "--eval-episodes=3", "--precision=float32", "--num-threads=1"]
SPACE = "[ppo]\nlearning_rate = { low = 0.001, high = 0.1, log = true }\n"

pytestmark = pytest.mark.slow


def programs() -> Path | None:
    """The folder of PostgreSQL's programs: on the path, or where Debian has them."""
    found = shutil.which("initdb")
    return Path(found).parent if found else max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


@pytest.fixture(scope="module")
def server():
    """A function: the URL of a new database of a server in a temporary folder, without a port."""
    if programs() is None or importlib.util.find_spec("psycopg") is None:
        pytest.skip("PostgreSQL or psycopg is missing")
    as_user = {"user": USER, "group": pwd.getpwnam(USER).pw_gid} if os.getuid() == 0 else {}
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as folder:  # a socket's path is short
        if as_user:
            shutil.chown(folder, USER)
        commands = programs()
        subprocess.run([commands / "initdb", "-D", f"{folder}/data", "-U", "tester", "-A", "trust", "--no-sync"], check=True,
                       capture_output=True, cwd=folder, **as_user)
        options = ("listen_addresses=", f"unix_socket_directories={folder}", "fsync=off")
        command = [commands / "postgres", "-D", f"{folder}/data", *(word for one in options for word in ("-c", one))]
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user)
        try:
            yield lambda name: new_database(folder, name)
        finally:
            process.send_signal(signal.SIGINT)  # disconnects all clients
            process.wait()


def new_database(folder: str, name: str) -> str:
    """The URL of the new database `name`; waits until the server answers."""
    import psycopg
    stop = time.monotonic() + 60
    while True:
        with contextlib.suppress(psycopg.OperationalError):
            with psycopg.connect(host=folder, user="tester", dbname="postgres", autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return f"postgresql+psycopg://tester@/{name}?host={folder}"
        assert time.monotonic() < stop, "the server does not answer"
        time.sleep(0.2)


@contextlib.contextmanager
def four(tmp_path, arguments):
    """Four processes of one command, each with what it prints in a file."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    processes = []
    for number in range(4):
        with (tmp_path / f"printed{number}").open("wb") as output:
            processes.append(subprocess.Popen([sys.executable, "-m", "trainer", *map(str, arguments(number))], cwd=tmp_path,
                                              stdout=output, stderr=subprocess.STDOUT, env=environment))
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def kill_one_that_trains(study, processes):
    """Kill the first process of `study` that runs a trial; returns the number of the trial."""
    while True:
        assert any(process.poll() is None for process in processes)
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            for process in processes:
                if trial.user_attrs.get("pid") == process.pid:
                    process.kill()
                    processes.remove(process)
                    process.wait()
                    return trial.number
        time.sleep(0.05)


def finished(tmp_path, processes):
    """Wait for the others, which end without an error; returns all that was printed."""
    codes = [process.wait() for process in processes]
    printed = "".join(path.read_text() for path in sorted(tmp_path.glob("printed*")))
    assert codes == [0] * 3, printed
    assert "Traceback" not in printed
    return printed


def existing(url, name):
    """The study of the processes; waits until it exists."""
    storage, stop = open_storage(url), time.monotonic() + 120
    while True:
        with contextlib.suppress(KeyError):
            return optuna.load_study(storage=storage, study_name=name)
        assert time.monotonic() < stop
        time.sleep(0.1)


def test_four_processes_share_a_bench_and_one_is_killed(server, tmp_path):
    url = server("bench")

    def arguments(number):
        return ["bench", "cartpole", "--seeds=6", "--jobs=1", "--sticky=none", f"--storage={url}",
                f"--out={tmp_path / 'bench'}", "--total-steps=20_000", *TINY]
    with four(tmp_path, arguments) as processes:
        study = existing(url, "bench")
        killed = kill_one_that_trains(study, processes)
        printed = finished(tmp_path, processes)
    trials = study.get_trials(deepcopy=False)
    done = [trial.user_attrs["task"] for trial in trials if trial.state == TrialState.COMPLETE]
    assert sorted(done) == [f"cartpole-sticky0-s{seed}" for seed in range(1, 7)]  # each once
    assert trials[killed].state == TrialState.FAIL
    assert trials[killed].user_attrs["task"] in done
    assert not [trial for trial in trials if trial.state in (TrialState.RUNNING, TrialState.WAITING)]
    assert printed.count("results.csv") == 3
    assert len((tmp_path / "bench" / "results.csv").read_text().splitlines()) == 3


def test_four_processes_share_a_sweep_and_one_is_killed(server, tmp_path):
    url = server("sweep")
    (tmp_path / "space.toml").write_text(SPACE)

    def arguments(number):
        return ["sweep", "cartpole", "--trials=5", "--startup=3", "--space=space.toml", f"--storage={url}",
                f"--out={tmp_path / f'sweep{number}'}", "--total-steps=20_000", "--track=none", *TINY]
    with four(tmp_path, arguments) as processes:
        begun = existing(url, "cartpole")
        killed = kill_one_that_trains(begun, processes)
        printed = finished(tmp_path, processes)
    study = load_study(open_storage(url), "cartpole")
    trials = study.get_trials(deepcopy=False)
    assert trials[killed].state == TrialState.FAIL
    assert len(counted(study)) == 5
    assert all(trial.state in (TrialState.COMPLETE, TrialState.PRUNED) for trial in counted(study))
    assert len({trial.params["learning_rate"] for trial in counted(study)}) == 5
    assert "best.toml: the best settings" in printed

"""The comparison with other packages (benchmarks/peers): its processes, its tables, and the plain PPO in it."""

import json
import subprocess
import sys

import pytest
from setup_support import ROOT, run

import trainer
from benchmarks.peers import puffer
from benchmarks.peers.__main__ import Row, table, times
from benchmarks.peers.environments import ENVIRONMENTS, Environment
from benchmarks.peers.trainings import TRAININGS, Work
from examples.training import one_file


def child(*words: str, lines: str = "") -> list[dict]:
    """What a process of the comparison answers."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.peers.child", *words], cwd=ROOT, input=lines, capture_output=True,
                          text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_a_process_answers_with_its_version_and_then_with_a_rate_for_each_line():
    version, *rates = child("environments", "insertcoin, features", "4", lines="0.01\n0.01\n")
    assert version.keys() == {"version"} and [rate["rate"] > 1000 for rate in rates] == [True, True]


def test_a_training_goes_on_from_line_to_line():
    _, first, second = child("trainings", "insertcoin", "4", lines="0.01\n0.01\n")
    assert second["steps"] > first["steps"] > 0 and second["seconds"] > first["seconds"] > 0


def test_a_package_that_is_missing_is_a_row_with_the_reason(monkeypatch):
    row = Row(sys.executable, "environments", "PufferLib", 4)
    row.close()
    assert "pufferlib" in row.missing
    assert "not measured: ModuleNotFoundError" in table([row], ENVIRONMENTS, "insertcoin, features")
    assert "not measured: ModuleNotFoundError" in times([row], 1.0)


def test_rates_are_compared_at_the_same_number_of_environments():
    class Done:
        version, missing = "1", None

        def __init__(self, name, num_envs, rates):
            self.name, self.num_envs, self.rates = name, num_envs, rates

    about = {name: Environment("", "", None) for name in ("ours", "theirs")}
    rows = [Done("ours", 4, [90, 100, 200]), Done("ours", 8, [10]), Done("theirs", 4, [25]), Done("theirs", 16, [7])]
    text = table(rows, about, "ours")
    shares = [line.split("|")[5].strip() for line in text.splitlines()[2:]]
    assert shares == ["1", "1", "0.25", ""]


class Learner:
    """A training whose score grows by `gain` in each second."""

    def __init__(self, name: str, gain: float, missing: str | None = None):
        self.name, self.gain, self.missing, self.last = name, gain, missing, {"seconds": 0.0, "score": 0.0, "steps": 0}

    def measure(self, seconds: float) -> dict:
        spent = self.last["seconds"] + seconds
        self.last = {"seconds": spent, "score": self.gain * spent, "steps": 1000 * spent}
        return self.last


def test_a_training_goes_on_to_the_target_or_for_the_minutes():
    lines = times([Learner("fast", 30), Learner("slow", 1), Learner("none", 1, "no package")], 0.5).splitlines()[2:]
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    assert [row[1] for row in cells] == ["0.2", "not in 0.5", "not measured: no package"]
    assert [row[3] for row in cells] == ["300.0", "30.0", ""]


def test_each_row_is_compared_with_a_row_of_its_section():
    for each in ENVIRONMENTS.values():
        assert ENVIRONMENTS[each.reference].section == each.section


def test_the_plain_ppo_trains_with_the_settings_of_the_others():
    shared, plain = Work(1024)._asdict(), one_file.Settings()._asdict()
    assert {name: plain[name] for name in shared} == shared
    trained = TRAININGS["plain PyTorch"].make(8)
    assert [next(trained)[0] for _ in range(2)] == [8 * 64, 16 * 64]


@pytest.mark.parametrize("name", ["insertcoin", "insertcoin, float32"])
def test_our_training_is_on_the_cpu_as_the_others(name, monkeypatch):
    given = {}

    def session(game, **settings):
        given.update(settings)
        return iter(())
    monkeypatch.setattr(trainer, "Session", session)
    assert list(TRAININGS[name].make(8)) == [] and given["device"] == "cpu"


def test_pip_gets_pufferlib_with_the_settings_of_the_user(monkeypatch, tmp_path):
    given = {}

    def pip(command, env, **settings):
        given.update(env)
        (tmp_path / "pip-install-x" / "pufferlib_x").mkdir(parents=True)
    monkeypatch.setattr(puffer.subprocess, "run", pip)
    for name in ("PIP_INDEX_URL", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "https://mirror.example")
    assert puffer.unpack(tmp_path) == tmp_path / "pip-install-x" / "pufferlib_x"
    assert (given["PIP_INDEX_URL"], given["HTTPS_PROXY"], given["NO_OCEAN"]) == (*["https://mirror.example"] * 2, "1")


@pytest.mark.parametrize("words", [["--python", "/nowhere/python"]])
def test_an_interpreter_that_does_not_exist_is_refused(words):
    result = run(sys.executable, "-m", "benchmarks.peers", *words)
    assert result.returncode == 2 and "--python must be an interpreter, not /nowhere/python" in result.stderr

"""Whole jobs of torchrun, two ranks over Gloo: they stop, fail with one message, and resume with more or fewer ranks."""

import json
import os
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
from trainer_support import wait_for

from trainer.config import Config
from trainer.config.games import GameName
from trainer.config.options import parse_training
from trainer.config.preset import preset
from trainer.runs import checkpoint
from trainer.training import train
from trainer.training.build import make_session

TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
WITH_FAULTY = """import sys
from trainer.__main__ import main
import test_ranks_jobs
sys.exit(main(sys.argv[1:]))
"""
ROLLOUT = 16 * 32
SMALL = ["--num-envs", "16", "--horizon", "32", "--minibatch", "256", "--total-steps", str(8 * ROLLOUT), "--device", "cpu",
         "--encoder-size", "16", "--lstm-size", "12", "--precision", "float32", "--no-dashboard", "--no-gif", "--eval-episodes",
         "0", "--num-threads", "1"]
ENDLESS = ["--total-steps", "1000000000", "--checkpoint-seconds", "0"]


class Faulty(gymnasium.Env):
    """Raises an error in its hundredth step, only on rank 1."""

    observation_space = gymnasium.spaces.Box(0, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)
    steps = 0

    def reset(self, *, seed=None, options=None):
        return np.zeros(2, np.float32), {}

    def step(self, action):
        self.steps += 1
        if self.steps == 100 and os.environ.get("RANK") == "1":
            raise OSError("the cartridge is hot")
        return np.zeros(2, np.float32), 1.0, self.steps % 10 == 0, False, {}


gymnasium.register("RanksFaulty-v0", entry_point=Faulty)


def start(*arguments, program=("-m", "trainer")) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    tests = Path(__file__).parents[1]
    paths = [str(Path(__file__).parent), str(tests / "support"), str(tests.parent), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen([*TORCHRUN, *program, *map(str, arguments)], cwd=Path(__file__).parents[2], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            env={**environment, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, paths))})


def finished(process: subprocess.Popen) -> str:
    """The output of a process that has ended."""
    return process.communicate(timeout=120)[0]


def steps(folder: Path) -> list[int]:
    path = folder / "metrics.jsonl"
    return [json.loads(line)["step"] for line in path.read_text().splitlines()] if path.exists() else []


def settings(folder: Path, *more: str) -> Config:
    return parse_training(GameName("cartpole"), [*SMALL, "--run-dir", str(folder), *more], preset(GameName("cartpole")))


def workers(process: subprocess.Popen) -> list[int]:
    """The ranks' process ids, rank 0 first."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    by_rank = {}
    for child in map(int, children):
        variables = dict(item.partition("=")[::2] for item in Path(f"/proc/{child}/environ").read_text().split("\0"))
        if "RANK" in variables:
            by_rank[int(variables["RANK"])] = child
    return [by_rank[rank] for rank in sorted(by_rank)]


@pytest.mark.slow
def test_a_run_of_two_ranks_goes_on_with_one_and_then_with_two(tmp_path):
    folder = tmp_path / "run"
    process = start("cartpole", *SMALL, "--run-dir", folder, "--stop-at", 3 * ROLLOUT)
    output = finished(process)
    assert process.returncode == 0, output
    assert "ranks 2, device cpu" in output
    assert output.count("checkpoints and curves are in") == 1  # one rank prints it
    assert checkpoint.read_meta(checkpoint.latest(folder))["iteration"] == 3
    train.train(settings(folder, "--resume", str(folder), "--stop-at", str(5 * ROLLOUT)))
    last = start("--resume", folder, "--eval-episodes", 3)
    output = finished(last)
    assert last.returncode == 0, output
    assert output.count("\nsampled  ") == output.count("\ngreedy ") == 1
    assert steps(folder) == [ROLLOUT * (k + 1) for k in range(8)]
    entries = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert all(one["episodes"] <= other["episodes"] for one, other in pairwise(entries))
    meta = checkpoint.read_meta(checkpoint.latest(folder))
    assert meta["episodes"] == entries[-1]["episodes"] and meta["config"]["env"]["num_envs"] == 16
    facts = [sitting["facts"].get("ranks") for sitting in json.loads((folder / "config.json").read_text())["sessions"]]
    assert facts == ["2", None, "2"]
    resumed = make_session(settings(folder), resume=checkpoint.latest(folder))
    assert resumed.step == 8 * ROLLOUT and torch.isfinite(resumed.policy.heads.weight).all()


@pytest.mark.slow
def test_an_interrupted_job_ends_with_a_checkpoint_of_all_ranks(tmp_path):
    folder = tmp_path / "run"
    process = start("cartpole", *SMALL, *ENDLESS[:2], "--run-dir", folder, "--checkpoint-seconds", 1000)
    wait_for(lambda: len(steps(folder)) > 2, process)
    process.send_signal(signal.SIGINT)
    output = finished(process)
    assert process.returncode != 0
    assert output.count(f"go on with python -m trainer --resume {folder}") == 1 and "error:" not in output
    meta = checkpoint.read_meta(checkpoint.latest(folder))
    assert meta["iteration"] * ROLLOUT == steps(folder)[-1] > 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds the ranks' processes in /proc")
def test_a_rank_that_is_killed_ends_the_job_and_it_can_be_resumed(tmp_path):
    folder = tmp_path / "run"
    process = start("cartpole", *SMALL, *ENDLESS, "--run-dir", folder)
    wait_for(lambda: len(steps(folder)) > 2, process)
    os.kill(workers(process)[1], signal.SIGKILL)
    output = finished(process)
    assert process.returncode != 0 and output.count("error:") <= 1
    reached = checkpoint.read_meta(checkpoint.latest(folder))["iteration"]
    assert reached > 1
    stop = (reached + 2) * ROLLOUT
    train.train(settings(folder, "--total-steps", "1000000000", "--resume", str(folder), "--stop-at", str(stop)))
    assert steps(folder) == [ROLLOUT * (k + 1) for k in range(reached + 2)]


@pytest.mark.slow
def test_a_rank_whose_environment_fails_prints_why_and_ends_the_job(tmp_path):
    folder = tmp_path / "run"
    program = tmp_path / "with_faulty.py"
    program.write_text(WITH_FAULTY)
    process = start("gym:RanksFaulty-v0", *SMALL, *ENDLESS, "--run-dir", folder, program=(str(program),))
    output = finished(process)
    assert process.returncode != 0
    assert output.count("raised OSError in step: the cartridge is hot") == 1
    assert output.count("error: another rank has ended") <= 1  # the other may be stopped before it sees that
    assert checkpoint.read_meta(checkpoint.latest(folder))["iteration"] == 3  # 100 steps are 3 rollouts of 32, and one lost


@pytest.mark.parametrize(("arguments", "message"), [
    (["cartpole", "--wings", "2"], "error: unknown option --wings"),
    pytest.param(["--resume", "nowhere"], "error: there is no run at nowhere", marks=pytest.mark.slow),
])
def test_an_error_of_all_ranks_is_printed_once(arguments, message):
    process = start(*arguments)
    output = finished(process)
    assert process.returncode != 0 and output.count(message) == 1 and "trainer/" not in output

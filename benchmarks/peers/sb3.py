"""Stable-baselines3 with its own environments and with envs_c: `python -m benchmarks.peers.sb3 [cartpole] [breakout] [...]`.

A2C and PPO on three tasks. SB3's own environments are:

    cartpole          Gymnasium's CartPole-v1
    breakout          the cartridge's RAM in ale-py; against the features of envs_c
    breakout-pixels   the cartridge with SB3's Atari wrappers; against the pixels of envs_c, four frames stacked

Each runs with 8 environments in SB3's DummyVecEnv, in its SubprocVecEnv and in `envs_c.sb3`, and in `envs_c.sb3` with more
environments too. The tables give steps per second of all environments together: of random play, and of learn() over whole
iterations after the first. The rows of a task take turns; a figure is the median of the rounds. The settings are those of SB3's
zoo for Atari.
"""

import math
import statistics
import sys
import threading
import time
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_atari_env, make_vec_env
from stable_baselines3.common.utils import get_device
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv, VecFrameStack

from benchmarks.common import above_zero, at_least, head, new_parser, publish
from envs_c import sb3
from envs_c.machine import cores
from trainer.log.numbers import count
from trainer.log.text import markdown
from trainer.runs.machine import versions

FEW = 8  # environments in each comparison
ROLLOUT = 1024  # steps in a rollout of PPO, all environments together
ALGORITHMS = {"A2C": (A2C, lambda n: {"n_steps": 5}),
              "PPO": (PPO, lambda n: {"n_steps": max(4, ROLLOUT // n), "batch_size": 256, "n_epochs": 4})}
PACKAGES = {"ale_py": "ale-py", "cv2": "opencv-python-headless"}
ATARI = {"reward_clip": 1, "noop_max": 30}  # as in SB3's Atari wrappers, but a lost life does not end an episode


class Case(NamedTuple):
    """One task. `theirs` makes SB3's environments, `ours` those of envs_c."""

    title: str
    policy: str
    threads: int  # of torch; the products of a small network are too small for several threads
    theirs: Callable[[type, int], VecEnv]  # (class of vector environment, number of environments)
    ours: Callable[[int], VecEnv]
    needs: tuple[str, ...] = ()  # modules that `theirs` needs


def cartridge_pixels(kind: type, n: int) -> VecEnv:
    """Make the cartridge with SB3's Atari wrappers, four frames stacked."""
    return VecFrameStack(make_atari_env("ale_py:BreakoutNoFrameskip-v4", n, vec_env_cls=kind), 4)


def cartridge_ram(kind: type, n: int) -> VecEnv:
    """Make the cartridge with its 128 bytes of RAM as observation, without sticky actions."""
    settings = {"obs_type": "ram", "repeat_action_probability": 0.0}
    return make_vec_env("ale_py:ALE/Breakout-v5", n, env_kwargs=settings, vec_env_cls=kind)


CASES = {
    "cartpole": Case("CartPole", "MlpPolicy", 1, lambda kind, n: make_vec_env("CartPole-v1", n, vec_env_cls=kind),
                     lambda n: sb3.make("cartpole", n)),
    "breakout": Case("Breakout, RAM / features", "MlpPolicy", 1, cartridge_ram,
                     lambda n: sb3.make("breakout", n, **ATARI), ("ale_py",)),
    "breakout-pixels": Case("Breakout, pixels", "CnnPolicy", cores(), cartridge_pixels,
                            lambda n: sb3.make("breakout", n, view="pixels", frame_stack=4, **ATARI), ("ale_py", "cv2")),
}


class Clock(BaseCallback):
    """Records the begin of each rollout, and ends learning `seconds` after the begin of the second one."""

    def __init__(self, seconds: float):
        super().__init__()
        self.seconds = seconds
        self.begun = []  # (time, steps so far) at the begin of each rollout

    def _on_rollout_start(self):
        self.begun.append((time.perf_counter(), self.num_timesteps))

    def _on_step(self):
        return len(self.begun) < 3 or self.begun[-1][0] - self.begun[1][0] < self.seconds

    def rate(self) -> float:
        """Return the steps per second from the begin of the second rollout to the begin of the last one."""
        (began, before), (ended, after) = self.begun[1], self.begun[-1]
        return (after - before) / (ended - began)


def step_rate(env: VecEnv, seconds: float) -> float:
    """Return the steps per second of random play."""
    rolls = np.random.default_rng(0).integers(0, env.action_space.n, (64, env.num_envs))
    env.reset()
    for actions in rolls:
        env.step(actions)
    begin, steps = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        env.step(rolls[steps % len(rolls)])
        steps += 1
    return steps * env.num_envs / (time.perf_counter() - begin)


def why_no_utilization(device: torch.device) -> str | None:
    """Return why the GPU's utilization cannot be read; None if it can."""
    if device.type != "cuda":
        return "there is no GPU"
    if find_spec("pynvml") is None:
        return "nvidia-ml-py is not installed (pip install nvidia-ml-py)"
    from pynvml import NVMLError

    try:
        torch.cuda.utilization(device)
    except (NVMLError, RuntimeError) as error:
        return str(error)
    return None


@contextmanager
def sampled_utilization(device: torch.device, readable: bool):
    """A context manager that gives a list. A thread appends the GPU's utilization in percent to it every 0.2 s."""
    samples, stop = [], threading.Event()

    def sample():
        while not stop.wait(0.2):
            samples.append(torch.cuda.utilization(device))

    thread = threading.Thread(target=sample, daemon=True)
    if readable:
        thread.start()
    try:
        yield samples
    finally:
        stop.set()
        if readable:
            thread.join()


def learn_rate(name: str, case: Case, env: VecEnv, seconds: float, device: torch.device, readable: bool) -> tuple[float, float]:
    """Return the steps per second of learn(), and the GPU's mean utilization in percent, NaN where it cannot be read."""
    kind, settings = ALGORITHMS[name]
    model, clock = kind(case.policy, env, device=device, seed=1, **settings(env.num_envs)), Clock(seconds)
    with sampled_utilization(device, readable) as samples:
        model.learn(1 << 40, callback=clock)
    return clock.rate(), float(np.mean(samples)) if samples else math.nan


def measure(case: Case, make: Callable[[], VecEnv], seconds: float, device: torch.device, readable: bool) -> dict[str, float]:
    """Return the steps per second of each measurement by name, and the GPU's utilization in percent by "NAME device"."""
    torch.set_num_threads(case.threads)
    env = make()
    try:
        speeds = {"stepping": step_rate(env, seconds / 2)}
        for name in ALGORITHMS:
            speeds[name], speeds[f"{name} device"] = learn_rate(name, case, env, seconds, device, readable)
        return speeds
    finally:
        env.close()


def kinds_of(case: Case, many: int) -> list[tuple[str, int, Callable[[], VecEnv]]]:
    """Return the environments of one task, each with its number: DummyVecEnv, SubprocVecEnv, envs_c, and envs_c with more."""
    kinds = [("DummyVecEnv", FEW, lambda: case.theirs(DummyVecEnv, FEW)),
             ("SubprocVecEnv", FEW, lambda: case.theirs(SubprocVecEnv, FEW)),
             ("envs_c.sb3", FEW, lambda: case.ours(FEW)), ("envs_c.sb3", many, lambda: case.ours(many))]
    missing = [PACKAGES[module] for module in case.needs if find_spec(module) is None]
    if missing:
        print(f"{case.title}: skips SB3's own environments, which need {' and '.join(missing)}", file=sys.stderr, flush=True)
    return kinds[2:] if missing else kinds


def medians_in_turns(work: Sequence[Callable[[], dict[str, float]]], rounds: int) -> list[dict[str, float]]:
    """Call each of `work` in turn, `rounds` times; return for each the medians of what it gave."""
    given = [[one() for one in work] for _ in range(rounds)]
    return [{key: statistics.median(results[key] for results in of_one) for key in of_one[0]}
            for of_one in zip(*given, strict=True)]


def rows_of(case: Case, options: Namespace, device: torch.device, readable: bool) -> list[list[str]]:
    """Return the rows of one task; their ratios are relative to the first."""
    def measured(title: str, n: int, make: Callable[[], VecEnv]) -> dict[str, float]:
        print(f"{case.title}: {title}, {n} environments", file=sys.stderr, flush=True)
        return measure(case, make, options.seconds, device, readable)

    kinds = kinds_of(case, options.many)
    speeds = medians_in_turns([partial(measured, *kind) for kind in kinds], options.rounds)
    rows = []
    for (title, n, _), ours in zip(kinds, speeds, strict=True):
        cells = [text for key in ("stepping", *ALGORITHMS) for text in (count(ours[key]), f"{ours[key] / speeds[0][key]:.1f}")]
        shares = [ours[f"{name} device"] for name in ALGORITHMS]
        rows.append([case.title, title, n, *cells, *("-" if math.isnan(share) else f"{share:.0f}%" for share in shares)])
    return rows


def main():
    parser = new_parser("peers.sb3", __doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"task: {', '.join(CASES)} (default: all)")
    parser.add_argument("--seconds", type=above_zero, default=4.0,
                        help="least time for each learn(); random play gets half of it (default: 4)")
    parser.add_argument("--rounds", type=at_least(1), default=3, help="measurements of each row (default: 3)")
    parser.add_argument("--many", type=at_least(1), default=256,
                        help="environments in the last row of each task (default: 256)")
    parser.add_argument("--device", default="auto", help="device of SB3: auto, cpu or cuda (default: auto)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    for name in options.cases:
        if name not in CASES:
            parser.error(f"CASE must be one of {', '.join(CASES)}, not {name!r}")
    warnings.filterwarnings("ignore", module="stable_baselines3")  # its advice about devices
    device = get_device(options.device)
    problem = why_no_utilization(device)
    rows = []
    for name in options.cases or CASES:
        rows += rows_of(CASES[name], options, device, problem is None)
    columns = ["task", "environments", "number", "random play, steps/s", "ratio"]
    for name in ALGORITHMS:
        columns += [f"{name}, steps/s", "ratio"]
    columns += [f"GPU utilization, {name}" for name in ALGORITHMS]
    title = head("Stable-baselines3 with its own environments and with envs_c")
    publish(title + about(device, problem) + "\n" + markdown(columns, rows), options.out)


def about(device: torch.device, problem: str | None) -> str:
    """Return a paragraph with SB3's version, the device and the settings.

    problem: why the GPU's utilization cannot be read, or None.
    """
    packages = ", ".join(f"{name} {version}" for name, version in versions(["stable-baselines3", *PACKAGES.values()]).items())
    named = torch.cuda.get_device_name(device) if device.type == "cuda" else "the CPU"
    utilization = f"No GPU utilization: {problem}." if problem else "GPU utilization is NVML's, the mean over learn()."
    return (f"\n{packages}; SB3's networks on {named}. {utilization} A2C: rollouts of 5 steps in each environment. PPO: "
            f"rollouts of {ROLLOUT} steps in all environments, minibatches of 256, 4 epochs. Torch uses 1 thread for MlpPolicy "
            f"and {cores()} for CnnPolicy. Ratios are relative to the task's first row.\n")


if __name__ == "__main__":
    main()

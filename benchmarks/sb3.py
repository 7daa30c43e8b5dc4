"""Stable-baselines3 before and after: `python -m benchmarks.sb3 [cartpole] [breakout] [breakout-pixels]`.

A2C and PPO on CartPole (before: Gymnasium's CartPole-v1), on Breakout by its features (before: the cartridge's RAM under
ale-py) and on Breakout's pixels, four frames stacked (before: the cartridge with SB3's Atari wrappers), each with 8
environments in SB3's DummyVecEnv, in its SubprocVecEnv and in `envs_c.sb3`; and there with more, which cost SB3 little. Steps
a second of all environments together: stepping alone with random actions, and learn() with all that SB3 does, over whole
iterations after a first one. The settings are those of SB3's zoo for Atari.
"""

import argparse
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from importlib import metadata
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

from benchmarks.common import head, publish, rate, table
from envs_c import sb3
from envs_c.checks import cores

FEW = 8  # environments before and after
ROLLOUT = 1024  # steps of all environments together in a rollout of PPO
ALGORITHMS = {"A2C": (A2C, lambda n: {"n_steps": 5}),
              "PPO": (PPO, lambda n: {"n_steps": max(4, ROLLOUT // n), "batch_size": 256, "n_epochs": 4})}
PACKAGES = {"ale_py": "ale-py", "cv2": "opencv-python-headless"}
ATARI = {"reward_clip": 1, "noop_max": 30}  # as SB3's Atari wrappers do; but for their end of an episode at each life's


class Case(NamedTuple):
    """One task, as it is made before and after."""

    title: str
    policy: str
    threads: int  # of torch; products of a small network are too small to share
    before: Callable[[type, int], VecEnv]
    after: Callable[[int], VecEnv]
    needs: tuple[str, ...] = ()  # modules, for `before`



def cartridge_pixels(kind: type, n: int) -> VecEnv:
    """The cartridge with SB3's Atari wrappers, four frames stacked."""
    return VecFrameStack(make_atari_env("ale_py:BreakoutNoFrameskip-v4", n, vec_env_cls=kind), 4)


def cartridge_ram(kind: type, n: int) -> VecEnv:
    """The cartridge's 128 bytes of memory, without sticky actions."""
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
    """Notes when each rollout begins, and ends learning at the first that begins after `seconds`."""

    def __init__(self, seconds: float):
        super().__init__()
        self.seconds = seconds
        self.begun = []  # (time, steps so far) at each rollout's beginning

    def _on_rollout_start(self):
        self.begun.append((time.perf_counter(), self.num_timesteps))

    def _on_step(self):
        return len(self.begun) < 3 or self.begun[-1][0] - self.begun[1][0] < self.seconds

    def rate(self) -> float:
        """Steps a second between the second rollout's beginning and the last's."""
        (began, before), (ended, after) = self.begun[1], self.begun[-1]
        return (after - before) / (ended - began)


def step_rate(env: VecEnv, seconds: float) -> float:
    """Steps a second of random play."""
    rolls = np.random.default_rng(0).integers(0, env.action_space.n, (64, env.num_envs))
    env.reset()
    for actions in rolls:
        env.step(actions)
    begin, steps = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        env.step(rolls[steps % len(rolls)])
        steps += 1
    return steps * env.num_envs / (time.perf_counter() - begin)


def why_unseen(device: torch.device) -> str | None:
    """Why the device's use cannot be read; None where it can."""
    if device.type != "cuda":
        return "there is no device"
    if find_spec("pynvml") is None:
        return "it needs nvidia-ml-py: pip install nvidia-ml-py"
    from pynvml import NVMLError

    try:
        torch.cuda.utilization(device)
    except (NVMLError, RuntimeError) as error:
        return str(error)
    return None


@contextmanager
def watching(device: torch.device, seen: bool):
    """A list that is filled, every 0.2 s, with the percentage of time that the device was busy."""
    samples, stop = [], threading.Event()

    def sample():
        while not stop.wait(0.2):
            samples.append(torch.cuda.utilization(device))

    thread = threading.Thread(target=sample, daemon=True)
    if seen:
        thread.start()
    try:
        yield samples
    finally:
        stop.set()
        if seen:
            thread.join()


def learn_rate(name: str, case: Case, env: VecEnv, seconds: float, device: torch.device, seen: bool) -> tuple[float, str]:
    """Steps a second of learn(), and the device's use meanwhile."""
    kind, settings = ALGORITHMS[name]
    model, clock = kind(case.policy, env, device=device, seed=1, **settings(env.num_envs)), Clock(seconds)
    with watching(device, seen) as samples:
        model.learn(1 << 40, callback=clock)
    return clock.rate(), f"{np.mean(samples):.0f}%" if samples else "-"


def measure(case: Case, make: Callable[[], VecEnv], seconds: float, device: torch.device, seen: bool) -> dict:
    """The rates of one way to make the environments, and the device's use, by name."""
    torch.set_num_threads(case.threads)
    env = make()
    try:
        said = {"stepping": step_rate(env, seconds / 2)}
        for name in ALGORITHMS:
            said[name], said[f"{name} device"] = learn_rate(name, case, env, seconds, device, seen)
        return said
    finally:
        env.close()


def rows_of(case: Case, many: int, seconds: float, device: torch.device, seen: bool) -> list[list[str]]:
    """The rows of one task: Dummy, Subproc, ours, and ours with more environments."""
    ways = [("DummyVecEnv", FEW, lambda: case.before(DummyVecEnv, FEW)),
            ("SubprocVecEnv", FEW, lambda: case.before(SubprocVecEnv, FEW)),
            ("envs_c.sb3", FEW, lambda: case.after(FEW)), ("envs_c.sb3", many, lambda: case.after(many))]
    missing = [PACKAGES[module] for module in case.needs if find_spec(module) is None]
    if missing:
        print(f"{case.title}: left out what was before, which needs {' and '.join(missing)}", file=sys.stderr, flush=True)
        ways = ways[2:]
    rows, first = [], None
    for title, n, make in ways:
        print(f"{case.title}: {title}, {n} environments", file=sys.stderr, flush=True)
        said = measure(case, make, seconds, device, seen)
        first = first or said
        speeds = [text for key in ("stepping", *ALGORITHMS) for text in (rate(said[key]), f"{said[key] / first[key]:.1f}")]
        rows.append([case.title, title, n, *speeds, *(said[f"{name} device"] for name in ALGORITHMS)])
    return rows


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sb3", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (default: all)")
    parser.add_argument("--seconds", type=float, default=4.0,
                        help="least time for each learn(); stepping alone gets half of it (default: 4)")
    parser.add_argument("--many", type=int, default=256, help="environments in the last row of each task (default: 256)")
    parser.add_argument("--device", default="auto", help="SB3's: auto, cpu or cuda (default: auto)")
    parser.add_argument("--out", type=Path, help="write the table to this file, too")
    options = parser.parse_args()
    for name in options.cases:
        if name not in CASES:
            parser.error(f"there is no case {name!r}; the cases are {', '.join(CASES)}")
    warnings.filterwarnings("ignore", module="stable_baselines3")  # its advice about devices
    device = get_device(options.device)
    unseen = why_unseen(device)
    rows = []
    for name in options.cases or CASES:
        rows += rows_of(CASES[name], options.many, options.seconds, device, unseen is None)
    columns = ["task", "environments", "number", "stepping alone, steps/s", "ratio"]
    for name in ALGORITHMS:
        columns += [f"{name}, steps/s", "ratio"]
    columns += [f"device use, {name}" for name in ALGORITHMS]
    text = head("Stable-baselines3 before and after") + about(device, unseen) + "\n" + table(columns, rows)
    publish(text, options.out)


def about(device: torch.device, unseen: str | None) -> str:
    """What the head does not say: SB3's version, the device, the settings."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for module, name in (("stable_baselines3", "stable-baselines3"),
                                                                                 *PACKAGES.items()) if find_spec(module))
    named = torch.cuda.get_device_name(device) if device.type == "cuda" else "the CPU"
    use = f"A device's use is not shown: {unseen}." if unseen else "Its use is NVML's, the mean over learn()."
    return (f"\n{versions}; SB3's networks on {named}. {use} A2C: 5 steps of each environment a "
            f"rollout. PPO: {ROLLOUT} of all, minibatches of 256, 4 epochs. Torch uses 1 thread for MlpPolicy, {cores()} for "
            "CnnPolicy. Each figure is the mean over one window, no median; ratios are to the task's first row.\n")


if __name__ == "__main__":
    main()

"""Environments of Gymnasium with our preset and with SB3's PPO: `python -m benchmarks.peers.foreign [CartPole-v1 ...]`.

Ours is what `python -m trainer gym:ENV` does without an option. SB3's PPO has the settings of its zoo (rl-baselines3-zoo,
hyperparams/ppo.yml), and its own defaults where the zoo has none. Each training has one thread, and ends when the mean score of
the last 100 episodes reaches the target, or after the steps of the table.

The table gives the steps and the processor's minutes until then; other programs on the machine change these less than the
clock's minutes. Finished trainings are kept in --json and not repeated; SB3's are made with --sides sb3. --no-training writes
the page of that file again, below the head that the page has.
"""

import itertools
import json
import statistics
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

from benchmarks.common import at_least, head, head_of, new_parser, publish
from trainer.config import EnvConfig
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.environments import spaces_of
from trainer.log.numbers import count
from trainer.log.text import markdown
from trainer.training.build import make_session
from trainer.training.train import iterate

WINDOW = 100  # episodes whose mean must reach the target
COLUMNS = ["environment", "target", "side", "seeds that reached it", "after steps", "processor's minutes", "others"]
NOTE = f"""
Steps and minutes are those until the mean score of the training's last {WINDOW} episodes reached the target. The steps are the
fewest and the most of the seeds that reached it, the minutes their median; a row of one seed has its own. `others`: the last
mean score of seeds below the target. Missing environments and seeds were not trained.
The presets of Acrobot and BipedalWalker were tuned on these seeds ([lab book](../../docs/lab_book.md)); SB3 has one seed.
The target counts as reached when the mean first passes it, and short episodes end first.
"""


class Task(NamedTuple):
    """An environment: its target, the steps allowed, and the zoo's settings of PPO for it."""

    target: float
    steps: int
    num_envs: int
    normalize: bool
    settings: dict[str, Any]


def linear(start: float) -> Callable[[float], float]:
    """SB3's schedule from `start` to 0."""
    return lambda remaining: start * remaining


TASKS = {
    "CartPole-v1": Task(475, 300_000, 8, False, {
        "n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98, "n_epochs": 20, "ent_coef": 0.0,
        "learning_rate": linear(0.001), "clip_range": linear(0.2)}),
    "Acrobot-v1": Task(-100, 1_000_000, 16, True, {"n_steps": 256, "gae_lambda": 0.94, "n_epochs": 4, "ent_coef": 0.0}),
    "FrozenLake-v1": Task(0.7, 500_000, 1, False, {}),
    "Pendulum-v1": Task(-250, 300_000, 4, False, {
        "n_steps": 1024, "gae_lambda": 0.95, "gamma": 0.9, "n_epochs": 10, "ent_coef": 0.0, "learning_rate": 0.001,
        "use_sde": True, "sde_sample_freq": 4}),
    "MountainCarContinuous-v0": Task(90, 300_000, 1, True, {
        "batch_size": 256, "n_steps": 8, "gamma": 0.9999, "learning_rate": 7.77e-05, "ent_coef": 0.00429, "clip_range": 0.1,
        "n_epochs": 10, "gae_lambda": 0.9, "max_grad_norm": 5, "vf_coef": 0.19, "use_sde": True,
        "policy_kwargs": {"log_std_init": -3.29, "ortho_init": False}}),
    "LunarLander-v3": Task(200, 2_000_000, 16, False, {
        "n_steps": 1024, "batch_size": 64, "gae_lambda": 0.98, "gamma": 0.999, "n_epochs": 4, "ent_coef": 0.01}),
    "BipedalWalker-v3": Task(250, 5_000_000, 32, True, {
        "n_steps": 2048, "batch_size": 64, "gae_lambda": 0.95, "gamma": 0.999, "n_epochs": 10, "ent_coef": 0.0,
        "learning_rate": 0.0003, "clip_range": 0.18}),
}


class Watch:
    """The scores of the last episodes, and the processor's seconds since it was made."""

    def __init__(self, task: Task):
        self.task, self.scores, self.begin = task, deque[float](maxlen=WINDOW), time.process_time()
        self.steps = 0

    @property
    def reached(self) -> bool:
        """Whether the target is reached."""
        return len(self.scores) == WINDOW and self.mean >= self.task.target

    @property
    def mean(self) -> float:
        return statistics.fmean(self.scores) if self.scores else float("nan")

    def result(self) -> dict[str, Any]:
        """The training's entry in the file of results."""
        return {"reached": self.reached, "mean": round(self.mean, 3), "steps": self.steps,
                "minutes": round((time.process_time() - self.begin) / 60, 3)}


def ours(name: str, task: Task, seed: int) -> Watch:
    """Train with the trainer's preset."""
    config = preset(GameName(f"gym:{name}"), spaces_of(GameName(f"gym:{name}"), EnvConfig()))
    config = replace(config, env=replace(config.env, num_threads=1), run=replace(config.run, seed=seed, device="cpu"))
    watch, session = Watch(task), make_session(config)
    take = session.pipeline.take_episodes

    def taken():
        episodes = take()
        watch.scores.extend(episodes.returns.tolist())
        return episodes
    session.pipeline.take_episodes = taken
    while not watch.reached and session.step < min(task.steps, config.ppo.total_steps):
        iterate(session)
        watch.steps = session.step
    session.close()
    return watch


class Stop(BaseCallback):
    """Notes the scores, and ends learning at the target."""

    def __init__(self, watch: Watch):
        super().__init__()
        self.watch = watch

    def _on_step(self) -> bool:
        self.watch.scores.extend(info["episode"]["r"] for info in self.locals["infos"] if "episode" in info)
        self.watch.steps = self.num_timesteps
        return not self.watch.reached


def theirs(name: str, task: Task, seed: int) -> Watch:
    """Train with SB3."""
    watch, env = Watch(task), make_vec_env(name, task.num_envs, seed=seed)
    if task.normalize:
        env = VecNormalize(env, gamma=task.settings.get("gamma", 0.99))
    PPO("MlpPolicy", env, seed=seed, device="cpu", **task.settings).learn(task.steps, Stop(watch))
    env.close()
    return watch


SIDES = {"ours": ours, "sb3": theirs}


def row(name: str, side: str, entries: list[dict[str, Any]]) -> list[str]:
    """The row of a side of an environment in the table, by COLUMNS. entries: of its seeds."""
    done = [entry for entry in entries if entry["reached"]]
    spread = " to ".join(dict.fromkeys(count(end(one["steps"] for one in done)) for end in (min, max))) if done else "-"
    minutes = f"{statistics.median(one['minutes'] for one in done):.2f}" if done else "-"
    missed = ", ".join(f"{one['mean']:g} after {count(one['steps'])}" for one in entries if not one["reached"])
    return [name, f"{TASKS[name].target:g}", {"ours": "preset", "sb3": "SB3, zoo"}[side], f"{len(done)} of {len(entries)}",
            spread, minutes, missed or "-"]


def below_head(results: dict[str, dict[str, Any]]) -> str:
    """The page below its head. results: an entry for each "ENVIRONMENT SIDE SEED"."""
    rows = [row(name, side, entries) for name in TASKS for side in SIDES
            if (entries := [entry for key, entry in results.items() if key.startswith(f"{name} {side} ")])]
    return f"\n{markdown(COLUMNS, rows)}{NOTE}"


def complete(names: list[str], sides: list[str], seeds: list[int], path: Path) -> None:
    """Train what the file of results lacks."""
    for name, side, seed in itertools.product(names, sides, seeds):
        results = json.loads(path.read_text()) if path.exists() else {}
        if f"{name} {side} {seed}" in results:
            continue
        entry = SIDES[side](name, TASKS[name], seed).result()
        results = json.loads(path.read_text()) if path.exists() else {}
        results[f"{name} {side} {seed}"] = entry
        path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
        print(name, side, seed, entry, flush=True)


def main(argv: list[str] | None = None):
    parser = new_parser("peers.foreign", __doc__)
    parser.add_argument("names", nargs="*", help=f"environments (default: all): {', '.join(TASKS)}")
    parser.add_argument("--seeds", type=at_least(0), nargs="+", default=[1, 2, 3], help="seeds (default: 1 2 3)")
    parser.add_argument("--sides", choices=SIDES, nargs="+", default=["ours"], help="what to train (default: ours)")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/foreign.json"), help="file of all results")
    parser.add_argument("--out", type=Path, help="Markdown file for the table")
    parser.add_argument("--no-training", action="store_true", help="write the page --out of the file --json again")
    options = parser.parse_args(argv)
    if unknown := set(options.names) - TASKS.keys():
        parser.error(f"unknown environments {', '.join(sorted(unknown))}: choose from {', '.join(TASKS)}")
    if options.no_training and not (options.out and options.out.is_file() and options.json.is_file()):
        parser.error(f"--no-training needs the file --json and an earlier page --out, which are {options.json} and "
                     f"{options.out or 'not given'}: leave it out")
    if not options.no_training:
        torch.set_num_threads(1)
        complete(options.names or list(TASKS), options.sides, options.seeds, options.json)
    top = head_of(options.out) if options.no_training else head("Environments of Gymnasium")
    publish(top + below_head(json.loads(options.json.read_text())), options.out)


if __name__ == "__main__":
    main()

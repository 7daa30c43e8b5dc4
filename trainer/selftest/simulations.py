"""Parts of `insertcoin selftest --visit`: games on the device against the CPU's, trainings on both, and one to its end."""

import contextlib
import gc
import itertools
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

import envs_c
from bridge import open_device, probe
from bridge.on_device.games import DeviceGame
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.selftest import figures
from trainer.selftest.checks import check
from trainer.training.build import make_session
from trainer.training.train import iterate

GAME_STEPS = {"features": 10_000, "pixels": 300}  # of each environment
GAME_ENVS = 64
POINTS, TRAINING_SECONDS = 400, 600.0
OUTPUTS = ("observation", "reward", "terminated", "truncated")


def games(names: Sequence[str] | None = None, steps: dict[str, int] | None = None, num_envs: int = GAME_ENVS) -> Iterator[dict]:
    """A check for each game and view: every output on the device has the bits of the CPU's engine.

    names: of games; default: all built-in ones.
    steps: by view.
    """
    for (view, count), name in itertools.product((steps or GAME_STEPS).items(), names or envs_c.catalog.built_in()):
        begin = time.perf_counter()
        try:
            fault = difference(name, view, num_envs, count)
        except Exception as error:  # of the driver, which compiles the game, or of the launch
            fault = f"{type(error).__name__}: {error}"
        detail = fault or f"{count:,} steps of {num_envs} environments, {time.perf_counter() - begin:.1f} s"
        yield check("games", f"{name}, {view}", not fault, detail)


def difference(name: str, view: str, num_envs: int, steps: int) -> str:
    """Play a game with the same random actions on the device and on the CPU; return the first difference, or ""."""
    device = open_device("cuda").torch_device
    made = DeviceGame(envs_c.game(name), num_envs, device, view=view, sticky=0.25, seed=3)
    env = envs_c.VecEnv(envs_c.game(name), num_envs, view=view, sticky=0.25, seed=3)
    host = {"observation": np.zeros((num_envs, *env.observation_shape), env.observation_dtype)}
    host |= {output: np.zeros(num_envs, np.float32) for output in OUTPUTS[1:]}
    if env.game.has_mask:
        host["action_mask"] = np.zeros((num_envs, len(env.actions)), np.uint8)
    ours = {output: torch.from_numpy(array.copy()).to(device) for output, array in host.items()}
    actions, random = np.zeros(num_envs, np.int32), np.random.default_rng(5)
    batch = env.bind(0, num_envs, actions=actions, **host)
    batch.reset()
    made.reset(**ours)
    for step in range(steps):
        actions[:] = random.integers(0, len(env.actions), num_envs)
        if "action_mask" in host:
            actions[:] = [random.choice(np.flatnonzero(row)) if row.any() else 0 for row in host["action_mask"]]
        batch.step()
        made.step(torch.from_numpy(actions).to(device), **ours)
        for output, array in host.items():
            if ours[output].cpu().numpy().tobytes() != array.tobytes():
                return f"{output} differs at step {step:,}"
    return "" if made.get_state() == env.get_state() else f"the states differ after {steps:,} steps"


def config(num_envs: int, sim: str, memory: str, overlap: bool) -> Config:
    """Training on Breakout with one epoch of minibatches."""
    horizon = figures.HORIZON
    return Config("breakout", EnvConfig(num_envs=num_envs, sim=sim, reward_clip=1.0),
                  PolicyConfig(encoder_size=128, lstm_size=128, memory=memory, noise_hold=1),
                  PPOConfig(horizon=horizon, minibatch=num_envs * horizon // figures.MINIBATCHES, total_steps=10**12,
                            overlap=overlap, normalize_rewards=False),
                  RunConfig(device="cuda", dashboard=False))


def simulations(sizes: Sequence[int], iterations: int) -> Iterator[dict[str, Any]]:
    """The steps a second of trainings: {"speed": {num_envs, sim, memory, overlap, batches, steps_per_second}}, or {"problem"}.

    sizes: numbers of environments.
    iterations: measured; the median is taken.
    """
    for num_envs, sim, memory, overlap in itertools.product(sizes, ("host", "device"), ("lstm", "mingru"), (False, True)):
        name = {"num_envs": num_envs, "sim": sim, "memory": memory, "overlap": overlap}
        try:
            with contextlib.closing(make_session(config(**name))) as session:
                figures.warm_up(session)
                speed = statistics.median(iterate(session)["sps"] for _ in range(iterations))
                yield {"speed": name | {"batches": len(session.pipeline.batches), "steps_per_second": speed}}
        except Exception as error:
            yield {"problem": f"{name}: {type(error).__name__}: {error}"}
        finally:
            session = None
            gc.collect()  # a session's parts refer to each other
            torch.cuda.empty_cache()


def training(points: float = POINTS, seconds: float = TRAINING_SECONDS, game: str = "breakout") -> Iterator[dict[str, Any]]:
    """A training with the game's preset until the mean score reaches `points`, at most `seconds`.

    Yields one check, with the seconds, the steps and the score.
    """
    settings = preset(GameName(game))
    run = replace(settings.run, device="cuda", dashboard=False)
    with contextlib.closing(make_session(replace(settings, run=run))) as session:
        begin = time.perf_counter()
        while (session.score_mean() or 0.0) < points and time.perf_counter() - begin < seconds:
            iterate(session)
        score, taken = session.score_mean() or 0.0, time.perf_counter() - begin
        yield check("training", f"{game} reaches {points:g} points", score >= points,
                    f"{taken:.0f} s, {session.step:,} steps, mean score {score:.1f}")


def probing(num_envs: int) -> Iterator[dict[str, Any]]:
    """The copies and launches of bridge.probe: {"copies": a table}, {"choice": the number of batches of a training}."""
    yield {"copies": probe.table(probe.measure(open_device("cuda")))}
    yield {"choice": figures.choice(figures.config(num_envs, 0, False))}

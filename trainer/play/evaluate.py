"""Evaluation: a policy plays whole episodes, one an environment, so that short ones do not count more than long ones."""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from bridge import Pipeline, open_device
from bridge.source import GameSource, GymnasiumSource
from envs_c.checks import cores
from trainer.config import Config
from trainer.config.config import GYM
from trainer.environments import make_env, make_source
from trainer.errors import ConfigError, RunError
from trainer.files import write_atomically
from trainer.play import film
from trainer.policy.load import load_run
from trainer.policy.policy import Policy
from trainer.rollout.actor import Actor, Storage, collect
from trainer.runs import checkpoint
from trainer.runs import find as runs

SEED_OFFSET = 1 << 62  # evaluations play other episodes than the training of the same seed
GYM_OFFSET, GYM_SEEDS = 1 << 30, (1 << 31) - (1 << 20)  # the same of Gymnasium's: ALE's seeds are 31 bits, one an environment
LONGEST = 100_000      # steps: an evaluation cuts episodes here where neither game nor config limits them, so that it ends
PICTURES = 3_600       # what is kept of an episode that cannot be played again
RESAMPLES = 10_000     # of the bootstrap


class Evaluation(NamedTuple):
    """What `play` gives: raw returns (E,), lengths (E,) in steps, and what it takes to play one of the episodes again."""

    returns: np.ndarray
    lengths: np.ndarray
    source: GameSource | GymnasiumSource
    states: dict[str, torch.Tensor]  # of all environments at the start; empty where they cannot be saved
    actions: np.ndarray              # (T, E) int32
    pictures: list[np.ndarray]       # what episode 0 showed, where it cannot be played again

    def summary(self) -> dict:
        """Mean, median, min and max of the returns, the mean's standard error and 95% interval, and the mean length."""
        scores = self.returns
        error = scores.std(ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        return {"episodes": len(scores), "mean": float(scores.mean()), "standard_error": float(error),
                "mean_interval": interval(scores),
                "median": float(np.median(scores)), "min": float(scores.min()), "max": float(scores.max()),
                "mean_length": float(self.lengths.mean())}


def interval(scores: np.ndarray, confidence: float = 0.95) -> list[float] | None:
    """The confidence interval [low, high] of the mean of scores (E,), by the bootstrap's percentiles: no distribution is
    assumed, and scores are seldom normal. The same for the same scores.

    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13; Agarwal et al. (2021), "Deep Reinforcement
    Learning at the Edge of the Statistical Precipice", recommend it for evaluations. None for a single score.
    """
    if len(scores) < 2:
        return None
    random, count = np.random.default_rng(0), len(scores)
    rows = max(1, 2**20 // count)  # resamples at a time
    means = [scores[random.integers(count, size=(min(rows, RESAMPLES - done), count))].mean(1)
             for done in range(0, RESAMPLES, rows)]
    tail = (1 - confidence) / 2
    return np.quantile(np.concatenate(means), [tail, 1 - tail]).tolist()


def play(policy: Policy, config: Config, *, episodes: int, seed: int, greedy: bool = False) -> Evaluation:
    """Play `episodes` whole episodes side by side; greedy takes the likeliest action instead of sampling."""
    device = next(policy.parameters()).device
    settings = config.env
    if not config.game.startswith(GYM):
        settings = replace(settings, time_limit=min(make_env(config.game, settings, 1, 0).time_limit or LONGEST, LONGEST))
    source = make_source(config.game, settings, episodes, episode_seed(config.game, seed))
    torch.set_num_threads(settings.num_threads or cores())
    pipeline = Pipeline(source, 1, open_device(str(device)))
    try:
        return _play(policy, pipeline, seed, greedy)
    finally:
        pipeline.close()


def episode_seed(game: str, seed: int) -> int:
    """The seed of the environments that an evaluation of this seed plays."""
    return (seed + GYM_OFFSET) % GYM_SEEDS if game.startswith(GYM) else seed + SEED_OFFSET


def _play(policy: Policy, pipeline: Pipeline, seed: int, greedy: bool) -> Evaluation:
    storage = Storage.empty(1, pipeline, policy)
    actor = Actor(policy, pipeline, storage, seed, greedy=greedy)
    pipeline.reset()
    states = pipeline.source.state()
    count, slab = pipeline.num_envs, pipeline.slabs[0]
    returns, lengths, running = np.zeros(count), np.zeros(count, np.int32), np.ones(count, bool)
    actions, pictures = [], []
    while running.any():
        if len(actions) == LONGEST:
            raise ConfigError(f"{running.sum()} of {count} episodes did not end in {LONGEST:,} steps; the environment has to "
                              "end them, as gymnasium.wrappers.TimeLimit does")
        if not states and running[0] and len(actions) < PICTURES and len(pipeline.source.observation_shape) == 2:
            pictures.append(slab.host["observation"][0].copy())
        collect(actor, bootstrap=False)
        pipeline.settle()
        actions.append(slab.host_actions.copy())
        ended = pipeline.take_episodes()
        first = running[ended.environments]
        returns[ended.environments[first]] = ended.returns[first]
        lengths[ended.environments[first]] = ended.lengths[first]
        running[ended.environments] = False
    return Evaluation(returns, lengths, pipeline.source, states, np.stack(actions), pictures)


def evaluate_run(run: str | Path, *, episodes: int, seed: int, device: str, greedy: bool, out: str | None) -> dict:
    """Evaluate the newest checkpoint of a run (or the checkpoint named), and film its best episode into `out` if given.

    Returns Evaluation.summary() and "path", the checkpoint, and "film", what was written.
    """
    if out is not None:
        film.check_name(out)
    path, policy, config = load_run(run, device)
    result = play(policy, config, episodes=episodes, seed=seed, greedy=greedy)
    summary = {**result.summary(), "path": str(path)}
    if out is not None:
        summary["film"] = film.write(result, best(result), Path(out))
    return summary


def record_run(run: str | Path, *, episodes: int, seed: int, device: str, greedy: bool, out: str | None) -> list[str]:
    """Film the best, the median and the worst of so many episodes of a run, each into a file of its own.

    out: FILE.gif or FILE.mp4 for FILE-best.gif and so on; None for episode.gif in the run's folder. Returns a line about each.
    Raises ConfigError where a film cannot be written, RunError where the episodes cannot be played again.
    """
    path = checkpoint.latest(run)
    out = path.parent / "episode.gif" if out is None else Path(out)
    film.check_name(out)
    path, policy, config = load_run(path, device)
    if config.game.startswith(GYM):
        raise RunError(f"{config.game} cannot be put back to where an episode began, to film it after it was chosen; "
                       "`eval RUN --out FILE` films its first episode where it shows pictures")
    result = play(policy, config, episodes=episodes, seed=seed, greedy=greedy)
    order = result.returns.argsort(kind="stable")
    chosen = {"best": best(result), "median": order[(len(order) - 1) // 2], "worst": order[0]}
    return [film.write(result, int(index), out.with_name(f"{out.stem}-{name}{out.suffix}")) for name, index in chosen.items()]


def finish(session, folder: Path, log):
    """The evaluation at the end of a training: printed, saved as evaluation.json, its best episode filmed."""
    run = session.config.run
    result = play(session.policy, session.config, episodes=run.eval_episodes, seed=run.seed)
    summary = result.summary()
    write_summary(folder, summary)
    log.note(describe(summary))
    if run.gif:
        log.note(film.write(result, best(result), folder / "episode.gif"))


def write_summary(folder: Path, summary: dict):
    """Write a run's evaluation.json."""
    write_atomically(folder / runs.EVALUATION, [json.dumps(summary, indent=2).encode(), b"\n"])


def best(result: Evaluation) -> int:
    """The episode to film: the best one, or the first where none can be played again."""
    return int(result.returns.argmax()) if result.states else 0


def describe(summary: dict) -> str:
    """A line about an evaluation."""
    between = summary["mean_interval"]
    known = "one episode gives no interval" if between is None else f"95% interval {between[0]:.4g} to {between[1]:.4g}"
    return (f"evaluation over {summary['episodes']} episodes: mean {summary['mean']:.4g} ({known}), "
            f"median {summary['median']:.4g}, min {summary['min']:g}, "
            f"max {summary['max']:g}, mean length {summary['mean_length']:.0f} steps")

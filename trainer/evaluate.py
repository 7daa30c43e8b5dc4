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
from trainer import checkpoint, film
from trainer.config import GYM, Config
from trainer.environments import make_env, make_source
from trainer.errors import ConfigError
from trainer.policy import Network
from trainer.rollout import Actor, Storage, collect
from trainer.session import load_policy

SEED_OFFSET = 1 << 62  # evaluations play other episodes than the training of the same seed
LONGEST = 100_000      # steps: an evaluation cuts episodes here where neither game nor config limits them, so that it ends
PICTURES = 3_600       # what is kept of an episode that cannot be played again


class Evaluation(NamedTuple):
    """What `play` gives: raw returns (E,), lengths (E,) in steps, and what it takes to play one of the episodes again."""

    returns: np.ndarray
    lengths: np.ndarray
    source: GameSource | GymnasiumSource
    states: dict[str, torch.Tensor]  # of all environments at the start; empty where they cannot be saved
    actions: np.ndarray              # (T, E) int32
    pictures: list[np.ndarray]       # what episode 0 showed, where it cannot be played again

    def summary(self) -> dict[str, float]:
        """Mean, median, min and max of the returns, the mean's standard error, and the mean length."""
        scores = self.returns
        error = scores.std(ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        return {"episodes": len(scores), "mean": float(scores.mean()), "standard_error": float(error),
                "median": float(np.median(scores)), "min": float(scores.min()), "max": float(scores.max()),
                "mean_length": float(self.lengths.mean())}


def play(policy: Network, config: Config, *, episodes: int, seed: int, greedy: bool = False) -> Evaluation:
    """Play `episodes` whole episodes side by side; greedy takes the likeliest action instead of sampling."""
    device = next(policy.parameters()).device
    settings = config.env
    if not config.game.startswith(GYM) and not make_env(config.game, settings, 1, 0).time_limit:
        settings = replace(settings, time_limit=LONGEST)
    source = make_source(config.game, settings, episodes, seed + SEED_OFFSET)
    torch.set_num_threads(settings.num_threads or cores())
    pipeline = Pipeline(source, 1, open_device(str(device)))
    try:
        return _play(policy, pipeline, seed, greedy)
    finally:
        pipeline.close()


def _play(policy: Network, pipeline: Pipeline, seed: int, greedy: bool) -> Evaluation:
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


def evaluate_run(run: str, *, episodes: int, seed: int, device: str, greedy: bool, out: str | None) -> dict:
    """Evaluate the newest checkpoint of a run (or the checkpoint named), and film its best episode into `out` if given.

    Returns Evaluation.summary() and "path", the checkpoint, and "film", what was written.
    """
    path = checkpoint.latest(run)
    policy, config = load_policy(path, device)
    if out is not None:
        film.check_name(out)
    result = play(policy, config, episodes=episodes, seed=seed, greedy=greedy)
    summary = {**result.summary(), "path": str(path)}
    if out is not None:
        summary["film"] = film.write(result, best(result), Path(out))
    return summary


def finish(session, folder: Path, log):
    """The evaluation at the end of a training: printed, saved as evaluation.json, its best episode filmed."""
    run = session.config.run
    result = play(session.policy, session.config, episodes=run.eval_episodes, seed=run.seed)
    summary = result.summary()
    (folder / "evaluation.json").write_text(json.dumps(summary, indent=2) + "\n")
    log.note(describe(summary))
    if run.gif:
        log.note(film.write(result, best(result), folder / "episode.gif"))


def best(result: Evaluation) -> int:
    """The episode to film: the best one, or the first where none can be played again."""
    return int(result.returns.argmax()) if result.states else 0


def describe(summary: dict) -> str:
    """A line about an evaluation."""
    return (f"evaluation over {summary['episodes']} episodes: mean {summary['mean']:.4g} "
            f"(± {summary['standard_error']:.3g}), median {summary['median']:.4g}, min {summary['min']:g}, "
            f"max {summary['max']:g}, mean length {summary['mean_length']:.0f} steps")

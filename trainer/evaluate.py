"""Evaluation: a policy plays whole episodes, one an environment, so that short ones do not count more than long ones."""

import json
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

import envs_c
from bridge import Pipeline
from trainer import checkpoint, film, kernels
from trainer.config import Config
from trainer.policy import Policy
from trainer.session import load_policy, make_env

SEED_OFFSET = 1 << 62  # evaluations play other episodes than the training of the same seed
LONGEST = 100_000      # steps: an evaluation cuts episodes here where neither game nor config limits them, so that it ends


class Evaluation(NamedTuple):
    """What `play` gives: raw returns (E,), lengths (E,) in steps, and what it takes to play one of the episodes again."""

    returns: np.ndarray
    lengths: np.ndarray
    states: bytes          # of all environments at the start
    actions: np.ndarray    # (T, E) int32
    env: envs_c.VecEnv

    def summary(self) -> dict[str, float]:
        """Mean, median, min and max of the returns, the mean's standard error, and the mean length."""
        scores = self.returns
        error = scores.std(ddof=1) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
        return {"episodes": len(scores), "mean": float(scores.mean()), "standard_error": float(error),
                "median": float(np.median(scores)), "min": float(scores.min()), "max": float(scores.max()),
                "mean_length": float(self.lengths.mean())}


@torch.no_grad()
def play(policy: Policy, config: Config, *, episodes: int, seed: int, greedy: bool = False) -> Evaluation:
    """Play `episodes` whole episodes side by side; greedy takes the likeliest action instead of sampling."""
    device = next(policy.parameters()).device
    env = make_env(config.game, config.env, episodes, seed + SEED_OFFSET)
    if not env.time_limit:
        env = make_env(config.game, replace(config.env, time_limit=LONGEST), episodes, seed + SEED_OFFSET)
    torch.set_num_threads(env.num_threads)
    pipeline = Pipeline(env, 1, device)
    pipeline.reset()
    states = env.get_state()
    batch, weights = pipeline.batches[0], policy.cast_weights()
    slab = pipeline.receive(batch)
    h, c = policy.initial_state(episodes, device)
    ones, log_prob = torch.ones(episodes, device=device), torch.zeros(episodes, device=device)
    returns, lengths, running = np.zeros(episodes), np.zeros(episodes, np.int32), np.ones(episodes, bool)
    actions = []
    while running.any():
        out = policy.step(weights, slab.observation, ones, ones, h, c)
        if greedy:
            logits = out[:, :-1] if slab.action_mask is None else out[:, :-1].masked_fill(slab.action_mask == 0, -1e9)
            slab.actions.copy_(logits.argmax(1))
        else:
            kernels.sample(out, slab.action_mask, seed, 0, len(actions), slab.actions, log_prob, policy.num_actions)
        pipeline.send(batch)
        actions.append(slab.host_actions.copy())
        ended = running & (env.ended != 0)
        returns[ended], lengths[ended] = env.ended_return[ended], env.ended_length[ended]
        running &= ~ended
    return Evaluation(returns, lengths, states, np.stack(actions), env)


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
        summary["film"] = film.write(result, int(result.returns.argmax()), Path(out))
    return summary


def finish(session, folder: Path, log):
    """The evaluation at the end of a training: printed, saved as evaluation.json, its best episode filmed."""
    run = session.config.run
    result = play(session.policy, session.config, episodes=run.eval_episodes, seed=run.seed)
    summary = result.summary()
    (folder / "evaluation.json").write_text(json.dumps(summary, indent=2) + "\n")
    log.note(describe(summary))
    if run.gif:
        log.note(film.write(result, int(result.returns.argmax()), folder / "episode.gif"))


def describe(summary: dict) -> str:
    """A line about an evaluation."""
    return (f"evaluation over {summary['episodes']} episodes: mean {summary['mean']:.4g} "
            f"(± {summary['standard_error']:.3g}), median {summary['median']:.4g}, min {summary['min']:g}, "
            f"max {summary['max']:g}, mean length {summary['mean_length']:.0f} steps")

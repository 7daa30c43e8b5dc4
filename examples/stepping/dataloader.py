"""torch's DataLoader collects transitions in worker processes, each with environments of its own.

    python -m examples.stepping.dataloader

A worker makes its environments itself, seeded with its number: the games are not sent between processes.
"""

import sys
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

import envs_c

Transition: TypeAlias = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class Transitions(IterableDataset[Transition]):
    """Observations, actions and rewards of random play.

    steps: those of each worker; a step gives one transition of each of `num_envs` environments.
    """

    def __init__(self, game: str, num_envs: int, steps: int) -> None:
        self.game, self.num_envs, self.steps = game, num_envs, steps

    def __iter__(self) -> Iterator[Transition]:
        worker = get_worker_info()
        seed = 0 if worker is None else worker.id
        env, random = envs_c.make(self.game, self.num_envs, num_threads=1), np.random.default_rng(seed)
        observations, _ = env.reset(seed=seed)
        for _ in range(self.steps):
            actions = random.integers(0, len(env.core.actions), self.num_envs)
            after, rewards, _, _, _ = env.step(actions)
            yield torch.from_numpy(observations), torch.from_numpy(actions), torch.from_numpy(rewards)
            observations = after
        env.close()


def main(steps: int = 500, workers: int = 2) -> int:
    """Count the transitions of two workers. Returns their number."""
    context = "fork" if workers and sys.platform == "linux" else None  # forked workers start at once
    loader = DataLoader(Transitions("breakout", 64, steps), batch_size=None, num_workers=workers,
                        multiprocessing_context=context)
    count, total = 0, 0.0
    for observations, _actions, rewards in loader:  # (64, 118), (64,), (64,)
        count += len(observations)
        total += float(rewards.sum())
    print(f"{count:,} transitions from {workers} workers, mean reward {total / count:.4f}")
    return count


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

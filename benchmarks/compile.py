"""Whether torch.compile makes learning faster: `python -m benchmarks.compile`.

Breakout, one rollout after the other, the loss as it is and under torch.compile; the median time of an update. The trainer does
not compile, because of what this shows on a CPU: the products and kernels are the same, and what is left is not worth it.
"""

import argparse
import statistics
from pathlib import Path

import torch

from benchmarks.common import head, publish, table
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.ppo import learner as ppo
from trainer.training.session import Session
from trainer.training.train import iterate

ROWS = (("lstm", "features", 512), ("none", "features", 512), ("mingru", "features", 512), ("none", "pixels", 64))


def update_seconds(memory: str, view: str, num_envs: int, losses, iterations: int) -> float:
    """The median time of an update with this function in the place of trainer.ppo.losses.losses."""
    session = Session(Config("breakout", EnvConfig(num_envs=num_envs, view=view), PolicyConfig(memory=memory),
                             PPOConfig(horizon=64, minibatch=num_envs * 16), RunConfig(device="cpu")))
    plain, ppo.losses = ppo.losses, losses
    try:
        return statistics.median([iterate(session)["time_learn"] for _ in range(iterations + 3)][3:])
    finally:
        ppo.losses = plain
        session.pipeline.close()


def row(memory: str, view: str, num_envs: int, iterations: int) -> list[str]:
    """A row: milliseconds of both, and their ratio; or why it does not compile."""
    plain = update_seconds(memory, view, num_envs, ppo.losses, iterations)
    cells = [memory, view, f"{num_envs}", f"{plain * 1e3:.1f}"]
    torch.compiler.reset()
    try:
        compiled = update_seconds(memory, view, num_envs, torch.compile(ppo.losses), iterations)
    except RuntimeError as error:  # what torch's compiler raises for its own mistakes, too
        return [*cells, "-", f"does not compile ({type(error).__name__})"]
    return [*cells, f"{compiled * 1e3:.1f}", f"{plain / compiled:.2f}"]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compile", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--iterations", type=int, default=8, help="updates of each, after three to warm up (default: 8)")
    parser.add_argument("--out", type=Path, help="write the table to this file, too")
    options = parser.parse_args()
    rows = [row(*one, options.iterations) for one in ROWS]
    publish(head("torch.compile") + "\n" + table(
        ["memory", "view", "environments", "plain, ms an update", "compiled, ms", "plain / compiled"], rows), options.out)


if __name__ == "__main__":
    main()

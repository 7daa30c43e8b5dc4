"""Learning with and without torch.compile: `python -m benchmarks.speed.compile`.

Trains on Breakout and gives the median time of an update, with the loss as a plain function and compiled. The trainer does not
compile the loss because of these results on a CPU: the matrix products and kernels stay the same, and the other operations
gain too little.
"""

import statistics
from pathlib import Path

import torch

from benchmarks.common import at_least, head, new_parser, publish
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.log.text import markdown
from trainer.ppo import learner
from trainer.training.build import make_session
from trainer.training.train import iterate

ROWS = (("lstm", "features", 512), ("none", "features", 512), ("mingru", "features", 512), ("none", "pixels", 64))


def update_seconds(memory: str, view: str, num_envs: int, loss, iterations: int) -> float:
    """Return the median seconds of an update, with the function `loss` in place of trainer.ppo.losses.minibatch_loss."""
    session = make_session(Config("breakout", EnvConfig(num_envs=num_envs, view=view), PolicyConfig(memory=memory),
                             PPOConfig(horizon=64, minibatch=num_envs * 16), RunConfig(device="cpu")))
    plain, learner.minibatch_loss = learner.minibatch_loss, loss
    try:
        return statistics.median([iterate(session)["time_learn"] for _ in range(iterations + 3)][3:])
    finally:
        learner.minibatch_loss = plain
        session.pipeline.close()


def row(memory: str, view: str, num_envs: int, iterations: int) -> list[str]:
    """Return a row of the table: milliseconds of both and their ratio, or torch's error if the loss does not compile."""
    plain = update_seconds(memory, view, num_envs, learner.minibatch_loss, iterations)
    cells = [memory, view, f"{num_envs}", f"{plain * 1e3:.1f}"]
    torch.compiler.reset()
    try:
        compiled = update_seconds(memory, view, num_envs, torch.compile(learner.minibatch_loss), iterations)
    except RuntimeError as error:  # torch's compiler raises it for its own bugs too
        return [*cells, "-", f"does not compile ({type(error).__name__})"]
    return [*cells, f"{compiled * 1e3:.1f}", f"{plain / compiled:.2f}"]


def main():
    parser = new_parser("speed.compile", __doc__)
    parser.add_argument("--iterations", type=at_least(1), default=8, help="measured updates of each loss (default: 8)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    rows = [row(*one, options.iterations) for one in ROWS]
    publish(head("torch.compile") + "\n" + markdown(
        ["memory", "view", "environments", "plain, ms per update", "compiled, ms", "plain / compiled"], rows), options.out)


if __name__ == "__main__":
    main()

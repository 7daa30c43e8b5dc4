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
from trainer.training.session import TrainingSession
from trainer.training.train import iterate

ROWS = (("lstm", "features", 512), ("none", "features", 512), ("mingru", "features", 512), ("none", "pixels", 64))
WARM = 3  # updates of each before those that are measured


def new_session(memory: str, view: str, num_envs: int) -> TrainingSession:
    """Return a training that has not begun."""
    return make_session(Config("breakout", EnvConfig(num_envs=num_envs, view=view),
                               PolicyConfig(memory=memory, noise_hold=1),
                               PPOConfig(horizon=64, minibatch=num_envs * 16, normalize_rewards=False),
                               RunConfig(device="cpu")))


def update_seconds(session: TrainingSession, loss) -> float:
    """Return the seconds of the next update, with the function `loss` in place of trainer.ppo.losses.minibatch_loss."""
    plain, learner.minibatch_loss = learner.minibatch_loss, loss
    try:
        return iterate(session)["time_learn"]
    finally:
        learner.minibatch_loss = plain


def why_not_compiled(session: TrainingSession, loss) -> str | None:
    """Return torch's error if the function `loss` does not compile; None if an update with it succeeds."""
    try:
        update_seconds(session, loss)
    except RuntimeError as error:  # torch's compiler raises it for its own bugs too
        return f"does not compile ({type(error).__name__})"
    return None


def row(memory: str, view: str, num_envs: int, iterations: int) -> list[str]:
    """Return a row of the table: milliseconds of both and their ratio, or torch's error if the loss does not compile.

    Two trainings take turns, so a disturbance of the machine affects both losses.
    """
    torch.compiler.reset()
    pairs = [(new_session(memory, view, num_envs), loss)
             for loss in (learner.minibatch_loss, torch.compile(learner.minibatch_loss))]
    try:
        problem = why_not_compiled(*pairs[1])
        measured = pairs[:1] if problem else pairs
        times = [[update_seconds(*pair) for pair in measured] for _ in range(WARM + iterations)][WARM:]
    finally:
        for session, _ in pairs:
            session.pipeline.close()
    medians = [statistics.median(of_one) for of_one in zip(*times, strict=True)]
    shown = ["-", problem] if problem else [f"{medians[1] * 1e3:.1f}", f"{medians[0] / medians[1]:.2f}"]
    return [memory, view, f"{num_envs}", f"{medians[0] * 1e3:.1f}", *shown]


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

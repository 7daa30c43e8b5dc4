"""A training with callbacks: it notes the best episode, logs a number of its own, and stops when the score is good enough.

    python -m examples.training.callbacks
"""

from pathlib import Path
from typing import Any

from trainer import Session, load, train

ENOUGH = 400.0  # the mean score at which the training stops


class Watch:
    """The callbacks of a training, and their results."""

    def __init__(self, enough: float) -> None:
        self.enough, self.best, self.checkpoints = enough, 0.0, list[Path]()

    def on_rollout(self, session: Session) -> None:
        """Make falling over a little worse. The rewards may be changed in place before the learning."""
        session.storage.reward -= 0.1 * session.storage.terminated

    def on_episode(self, session: Session, score: float, length: int) -> None:
        """Note the best score."""
        self.best = max(self.best, score)

    def on_update(self, session: Session, metrics: dict[str, float | None]) -> None:
        """Log the best score beside the other metrics, and stop in time."""
        metrics["best_score"] = self.best
        if (metrics["score_mean"] or 0.0) >= self.enough:
            session.stop()

    def on_checkpoint(self, session: Session, path: Path) -> None:
        """Note the path."""
        self.checkpoints.append(path)


def main(enough: float = ENOUGH, **settings: Any) -> float:
    """Train on CartPole until a mean score; returns that of an evaluation. settings: of the training."""
    watch = Watch(enough)
    folder = train("cartpole", on_rollout=watch.on_rollout, on_episode=watch.on_episode, on_update=watch.on_update,
                   on_checkpoint=watch.on_checkpoint, **settings)
    score = float(load(folder).evaluate(episodes=20)["mean"])
    print(f"best training episode {watch.best:.0f}, {len(watch.checkpoints)} checkpoints, mean score {score:.1f}")
    return score


if __name__ == "__main__":
    main()

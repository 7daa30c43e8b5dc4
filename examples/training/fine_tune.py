"""A curriculum: a T-maze with a short corridor first, then a long one that starts with the weights of the first.

    python -m examples.training.fine_tune

On the command line it is `insertcoin tmaze --options length=4`, then `insertcoin tmaze --options length=20 --init-from last`.
"""

from pathlib import Path
from typing import Any

from trainer import load, train


def main(folder: str | Path = "runs/curriculum", **settings: Any) -> float:
    """Train both; returns the mean score of the second. folder: of the two runs; settings: of both trainings."""
    short = train("tmaze", options={"length": 4}, run_dir=Path(folder) / "short", **{"total_steps": 300_000, **settings})
    long = train("tmaze", options={"length": 20}, run_dir=Path(folder) / "long", init_from=short,
                 **{"total_steps": 300_000, **settings})
    score = float(load(long).evaluate(episodes=100)["mean"])
    print(f"corridor of 20 cells: mean score {score:.2f}")
    return score


if __name__ == "__main__":
    main()

"""The trainer in a loop of your own: a rollout and an update each turn, then an evaluation.

    python -m examples.training.own_loop
"""

from typing import Any

from trainer import Session


def main(**settings: Any) -> float:
    """Train on CartPole; returns the mean score of the evaluation. settings: of the training, such as total_steps=100_000."""
    with Session("cartpole", **{"total_steps": 400_000, **settings}) as session:
        for metrics in session:
            if session.iteration % 20 == 0:
                print(f"{session.step:>9,} steps  score {metrics['score_mean']:.1f}  entropy {metrics['entropy']:.3f}")
        result = session.evaluate(episodes=100)
    print(f"mean score {result['mean']:.1f}, 95% interval {result['mean_interval']}")
    return float(result["mean"])


if __name__ == "__main__":
    main()

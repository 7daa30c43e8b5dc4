"""A dataset in Minari's format: a simple agent plays CartPole, then another one learns from its episodes only.

    pip install -e '.[minari]'
    python -m examples.stepping.offline_dataset

It writes arcade/cartpole/leaning-v0 to Minari's folder, MINARI_DATASETS_PATH or ~/.minari. For a trained agent, let `act` be
its policy; for pictures, give `envs_c.make` view="pixels".
"""

from collections.abc import Callable
from typing import Any

import minari
import numpy as np
import numpy.typing as npt

import envs_c
from envs_c import datasets

Array = npt.NDArray[Any]
Agent = Callable[[Array, dict[str, Any]], Array]
NAME = "arcade/cartpole/leaning-v0"


def leaning(observations: Array, infos: dict[str, Any]) -> Array:
    """Push to the side to which the pole falls: the angle, and how fast it changes. observations: (N, 4) float32."""
    return (observations[:, 2] + 0.5 * observations[:, 3] > 0).astype(int)


def cloned(dataset: Any) -> Agent:
    """An agent that imitates the dataset's: the least-squares fit of its actions."""
    episodes = list(dataset.iterate_episodes())
    seen = np.concatenate([episode.observations[:-1] for episode in episodes])  # without the last, which has no action
    sides = 2 * np.concatenate([episode.actions for episode in episodes]) - 1
    weights = np.linalg.lstsq(seen, sides, rcond=None)[0]
    return lambda observations, infos: (observations @ weights > 0).astype(int)


def mean_return(act: Agent, episodes: int = 64) -> float:
    """The mean return of an agent's first episodes."""
    env = envs_c.make("cartpole", episodes)
    observations, infos = env.reset(seed=1)
    returns = np.full(episodes, np.nan)
    while np.isnan(returns).any():
        observations, _, _, _, infos = env.step(act(observations, infos))
        if "episode_stats" in infos:
            ended = infos["_episode_stats"] & np.isnan(returns)
            returns[ended] = infos["episode_stats"]["r"][ended]
    return float(returns.mean())


def main(episodes: int = 32) -> tuple[float, float]:
    """Record, read and imitate; returns the mean returns of the agent and of its imitation."""
    if NAME in minari.list_local_datasets():
        minari.delete_dataset(NAME)
    datasets.record(NAME, envs_c.make("cartpole", 16), leaning, episodes, algorithm_name="leaning", author="insertcoin")
    dataset = minari.load_dataset(NAME)
    print(f"{NAME}: {dataset.total_episodes} episodes, {dataset.total_steps} steps")
    agent, imitation = mean_return(leaning), mean_return(cloned(dataset))
    print(f"mean return of the agent {agent:.1f}, of its imitation {imitation:.1f}")
    return agent, imitation


if __name__ == "__main__":
    main()

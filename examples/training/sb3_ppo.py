"""Stable-Baselines3's PPO on our games: the usual script with one line changed.

    python -m examples.training.sb3_ppo                    # CartPole
    python -m examples.training.sb3_ppo 2000000 breakout   # any number of steps, any game

examples/sb3_a2c.py does the same with A2C.
"""

import sys

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy

from envs_c import sb3


def main(steps: int | str = 200_000, game: str = "cartpole") -> float:
    """Train and evaluate. Returns the mean score of 20 episodes."""
    env = sb3.make(game, 64, seed=1)  # was: make_vec_env("CartPole-v1", 64, seed=1)
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=256, n_epochs=4, learning_rate=1e-3, seed=1, device="cpu")
    model.learn(int(steps))
    mean, deviation = evaluate_policy(model, sb3.make(game, 20, seed=1000), n_eval_episodes=20, deterministic=False)
    print(f"{game}: mean score {mean:.1f} (± {deviation:.1f}) of 20 episodes after {model.num_timesteps:,} steps")
    return float(mean)  # type: ignore[arg-type]


if __name__ == "__main__":
    torch.set_num_threads(1)  # the products are small
    main(*sys.argv[1:3])

"""Trains Stable-Baselines3's A2C on our games: the usual SB3 script with one line changed.

    pip install -e '.[sb3]'                         # in the repository; `make dev` has done it
    python -m examples.sb3_a2c                      # CartPole, solved in a few seconds
    python -m examples.sb3_a2c breakout 2000000     # any game, any number of steps

`sb3.make` has the arguments of `envs_c.make`: view="pixels", frame_stack=4 for CnnPolicy, reward_clip=1, a game's own options.
SB3's overhead is per step of all environments, not per environment, so use more environments than the usual 8.
"""

import sys
import time

import torch
from stable_baselines3 import A2C
from stable_baselines3.common.evaluation import evaluate_policy

from envs_c import sb3

game, steps = [*sys.argv[1:], *("cartpole", "300000")[len(sys.argv) - 1:]][:2]
torch.set_num_threads(1)  # matrix products of 64 rows are too small for several threads

env = sb3.make(game, 64, seed=1)  # was: make_vec_env("CartPole-v1", 64, seed=1)

model = A2C("MlpPolicy", env, learning_rate=2e-3, seed=1, device="cpu")
before = time.perf_counter()
model.learn(int(steps))
seconds = time.perf_counter() - before
print(f"{model.num_timesteps:,} steps in {seconds:.1f} s, {model.num_timesteps / seconds:,.0f} steps/s")

# Sample the actions: a policy that always takes the most likely one might never serve Breakout's ball, and never end.
mean, deviation = evaluate_policy(model, sb3.make(game, 20, seed=1000), n_eval_episodes=20, deterministic=False)
print(f"{game}: mean return {mean:.1f} (± {deviation:.1f}) of 20 episodes")

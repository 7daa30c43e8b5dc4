"""Wrappers that were written for Atari's games, around ours: Gymnasium's AtariPreprocessing and stable-baselines3's.

    python -m examples.stepping.atari_preprocessing            # needs opencv-python and stable-baselines3

Only the id differs from a script for ale-py: `Arcade/Breakout-v0` in place of `ALE/Breakout-v5`. The settings have ALE's names.
Instead of all wrappers, one call of `envs_c.make` gives pictures of many environments, and faster.
"""

import sys

import gymnasium
import numpy as np
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation
from stable_baselines3.common.env_util import make_atari_env

import envs_c

GAME = "Arcade/Breakout-v0"


def wrapped() -> gymnasium.Env:
    """One environment: no-op starts, four frames a step, grey pictures of 84x84, the newest four; an episode is one life."""
    env = gymnasium.make(GAME, obs_type="rgb", frameskip=1, repeat_action_probability=0.0)
    return FrameStackObservation(AtariPreprocessing(env, terminal_on_life_loss=True), 4)


def main(steps: int = 500) -> dict[str, tuple[int, ...]]:
    """Play `steps` random steps; returns the shapes of the observations of Gymnasium's, of SB3's, and of our environments."""
    env = wrapped()
    observation, _ = env.reset(seed=1)
    env.action_space.seed(1)
    lives = []
    for _ in range(steps):
        observation, _, terminated, truncated, info = env.step(env.action_space.sample())
        if terminated or truncated:
            lives.append(info["lives"])
            env.reset()
    print(f"AtariPreprocessing: {len(lives)} episodes, lives left at their ends {lives[:10]}")
    sb3 = make_atari_env(GAME, n_envs=4, seed=1, env_kwargs={"obs_type": "rgb", "frameskip": 1})
    ours = envs_c.make("breakout", 64, view="pixels", frame_stack=4, noop_max=30, episodic_life=True, reward_clip=1.0)
    shapes = {"gymnasium": observation.shape, "sb3": np.asarray(sb3.reset()).shape, "envs_c": ours.reset(seed=1)[0].shape}
    for name, shape in shapes.items():
        print(f"{name}: observations {shape}")
    return shapes


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

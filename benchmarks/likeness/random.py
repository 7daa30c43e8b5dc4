"""Scores of random play: each action is held for four frames, on both sides."""

import numpy as np

import envs_c
from benchmarks.cartridges.features import open_cartridge

HOLD, LONGEST = 4, 27_000  # frames of an action; steps of an episode


def on_cartridge(game: str, episodes: int, seed: int) -> np.ndarray:
    """The scores of whole episodes on the cartridge."""
    theirs, random, scores = open_cartridge(game), np.random.default_rng(seed), np.zeros(episodes)
    for episode in range(episodes):
        theirs.new_episode()
        for _ in range(LONGEST):
            action = theirs.actions[int(random.integers(len(theirs.actions)))]
            scores[episode] += sum(theirs.ale.act(action) for _ in range(HOLD))
            if theirs.ale.game_over():
                break
    return scores


def here(game: str, episodes: int, seed: int) -> np.ndarray:
    """The scores of whole episodes in our game, one in each environment."""
    env = envs_c.make(game, episodes, frame_skip=HOLD, seed=seed, time_limit=LONGEST)
    random, scores, running = np.random.default_rng(seed), np.zeros(episodes), np.ones(episodes, bool)
    env.reset()
    while running.any():
        _, reward, terminated, truncated, _ = env.step(random.integers(0, len(env.core.actions), episodes))
        scores += reward * running
        running &= ~(terminated | truncated)
    env.close()
    return scores

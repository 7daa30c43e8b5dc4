"""Scores of random play and of the scripted players, on the cartridge and here, from the cartridge's own start."""

import numpy as np

from benchmarks.cartridges import open_state
from benchmarks.cartridges.features import open_cartridge
from benchmarks.cartridges.lockstep import class_of, twins_of
from benchmarks.common import score
from benchmarks.likeness.players import Player

HOLD, LONGEST = 4, 27_000  # frames of an action; steps of an episode


def generators(episodes: int, seed: int) -> list[np.random.Generator]:
    """A generator for each episode. Both sides have the same, so equal games give equal scores, episode by episode."""
    return [np.random.default_rng([seed, episode]) for episode in range(episodes)]


def on_cartridge(game: str, episodes: int, seed: int, player: Player | None = None) -> np.ndarray:
    """The scores of whole episodes on the cartridge, (episodes,). player: None plays at random; the first action always is."""
    theirs, scores = open_cartridge(game), np.zeros(episodes)
    for episode, random in enumerate(generators(episodes, seed)):
        theirs.restart()
        for step in range(LONGEST):
            action = player(theirs.state(), random) if player and step else int(random.integers(len(theirs.actions)))
            scores[episode] += sum(theirs.step(action)[0] for _ in range(HOLD))
            if theirs.ale.game_over():
                break
    return scores


def here(game: str, episodes: int, seed: int, player: Player | None = None) -> np.ndarray:
    """The same in our game, an episode in each environment."""
    env, layout = twins_of(game, episodes, frame_skip=HOLD, seed=seed, time_limit=LONGEST), class_of(game).STATE
    random, scores, running = generators(episodes, seed), np.zeros(episodes), np.ones(episodes, bool)
    actions, step = np.zeros(episodes, int), 0
    while running.any():
        states = open_state.read(env.core, layout) if player and step else None
        for k in np.flatnonzero(running):
            actions[k] = random[k].integers(len(env.core.actions)) if states is None else player(states[k], random[k])
        _, reward, terminated, truncated, _ = env.step(actions)
        scores += reward * running
        running &= ~(terminated | truncated)
        step += 1
    env.close()
    return scores


def error(scores: np.ndarray) -> float:
    """The standard error of the mean of some scores; 0 for one."""
    return float(scores.std(ddof=1)) / len(scores) ** 0.5 if len(scores) > 1 else 0.0


def both_sides(game: str, episodes: int, seed: int, player: Player | None = None) -> list[str]:
    """Mean score and standard error on the cartridge and here; ours says so if it is equal in each episode."""
    sides = on_cartridge(game, episodes, seed, player), here(game, episodes, seed, player)
    texts = [f"{score(scores.mean())} ± {score(error(scores), 2)}" for scores in sides]
    return [texts[0], f"{texts[1]}, equal in each" if np.array_equal(*sides) else texts[1]]

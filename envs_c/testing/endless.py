"""Random play until an episode ends."""

import numpy as np

from envs_c.testing.play import Play
from envs_c.testing.watchdog import note

NUM_ENVS, STEPS = 16, 62_500  # a million steps; an episode may take this number of them


def ends(game) -> str:
    """What ends the first episode in a million random steps: "game", else "limit", the game's own time limit, or "nothing"."""
    found = "nothing"
    play = Play(game, NUM_ENVS)
    play.reset()
    random, actions = np.random.RandomState(0), play.arrays["actions"]
    for _ in range(STEPS):
        actions[...] = random.randint(0, len(game.actions), NUM_ENVS)
        note("step", play)
        play.batch.step()
        if play.arrays["terminated"].any():
            return "game"
        if play.core.ended.any():
            found = "limit"
    return found

"""Go.

    go.pyx             the rules in prose; a step, the observation, the picture, and `GAME`
    rules.pxd          how a move changes the state
    opponents.pxd      the built-in opponents
    sets.pxd           the state, and sets of points as bits
    valid.pxd          the check of a restored state
"""

from envs_c.games.go.go import GAME

__all__ = ["GAME"]

"""Go.

    go.pyx             the game: state, observation and drawing, and `GAME`
    opponents.pxd      the built-in opponents
    rules.pxd          how the state changes
    sets.pxd           sets of points as bits
"""

from envs_c.games.go.go import GAME

__all__ = ["GAME"]

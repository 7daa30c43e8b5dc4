"""2048.

    g2048.pyx          the game: state, observation and drawing, and `GAME`
    rules.pxd          how the state changes
"""

from envs_c.games.g2048.g2048 import GAME

__all__ = ["GAME"]

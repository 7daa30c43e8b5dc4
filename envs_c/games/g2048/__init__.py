"""2048.

    g2048.pyx          the rules in prose; the observation, the picture, and `GAME`
    rules.pxd          the state, and how a move changes it
"""

from envs_c.games.g2048.g2048 import GAME

__all__ = ["GAME"]

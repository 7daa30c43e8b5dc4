"""Breakout.

    breakout.pyx       the rules in prose; the observation, the picture, and `GAME`
    rules.pxd          the state, its constants, and how a frame changes it
"""

from envs_c.games.breakout.breakout import GAME

__all__ = ["GAME"]

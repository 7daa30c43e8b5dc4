"""Freeway.

    freeway.pyx        the rules in prose; one frame, the observation, the picture, and `GAME`
    rules.pxd          the state, its constants, and how a frame changes it
    picture.pxd        digits and colours, and how scores, chicken and cars are painted
"""

from envs_c.games.freeway.freeway import GAME

__all__ = ["GAME"]

"""Asterix.

    asterix.pyx        the rules in prose; one frame, the observation, the picture, and `GAME`
    rules.pxd          the state, its constants, and how a frame changes it
    picture.pxd        sprites and colours, and how they are painted
"""

from envs_c.games.asterix.asterix import GAME

__all__ = ["GAME"]

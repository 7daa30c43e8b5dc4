"""Asteroids.

    asteroids.pyx      the rules in prose; one frame, the observation, the picture, and `GAME`
    rules.pxd          the state, its constants, and how a frame changes it
    picture.pxd        sprites and colours, and how they are painted
    valid.pxd          the check of a restored state
"""

from envs_c.games.asteroids.asteroids import GAME

__all__ = ["GAME"]

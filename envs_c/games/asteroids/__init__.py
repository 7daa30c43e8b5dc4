"""Asteroids.

    asteroids.pyx      the rules in prose; one frame, the picture, and `GAME`
    rules.pxd          the state, its constants, random numbers, places
    rocks.pxd          waves, movement and pieces of rocks
    ship.pxd           ship and shots
    ufo.pxd            UFOs
    hits.pxd           what hits what
    features.pxd       the observation
    picture.pxd        sprites, and how they are painted
    shown.pxd          what the picture shows of the state, and in which colours
    valid.pxd          the check of a restored state
"""

from envs_c.games.asteroids.asteroids import GAME

__all__ = ["GAME"]

"""Asteroids.

    asteroids.pyx      the game: state, observation and drawing, and `GAME`
    picture.pxd        how the 84x84 picture is drawn
    rules.pxd          how the state changes
"""

from envs_c.games.asteroids.asteroids import GAME

__all__ = ["GAME"]

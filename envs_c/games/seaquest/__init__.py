"""Seaquest.

    seaquest.pyx       the game: state, observation and drawing, and `GAME`
    hits.pxd           collisions
    picture.pxd        how the 84x84 picture is drawn
    rules.pxd          how the state changes
"""

from envs_c.games.seaquest.seaquest import GAME

__all__ = ["GAME"]

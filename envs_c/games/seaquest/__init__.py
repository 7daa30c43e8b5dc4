"""Seaquest.

    seaquest.pyx       rules in prose, reset, step, observation and `GAME`
    rules.pxd          state, submarine and oxygen
    lanes.pxd          waves, divers and shots
    hits.pxd           collisions
    shapes.pxd         the figures' shapes
    picture.pxd        how the picture is drawn
"""

from envs_c.games.seaquest.seaquest import GAME

__all__ = ["GAME"]

"""Seaquest.

    seaquest.pyx       rules in prose, reset, step, observation and `GAME`
    rules.pxd          state, submarine, lanes and oxygen
    hits.pxd           collisions
    picture.pxd        how the picture is drawn
"""

from envs_c.games.seaquest.seaquest import GAME

__all__ = ["GAME"]

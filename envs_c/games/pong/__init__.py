"""Pong.

    pong.pyx           rules in prose, reset, step, observation and `GAME`
    rules.pxd          state, and how a frame changes it
    picture.pxd        how the picture is drawn
"""

from envs_c.games.pong.pong import GAME

__all__ = ["GAME"]

"""The platformer.

    platformer.pyx     rules in prose, reset, step, observation and `GAME`
    levels.pxd         state, and how a level is laid out
    rules.pxd          how player and enemies move and meet
    picture.pxd        how the picture is drawn
    valid.pxd          the check of a restored state
"""

from envs_c.games.platformer.platformer import GAME

__all__ = ["GAME"]

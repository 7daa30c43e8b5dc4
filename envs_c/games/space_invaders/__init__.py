"""Space Invaders.

    space_invaders.pyx   rules in prose, reset, step, observation and `GAME`
    state.pxd            constants, tables, state, and how a wave begins
    rules.pxd            how a frame changes the state
    hits.pxd             what shots and bombs meet
    shapes.pxd           shapes, for hits and the picture
    picture.pxd          how the picture is drawn
    missiles.pxd         how shots and bombs are drawn
    shown.pxd            what a picture shows: the state before the frame's hits
    valid.pxd            the check of a restored state
"""

from envs_c.games.space_invaders.space_invaders import GAME

__all__ = ["GAME"]

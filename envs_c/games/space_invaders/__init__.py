"""Space Invaders.

    space_invaders.pyx   rules in prose, reset, step, observation and `GAME`
    state.pxd            constants, tables, state, and how a wave begins
    rules.pxd            how a frame changes the state
    picture.pxd          how the picture is drawn
"""

from envs_c.games.space_invaders.space_invaders import GAME

__all__ = ["GAME"]

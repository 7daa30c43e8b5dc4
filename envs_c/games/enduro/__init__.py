"""Enduro.

    enduro.pyx         the game: state, observation and drawing, and `GAME`
    picture.pxd        how the 84x84 picture is drawn
    rules.pxd          how the state changes
    tables.pxd         constants read from the cartridge
"""

from envs_c.games.enduro.enduro import GAME

__all__ = ["GAME"]

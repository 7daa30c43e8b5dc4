"""Tetris.

    tetris.pyx         the game: state, observation and drawing, and `GAME`
    rules.pxd          how the state changes
"""

from envs_c.games.tetris.tetris import GAME

__all__ = ["GAME"]

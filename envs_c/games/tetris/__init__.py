"""Tetris.

    tetris.pyx         rules in prose, reset, step, observation, picture and `GAME`
    rules.pxd          state, and how an action changes it
"""

from envs_c.games.tetris.tetris import GAME

__all__ = ["GAME"]

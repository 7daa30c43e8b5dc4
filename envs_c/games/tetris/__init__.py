"""Tetris: `envs_c.make("tetris")`. tetris.pyx begins with the rules in prose."""

from envs_c.games.tetris.tetris import GAME

__all__ = ["GAME"]

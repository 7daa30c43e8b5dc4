"""Pac-Man.

    pacman.pyx         the game: state, observation and drawing, and `GAME`
    rules.pxd          how the state changes
"""

from envs_c.games.pacman.pacman import GAME

__all__ = ["GAME"]

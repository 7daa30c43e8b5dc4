"""Pac-Man.

    pacman.pyx         rules in prose, reset, step, observation and `GAME`
    maze.pxd           constants, tables by maze and by level, state
    ghosts.pxd         how the ghosts decide where they go
    rules.pxd          the player, dots, the house, lives and levels
    forecast.pxd       the features of the option forecast
    picture.pxd        how the picture is drawn
    valid.pxd          the check of a restored state
"""

from envs_c.games.pacman.pacman import GAME

__all__ = ["GAME"]

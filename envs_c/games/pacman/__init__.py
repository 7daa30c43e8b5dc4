"""Pac-Man: `envs_c.make("pacman")`. pacman.pyx begins with the rules in prose."""

from envs_c.games.pacman.pacman import GAME

__all__ = ["GAME"]

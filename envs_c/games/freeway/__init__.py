"""Freeway: `envs_c.make("freeway")`. freeway.pyx begins with the rules in prose."""

from envs_c.games.freeway.freeway import GAME

__all__ = ["GAME"]

"""Asteroids: `envs_c.make("asteroids")`. asteroids.pyx begins with the rules in prose."""

from envs_c.games.asteroids.asteroids import GAME

__all__ = ["GAME"]

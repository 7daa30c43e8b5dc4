"""Enduro: `envs_c.make("enduro")`. enduro.pyx begins with the rules in prose."""

from envs_c.games.enduro.enduro import GAME

__all__ = ["GAME"]

"""Seaquest: `envs_c.make("seaquest")`. seaquest.pyx begins with the rules in prose."""

from envs_c.games.seaquest.seaquest import GAME

__all__ = ["GAME"]

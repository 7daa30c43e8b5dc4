"""Asterix: `envs_c.make("asterix")`. asterix.pyx begins with the rules in prose."""

from envs_c.games.asterix.asterix import GAME

__all__ = ["GAME"]

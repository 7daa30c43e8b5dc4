"""Breakout: `envs_c.make("breakout")`. breakout.pyx begins with the rules in prose."""

from envs_c.games.breakout.breakout import GAME

__all__ = ["GAME"]

"""2048: `envs_c.make("g2048")`. g2048.pyx begins with the rules in prose."""

from envs_c.games.g2048.g2048 import GAME

__all__ = ["GAME"]

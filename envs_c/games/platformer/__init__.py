"""The platformer: `envs_c.make("platformer")`. platformer.pyx begins with the rules in prose."""

from envs_c.games.platformer.platformer import GAME

__all__ = ["GAME"]

"""Space Invaders: `envs_c.make("space_invaders")`. space_invaders.pyx begins with the rules in prose."""

from envs_c.games.space_invaders.space_invaders import GAME

__all__ = ["GAME"]

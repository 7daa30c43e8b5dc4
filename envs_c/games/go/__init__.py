"""Go: `envs_c.make("go")`. go.pyx begins with the rules in prose."""

from envs_c.games.go.go import GAME

__all__ = ["GAME"]

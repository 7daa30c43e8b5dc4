"""Pong: `envs_c.make("pong")`. pong.pyx begins with the rules in prose."""

from envs_c.games.pong.pong import GAME

__all__ = ["GAME"]

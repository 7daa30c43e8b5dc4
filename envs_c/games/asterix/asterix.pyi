from envs_c.game import Game

GAME: Game

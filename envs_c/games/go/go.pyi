from envs_c.game import Game

GAME: Game

def actions(options: dict[str, float]) -> tuple[str, ...]: ...

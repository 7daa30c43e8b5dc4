"""Starts with no-ops: without sticky actions, they make the episodes of a game differ that always begins in the same way.

Mnih et al. (2015), Nature 518, begin an episode with up to 30 no-ops; Machado et al. (2018), arXiv:1709.06009, have sticky
actions instead. In Breakout no-ops change nothing, since the ball waits to be served: 100 greedy episodes remain about four
different ones. So an evaluation also counts its different episodes (see trainer/play/scores.py).
"""

from dataclasses import replace

from trainer.config.games import GameName, find_game
from trainer.config.sections import EnvConfig

NO_OPS = 30  # frames at most
NO_OP = "NOOP"


def with_no_ops(game: GameName, env: EnvConfig, most: int | None) -> EnvConfig:
    """`env` with up to `most` no-ops at the start of each episode, or with none if it has sticky actions.

    most: frames; None leaves `env` as it is, as do a game whose first action is not NOOP, and Gymnasium.
    """
    if most is None or game.is_gym or not has_no_op(game):
        return env
    return replace(env, noop_max=0 if env.sticky else most)


def has_no_op(game: GameName) -> bool:
    """True if the first action of one of our own games is NOOP."""
    return find_game(game).actions[0] == NO_OP

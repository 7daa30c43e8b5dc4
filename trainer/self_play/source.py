"""Self-play: the source whose games are played by the learner and, on the other side, by policies of a pool.

A step of the learner's is two half steps of the games, in which each side moves once (envs_c.game.TwoPlayers):

    the learner's half     its move; or a new game, where the last one has ended;
    the opponent's half    its answer, or its first move where the learner has the second; where the game has just ended, or
                           the learner is to begin, the environment is held.

To the learner they are one step: what it sees next is its own turn again, its reward is that of its own move less the
opponent's of the answer, and an end that either of them brings is the end. The step after it only resets, as everywhere.

Sides change from game to game: in its game number g, from 0, environment i's learner has the first move where i + g is even.
"""

import time

import numpy as np
import torch

from bridge.source import BoundGames, EpisodeLog, Episodes, GameSource
from envs_c import VecEnv
from trainer.self_play.opponents import Opponents

KEPT = ("steps", "games", "opponent", "second", "over", "returns", "lengths")  # (N,) each


class SelfPlaySource(GameSource):
    """Environments of a game for two, of which a pool plays the other side.

    env: under the game's options for both sides. `opponents` is set before the first reset. `noted` are the games that ended,
    against whom and with which return, for whoever empties it.
    """

    def __init__(self, env: VecEnv):
        super().__init__(env)
        n = env.num_envs
        self.opponents: Opponents | None = None
        self.noted: list[tuple[np.ndarray, np.ndarray]] = []
        self.steps = np.zeros(n, np.int64)       # of the run, the same in all
        self.games = np.zeros(n, np.int64)       # begun so far
        self.opponent = np.zeros(n, np.int64)    # who plays the other side: a member's number, or CURRENT
        self.second = np.zeros(n, bool)          # whether the learner has the second move
        self.over = np.zeros(n, bool)            # whether the game has ended and the next step only resets
        self.returns = np.zeros(n)               # float64, the learner's rewards in the game under way
        self.lengths = np.zeros(n, np.int32)     # its steps

    def bind(self, lo: int, hi: int, host: dict, actions: np.ndarray):
        return _Bound(self, lo, hi, host, actions)

    def state(self) -> dict[str, torch.Tensor]:
        kept = {f"self_play.{name}": torch.from_numpy(getattr(self, name).copy()) for name in KEPT}
        return super().state() | kept | self.opponents.state()

    def restore(self, state: dict[str, torch.Tensor]):
        super().restore(state)
        for name in KEPT:
            getattr(self, name)[:] = state[f"self_play.{name}"].numpy()
        self.opponents.restore(state)


class _Bound(BoundGames):
    """A bound batch: the learner's half and the opponent's, which share observations and masks."""

    def __init__(self, source: SelfPlaySource, lo: int, hi: int, host: dict, actions: np.ndarray):
        super().__init__(source.env.bind(lo, hi, actions=actions, **host))
        self.source, self.lo, self.hi, self.host = source, lo, hi, host
        self.answers = np.zeros(hi - lo, np.int32)
        self.theirs = {name: np.zeros(hi - lo, np.float32) for name in ("reward", "terminated", "truncated")}
        self.other = source.env.bind(lo, hi, actions=self.answers, **(host | self.theirs))
        for name in KEPT:
            setattr(self, name, getattr(source, name)[lo:hi])

    def reset(self):
        """Begin new games everywhere."""
        self.batch.reset()
        self.over[:] = False
        self._begin_games(np.ones(self.hi - self.lo, bool))
        self._answer(self.second.copy())

    def finish(self, log: EpisodeLog) -> tuple[float, float]:
        begin = time.perf_counter()
        reset = self.over.copy()
        self.steps += 1
        self.batch.step()
        self._begin_games(reset)
        ended = self.host["terminated"] != 0
        self._answer(np.where(reset, self.second, ~ended))
        self.returns += self.host["reward"]
        self.lengths += ~reset
        self.over[:] = self.host["terminated"] != 0
        if self.over.any():
            self._log(np.flatnonzero(self.over), log)
        return self.waited, time.perf_counter() - begin

    def _begin_games(self, where: np.ndarray):
        """Sides and opponents of new games."""
        rows = np.flatnonzero(where)
        if not len(rows):
            return
        self.games[rows] += 1
        numbers = self.source.env.first + self.lo + rows  # of a run's environments, which may be more than these
        self.second[rows] = (numbers + self.games[rows]) % 2 == 0
        self.opponent[rows] = self.source.opponents.pool.draw(numbers, self.games[rows])
        self.returns[rows], self.lengths[rows] = 0, 0
        self.source.opponents.forget(self.lo + rows)

    def _answer(self, where: np.ndarray):
        """The opponent's half, in the rows where it is to move."""
        if not where.any():
            return
        self.source.opponents.act(self.lo, np.flatnonzero(where), self.opponent, int(self.steps[0]), self.host, self.answers)
        self.other.step(where)
        self.host["reward"] -= self.theirs["reward"]
        np.maximum(self.host["terminated"], self.theirs["terminated"], out=self.host["terminated"])

    def _log(self, rows: np.ndarray, log: EpisodeLog):
        log.add(Episodes(self.returns[rows], self.lengths[rows], self.lo + rows))
        self.source.noted.append((self.opponent[rows].copy(), self.returns[rows].copy()))

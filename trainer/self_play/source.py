"""The source of a self-play run: the learner plays one side of every game, policies of a pool play the other.

One step of the learner is two half steps of the games. Each side moves once (envs_c.game.TwoPlayers):

    learner's half     the learner's move, or a new game if the last one has ended;
    opponent's half    the answer, or the opponent's first move if the learner moves second. The environment is held if the
                       game has just ended, or if it is new and the learner moves first.

The learner sees the two as one step. The next observation is its own turn again. Its reward is the reward of its own move
minus the opponent's reward of the answer. `terminated` is set if either half ends the game; the next step only resets.

On a GPU the opponents' moves of a batch are computed while the host plays the learner's half of the next batch.

The sides change from game to game: in game number g of environment i, both counted from 0, the learner moves first if i + g
is even.
"""

import time

import numpy as np
import torch

from bridge.source import BoundGames, EpisodeLog, Episodes, GameSource
from envs_c import VecEnv
from trainer.self_play.opponents import Opponents


class SelfPlaySource(GameSource):
    """N environments of a two-player game in which `opponents` plays the other side.

    env: environments whose options let the caller move for both sides.

    Set `opponents` before the first reset. `finished` collects, for each batch step in which games ended, their opponents and
    the learner's returns; the reader empties it.
    """

    def __init__(self, env: VecEnv):
        super().__init__(env)
        n = env.num_envs
        self.opponents: Opponents | None = None
        self.bound: list[_Bound] = []
        self.finished: list[tuple[np.ndarray, np.ndarray]] = []
        self.steps = np.zeros(n, np.int64)       # steps since the run began, equal in all environments
        self.games = np.zeros(n, np.int64)       # games begun so far
        self.opponent = np.zeros(n, np.int64)    # number of the pool member on the other side, or CURRENT
        self.second = np.zeros(n, bool)          # True if the learner moves second
        self.over = np.zeros(n, bool)            # True if the game has ended: the next step only resets
        self.returns = np.zeros(n)               # float64, the learner's rewards so far in the current game
        self.lengths = np.zeros(n, np.int32)     # the learner's steps so far in the current game

    def bind(self, lo: int, hi: int, host: dict, actions: np.ndarray):
        self.bound.append(_Bound(self, lo, hi, host, actions))
        return self.bound[-1]

    def begin_next(self, batch: "_Bound"):
        """Play the learner's half of the batch after this one, if its turn has begun."""
        following = self.bound[(self.bound.index(batch) + 1) % len(self.bound)]
        if following.begun and following.moves is None:
            following.wait()
            following.move()

    def state(self) -> dict[str, torch.Tensor]:
        arrays = {name: torch.from_numpy(array.copy()) for name, array in self._arrays().items()}
        return super().state() | arrays | self.opponents.state()

    def restore(self, state: dict[str, torch.Tensor]):
        for name, array in self._arrays().items():
            array[:] = state[name].numpy()
        self.opponents.restore(state)
        super().restore(state)  # last: if the game has another version, new games go on with the numbers of steps and games

    def environment_dims(self) -> dict[str, int | str]:
        return super().environment_dims() | dict.fromkeys(self._arrays(), 0) | self.opponents.environment_dims()

    def _arrays(self) -> dict[str, np.ndarray]:
        """The (N,) arrays for a checkpoint, by name."""
        return {"self_play.steps": self.steps, "self_play.games": self.games, "self_play.opponent": self.opponent,
                "self_play.second": self.second, "self_play.over": self.over, "self_play.returns": self.returns,
                "self_play.lengths": self.lengths}


class _Bound(BoundGames):
    """A bound batch of B environments: the two halves share observations and action masks.

    Its arrays are the rows lo .. hi - 1 of the source's arrays of the same names.
    """

    def __init__(self, source: SelfPlaySource, lo: int, hi: int, host: dict, actions: np.ndarray):
        super().__init__(source.env.bind(lo, hi, actions=actions, **host))
        self.source, self.lo, self.hi, self.host = source, lo, hi, host
        self.begun = False                     # a step: its actions are on their way, or it is half played
        self.moves: np.ndarray | None = None   # (B,) bool, the rows in which the opponent moves, between the two halves
        self.first = np.zeros(hi - lo, bool)   # the rows in which this step begins a game
        self.answers = np.zeros(hi - lo, np.int32)  # the opponents' actions
        self.theirs = {name: np.zeros(hi - lo, np.float32) for name in ("reward", "terminated", "truncated")}
        self.other = source.env.bind(lo, hi, actions=self.answers, **(host | self.theirs))
        rows = slice(lo, hi)
        self.steps, self.games, self.opponent = source.steps[rows], source.games[rows], source.opponent[rows]
        self.second, self.over = source.second[rows], source.over[rows]
        self.returns, self.lengths = source.returns[rows], source.lengths[rows]

    def reset(self):
        """Begin new games in all rows."""
        self.batch.reset()
        self.over[:] = False
        self._begin_games(np.ones(self.hi - self.lo, bool))
        self.begun, self.moves = False, self.second.copy()
        self._queue()
        self.answer()

    def batch_alone(self):
        return None

    def begin(self, ready):
        super().begin(ready)
        self.begun = True

    def wait(self):
        if self.moves is None:
            super().wait()

    def finish(self, log: EpisodeLog) -> tuple[float, float]:
        begin = time.perf_counter()
        if self.moves is None:
            self.move()
        if self.source.opponents.overlaps:
            self.source.begin_next(self)
        self.answer()
        self.begun = False
        self.returns += self.host["reward"]
        self.lengths += ~self.first
        self.over[:] = self.host["terminated"] != 0
        if self.over.any():
            self._log(np.flatnonzero(self.over), log)
        return self.waited, time.perf_counter() - begin

    def move(self):
        """Play the learner's half, and begin to choose the opponents' moves."""
        self.first = self.over.copy()
        self.steps += 1
        self.batch.step()
        self._begin_games(self.first)
        ended = self.host["terminated"] != 0
        self.moves = np.where(self.first, self.second, ~ended)
        self._queue()

    def _begin_games(self, new: np.ndarray):
        """Choose sides and opponents in the rows in which a game begins; new: (B,) bool."""
        rows = np.flatnonzero(new)
        if not len(rows):
            return
        self.games[rows] += 1
        numbers = self.source.env.first + self.lo + rows  # among all environments of the run, also on other ranks
        self.second[rows] = (numbers + self.games[rows]) % 2 == 0  # `games` counts from 1 here
        self.opponent[rows] = self.source.opponents.pool.draw(numbers, self.games[rows])
        self.returns[rows], self.lengths[rows] = 0, 0
        self.source.opponents.forget(self.lo + rows)

    def _queue(self):
        """Begin to choose the opponents' moves."""
        if self.moves.any():
            self.source.opponents.queue(self.lo, np.flatnonzero(self.moves), self.opponent, int(self.steps[0]), self.host)

    def answer(self):
        """Play the opponent's half."""
        moves, self.moves = self.moves, None
        if not moves.any():
            return
        self.source.opponents.fetch(self.lo, np.flatnonzero(moves), self.answers)
        self.other.step(moves)
        self.host["reward"] -= self.theirs["reward"]
        np.maximum(self.host["terminated"], self.theirs["terminated"], out=self.host["terminated"])

    def _log(self, rows: np.ndarray, log: EpisodeLog):
        """Record the finished games of `rows`."""
        log.add(Episodes(self.returns[rows], self.lengths[rows], self.lo + rows))
        self.source.finished.append((self.opponent[rows].copy(), self.returns[rows].copy()))

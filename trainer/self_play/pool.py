"""The pool of past policies, the opponents in self-play, and the record of the games against them.

Policies join as members, numbered from 0 in the order of joining; member 0 is the untrained policy. When the pool is full,
one member leaves: the one whose neighbours in the order of joining are closest together. The first and the newest never
leave. So the members stay spread over the whole training. The leaving member finishes its current games, and its results
stay in the record.

The learner changes while it plays. Games played since the last member joined count for the next member, which will be a copy
of the learner. Games against the current policy are not recorded.
"""

from collections.abc import Callable

import numpy as np
import torch

from trainer.config import SelfPlayConfig
from trainer.policy.policy import Policy
from trainer.tensors import under

CURRENT = -1      # the opponent's number if it is the policy itself, with the weights of the current rollout
ENOUGH = 100      # games needed before the win rate can make a policy join
FORGET = 0.5      # weight of older games in `win_rates`: multiplied by this each time a member joins


class Pool:
    """The members by number, and the results of members and former members.

    settings: the section self_play.
    policy: the learner's policy.
    weights: the learner's weights for steps (Policy.cast_weights); the current policy plays with them.
    new_policy: makes a policy of the same kind.
    seed: of the draws.
    acting: the current policy as an opponent, if it is not `policy`: a copy of it as it was when the rollout began.
    """

    def __init__(self, settings: SelfPlayConfig, policy: Policy, weights: dict[str, torch.Tensor],
                 new_policy: Callable[[], Policy], seed: int, acting: Policy | None = None):
        self.settings, self.policy, self.weights, self.new_policy, self.seed = settings, policy, weights, new_policy, seed
        self.acting = acting or policy
        self.players: dict[int, tuple[Policy, dict[str, torch.Tensor]]] = {}  # members, and former ones with unfinished games
        self.members: list[int] = []
        self.joined: list[int] = []                       # iteration of joining, by number
        self.points = np.zeros((1, 1))                    # [i, j]: points of i against j; the last player is the learner
        self.recent = np.zeros((2, 0))                    # the learner's points and games against each, old games weigh less
        self.active = np.zeros(0, np.int64)               # possible opponents of new games in this rollout
        self.add(0)
        self.begin_rollout(0)

    @property
    def size(self) -> int:
        """The number of members and former members."""
        return len(self.joined)

    def player(self, number: int) -> tuple[Policy, dict[str, torch.Tensor]]:
        """A policy and its weights for steps."""
        return (self.acting, self.weights) if number == CURRENT else self.players[number]

    def add(self, iteration: int):
        """A copy of the learner joins. If the pool is full, another member leaves."""
        policy = self.new_policy()
        policy.load_state_dict(self.policy.state_dict())
        self._put(self.size, policy)
        self.members.append(self.size)
        self.joined.append(iteration)
        if len(self.members) > self.settings.pool_size:
            self.members.remove(crowded(self.members))
        before, self.points = self.points, np.zeros((self.size + 1, self.size + 1))
        self.points[: self.size, : self.size] = before  # the learner's games so far are now the new member's
        self.recent = np.concatenate([self.recent * FORGET, np.zeros((2, 1))], 1)

    def _put(self, number: int, policy: Policy):
        self.players[number] = policy, policy.cast_weights()

    def begin_rollout(self, iteration: int):
        """Draw the possible opponents of the games that begin in this rollout."""
        count = min(self.settings.pool_active, len(self.members))
        generator = np.random.default_rng([self.seed, iteration])
        self.active = np.sort(generator.choice(self.members, count, replace=False, p=self.chances()))

    def chances(self) -> np.ndarray:
        """(M,) The probability of each member at the first draw."""
        won = self.win_rates()[self.members]
        weight = {"uniform": np.ones_like(won), "hard": (1 - won) ** 2, "even": won * (1 - won)}[self.settings.opponent_draw]
        weight = weight + 1e-3  # every member can be drawn
        return weight / weight.sum()

    def win_rates(self) -> np.ndarray:
        """(P,) The learner's recent share of the points against each member and former member; 1/2 before any game."""
        points, games = self.recent
        return (points + 0.5) / (games + 1)

    def draw(self, environments: np.ndarray, games: np.ndarray) -> np.ndarray:
        """The opponents of new games.

        environments: (E,) int64, the environments in which games begin.
        games: (E,) int64, the number of each game in its environment.
        Returns (E,) int64. Given the active members, each depends only on the seed, its environment and its game.
        """
        first, second = (uniform(self.seed, environments, games, k) for k in range(2))
        past = self.active[(second * len(self.active)).astype(np.int64)]
        return np.where(first < self.settings.current_share, CURRENT, past)

    def note(self, opponents: np.ndarray, returns: np.ndarray):
        """Record games of the learner.

        opponents: (E,) their numbers.
        returns: (E,) the learner's returns; only the sign counts.
        """
        past = opponents != CURRENT
        opponents, points = opponents[past], (np.sign(returns[past]) + 1) / 2
        np.add.at(self.points[-1], opponents, points)
        np.add.at(self.points[:, -1], opponents, 1 - points)
        np.add.at(self.recent[0], opponents, points)
        np.add.at(self.recent[1], opponents, 1)

    @property
    def fresh(self) -> tuple[float, float]:
        """The learner's points and games against the pool since the last member joined."""
        points = float(self.points[-1].sum())
        return points, points + float(self.points[:, -1].sum())

    def due(self, iteration: int) -> bool:
        """True if the policy joins after this iteration."""
        points, games = self.fresh
        threshold = self.settings.snapshot_win_rate
        strong = threshold is not None and games >= ENOUGH and points >= threshold * games
        return strong or iteration - self.joined[-1] >= self.settings.snapshot_every

    def tidy(self, playing: np.ndarray):
        """Drop the policies of former members without unfinished games; playing: the opponents of all current games."""
        for number in self.players.keys() - {*self.members, *playing.tolist()}:
            del self.players[number]

    def state(self) -> dict[str, torch.Tensor]:
        """Tensors for a checkpoint: the members' weights, and the record. Equal on all ranks."""
        record = {"members": np.array(self.members), "joined": np.array(self.joined), "points": self.points,
                "recent": self.recent}
        weights = {f"player{number}.{name}": tensor for number, (policy, _) in self.players.items()
                   for name, tensor in policy.state_dict().items()}
        return {name: torch.from_numpy(array.copy()) for name, array in record.items()} | weights

    def restore(self, state: dict[str, torch.Tensor]):
        """Restore the result of `state`."""
        self.members, self.joined = state["members"].tolist(), state["joined"].tolist()
        self.points, self.recent = state["points"].numpy().copy(), state["recent"].numpy().copy()
        self.players.clear()
        for number in {int(name.split(".")[0][6:]) for name in state if name.startswith("player")}:
            policy = self.new_policy()
            policy.load_state_dict(under(f"player{number}.", state))
            self._put(number, policy)


def crowded(members: list[int]) -> int:
    """The leaving member, of two or more in the order of joining: the rule is at the head of this file."""
    inner = range(1, len(members) - 1)
    return members[min(inner, key=lambda k: members[k + 1] - members[k - 1], default=0)]


def uniform(seed: int, environments: np.ndarray, games: np.ndarray, draw: int) -> np.ndarray:
    """(E,) float64 in [0, 1): a random number for each environment and game.

    Three rounds of SplitMix64, each with one more of the keys (Steele, Lea and Flood, "Fast splittable pseudorandom number
    generators", OOPSLA 2014).
    """
    with np.errstate(over="ignore"):
        bits = np.full(len(games), seed % 2**64, np.uint64)
        for word in (environments, games, np.full(len(games), draw)):
            bits = (bits ^ word.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(11)) * 2.0**-53

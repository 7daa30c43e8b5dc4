"""The pool of past policies that self-play draws opponents from, and the record of the games against them.

A policy joins as a member, numbered from 0, the untrained one, in the order of joining. A full pool makes room by giving up
the member whose two neighbours in time are nearest to each other, neither the first nor the newest, so that those which stay
are spread over the whole training; its games under way are played to their end, and its results stay in the record.

The learner changes while it plays. Its games since the last member joined are put down as games of the next member, which it
is about to become; those against the current policy are put down nowhere.
"""

from collections.abc import Callable

import numpy as np
import torch

from trainer.config import SelfPlayConfig
from trainer.policy.policy import Policy

CURRENT = -1      # the number of an opponent that is the policy itself, with the weights of the rollout
ENOUGH = 100      # games, before their win rate lets a policy join
FORGET = 0.5      # what is left, when a member joins, of how games against the older ones count for drawing opponents


class Pool:
    """Members by number, and the results of all who ever were members.

    policy: the learner's, and weights: what it acts with (Policy.cast_weights), which the current policy's games are played
    by. new_network: makes a network of its kind. seed: of the draws.
    """

    def __init__(self, config: SelfPlayConfig, policy: Policy, weights: dict[str, torch.Tensor],
                 new_network: Callable[[], Policy], seed: int):
        self.config, self.policy, self.weights, self.new_network, self.seed = config, policy, weights, new_network, seed
        self.players: dict[int, tuple[Policy, dict[str, torch.Tensor]]] = {}  # members, and those whose last games go on
        self.members: list[int] = []
        self.joined: list[int] = []                       # at which iteration, by number
        self.points = np.zeros((1, 1))                    # [i, j]: what i got against j; the last player is the learner
        self.recent = np.zeros((2, 0))                    # the learner's points and games, older ones counting less
        self.active = np.zeros(0, np.int64)               # whom games begin against in this rollout
        self.add(0)
        self.begin_rollout(0)

    @property
    def size(self) -> int:
        """Who ever joined."""
        return len(self.joined)

    def player(self, number: int) -> tuple[Policy, dict[str, torch.Tensor]]:
        """A network, and the weights for its steps."""
        return (self.policy, self.weights) if number == CURRENT else self.players[number]

    def add(self, iteration: int):
        """The policy as it is now joins; one makes room for it where the pool is full."""
        network = self.new_network()
        network.load_state_dict(self.policy.state_dict())
        self._put(self.size, network)
        self.members.append(self.size)
        self.joined.append(iteration)
        if len(self.members) > self.config.pool_size:
            self.members.remove(crowded(self.members))
        before, self.points = self.points, np.zeros((self.size + 1, self.size + 1))
        self.points[: self.size, : self.size] = before  # the learner's games so far are now the new member's
        self.recent = np.concatenate([self.recent * FORGET, np.zeros((2, 1))], 1)

    def _put(self, number: int, network: Policy):
        self.players[number] = network, network.cast_weights()

    def begin_rollout(self, iteration: int):
        """Draw whom games that begin in this rollout are played against."""
        count = min(self.config.pool_active, len(self.members))
        generator = np.random.default_rng([self.seed, iteration])
        self.active = np.sort(generator.choice(self.members, count, replace=False, p=self.chances()))

    def chances(self) -> np.ndarray:
        """(M,) The probability of each member, to be drawn first."""
        won = self.win_rates()[self.members]
        weight = {"uniform": np.ones_like(won), "hard": (1 - won) ** 2, "even": won * (1 - won)}[self.config.opponent_draw]
        weight = weight + 1e-3  # none is out of the question
        return weight / weight.sum()

    def win_rates(self) -> np.ndarray:
        """(P,) The learner's share of the points against each who ever joined, of late; 1/2 before they met."""
        points, games = self.recent
        return (points + 0.5) / (games + 1)

    def draw(self, environments: np.ndarray, games: np.ndarray) -> np.ndarray:
        """(E,) int64: opponents for the games of these numbers in these environments, whatever else is drawn."""
        first, second = (uniform(self.seed, environments, games, k) for k in range(2))
        past = self.active[(second * len(self.active)).astype(np.int64)]
        return np.where(first < self.config.current_share, CURRENT, past)

    def note(self, opponents: np.ndarray, returns: np.ndarray):
        """Put down games of the learner's: (E,) against whom, and what it got, of which the sign counts."""
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
        """Whether the policy joins after so many iterations."""
        points, games = self.fresh
        threshold = self.config.snapshot_win_rate
        strong = threshold is not None and games >= ENOUGH and points >= threshold * games
        return strong or iteration - self.joined[-1] >= self.config.snapshot_every

    def tidy(self, playing: np.ndarray):
        """Give up the networks of those who left and play no more; playing: the opponents of the games under way."""
        for number in self.players.keys() - {*self.members, *playing.tolist()}:
            del self.players[number]

    def state(self) -> dict[str, torch.Tensor]:
        """For a checkpoint: the members' weights, and the record."""
        kept = {"members": np.array(self.members), "joined": np.array(self.joined), "points": self.points,
                "recent": self.recent}
        weights = {f"player{number}.{name}": tensor for number, (network, _) in self.players.items()
                   for name, tensor in network.state_dict().items()}
        return {name: torch.from_numpy(array.copy()) for name, array in kept.items()} | weights

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        self.members, self.joined = state["members"].tolist(), state["joined"].tolist()
        self.points, self.recent = state["points"].numpy().copy(), state["recent"].numpy().copy()
        self.players.clear()
        for number in {int(name.split(".")[0][6:]) for name in state if name.startswith("player")}:
            network, prefix = self.new_network(), f"player{number}."
            network.load_state_dict({name.removeprefix(prefix): one for name, one in state.items() if name.startswith(prefix)})
            self._put(number, network)


def crowded(members: list[int]) -> int:
    """Of two or more members in the order of joining, the one to give up: see the module's first lines."""
    inner = range(1, len(members) - 1)
    return members[min(inner, key=lambda k: members[k + 1] - members[k - 1], default=0)]


def uniform(seed: int, environments: np.ndarray, games: np.ndarray, draw: int) -> np.ndarray:
    """(E,) float64 in [0, 1), drawn for each environment and game: three rounds of SplitMix64 (Steele, Lea and Flood, "Fast
    splittable pseudorandom number generators", OOPSLA 2014), each with one more of the numbers taken in."""
    with np.errstate(over="ignore"):
        bits = np.full(len(games), seed % 2**64, np.uint64)
        for word in (environments, games, np.full(len(games), draw)):
            bits = (bits ^ word.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(11)) * 2.0**-53

"""What a session of self-play holds beside the learner: the pool, the games against the game's own opponents, the ratings."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import envs_c
from trainer.config import Config, EnvConfig
from trainer.config.config import GYM
from trainer.environments import make_env
from trainer.errors import ConfigError
from trainer.files import write_atomically
from trainer.policy.policy import Policy
from trainer.ranks import Ranks
from trainer.self_play import ratings
from trainer.self_play.opponents import Opponents
from trainer.self_play.pool import Pool
from trainer.self_play.source import SelfPlaySource

RATINGS = "ratings.json"
SETTINGS = ("frame_skip", "sticky", "noop_max", "time_limit", "reward_clip", "sim")  # which self-play leaves as they are
SHOWN = 8  # members in the table


def make_self_play(config: Config, first: int = 0) -> SelfPlaySource:
    """The environments of a run of self-play; `first` is the number of the first one, where they are some of a run's.

    Raises ConfigError where the game or a setting does not go with it."""
    check(config)
    both = envs_c.game(config.game).two_players.both
    env = replace(config.env, options=config.env.options | both)
    return SelfPlaySource(make_env(config.game, env, env.num_envs, config.run.seed, first))


def check(config: Config):
    """Raises ConfigError where the game is none for two players, or a setting does not go with self-play."""
    known = [name for name in envs_c.games() if envs_c.game(name).two_players is not None]
    if config.game.startswith(GYM) or envs_c.game(config.game).two_players is None:
        raise ConfigError(f"self_play is true, but {config.game} is no game of this suite for two players, as "
                          f"{', '.join(known)} is; leave --self-play out")
    limit = envs_c.game(config.game).time_limit
    if limit:
        raise ConfigError(f"self_play is true, but {config.game} cuts its episodes off after {limit:,} steps, and in "
                          "self-play a game ends by its rules alone; leave --self-play out")
    default = EnvConfig()
    changed = [f"{name} is {getattr(config.env, name)}" for name in SETTINGS
               if getattr(config.env, name) != getattr(default, name)]
    if changed:
        raise ConfigError(f"{' and '.join(changed)}: in self-play each step is one side's move, and a game ends by its rules; "
                          f"leave {'them' if len(changed) > 1 else 'it'} out")


class League:
    """The pool's policies and the built-in opponents, all of them rated by the games between them.

    policy, weights: the learner's, and those that it acts with; new_network: makes one of its kind.
    """

    def __init__(self, config: Config, source: SelfPlaySource, policy: Policy, weights, new_network, device: torch.device):
        seed = config.run.seed
        self.config, self.source = config, source
        self.pool = Pool(config.self_play, policy, weights, new_network, seed)
        source.opponents = Opponents(self.pool, policy, source, device, seed)
        self.anchors: dict[str, dict] = envs_c.game(config.game).two_players.opponents
        self.anchor_points = np.zeros((len(self.anchors), 2, 1))  # points and games of each member and the learner
        self.rated = 0  # members whose games against them were played
        self.figures: dict[str, float | None] = {"rating": None} | {f"win_rate_{name}": None for name in self.anchors}

    def begin(self, iteration: int):
        """Before a rollout."""
        self.pool.begin_rollout(iteration)

    def end(self, iteration: int, ranks: Ranks):
        """After an iteration: put down the games that ended, on any rank; the policy joins the pool where that is due."""
        noted, self.source.noted = self.source.noted, []
        every = ranks.everyone((noted, np.unique(self.source.opponent)))
        for opponents, returns in itertools.chain.from_iterable(games for games, _ in every):
            self.pool.note(opponents, returns)
        self.pool.tidy(np.concatenate([playing for _, playing in every]))
        if self.pool.due(iteration):
            self.pool.add(iteration)

    def note_anchor(self, name: str, returns: np.ndarray, player: int):
        """Games of a member, or at number `pool.size` of the learner, against a built-in opponent: what it got in each."""
        room = self.pool.size + 1 - self.anchor_points.shape[2]
        self.anchor_points = np.concatenate([self.anchor_points, np.zeros((len(self.anchors), 2, room))], 2)
        points = (np.sign(returns) + 1) / 2
        self.anchor_points[list(self.anchors).index(name), :, player] += points.sum(), len(points)
        self.figures[f"win_rate_{name}"] = float(points.mean())

    def rate(self, number: int):
        """Fit the ratings anew: that of member `number`, the newest, is the run's."""
        self.rated = number + 1
        self.figures["rating"] = float(self.ratings().rating[len(self.anchors) + number])

    def metrics(self) -> dict[str, float | None]:
        """For the log of an iteration."""
        points, games = self.pool.fresh
        return {"pool_size": len(self.pool.members), "win_rate_pool": points / games if games else None, **self.figures}

    def ratings(self) -> ratings.Ratings:
        """Of the built-in opponents, all who ever joined, and the learner, in this order."""
        return ratings.fit(self._points())

    def _points(self) -> np.ndarray:
        """What each of them got against each."""
        first, known = len(self.anchors), self.anchor_points.shape[2]
        points = np.zeros((first + self.pool.size + 1,) * 2)
        points[first:, first:] = self.pool.points
        points[first: first + known, :first] = self.anchor_points[:, 0].T
        points[:first, first: first + known] = self.anchor_points[:, 1] - self.anchor_points[:, 0]
        return points

    def table(self) -> list[dict]:
        """A row a player: name, rating and its standard error, games; of who ever joined, when, and if it is in the pool."""
        fitted, points = self.ratings(), self._points()
        names = [*self.anchors, *(f"policy {number}" for number in range(self.pool.size)), "learner"]
        played = (points + points.T).sum(1)
        rows = [{"name": name, "rating": float(rating), "error": float(error), "games": round(games)}
                for name, rating, error, games in zip(names, *fitted, played, strict=True)]
        for number, joined in enumerate(self.pool.joined):
            rows[len(self.anchors) + number] |= {"step": joined * self.config.batch_steps,
                                                 "in_pool": number in self.pool.members}
        return rows

    def write(self, folder: Path):
        """ratings.json."""
        write_atomically(folder / RATINGS, [json.dumps({"players": self.table()}, indent=2).encode() + b"\n"])

    def describe(self) -> str:
        """The table in lines, the strongest first: built-in opponents, the learner, and some of the pool."""
        rows = self.table()
        members = [row for row in rows if row.get("in_pool")]
        chosen = {round(k) for k in np.linspace(0, len(members) - 1, min(SHOWN, len(members)))}
        shown = [row for row in rows if "step" not in row] + [members[k] for k in sorted(chosen)]
        lines = [f"{'player':<14}{'rating':>8}{'error':>8}{'games':>10}{'joined at step':>18}"]
        for row in sorted(shown, key=lambda row: -row["rating"]):
            step = f"{row['step']:,}" if "step" in row else ""
            line = f"{row['name']:<14}{row['rating']:>8.0f}{row['error']:>8.0f}{row['games']:>10,}{step:>18}"
            lines.append(line.rstrip())
        return "\n".join(lines)

    def state(self) -> dict[str, torch.Tensor]:
        """For a checkpoint."""
        figures = [float("nan") if value is None else value for value in self.figures.values()]
        return self.pool.state() | {"rated": torch.tensor(self.rated), "figures": torch.tensor(figures, dtype=torch.float64),
                                    "anchor_points": torch.from_numpy(self.anchor_points.copy())}

    def restore(self, state: dict[str, torch.Tensor]):
        """Put back what `state` gave."""
        self.pool.restore(state)
        self.anchor_points = state["anchor_points"].numpy().copy()
        self.rated = int(state["rated"])
        self.figures = {name: None if value != value else value
                        for name, value in zip(self.figures, state["figures"].tolist(), strict=True)}

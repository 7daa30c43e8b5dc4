"""The state of self-play beside the learner: the pool, the games against the game's own opponents, and the ratings."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import envs_c
from envs_c.files import write_atomically
from trainer.config import EnvConfig, SelfPlayConfig
from trainer.config.games import GameName, find_game
from trainer.environments import make_env
from trainer.errors import SettingError
from trainer.files import writing
from trainer.policy.policy import Policy
from trainer.ranks import Ranks
from trainer.runs.metrics import ADVICE
from trainer.self_play import ratings
from trainer.self_play.device_opponents import DeviceOpponents
from trainer.self_play.opponents import Opponents
from trainer.self_play.pool import Pool
from trainer.self_play.source import SelfPlaySource

RATINGS = "ratings.json"
SETTINGS = ("frame_skip", "sticky", "noop_max", "time_limit", "reward_clip", "sim")  # must have their defaults in self-play
SHOWN = 8  # members in the printed table


def make_self_play(game: GameName, env: EnvConfig, seed: int, first: int = 0) -> SelfPlaySource:
    """The environments of a self-play run.

    game: name of a two-player game.
    env: the section env.
    seed: of the environments.
    first: number of the first environment, if this process has only a part of them.

    Raises SettingError if the game or a setting does not fit self-play.
    """
    check(game, env)
    make_env(game, env, 1, seed).close()  # with the options of evaluations, which self-play replaces
    both = find_game(game).two_players.both
    return SelfPlaySource(make_env(game, replace(env, options=env.options | both), env.num_envs, seed, first))


def check(game: GameName, env: EnvConfig):
    """Raises SettingError if the game is not a two-player game, or a setting does not fit self-play."""
    if game.is_gym or find_game(game).two_players is None:
        known = [name for name in envs_c.games() if envs_c.game(name).two_players is not None]
        raise SettingError("self_play", f"must be false for {game}: self-play needs a two-player game of this package "
                                        f"({', '.join(known)})")
    limit = find_game(game).time_limit
    if limit:
        raise SettingError("self_play", f"must be false for {game}, whose episodes are cut off after {limit:,} steps: in "
                                        "self-play a game ends only by its own rules")
    default = EnvConfig()
    for name in SETTINGS:
        value, required = getattr(env, name), getattr(default, name)
        if value != required:
            raise SettingError(name, f"must be {'none' if required is None else required} in self-play, not {value}: each step "
                                     "is one player's move, and a game ends only by its own rules")


class League:
    """The policies of the pool and the game's own opponents, rated by the games between them.

    The game's own opponents are the anchors: their strength does not change, so ratings of different runs can be compared.

    game, env, settings, seed: the game, the sections env and self_play, and the seed of the run, equal on all ranks.
    source: the environments of this process; gets its opponents from the league.
    policy: the learner's policy.
    weights: the learner's weights for steps (Policy.cast_weights).
    new_policy: makes a policy of the same kind.
    device: the policies' device.
    batch_steps: steps of one iteration, all environments together.
    new_stream: makes a stream of a GPU.
    acting: as for `Pool`.
    """

    def __init__(self, game: GameName, env: EnvConfig, settings: SelfPlayConfig, seed: int, source: SelfPlaySource,
                 policy: Policy, weights, new_policy, device: torch.device, batch_steps: int, new_stream=None,
                 acting: Policy | None = None):
        self.game, self.env, self.settings, self.seed, self.source = game, env, settings, seed, source
        self.batch_steps = batch_steps
        self.pool = Pool(settings, policy, weights, new_policy, seed, acting)
        if device.type == "cuda":
            source.opponents = DeviceOpponents(self.pool, policy, source, device, seed, new_stream)
        else:
            source.opponents = Opponents(self.pool, policy, source, device, seed)
        self.anchors: dict[str, dict] = find_game(game).two_players.opponents  # the game's options for each
        self.anchor_points = np.zeros((len(self.anchors), 2, 1))  # points and games of each member and of the learner
        self.rated = 0  # members with games against the anchors
        self.latest: dict[str, float | None] = {"rating": None} | {f"win_rate_{name}": None for name in self.anchors}

    def rating_at(self, iteration: int) -> float | None:
        """The rating of the policy as it is after this iteration; None unless it has just joined the pool and was rated."""
        return self.latest["rating"] if self.pool.joined[-1] == iteration else None

    def begin(self, iteration: int):
        """Choose the opponents of a new rollout."""
        self.pool.begin_rollout(iteration)

    def end(self, iteration: int, ranks: Ranks):
        """Record the finished games of this iteration, on all ranks. The policy joins the pool if it is due."""
        finished, self.source.finished = self.source.finished, []
        every = ranks.everyone((finished, np.unique(self.source.opponent)))
        for opponents, returns in itertools.chain.from_iterable(games for games, _ in every):
            self.pool.note(opponents, returns)
        self.pool.tidy(np.concatenate([playing for _, playing in every]))
        if self.pool.due(iteration):
            self.pool.add(iteration)

    def note_anchor(self, name: str, returns: np.ndarray, player: int):
        """Record games against an anchor.

        name: of the anchor.
        returns: (E,) the player's returns; only the sign counts.
        player: number of the member; `pool.size` is the learner.
        """
        room = self.pool.size + 1 - self.anchor_points.shape[2]
        self.anchor_points = np.concatenate([self.anchor_points, np.zeros((len(self.anchors), 2, room))], 2)
        points = (np.sign(returns) + 1) / 2
        self.anchor_points[list(self.anchors).index(name), :, player] += points.sum(), len(points)
        self.latest[f"win_rate_{name}"] = float(points.mean())

    def rate(self, number: int):
        """Compute all ratings again; the run's rating is the rating of member `number`, the newest."""
        self.rated = number + 1
        self.latest["rating"] = float(self.ratings().rating[len(self.anchors) + number])

    def metrics(self) -> dict[str, float | None]:
        """The metrics of an iteration."""
        points, games = self.pool.fresh
        return {"pool_size": len(self.pool.members), "win_rate_pool": points / games if games else None, **self.latest}

    def ratings(self) -> ratings.Ratings:
        """The ratings of the anchors, of all members and former members, and of the learner, in this order."""
        return ratings.fit(self._points())

    def _points(self) -> np.ndarray:
        """(P, P) The points of each player against each other, in the order of `ratings`."""
        first, known = len(self.anchors), self.anchor_points.shape[2]
        points = np.zeros((first + self.pool.size + 1,) * 2)
        points[first:, first:] = self.pool.points
        points[first: first + known, :first] = self.anchor_points[:, 0].T
        points[:first, first: first + known] = self.anchor_points[:, 1] - self.anchor_points[:, 0]
        return points

    def table(self) -> list[dict]:
        """One row for each player: name, rating, its standard error, and games. Members also have the step of joining, and
        `in_pool`, which is False after they left."""
        fitted, points = self.ratings(), self._points()
        names = [*self.anchors, *(f"policy {number}" for number in range(self.pool.size)), "learner"]
        played = (points + points.T).sum(1)
        rows = [{"name": name, "rating": float(rating), "error": float(error), "games": round(games)}
                for name, rating, error, games in zip(names, *fitted, played, strict=True)]
        for number, joined in enumerate(self.pool.joined):
            rows[len(self.anchors) + number] |= {"step": joined * self.batch_steps, "in_pool": number in self.pool.members}
        return rows

    def write(self, folder: Path):
        """Write ratings.json. Raises FileError."""
        with writing(folder / RATINGS, ADVICE):
            write_atomically(folder / RATINGS, [json.dumps({"players": self.table()}, indent=2).encode() + b"\n"])

    def describe(self) -> str:
        """The table as text, the strongest first: the anchors, the learner, and at most SHOWN members."""
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
        """Tensors for a checkpoint."""
        latest = [float("nan") if value is None else value for value in self.latest.values()]
        return self.pool.state() | {"rated": torch.tensor(self.rated), "figures": torch.tensor(latest, dtype=torch.float64),
                                    "anchor_points": torch.from_numpy(self.anchor_points.copy())}

    def restore(self, state: dict[str, torch.Tensor]):
        """Restore the result of `state`."""
        self.pool.restore(state)
        self.anchor_points = state["anchor_points"].numpy().copy()
        self.rated = int(state["rated"])
        self.latest = {name: None if value != value else value
                       for name, value in zip(self.latest, state["figures"].tolist(), strict=True)}

    def environment_dims(self) -> dict[str, int | str]:
        """Empty: the league's tensors are equal on all ranks."""
        return {}

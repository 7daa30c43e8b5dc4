"""`TrainingSession`: the parts and counters of a training. It holds them, saves them and restores them."""

import math
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

import envs_c
from bridge import Pipeline
from bridge.on_device.pipeline import OnDevicePipeline
from bridge.on_device.snapshots import with_snapshot
from bridge.source import Episodes
from trainer.config import Config
from trainer.environments import resumed_seed
from trainer.errors import CheckpointError
from trainer.policy.policy import Policy
from trainer.ppo.learner import Learner
from trainer.ranks import Ranks
from trainer.rollout.actor import Actor
from trainer.rollout.storage import Storage
from trainer.runs import checkpoint
from trainer.runs.checkpoint import Checkpoint
from trainer.runs.evaluation import RECENT, enough
from trainer.self_play.league import League
from trainer.tensors import form, require_forms, under, with_prefix
from trainer.training import shares
from trainer.training.callbacks import Callbacks
from trainer.training.judge import Judge
from trainer.training.overlap import Overlap

# Observations, which a normalizer clips, and the league's figures, of which NaN means none.
_MAY_BE_INFINITE = {"observation", "final_observation", "frames", "sample", "figures"}


@dataclass
class TrainingSession:
    """Environments, policy, optimizer and counters of a run; trainer/training/build.py makes it.

    With several ranks each has a session with its share of the environments, and all make the same calls in the same order.
    """

    config: Config                        # of the whole run
    ranks: Ranks
    pipeline: Pipeline | OnDevicePipeline
    policy: Policy
    storage: Storage                      # the rollout to learn from
    actor: Actor
    learner: Learner
    league: League | None                 # the opponents of self-play
    generator: torch.Generator            # of the minibatches
    facts: dict[str, str]                 # for the log
    judge: Judge                          # of the policy's records
    overlap: Overlap | None = None        # if the next rollout is played during an update
    recent: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=RECENT))  # return, length; newest last
    episodes: int = 0                     # finished
    iteration: int = 0                    # rollouts played and learned from
    seconds: float = 0.0                  # of training, over all sessions of the run
    saved: Path | None = None             # the last checkpoint
    folders: dict[Path, int] = field(default_factory=dict)  # resolved: step of the checkpoint it wrote last or resumed from
    notes: list[str] = field(default_factory=list)  # lines about its start, for the user
    callbacks: Callbacks = field(default_factory=Callbacks)
    stopped: bool = False                 # after `stop`
    closed: bool = False                  # after `close`

    @property
    def device(self) -> torch.device:
        """The device of the policy."""
        return self.pipeline.device

    @property
    def step(self) -> int:
        """Steps so far, all environments together."""
        return self.iteration * self.config.batch_steps

    @property
    def rating(self) -> float | None:
        """The rating of the present policy in self-play; None unless it has joined the pool in this iteration."""
        return None if self.league is None else self.league.rating_at(self.iteration)

    def stop(self) -> None:
        """End the training after this iteration, with a checkpoint and without an evaluation; for callbacks."""
        self.stopped = True

    def rollouts(self) -> list[tuple[int, Storage]]:
        """The stored rollouts, each with the steps of every environment before it."""
        played = self.actor.step - self.storage.horizon, self.actor.storage
        return [played] if self.overlap is None else [(self.iteration * self.storage.horizon, self.storage), played]

    def note_episodes(self):
        """Count the episodes finished since the last call, on all ranks."""
        returns, lengths, _ = interleaved(self.ranks.everyone(self.pipeline.take_episodes()))
        self.recent.extend(zip(returns.tolist(), lengths.tolist(), strict=True))
        self.episodes += len(returns)
        if self.callbacks.on_episode is not None:
            for score, length in zip(returns.tolist(), lengths.tolist(), strict=True):
                self.callbacks.episode(self, score, length)

    def score_mean(self) -> float | None:
        """The mean raw return of the recent episodes; None before the first."""
        return sum(score for score, _ in self.recent) / len(self.recent) if self.recent else None

    def length_mean(self) -> float | None:
        """The mean length of the recent episodes in steps; None before the first."""
        return sum(length for _, length in self.recent) / len(self.recent) if self.recent else None

    def environment_dims(self) -> dict[str, int | str]:
        """The environment dimension of the checkpoint's tensors, by name; other tensors are equal on all ranks.

        The value "snapshot" means the snapshot bytes of envs_c.
        """
        return {prefix + name: dim for prefix, part in self._parts().items() for name, dim in part.environment_dims().items()}

    def save(self, folder: Path) -> Path:
        """Write a checkpoint, from which a resumed run goes on bit for bit (on the CPU); returns its path.

        All ranks call it and rank 0 writes. Raises RanksError if the weights of the ranks differ.
        """
        tensors = with_prefix("policy.", self.policy.state_dict()) | {"generator": self.generator.get_state()}
        for prefix, part in self._parts().items():
            tensors |= with_prefix(prefix, part.state())
        path = checkpoint.path_of(folder, self.step)
        since = self.folders.setdefault(folder.resolve(), self.step)
        tensors = shares.gather(self.ranks, tensors, self.environment_dims())
        if tensors is None:
            self.saved = path
            return path
        meta = {"config": self.config.to_dict(), "precision": precision_name(self.policy.precision),
                "num_batches": len(self.pipeline.batches), "iteration": self.iteration, "seconds": self.seconds,
                "episodes": self.episodes, "recent": list(self.recent), "judged": self.judge.state()}
        score, stand_in = self._record()
        checkpoint.save(folder, self.step, tensors, meta, score=score, stand_in=stand_in, since=since)
        self.folders[folder.resolve()] = self.step
        if self.league is not None:
            self.league.write(folder)
        self.saved = path
        self.callbacks.checkpoint(self, path)
        return path

    def _record(self) -> tuple[float | None, float | None]:
        """The score by which a checkpoint may become the best one, and what stands in for it, as for `checkpoint.save`."""
        if self.league is not None:
            return self.rating, -math.inf if self.recent else None
        if self.config.judges:
            return self.judge.score_at(self.step), self.judge.stands_in(self.step)
        if self.episodes < enough(self.config.env.num_envs):
            return None, -math.inf if self.recent else None
        return self.score_mean(), None

    def restore(self, content: Checkpoint, path: Path):
        """Restore the checkpoint read from `path`; any number of ranks may have written it.

        Raises CheckpointError if it does not fit the settings, or a number in it is infinite or NaN.
        """
        meta = checkpoint.progress(path, content.meta)
        finite = {name: one for name, one in content.tensors.items() if name.rpartition(".")[2] not in _MAY_BE_INFINITE}
        checkpoint.require_finite(path, finite, with_prefix("policy.", self.policy.state_dict()))
        try:
            tensors = shares.local(self.ranks, with_snapshot(content.tensors, "pipeline."), self.environment_dims())
            self._require_forms(tensors)
            self.policy.load_state_dict(under("policy.", tensors))
            anew = not self.pipeline.source.saves
            for prefix, part in self._parts().items():
                try:
                    part.restore(under(prefix, tensors))
                except envs_c.OtherVersion:
                    anew = True
                    self.notes.append(f"{self.config.game} has changed since {path} was written: new episodes begin")
            self.generator.set_state(tensors["generator"])
        except (IndexError, KeyError, RuntimeError, ValueError, envs_c.InvalidState) as error:
            raise CheckpointError(f"{path} does not fit this run's settings: {error}") from error
        self.iteration, self.seconds, self.episodes = meta["iteration"], meta["seconds"], meta["episodes"]
        ahead = self.overlap is not None and self.overlap.ready
        self.actor.step = (self.iteration + ahead) * self.config.ppo.horizon
        self.recent.extend((score, length) for score, length in meta["recent"])
        self.judge.restore(meta["judged"])
        self.saved = path
        self.folders[path.parent.resolve()] = self.step
        if anew:
            self.begin_episodes()

    def begin_episodes(self):
        """Begin new episodes in all environments, for a resumed run whose environments cannot go on."""
        if self.overlap is not None:
            self.overlap.drop()
        if self.league is not None:
            self.league.begin(self.iteration)  # chooses the opponents of the new games
        first = self.ranks.rank * self.pipeline.num_envs
        self.pipeline.source.reseed(resumed_seed(self.config.run.seed, self.step) + first)
        self.pipeline.reset()
        self.actor.begin_episodes()
        if self.learner.reward_norm is not None:
            self.learner.reward_norm.begin_episodes()

    def close(self):
        """End the threads of the environments, and close those that the trainer has made."""
        self.closed = True
        if self.overlap is not None:
            self.overlap.close()
        self.pipeline.close()

    def _require_forms(self, tensors: dict[str, torch.Tensor]):
        """Raises ValueError that names the first tensor that does not fit; the learner's are checked by itself."""
        wanted = with_prefix("policy.", self.policy.state_dict()) | {"generator": self.generator.get_state()}
        for prefix, part in (("actor.", self.actor), ("pipeline.", self.pipeline)):
            wanted |= with_prefix(prefix, part.state())
        if self.league is not None:
            wanted |= with_prefix("league.", _league_forms(self.league, self.policy, under("league.", tensors)))
        if self.overlap is not None and under("ahead.", tensors):
            wanted |= with_prefix("ahead.", self.actor.storage.state())
        for name, dim in self.environment_dims().items():
            if dim == shares.SNAPSHOT and name in tensors:  # the environments check its size
                wanted[name] = form((tensors[name].numel(),), torch.uint8)
        require_forms({name: one for name, one in tensors.items() if not name.startswith("optimizer.")}, wanted)

    def _parts(self) -> dict[str, Learner | Actor | Pipeline | OnDevicePipeline | Overlap | League]:
        """The parts with a state, by the prefix of their tensors in a checkpoint."""
        parts = {"optimizer.": self.learner, "actor.": self.actor, "pipeline.": self.pipeline, "ahead.": self.overlap,
                 "league.": self.league}
        return {prefix: part for prefix, part in parts.items() if part is not None}


def _league_forms(league: League, policy: Policy, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The names, shapes and dtypes of a league's tensors. Their sizes follow from the number of policies that ever joined."""
    forms = {name: one for name, one in league.state().items() if not name.startswith("player")}
    if missing := sorted(forms.keys() - state.keys()):
        raise ValueError(f"it must have league.{missing[0]}, which is missing")
    count = state["joined"].numel()
    known = min(state["anchor_points"].shape[-1], count + 1)  # members with games against the anchors, and the learner
    shapes = {"joined": (count,), "members": (state["members"].numel(),), "points": (count + 1, count + 1),
              "recent": (2, count), "anchor_points": (len(league.anchors), 2, known)}
    forms |= {name: form(shape, forms[name].dtype) for name, shape in shapes.items()}
    players = {name.split(".")[0] for name in state if name.startswith("player")}
    for player in players | {f"player{number}" for number in state["members"].tolist()}:
        forms |= with_prefix(f"{player}.", policy.state_dict())
    return forms


def precision_name(dtype: torch.dtype) -> str:
    """float32 or bfloat16."""
    return str(dtype).removeprefix("torch.")


def interleaved(parts: list[Episodes]) -> Episodes:
    """The episodes of all ranks, approximately in the order in which they ended: each rank's are spread evenly."""
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([(np.arange(len(part.returns)) + 0.5) / max(len(part.returns), 1) for part in parts]),
                       kind="stable")
    return Episodes(*(np.concatenate(columns)[order] for columns in zip(*parts, strict=True)))

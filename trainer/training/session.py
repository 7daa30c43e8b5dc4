"""Everything that one training run holds, made from its config, saved to a checkpoint and brought back from one."""

from collections import deque
from pathlib import Path

import numpy as np
import torch

import envs_c
from bridge import Pipeline, open_device, probe
from bridge.on_device.pipeline import OnDevicePipeline
from bridge.source import Episodes
from envs_c.checks import cores
from trainer.config import Config
from trainer.environments import make_simulation, make_source
from trainer.errors import CheckpointError
from trainer.policy import precision
from trainer.policy.make import make_policy
from trainer.ppo.learner import Learner
from trainer.process import keep_freed_memory
from trainer.ranks import ALONE, Ranks
from trainer.rollout.actor import Actor, Storage
from trainer.runs import checkpoint
from trainer.self_play.league import League, make_self_play
from trainer.tensors import under, with_prefix
from trainer.training import shares as sharing

GRAPHS = True  # whether work is captured where the device can
RECENT = 256  # episodes that score_mean is the mean of


class Session:
    """Environments, policy, optimizer and counters of a run; `iteration` rollouts have been learned from.

    Of many ranks, each makes a session of its own, with its share of the environments; what they have to agree on, rank 0
    chooses. They make the same calls in the same order.
    """

    def __init__(self, config: Config, dtype: torch.dtype | None = None, num_batches: int | None = None, ranks: Ranks = ALONE):
        """dtype, num_batches: those that the run was started with; None chooses them."""
        keep_freed_memory()
        self.config, self.ranks = config, ranks
        share = sharing.share_of(config, ranks, ranks.device(config.run.device))
        opened = open_device(share.run.device)
        self.device = opened.torch_device
        self.threads = share.env.num_threads or cores()
        torch.set_num_threads(self.threads)  # one team size for games and products; libgomp is slow to change it
        if dtype is None:
            dtype, self.precision_reason = ranks.first(lambda: precision.choose(config.policy.precision, self.device))
        else:
            self.precision_reason = "as the run was started"
        if num_batches is None:
            num_batches, self.batches_reason = ranks.first(lambda: choose_batches(share, opened))
        else:
            self.batches_reason = "as the run was started"
        self.pipeline = make_pipeline(share, opened, num_batches, ranks.rank * share.env.num_envs)
        policy = make_policy(config.policy, self.pipeline.source, config.run.seed, dtype)
        if ranks.joined:  # another processor's orthogonal weights may differ in their last bits
            policy.load_state_dict(ranks.first(policy.state_dict))
        self.policy = policy.to(self.device)
        self.storage = Storage.empty(config.ppo.horizon, self.pipeline, self.policy)
        self.actor = Actor(self.policy, self.pipeline, self.storage, config.run.seed, ranks=ranks)
        self.league = self._make_league(dtype) if config.self_play.self_play else None
        self.generator = torch.Generator().manual_seed(config.run.seed)
        self.learner = Learner(self.policy, self.storage, config.ppo, share.sequences_per_minibatch, self.generator,
                               self.pipeline.new_stream(), GRAPHS, ranks)
        self.recent: deque[tuple[float, int]] = deque(maxlen=RECENT)  # raw return and length of episodes, newest last
        self.episodes = 0
        self.iteration = 0
        self.seconds = 0.0  # of training, over all sittings
        self.pipeline.reset()

    def _make_league(self, dtype: torch.dtype) -> League:
        """The opponents of self-play."""
        source = self.pipeline.source
        return League(self.config, source, self.policy, self.actor.weights,
                      lambda: make_policy(self.config.policy, source, self.config.run.seed, dtype).to(self.device), self.device)

    @property
    def step(self) -> int:
        """Steps taken, all environments together."""
        return self.iteration * self.config.batch_steps

    @property
    def facts(self) -> dict[str, str]:
        """What the log says of the run beside its config."""
        name = str(self.policy.precision).removeprefix("torch.")
        several = {"ranks": str(self.ranks.size)} if self.ranks.joined else {}
        return {**several, "device": str(self.device), "precision": f"{name} ({self.precision_reason})",
                "threads": str(self.threads), "batches": f"{len(self.pipeline.batches)} ({self.batches_reason})",
                "parameters": f"{sum(p.numel() for p in self.policy.parameters()):,}"}

    def note_episodes(self):
        """Take the episodes that ended since the last call, on any rank, into the statistics."""
        returns, lengths, _ = interleaved(self.ranks.everyone(self.pipeline.take_episodes()))
        self.recent.extend(zip(returns.tolist(), lengths.tolist(), strict=True))
        self.episodes += len(returns)

    def score_mean(self) -> float | None:
        """The mean raw return of the episodes that ended lately, or None before the first."""
        return sum(score for score, _ in self.recent) / len(self.recent) if self.recent else None

    def length_mean(self) -> float | None:
        """The mean length of the same episodes, in steps."""
        return sum(length for _, length in self.recent) / len(self.recent) if self.recent else None

    def save(self, folder: Path) -> Path | None:
        """Write a checkpoint from which `resumed` goes on bit for bit (on the CPU). All ranks call it, and rank 0 writes;
        None on the others. Raises RanksError where their weights came apart."""
        tensors = with_prefix("policy.", self.policy.state_dict())
        tensors |= with_prefix("optimizer.", self.learner.state())
        tensors |= with_prefix("actor.", self.actor.state())
        tensors |= with_prefix("pipeline.", self.pipeline.state())
        if self.league is not None:
            tensors |= with_prefix("league.", self.league.state())
        tensors["generator"] = self.generator.get_state()
        tensors = sharing.whole(self.ranks, tensors)
        if tensors is None:
            return None
        meta = {"config": self.config.to_dict(), "precision": str(self.policy.precision).removeprefix("torch."),
                "num_batches": len(self.pipeline.batches),
                "iteration": self.iteration, "seconds": self.seconds, "episodes": self.episodes,
                "recent": list(self.recent)}
        score = self.score_mean() if self.league is None else self.league.figures["rating"]
        path = checkpoint.save(folder, self.step, tensors, meta, score=score)
        if self.league is not None:
            self.league.write(folder)
        return path

    @classmethod
    def resumed(cls, config: Config, path: Path, ranks: Ranks = ALONE) -> "Session":
        """The session that wrote the checkpoint at `path`, under `config`'s settings for this sitting; the ranks that
        there are now go on, however many wrote it."""
        tensors, meta = checkpoint.load(path)
        num_batches = min(meta["num_batches"], max(1, config.env.num_envs // ranks.size))
        session = cls(config, getattr(torch, meta["precision"]), num_batches, ranks)
        try:
            tensors = sharing.own(ranks, tensors)
            session.policy.load_state_dict(under("policy.", tensors))
            session.learner.restore(under("optimizer.", tensors))
            session.actor.restore(under("actor.", tensors))
            session.pipeline.restore(under("pipeline.", tensors))
            if session.league is not None:
                session.league.restore(under("league.", tensors))
            session.generator.set_state(tensors["generator"])
        except (KeyError, RuntimeError, ValueError, envs_c.InvalidState) as error:
            raise CheckpointError(f"{path} does not fit this run's settings: {error}") from error
        if not session.pipeline.source.saves:  # new episodes begin, also in what was restored of the old ones' last step
            session.pipeline.reset()
            session.actor.over.fill_(1)
        session.iteration, session.seconds = meta["iteration"], meta["seconds"]
        session.actor.step = session.iteration * config.ppo.horizon
        session.episodes = meta["episodes"]
        session.recent.extend((score, length) for score, length in meta["recent"])
        return session


def interleaved(parts: list[Episodes]) -> Episodes:
    """The episodes of all ranks about in the order that they ended in: each rank's are, and lie evenly among the others'."""
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([(np.arange(len(part.returns)) + 0.5) / max(len(part.returns), 1) for part in parts]),
                       kind="stable")
    return Episodes(*(np.concatenate(columns)[order] for columns in zip(*parts, strict=True)))


def make_pipeline(config: Config, device, num_batches: int, first: int = 0):
    """The pipeline of a run's environments; `first` is the number of the first one, where they are some of a run's."""
    env, seed = config.env, config.run.seed
    if config.self_play.self_play:
        return Pipeline(make_self_play(config, first), num_batches, device, serial=config.run.serial, graphs=GRAPHS)
    if env.sim != "host":
        simulation = make_simulation(config.game, env, env.num_envs, seed, device.torch_device, first)
        return OnDevicePipeline(simulation, device, serial=config.run.serial, graphs=GRAPHS)
    source = make_source(config.game, env, env.num_envs, seed, num_batches, first)
    return Pipeline(source, num_batches, device, serial=config.run.serial, graphs=GRAPHS)


def choose_batches(config: Config, device) -> tuple[int, str]:
    """How many batches, and a few words about the reason: as asked, or measured where there is something to overlap."""
    if config.env.sim != "host":
        return 1, "the games are played on the device"
    if config.env.num_batches:
        return config.env.num_batches, "as asked"
    if device.torch_device.type == "cpu":
        return 1, "nothing is copied on the CPU"
    source = make_source(config.game, config.env, config.env.num_envs, config.run.seed)
    choice = probe.choose(probe.measure(device), probe.slab_bytes(source), source.num_envs, probe.game_seconds(source))
    source.close()
    return choice.num_batches, choice.reason

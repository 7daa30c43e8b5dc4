"""Everything that one training run holds, made from its config, saved to a checkpoint and brought back from one."""

import dataclasses
import math
from collections import deque
from pathlib import Path

import numpy as np
import torch

import envs_c
from bridge import Pipeline
from trainer import checkpoint, precision
from trainer.config import Config, EnvConfig
from trainer.errors import CheckpointError, ConfigError
from trainer.policy import FeedForward, Policy
from trainer.rollout import Actor, Storage

RECENT = 256  # episodes that score_mean is the mean of


def device_of(name: str) -> torch.device:
    """The device for "auto", "cpu" or "cuda"; raises ConfigError where it is not there."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise ConfigError("device is 'cuda', but torch finds no CUDA device here; "
                          "use --device cpu, or install a CUDA build of torch and a driver")
    return torch.device(name)


def make_env(game: str, env: EnvConfig, num_envs: int, seed: int) -> envs_c.VecEnv:
    """The environments that a config describes, `num_envs` of them."""
    return envs_c.VecEnv(envs_c.game(game), num_envs, view=env.view, frame_skip=env.frame_skip, sticky=env.sticky,
                         noop_max=env.noop_max, time_limit=env.time_limit, reward_clip=env.reward_clip,
                         num_threads=env.num_threads, seed=seed, options=env.options)


def observation_scale(env: envs_c.VecEnv) -> float:
    """What observations are multiplied by: bytes come to 0 .. 1, float32 features are scaled by their game."""
    if env.observation_dtype != "uint8":
        return 1.0
    highest = 255.0 if env.view == "pixels" else float(np.max(env.feature_high))
    return 1.0 / min(highest, 255.0)


def make_policy(config: Config, env: envs_c.VecEnv, dtype: torch.dtype) -> Policy:
    """A fresh policy for these environments; its weights depend on the config's seed alone."""
    size = math.prod(env.observation_shape)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.run.seed)
        kind = {"lstm": Policy, "none": FeedForward}[config.policy.memory]
        return kind(size, len(env.actions), config.policy.encoder_size, config.policy.lstm_size,
                    scale=observation_scale(env), precision=dtype)


class Session:
    """Environments, policy, optimizer and counters of a run; `iteration` rollouts have been learned from."""

    def __init__(self, config: Config, dtype: torch.dtype | None = None):
        """dtype: the precision that the run was started in; None chooses it."""
        self.config = config
        self.device = device_of(config.run.device)
        self.env = make_env(config.game, config.env, config.env.num_envs, config.run.seed)
        torch.set_num_threads(self.env.num_threads)  # one team size for games and products; libgomp is slow to change it
        if dtype is None:
            dtype, self.precision_reason = precision.choose(config.policy.precision, self.device)
        else:
            self.precision_reason = "as the run was started"
        self.pipeline = Pipeline(self.env, config.env.num_batches, self.device)
        self.policy = make_policy(config, self.env, dtype).to(self.device)
        ppo = config.ppo
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=ppo.learning_rate, eps=ppo.adam_eps,
                                          betas=(ppo.adam_beta1, ppo.adam_beta2), fused=True)
        self.storage = Storage.empty(ppo.horizon, self.pipeline, self.policy)
        self.actor = Actor(self.policy, self.pipeline, config.run.seed)
        self.generator = torch.Generator().manual_seed(config.run.seed)
        self.recent: deque[tuple[float, int]] = deque(maxlen=RECENT)  # raw return and length of episodes, newest last
        self.episodes = 0
        self.iteration = 0
        self.seconds = 0.0  # of training, over all sittings
        self.pipeline.reset()

    @property
    def step(self) -> int:
        """Steps taken, all environments together."""
        return self.iteration * self.config.batch_steps

    @property
    def facts(self) -> dict[str, str]:
        """What the log says of the run beside its config."""
        name = str(self.policy.precision).removeprefix("torch.")
        return {"device": str(self.device), "precision": f"{name} ({self.precision_reason})",
                "threads": str(self.env.num_threads),
                "parameters": f"{sum(p.numel() for p in self.policy.parameters()):,}"}

    def note_episodes(self):
        """Take the episodes that ended since the last call into the statistics."""
        returns, lengths = self.pipeline.take_episodes()
        self.recent.extend(zip(returns.tolist(), lengths.tolist(), strict=True))
        self.episodes += len(returns)

    def score_mean(self) -> float | None:
        """The mean raw return of the episodes that ended lately, or None before the first."""
        return sum(score for score, _ in self.recent) / len(self.recent) if self.recent else None

    def length_mean(self) -> float | None:
        """The mean length of the same episodes, in steps."""
        return sum(length for _, length in self.recent) / len(self.recent) if self.recent else None

    def save(self, folder: Path) -> Path:
        """Write a checkpoint from which `resumed` goes on bit for bit (on the CPU)."""
        tensors = {f"policy.{name}": tensor for name, tensor in self.policy.state_dict().items()}
        for name, parameter in self.policy.named_parameters():
            for key, tensor in self.optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer.{name}.{key}"] = tensor
        tensors |= {f"actor.{name}": tensor for name, tensor in self.actor.state().items()}
        tensors |= {f"pipeline.{name}": tensor for name, tensor in self.pipeline.state().items()}
        tensors["generator"] = self.generator.get_state()
        meta = {"config": self.config.to_dict(), "precision": str(self.policy.precision).removeprefix("torch."),
                "iteration": self.iteration, "seconds": self.seconds, "episodes": self.episodes,
                "recent": list(self.recent)}
        return checkpoint.save(folder, self.step, tensors, meta, score=self.score_mean())

    @classmethod
    def resumed(cls, config: Config, path: Path) -> "Session":
        """The session that wrote the checkpoint at `path`, under `config`'s settings for this sitting."""
        tensors, meta = checkpoint.load(path)
        session = cls(config, getattr(torch, meta["precision"]))
        try:
            session.policy.load_state_dict(part(tensors, "policy."))
            for name, parameter in session.policy.named_parameters():
                state = part(tensors, f"optimizer.{name}.")
                session.optimizer.state[parameter] = {
                    key: tensor if key == "step" else tensor.to(session.device) for key, tensor in state.items()}
            session.actor.restore(part(tensors, "actor."))
            session.pipeline.restore(part(tensors, "pipeline."))
            session.generator.set_state(tensors["generator"])
        except (KeyError, RuntimeError, ValueError, envs_c.InvalidState) as error:
            raise CheckpointError(f"{path} does not fit this run's settings: {error}") from error
        session.iteration, session.seconds = meta["iteration"], meta["seconds"]
        session.actor.step = session.iteration * config.ppo.horizon
        session.episodes = meta["episodes"]
        session.recent.extend((score, length) for score, length in meta["recent"])
        return session


def part(tensors: dict[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    """The tensors whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def load_policy(path: Path, device: str = "cpu") -> tuple[Policy, Config]:
    """The policy of a checkpoint, in the precision that it was trained in, and its run's config."""
    tensors, meta = checkpoint.load(path)
    config = Config.from_dict(meta["config"])
    config = dataclasses.replace(config, run=dataclasses.replace(config.run, device=device))
    env = make_env(config.game, config.env, 1, 0)
    policy = make_policy(config, env, getattr(torch, meta["precision"]))
    policy.load_state_dict(part(tensors, "policy."))
    return policy.to(device_of(device)), config

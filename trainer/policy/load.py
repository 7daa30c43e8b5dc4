"""Load the policy of a saved run."""

import dataclasses
from pathlib import Path

import torch

from bridge import open_device
from envs_c.errors import EnvsError
from trainer.config import Config
from trainer.environments import make_source
from trainer.errors import CheckpointError, RunError
from trainer.policy.make import make_policy
from trainer.policy.policy import Policy
from trainer.runs import checkpoint
from trainer.tensors import under


def load_policy(path: Path, device: str = "cpu") -> tuple[Policy, Config]:
    """The policy of a checkpoint, in the precision of its training, and the config of its run with run.device = `device`.

    Raises CheckpointError if the file is damaged or its game has changed since, ConfigError if another version of the trainer
    wrote it, and RunError if its game does not exist any more.
    """
    tensors, meta, config = checkpoint.load(path)
    config = dataclasses.replace(config, run=dataclasses.replace(config.run, device=device))
    try:
        source = make_source(config.game, config.env, 1, 0)
    except EnvsError as error:
        raise RunError(f"{path} plays {config.game}, which cannot be made any more: {error}; restore the game, or choose "
                       "another run") from None
    policy = make_policy(config.policy, source, config.run.seed, getattr(torch, checkpoint.progress(path, meta)["precision"]))
    source.close()
    try:
        policy.load_state_dict(under("policy.", tensors))
    except RuntimeError as error:
        raise CheckpointError(f"{path} does not fit the present {config.game}: {' '.join(str(error).split())}") from error
    return policy.to(open_device(device).torch_device), config


def load_run(run: str | Path, device: str) -> tuple[Path, Policy, Config]:
    """The path of a run's newest checkpoint (or of the given checkpoint), its policy, and its run's config.

    Raises as `load_policy`, and CheckpointError if the run has no checkpoint.
    """
    path = checkpoint.latest(run)
    return path, *load_policy(path, device)

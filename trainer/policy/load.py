"""Load the policy of a saved run."""

import dataclasses
from pathlib import Path

import torch

from bridge import open_device
from envs_c.errors import EnvsError
from trainer.config import Config
from trainer.environments import make_source
from trainer.errors import CheckpointError, RunError, SettingError
from trainer.kernels.checks.first_start import check_kernels
from trainer.policy.make import make_policy
from trainer.policy.policy import Policy
from trainer.runs import checkpoint, trust
from trainer.tensors import require_forms, under


def load_policy(path: Path, device: str = "cpu", *, trust_code: bool = False) -> tuple[Policy, Config]:
    """The policy of a checkpoint, in the precision of its training, and the config of its run with run.device = `device`.

    trust_code: True to load also code that the run names and no training of the user has used; see trainer/runs/trust.py.

    Raises TrustError if there is such code, before any of it is loaded; CheckpointError if the file is damaged, a tensor does
    not fit since the game has changed, or a number is not finite; ConfigError if another version of the trainer wrote it;
    SettingError if code of the run's cannot be used any more; and RunError if its game does not exist any more.
    """
    with trust.admitted(checkpoint.read_config(path), path, trust_code=trust_code):
        tensors, meta, config = checkpoint.load(path)
        config = dataclasses.replace(config, run=dataclasses.replace(config.run, device=device))
        with trust.admitted(config, path, trust_code=trust_code):  # as above, unless the file was replaced in between
            policy = _make_policy(path, config, getattr(torch, checkpoint.progress(path, meta)["precision"]))
    state = under("policy.", tensors)
    try:
        require_forms(state, policy.state_dict(), "policy.")
    except ValueError as error:
        raise CheckpointError(f"{path} does not fit the present {config.game}: {error}") from None
    checkpoint.require_finite(path, state, policy.state_dict(), "policy.")
    policy.load_state_dict(state)
    opened = open_device(device).torch_device
    check_kernels(opened)
    return policy.to(opened), config


def load_run(run: str | Path, device: str, *, trust_code: bool = False) -> tuple[Path, Policy, Config]:
    """The path of a run's newest checkpoint (or of the given checkpoint), its policy, and its run's config.

    Raises as `load_policy`, and CheckpointError if the run has no checkpoint.
    """
    path = checkpoint.latest(run)
    return path, *load_policy(path, device, trust_code=trust_code)


def _make_policy(path: Path, config: Config, dtype: torch.dtype) -> Policy:
    """A new policy as that of the checkpoint at `path`. Raises RunError if its game does not exist any more."""
    try:
        source = make_source(config.game, config.env, 1, 0)
    except (EnvsError, SettingError) as error:
        if isinstance(error, SettingError) and error.name == "wrap":
            raise
        raise RunError(f"{path} plays {config.game}, which cannot be made any more: {error}; restore the game"
                       f"{', or name the new place of its file with --game' if config.game.has_file else ''}, or choose "
                       "another run") from None
    try:
        return make_policy(config.policy, source, config.run.seed, dtype)
    finally:
        source.close()

"""Shares of a run among ranks: of the settings and of a checkpoint's tensors.

Rank r of K steps the environments r * N / K to (r + 1) * N / K - 1, and learns from an equal number of sequences of each
minibatch. A checkpoint holds all environments in their order, so it does not depend on the number of ranks.
"""

from dataclasses import replace

import torch

from envs_c.engine.state import join_states, part_of_state
from envs_c.machine import cores
from trainer.config import Config
from trainer.config.fields import choices
from trainer.config.minibatches import named_minibatches
from trainer.config.sections import FREE_BETWEEN_RANKS
from trainer.errors import CheckpointError, ConfigError, RanksError, SettingError
from trainer.ranks import Ranks
from trainer.runs.checkpoint_file import tensors_digest

THREADS_PER_CORE = 16   # more only take turns
SNAPSHOT = "snapshot"  # in place of a dimension, for a tensor with the bytes of an envs_c snapshot


def check_alike(config: Config, ranks: Ranks):
    """Raises ConfigError on all ranks if one was started with other settings than rank 0."""
    settings = {"game": config.game} | {name: value for section in config.to_dict().values() if isinstance(section, dict)
                                        for name, value in section.items() if name not in FREE_BETWEEN_RANKS}
    every = ranks.everyone(settings)
    for rank, theirs in enumerate(every):
        for name, value in theirs.items():
            if value != every[0][name]:
                raise ConfigError(f"rank {rank} was started with {name} {value}, and rank 0 with {every[0][name]}; start all "
                                  "ranks with the same options")


def share_of(config: Config, ranks: Ranks, device: str) -> Config:
    """The settings of this rank's share, on `device`; the same config in a single process.

    Raises SettingError if environments, minibatches or batches cannot be divided evenly, or for far more threads than cores.
    """
    most = THREADS_PER_CORE * cores()
    if config.env.num_threads > most:
        raise SettingError("num_threads", f"must be at most {most:,} on this machine, {THREADS_PER_CORE} for each core, not "
                                          f"{config.env.num_threads:,}: 0 uses all cores")
    if not ranks.joined:
        return config
    env, ppo, count = config.env, config.ppo, ranks.size
    if env.num_envs % count:
        nearest = sorted({max(env.num_envs // count, 1) * count, (env.num_envs // count + 1) * count})
        raise SettingError("num_envs", f"must be a multiple of {count} with {count} ranks, such as {choices(nearest)}, not "
                                       f"{env.num_envs:,}")
    if config.sequences_per_minibatch % count:
        sizes = choices(named_minibatches(env.num_envs, ppo.horizon, ppo.minibatch, count))
        raise SettingError("minibatch", f"must be {sizes} with {env.num_envs:,} environments (num_envs) and {count} ranks, "
                                        f"which take equal parts of it, not {ppo.minibatch:,}")
    if env.num_batches > env.num_envs // count:
        raise SettingError("num_batches", f"must be an integer from 0 to {env.num_envs // count} with that many environments "
                                          f"on each of {count} ranks, not {env.num_batches}")
    threads = env.num_threads or max(1, cores() // ranks.local_size)
    return replace(config, env=replace(env, num_envs=env.num_envs // count, num_threads=threads),
                   ppo=replace(ppo, minibatch=ppo.minibatch // count), run=replace(config.run, device=device))


def gather(ranks: Ranks, tensors: dict[str, torch.Tensor], dims: dict[str, int | str]) -> dict[str, torch.Tensor] | None:
    """The tensors of a checkpoint of all ranks, on rank 0; None on the others.

    tensors: this rank's.
    dims: the environment dimension of tensors by name, or SNAPSHOT; the other tensors must be equal on all ranks.
    Raises RanksError if they are not.
    """
    if not ranks.joined:
        return tensors
    mine = {name: tensor.detach().cpu() for name, tensor in tensors.items() if name in dims}
    check_same(ranks, {name: tensor for name, tensor in tensors.items() if name not in dims})
    parts = ranks.gather(mine)
    if parts is None:
        return None
    return tensors | {name: _join([part[name] for part in parts], dims[name]) for name in mine}


def local(ranks: Ranks, tensors: dict[str, torch.Tensor], dims: dict[str, int | str]) -> dict[str, torch.Tensor]:
    """This rank's part of a checkpoint's tensors, the inverse of `gather`.

    Raises CheckpointError if the environments cannot be divided evenly.
    """
    if not ranks.joined:
        return tensors
    return {name: _cut(name, tensor, dims[name], ranks) if name in dims else tensor for name, tensor in tensors.items()}


def check_same(ranks: Ranks, tensors: dict[str, torch.Tensor]):
    """Raises RanksError on all ranks if these tensors differ between ranks in any bit."""
    digests = ranks.everyone(tensors_digest(tensors))
    apart = [str(rank) for rank, one in enumerate(digests) if one != digests[0]]
    if apart:
        raise RanksError(f"the weights or the optimizer's state of rank {', '.join(apart)} (of {ranks.size} ranks) differ from "
                         "those of rank 0, so no checkpoint is written: go on from the last one with --resume; if this "
                         "happens again, use machines of the same kind")


def _join(parts: list[torch.Tensor], dim: int | str) -> torch.Tensor:
    if dim == SNAPSHOT:
        return _bytes(join_states([part.numpy().tobytes() for part in parts]))
    return torch.cat(parts, dim)


def _cut(name: str, tensor: torch.Tensor, dim: int | str, ranks: Ranks) -> torch.Tensor:
    if dim == SNAPSHOT:
        return _bytes(part_of_state(tensor.numpy().tobytes(), ranks.rank, ranks.size))
    if tensor.shape[dim] % ranks.size:
        raise CheckpointError(f"the checkpoint's {name} has {tensor.shape[dim]} environments, which {ranks.size} ranks cannot "
                              "share")
    return tensor.chunk(ranks.size, dim)[ranks.rank]


def _bytes(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)


def use_own_threads() -> None:
    """Let matrix products of the calling thread use as many threads as `torch.get_num_threads()` says.

    Torch passes the number to its library of matrix products (MKL) when a thread first asks for it. Until then the products of
    a new thread use as many threads as there are cores, and their last digits may differ.
    """
    torch.get_num_threads()

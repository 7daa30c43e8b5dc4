"""What of a run each rank has: its share of the settings, which are those of the whole, and of a checkpoint.

Rank r of K plays the environments r * N / K to (r + 1) * N / K - 1 and learns from as many sequences of each minibatch as the
others. A checkpoint holds all environments in their order, so that it does not tell how many ranks wrote it.
"""

import hashlib
from dataclasses import replace

import torch

from envs_c.checks import cores, join_states, part_of_state
from trainer.config import Config
from trainer.errors import CheckpointError, ConfigError, RanksError
from trainer.ranks import Ranks

FREE = {"num_threads", "device", "dashboard", "gif", "run_dir", "resume"}  # settings that a rank may have of its own
STATES = "pipeline.environments"  # bytes of envs_c, of all environments
# Along which dimension tensors of a checkpoint have the environments; those that are not here are the same on all ranks.
DIMENSIONS = {"actor.h": 0, "actor.c": 0, "actor.over": 0, "actor.frames": 1, "actor.starts": 1,
              "optimizer.reward_norm.gathered": 0}
PREFIXES = {"pipeline.slab.": 0, "pipeline.self_play.": 0, "pipeline.simulation.": -1}


def check_alike(config: Config, ranks: Ranks):
    """Raises ConfigError, on all ranks, where one was started with other settings than rank 0."""
    every = ranks.everyone({"game": config.game} | {name: value for section in ("env", "policy", "ppo", "self_play", "run")
                                                    for name, value in config.to_dict()[section].items() if name not in FREE})
    for rank, settings in enumerate(every):
        for name, value in settings.items():
            if value != every[0][name]:
                raise ConfigError(f"rank {rank} was started with {name} {value}, and rank 0 with {every[0][name]}; start all "
                                  "with the same words")


def share_of(config: Config, ranks: Ranks, device: str) -> Config:
    """The settings of what this rank does itself, on `device`; the config itself for one process alone.

    Raises ConfigError where environments, minibatches or batches cannot be shared out evenly.
    """
    if not ranks.joined:
        return config
    env, ppo, count = config.env, config.ppo, ranks.size
    if env.num_envs % count:
        nearest = sorted({max(env.num_envs // count, 1) * count, (env.num_envs // count + 1) * count})
        raise ConfigError(f"num_envs is {env.num_envs:,}; with {count} ranks it may be a multiple of {count}, such as "
                          f"{' or '.join(f'{one:,}' for one in nearest)}")
    if config.sequences_per_minibatch % count:
        fit = [one * ppo.horizon for one in range(count, env.num_envs + 1, count) if env.num_envs % one == 0]
        nearest = sorted(sorted(fit, key=lambda size: max(size, ppo.minibatch) / min(size, ppo.minibatch))[:10])
        raise ConfigError(f"minibatch is {ppo.minibatch:,}, {config.sequences_per_minibatch:,} sequences of {ppo.horizon:,} "
                          f"steps; with {env.num_envs:,} environments (num_envs) and {count} ranks, which take equal parts of "
                          f"it, it may be {', '.join(f'{one:,}' for one in nearest)}")
    if env.num_batches > env.num_envs // count:
        raise ConfigError(f"num_batches is {env.num_batches}; with {env.num_envs // count} environments on each of {count} "
                          f"ranks it may be an integer from 0 to {env.num_envs // count}")
    threads = env.num_threads or max(1, cores() // ranks.local_size)
    return replace(config, env=replace(env, num_envs=env.num_envs // count, num_threads=threads),
                   ppo=replace(ppo, minibatch=ppo.minibatch // count), run=replace(config.run, device=device))


def whole(ranks: Ranks, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor] | None:
    """The tensors of a checkpoint of all ranks, from each one's own; on rank 0, None elsewhere.

    Raises RanksError where what is to be the same on all ranks is not.
    """
    if not ranks.joined:
        return tensors
    mine = {name: tensor.detach().cpu() for name, tensor in tensors.items() if name == STATES or dimension(name) is not None}
    check_same(ranks, {name: tensor for name, tensor in tensors.items() if name not in mine})
    parts = ranks.gather(mine)
    if parts is None:
        return None
    return tensors | {name: _joined(name, [part[name] for part in parts]) for name in mine}


def own(ranks: Ranks, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A rank's own of a checkpoint's tensors. Raises CheckpointError where they cannot be shared out evenly."""
    return {name: _part(name, tensor, ranks) for name, tensor in tensors.items()} if ranks.joined else tensors


def dimension(name: str) -> int | None:
    """Along which dimension the checkpoint's tensor `name` has the environments; None where it has none."""
    return DIMENSIONS.get(name, next((at for prefix, at in PREFIXES.items() if name.startswith(prefix)), None))


def check_same(ranks: Ranks, tensors: dict[str, torch.Tensor]):
    """Raises RanksError, on all ranks, where these tensors are not the same on all of them, to the bit."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(tensors[name].detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    digests = ranks.everyone(digest.hexdigest())
    apart = [str(rank) for rank, one in enumerate(digests) if one != digests[0]]
    if apart:
        raise RanksError(f"of {ranks.size} ranks, {', '.join(apart)} no longer has the weights (or the optimizer's state) of "
                         "rank 0, and no checkpoint is written of them; go on from the last one with --resume, and where this "
                         "comes again, on machines of one kind")


def _joined(name: str, parts: list[torch.Tensor]) -> torch.Tensor:
    if name == STATES:
        return _bytes(join_states([part.numpy().tobytes() for part in parts]))
    return torch.cat(parts, dimension(name))


def _part(name: str, tensor: torch.Tensor, ranks: Ranks) -> torch.Tensor:
    if name == STATES:
        return _bytes(part_of_state(tensor.numpy().tobytes(), ranks.rank, ranks.size))
    at = dimension(name)
    if at is None:
        return tensor
    if tensor.shape[at] % ranks.size:
        raise CheckpointError(f"the checkpoint's {name} has {tensor.shape[at]} environments, which {ranks.size} ranks cannot "
                              "share")
    return tensor.chunk(ranks.size, at)[ranks.rank]


def _bytes(data: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(data), dtype=torch.uint8)

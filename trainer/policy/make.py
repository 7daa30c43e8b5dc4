"""Make a policy from its settings."""

import torch

from trainer.config import PolicyConfig
from trainer.environments import observation_scale
from trainer.errors import ConfigError
from trainer.imports import find
from trainer.policy.normalize import ObservationNorm
from trainer.policy.policy import FeedForwardPolicy, LstmPolicy, MinGruPolicy, Policy

# The policy class for each value of the setting `memory`.
MEMORIES: dict[str, type[Policy]] = {"lstm": LstmPolicy, "mingru": MinGruPolicy, "none": FeedForwardPolicy}


def memory_class(memory: str) -> type[Policy]:
    """The policy class for a name in MEMORIES, or for an import path "package.module:Name".

    Raises ConfigError if there is no such class.
    """
    if ":" in memory:
        found = find("memory", memory, ("shape", "num_actions", "encoder_size", "core_size", "encoder", "frames", "scale",
                                        "precision", "layers"))
        if not (isinstance(found, type) and issubclass(found, Policy)):
            raise ConfigError(f"memory {memory!r} must be a subclass of trainer.policy.policy.Policy")
        return found
    if memory not in MEMORIES:
        raise ConfigError(f"memory must be {', '.join(MEMORIES)} or the import path of a subclass of "
                          f"trainer.policy.policy.Policy, such as my_memories:Mine, not {memory!r}")
    return MEMORIES[memory]


def make_policy(settings: PolicyConfig, source, seed: int, dtype: torch.dtype) -> Policy:
    """A new policy for the environments of a source.

    settings: the policy's section of the config.
    source: the bridge's source of environments; its observations and actions decide the policy's shapes.
    seed: the initial weights depend only on this.
    dtype: of the matrix products, float32 or bfloat16.

    Raises ConfigError if the encoder or the memory cannot be made for these observations.
    """
    memory = memory_class(settings.memory)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            policy = memory(shape=source.observation_shape, num_actions=source.num_actions, encoder_size=settings.encoder_size,
                            core_size=settings.lstm_size, encoder=settings.encoder, frames=settings.frame_stack,
                            scale=observation_scale(source), precision=dtype, layers=settings.layers)
        except ValueError as error:
            raise ConfigError(str(error)) from error
    if settings.normalize_observations:
        if source.observation_dtype != "float32":
            raise ConfigError("normalize_observations must be false for observations of bytes, which are scaled to 0 .. 1")
        policy.normalizer = ObservationNorm(source.observation_shape)
    return policy

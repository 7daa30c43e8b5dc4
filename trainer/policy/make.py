"""Make a policy from its settings."""

import contextlib

import torch

from bridge.gymnasium_source import GymnasiumSource
from trainer.config import PolicyConfig
from trainer.environments import observation_scale
from trainer.errors import SettingError
from trainer.imports import describe, find, user_errors
from trainer.policy.distributions import make_distribution
from trainer.policy.encoders.make import choose_plain_encoder
from trainer.policy.feed_forward import FeedForwardPolicy
from trainer.policy.lstm import LstmPolicy
from trainer.policy.mingru import MinGruPolicy
from trainer.policy.normalize import ObservationNorm
from trainer.policy.policy import Policy

# The policy class for each value of the setting `memory`.
MEMORIES: dict[str, type[Policy]] = {"lstm": LstmPolicy, "mingru": MinGruPolicy, "none": FeedForwardPolicy}

# Keyword arguments of a policy class.
_ARGUMENTS = ("shape", "num_actions", "encoder_size", "core_size", "encoder", "observation_transform", "heads", "frames",
              "scale", "precision", "layers")


def memory_class(memory: str) -> type[Policy]:
    """The policy class for a name in MEMORIES, or for an import path "package.module:Name".

    Raises SettingError if there is no such class.
    """
    if ":" not in memory:
        if memory not in MEMORIES:
            raise SettingError("memory", f"must be {', '.join(MEMORIES)}, or the import path of a policy of your own, such as "
                                         f"my_memories:Mine, not {memory!r}")
        return MEMORIES[memory]
    found = find("memory", memory, _ARGUMENTS)
    if not (isinstance(found, type) and issubclass(found, Policy)):
        raise SettingError("memory", f"{memory!r} must be a subclass of trainer.policy.policy.Policy, not {describe(found)}")
    return found


def make_policy(settings: PolicyConfig, source, seed: int, dtype: torch.dtype) -> Policy:
    """A new policy for the environments of a source.

    settings: the policy's section of the config.
    source: the bridge's source of environments; its observations and actions decide the policy's shapes.
    seed: the initial weights depend on this only.
    dtype: of the matrix products, float32 or bfloat16.

    Raises SettingError if the encoder or the memory cannot be made for these observations, or a setting does not fit them.
    """
    memory = memory_class(settings.memory)
    checked = user_errors("memory", settings.memory, "making it") if ":" in settings.memory else contextlib.nullcontext()
    normalizes, layout, scale = settings.normalize_observations, getattr(source, "layout", None), observation_scale(source)
    if normalizes and source.observation_dtype != "float32":
        raise SettingError("normalize_observations", "must be false for observations of bytes or choices, which need no "
                                                     "normalization")
    if normalizes:
        layout, scale = layout and layout.normalized(), 1.0
    with torch.random.fork_rng(devices=[]), checked:
        torch.default_generator.manual_seed(seed)  # that of the CPU alone, on which the weights are made
        policy = memory(shape=source.observation_shape, num_actions=source.num_actions, encoder_size=settings.encoder_size,
                        core_size=settings.lstm_size, encoder=encoder_of(settings, source),
                        observation_transform=settings.observation_transform, heads=settings.heads, frames=settings.frame_stack,
                        scale=scale, precision=dtype, layers=settings.layers, **({"layout": layout} if layout else {}),
                        **({"highway": True} if settings.highway else {}))
    policy.distribution = make_distribution(source.action_space)
    if normalizes:
        policy.normalizer = ObservationNorm(source.observation_shape, layout and layout.measured())
    return policy


def encoder_of(settings: PolicyConfig, source) -> str:
    """The setting `encoder`; "auto" is replaced if it means another encoder for the source than for others."""
    plain = isinstance(source, GymnasiumSource) and source.observations.plain
    return choose_plain_encoder(source.observation_shape) if plain and settings.encoder == "auto" else settings.encoder

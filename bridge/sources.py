"""The source of any environments that the pipeline takes."""

from collections.abc import Sequence
from typing import cast

from bridge.gymnasium_source import GymnasiumSource
from bridge.interfaces import AnyVectorEnv, Source
from bridge.source import GameSource
from envs_c import VecEnv


def source_of(envs: VecEnv | AnyVectorEnv | Sequence[AnyVectorEnv] | Source) -> Source:
    """Return a source for these environments.

    envs: an envs_c.VecEnv, a Gymnasium vector environment, or a list of Gymnasium vector environments, each a batch; or a
        source, which is returned.
    """
    if isinstance(envs, VecEnv):
        return GameSource(envs)
    if hasattr(envs, "bind") and hasattr(envs, "edges"):
        return cast("Source", envs)
    return GymnasiumSource(cast("list[AnyVectorEnv]", list(envs) if isinstance(envs, Sequence) else [envs]))

"""The Gymnasium interface: `ArcadeVectorEnv`, N environments as a gymnasium.vector.VectorEnv; `ArcadeEnv`, one of them."""

from envs_c.gymnasium_env.single import ArcadeEnv, MaskedArcadeEnv
from envs_c.gymnasium_env.spaces import batched
from envs_c.gymnasium_env.vector import METADATA, MODES, ArcadeVectorEnv

__all__ = ["METADATA", "MODES", "ArcadeEnv", "ArcadeVectorEnv", "MaskedArcadeEnv", "batched"]

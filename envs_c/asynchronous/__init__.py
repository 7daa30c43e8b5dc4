"""Asynchronous stepping: `make_async` makes N environments that threads step while Python does something else."""

from envs_c.asynchronous.vector import ArcadeAsyncEnv, make_async

__all__ = ["ArcadeAsyncEnv", "make_async"]

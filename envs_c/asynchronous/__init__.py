"""Asynchronous stepping: `make_async` makes N environments that threads step while Python does something else.

    crew.h         the threads and their two queues, in C
    workers.pyx    `Workers`: the threads of one batch of environments
    vector.py      `ArcadeAsyncEnv`: `async_reset`, `send` and `recv`, and `make_async`
"""

from envs_c.asynchronous.vector import ArcadeAsyncEnv, make_async

__all__ = ["ArcadeAsyncEnv", "make_async"]

"""`Lock`: a lock for a module of a process that may fork."""

import os
import threading
from contextlib import AbstractContextManager


class Lock:
    """A lock that is free in a child process: a thread that held it does not exist there. Its holder may take it again."""

    def __init__(self):
        self._renew()
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self):
        self._lock = threading.RLock()

    def held(self) -> AbstractContextManager[bool]:
        """For `with`: waits for the lock and holds it."""
        return self._lock

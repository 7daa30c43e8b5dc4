"""Memory that is freed stays with the process, since fresh pages for it cost more time than the products that fill them."""

import ctypes
import functools

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt(3)
_LARGEST_MMAP_THRESHOLD = 32 << 20         # bytes: what glibc takes at most
_KEPT = (1 << 31) - 1                      # bytes at the top of the heap that are not given back


def keeps() -> bool:
    """Whether `keep_freed_memory` has an effect here."""
    return hasattr(ctypes.CDLL(None), "mallopt")


@functools.cache
def keep_freed_memory() -> None:
    """Have the C library hand out again what was freed, instead of giving it back to the system and asking for more.

    A minibatch's tensors are some megabytes each, made and freed with each update. glibc maps or trims such blocks by default,
    so that each would be pages that the system has to clear and to map, one by one. Other C libraries are left as they are.
    """
    if keeps():
        library = ctypes.CDLL(None)
        library.mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        library.mallopt(_TRIM_THRESHOLD, _KEPT)

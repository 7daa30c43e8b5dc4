"""Flags that keep two threads from using the same environments at once. They need no GIL.

Each batch has a mark, and the engine has one for all its environments (`seed`, `close`, ...). A call enters its mark by one
atomic exchange, then looks at the marks of overlapping ranges. A call that finds another thread there leaves again, and its
caller raises `Busy`. Without the GIL, two calls that begin at the same moment may both be refused.

A mark holds the generation of its process. In a child process, a mark that was held during the fork counts as free:
the thread that held it does not exist there.
"""

import os

from libc.stdlib cimport calloc

from envs_c.errors import Busy


cdef extern from *:
    cdef enum:
        SEQ_CST "__ATOMIC_SEQ_CST"
        RELEASE "__ATOMIC_RELEASE"
    int exchange "__atomic_exchange_n"(int* to, int value, int order) nogil
    int load "__atomic_load_n"(int* at, int order) nogil
    void store "__atomic_store_n"(int* to, int value, int order) nogil
    Mark* load_mark "__atomic_load_n"(Mark** at, int order) nogil
    bint replace_mark "__atomic_compare_exchange_n"(Mark** to, Mark** old, Mark* new, bint weak, int good, int bad) nogil


cdef int generation = 1


def _after_fork():
    """Called in a child process: OpenMP's threads and the holders of marks do not exist there."""
    global generation
    generation += 1


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)


cdef bint enter(Mark* mark, Mark* others) noexcept nogil:
    """Hold `mark`. Returns False, and holds nothing, if another call uses one of its environments.

    others: the first mark of the engine's list.
    """
    if exchange(&mark.holder, generation, SEQ_CST) == generation:
        return False
    while others != NULL:
        if (others != mark and load(&others.holder, SEQ_CST) == generation
                and others.lo < mark.hi and mark.lo < others.hi):
            leave(mark)
            return False
        others = others.next
    return True


cdef void leave(Mark* mark) noexcept nogil:
    store(&mark.holder, 0, RELEASE)


cdef Mark* add_mark(Mark** first, int lo, int hi) noexcept nogil:
    """A mark for the environments lo .. hi-1 in the engine's list: an unused one, or a new one. NULL if there is no memory."""
    cdef Mark* mark = load_mark(first, SEQ_CST)
    while mark != NULL:
        if exchange(&mark.taken, 1, SEQ_CST) == 0:
            mark.lo, mark.hi = lo, hi
            return mark
        mark = mark.next
    mark = <Mark*>calloc(1, sizeof(Mark))
    if mark == NULL:
        return NULL
    mark.taken, mark.lo, mark.hi = 1, lo, hi
    mark.next = load_mark(first, SEQ_CST)
    while not replace_mark(first, &mark.next, mark, False, SEQ_CST, SEQ_CST):
        pass
    return mark


cdef void drop_mark(Mark* mark) noexcept nogil:
    """Give a mark back. It stays in the list, which other threads may be reading."""
    store(&mark.holder, 0, RELEASE)
    store(&mark.taken, 0, RELEASE)


cdef class Flag:
    """A flag of Python code, for use as `with flag:`. Entering it twice at once raises Busy.

    what: the thing that the flag guards, for the message.
    """

    def __init__(self, str what):
        self.what = what

    def __enter__(self):
        if not enter(&self.mark, NULL):
            raise Busy(busy_message(self.what))

    def __exit__(self, kind, error, trace):
        leave(&self.mark)


def busy_message(what: str) -> str:
    """The error message of Busy."""
    return f"{what} are in use by another thread: wait until its call returns, or give each thread environments of its own"

"""Flags that keep two threads from using the same environments at once; busy.pyx documents them."""


ctypedef struct Mark:
    # The use of the environments lo .. hi-1 of one engine. `holder` is the process's generation during a call, else 0.
    int holder
    int taken   # 1 if a batch owns it
    int lo
    int hi
    Mark* next  # the engine's next mark


cdef int generation  # 1 + the number of forks between the process that imported this module and this process

cdef bint enter(Mark* mark, Mark* others) noexcept nogil
cdef void leave(Mark* mark) noexcept nogil
cdef Mark* add_mark(Mark** first, int lo, int hi) noexcept nogil
cdef void drop_mark(Mark* mark) noexcept nogil


cdef class Flag:
    cdef Mark mark
    cdef readonly str what

"""Aligned memory; aligned.h says by which functions."""

cdef extern from "aligned.h" nogil:
    void* new_aligned(size_t alignment, size_t size)  # NULL: there is no memory
    void free_aligned(void* memory)

"""The pool of threads of pool.h, which documents it."""


from envs_c.engine.runtime cimport Runtime


cdef extern from "pool.h" nogil:
    ctypedef struct Pool:
        pass
    Pool* pool_new(int most, Runtime* runtime)
    void pool_free(Pool* pool, int generation)
    void pool_run(Pool* pool, int kind, void (*work)(void* job, int chunk) noexcept nogil, void* job, int chunks, double items,
                  bint all, int generation)

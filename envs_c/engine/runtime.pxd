"""The team of threads of an OpenMP runtime that another library has loaded, as runtime.h documents it."""


cdef extern from "runtime.h" nogil:
    ctypedef struct Runtime:
        void (*parallel)(void (*work)(void*) noexcept nogil, void* data, unsigned threads, unsigned flags) noexcept nogil
        int (*threads)() noexcept nogil
        unsigned long main
        int generation
        int used


cdef Runtime runtime

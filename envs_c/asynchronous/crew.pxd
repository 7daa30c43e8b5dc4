"""The threads of crew.h, which documents them."""


cdef extern from "crew.h" nogil:
    ctypedef struct Crew:
        pass
    Crew* crew_new(int most, int size, void (*work)(void* job, int item) noexcept nogil, void* job)
    void crew_free(Crew* crew, int generation)
    void crew_enter(Crew* crew, int generation)
    void crew_give(Crew* crew, const int* items, int count)
    void crew_take(Crew* crew, int* items, int count)

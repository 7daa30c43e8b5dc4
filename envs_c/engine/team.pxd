"""How many threads step a call; team.h decides it."""

cdef extern from "team.h" nogil:
    ctypedef struct Team:
        pass
    ctypedef struct Call:
        pass
    bint team_begin(Team* team, Call* call, double items)
    void team_end(Team* team, const Call* call)
    enum: TEAM_MOST
    int omp_get_max_threads()
    void team_is_used()
    void team_leave_process()
    void order_before(char* point)
    void order_after(char* point)

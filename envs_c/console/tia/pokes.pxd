"""The writes to the TIA that programs make most often: a function for each register, which does what `tia_poke` does for it.

Compiled cartridges call them.
"""

from envs_c.console.pictures.drawing cimport keep
from envs_c.console.state cimport Console
from envs_c.console.tia.tia cimport (
    BL, COLUBK, COLUP0, COLUP1, COLUPF, ENABL, ENAM0, ENAM1, GRP0, GRP1, HMBL, HMCLR, HMM0, HMM1, HMOVE, HMP0, HMP1, M0, M1, P0,
    P1, PF, PF0, PF1, PF2, RESBL, RESM0, RESM1, RESP0, RESP1)
from envs_c.console.tia.rows cimport alone, apart, beam, hmove, pass_beam, same_players, stars_stay
from envs_c.console.tia.writes cimport (
    clear_motion, reset_object, tia_effect, write_ball, write_colour, write_missile, write_motion, write_player,
    write_playfield)

ctypedef void (*poke_fn)(Console* m, int value, int cycle) noexcept nogil


cdef inline void poke_colup0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, COLUP0, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_colour(&m.tia, 0, value)


cdef inline void poke_colup1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, COLUP1, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_colour(&m.tia, 1, value)


cdef inline void poke_colupf(Console* m, int value, int cycle) noexcept nogil:
    keep(m, COLUPF, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_colour(&m.tia, 2, value)


cdef inline void poke_colubk(Console* m, int value, int cycle) noexcept nogil:
    keep(m, COLUBK, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_colour(&m.tia, 3, value)


cdef inline void poke_hmp0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, HMP0, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_motion(&m.tia, P0, value, 3 * cycle)


cdef inline void poke_hmp1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, HMP1, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_motion(&m.tia, P1, value, 3 * cycle)


cdef inline void poke_hmm0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, HMM0, value, 3 * cycle)
    pass_beam(&m.tia, stars_stay(&m.tia), 3 * cycle, 0)
    write_motion(&m.tia, M0, value, 3 * cycle)


cdef inline void poke_hmm1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, HMM1, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_motion(&m.tia, M1, value, 3 * cycle)


cdef inline void poke_hmbl(Console* m, int value, int cycle) noexcept nogil:
    keep(m, HMBL, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    write_motion(&m.tia, BL, value, 3 * cycle)


cdef inline void poke_hmclr(Console* m, int value, int cycle) noexcept nogil:
    keep(m, HMCLR, value, 3 * cycle)
    pass_beam(&m.tia, True, 3 * cycle, 0)
    clear_motion(&m.tia)


cdef inline void poke_grp0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, GRP0, value, 3 * cycle)
    pass_beam(&m.tia, same_players(&m.tia, 0, value), 3 * cycle, 1)
    write_player(&m.tia, 0, value)


cdef inline void poke_grp1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, GRP1, value, 3 * cycle)
    pass_beam(&m.tia, same_players(&m.tia, 1, value), 3 * cycle, 1)
    write_player(&m.tia, 1, value)


cdef inline void poke_pf0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, PF0, value, 3 * cycle)
    pass_beam(&m.tia, alone(&m.tia, PF), 3 * cycle, tia_effect(&m.tia, PF0, 3 * cycle) - 3 * cycle)
    write_playfield(&m.tia, 0, value)


cdef inline void poke_pf1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, PF1, value, 3 * cycle)
    pass_beam(&m.tia, alone(&m.tia, PF), 3 * cycle, tia_effect(&m.tia, PF1, 3 * cycle) - 3 * cycle)
    write_playfield(&m.tia, 1, value)


cdef inline void poke_pf2(Console* m, int value, int cycle) noexcept nogil:
    keep(m, PF2, value, 3 * cycle)
    pass_beam(&m.tia, alone(&m.tia, PF), 3 * cycle, tia_effect(&m.tia, PF2, 3 * cycle) - 3 * cycle)
    write_playfield(&m.tia, 2, value)


cdef inline void poke_enam0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, ENAM0, value, 3 * cycle)
    pass_beam(&m.tia, not m.tia.star and apart(&m.tia, M0), 3 * cycle, 0)
    write_missile(&m.tia, 0, value)


cdef inline void poke_enam1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, ENAM1, value, 3 * cycle)
    pass_beam(&m.tia, not m.tia.star and apart(&m.tia, M1), 3 * cycle, 0)
    write_missile(&m.tia, 1, value)


cdef inline void poke_enabl(Console* m, int value, int cycle) noexcept nogil:
    keep(m, ENABL, value, 3 * cycle)
    pass_beam(&m.tia, apart(&m.tia, BL), 3 * cycle, 0)
    write_ball(&m.tia, value)


cdef inline void poke_hmove(Console* m, int value, int cycle) noexcept nogil:
    keep(m, HMOVE, value, 3 * cycle)
    hmove(&m.tia, 3 * cycle)


cdef inline void poke_resp0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, RESP0, value, 3 * cycle)
    beam(&m.tia, tia_effect(&m.tia, RESP0, 3 * cycle))
    reset_object(&m.tia, P0, 3 * cycle)


cdef inline void poke_resp1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, RESP1, value, 3 * cycle)
    beam(&m.tia, tia_effect(&m.tia, RESP1, 3 * cycle))
    reset_object(&m.tia, P1, 3 * cycle)


cdef inline void poke_resm0(Console* m, int value, int cycle) noexcept nogil:
    keep(m, RESM0, value, 3 * cycle)
    pass_beam(&m.tia, not m.tia.star and alone(&m.tia, M0), 3 * cycle, tia_effect(&m.tia, RESM0, 3 * cycle) - 3 * cycle)
    reset_object(&m.tia, M0, 3 * cycle)


cdef inline void poke_resm1(Console* m, int value, int cycle) noexcept nogil:
    keep(m, RESM1, value, 3 * cycle)
    pass_beam(&m.tia, not m.tia.star and alone(&m.tia, M1), 3 * cycle, tia_effect(&m.tia, RESM1, 3 * cycle) - 3 * cycle)
    reset_object(&m.tia, M1, 3 * cycle)


cdef inline void poke_resbl(Console* m, int value, int cycle) noexcept nogil:
    keep(m, RESBL, value, 3 * cycle)
    pass_beam(&m.tia, alone(&m.tia, BL), 3 * cycle, tia_effect(&m.tia, RESBL, 3 * cycle) - 3 * cycle)
    reset_object(&m.tia, BL, 3 * cycle)


cdef inline poke_fn poke_of(int register) noexcept nogil:
    """The function for a register; NULL if it has none."""
    if register == COLUP0:
        return poke_colup0
    if register == COLUP1:
        return poke_colup1
    if register == COLUPF:
        return poke_colupf
    if register == COLUBK:
        return poke_colubk
    if register == HMP0:
        return poke_hmp0
    if register == HMP1:
        return poke_hmp1
    if register == HMM0:
        return poke_hmm0
    if register == HMM1:
        return poke_hmm1
    if register == HMBL:
        return poke_hmbl
    if register == HMCLR:
        return poke_hmclr
    if register == GRP0:
        return poke_grp0
    if register == GRP1:
        return poke_grp1
    if register == PF0:
        return poke_pf0
    if register == PF1:
        return poke_pf1
    if register == PF2:
        return poke_pf2
    if register == ENAM0:
        return poke_enam0
    if register == ENAM1:
        return poke_enam1
    if register == ENABL:
        return poke_enabl
    if register == HMOVE:
        return poke_hmove
    if register == RESP0:
        return poke_resp0
    if register == RESP1:
        return poke_resp1
    if register == RESM0:
        return poke_resm0
    if register == RESM1:
        return poke_resm1
    if register == RESBL:
        return poke_resbl
    return NULL

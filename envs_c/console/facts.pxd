"""What is particular to a game: its controls, its start, and how its RAM tells score, lives and end."""

from libc.stdint cimport int32_t, uint8_t

from envs_c.console.frame cimport play_frame, power_on_again, set_switches
from envs_c.console.power_on cimport POWER_ON_TIMERS
from envs_c.console.state cimport Console, End, Facts, Play, Rom, Term


cdef enum Coding:
    BIN, BCD, LO, HI, SIGNED, LOW3


cdef enum:
    UP = 1
    DOWN = 2
    LEFT = 4
    RIGHT = 8
    FIRE = 16
    OHM_LEAST = 27450
    OHM_MOST = 790196
    OHM_START = (OHM_LEAST + OHM_MOST) // 2
    OHM_STEP = 23000      # a frame
    ALL_UP = 0x3F         # SWCHB without a switch


cdef extern from *:
    """
    /* parts of ALE's 18 actions */
    static const unsigned char PARTS[18] = {0, 16, 1, 8, 4, 2, 9, 5, 10, 6, 17, 24, 20, 18, 25, 21, 26, 22};
    """
    const unsigned char[18] PARTS


cdef inline void press(Console* m, const Facts* facts, int action) noexcept nogil:
    """Set the inputs for one of ALE's actions."""
    cdef int parts = PARTS[action], k
    m.sticks = 0xFF
    m.triggers = 0
    set_switches(m, ALL_UP)
    if facts.paddles:
        k = facts.paddles - 1
        m.ohm += OHM_STEP * ((parts & LEFT != 0) - (parts & RIGHT != 0))
        m.ohm = min(max(m.ohm, OHM_LEAST), OHM_MOST)
        m.paddles[k] = m.ohm
        if parts & FIRE:
            m.sticks &= ~(0x80 >> k) & 0xFF
    else:
        m.sticks = 0xFF & ~((parts & 15) << 4)  # UP to RIGHT are bits 4 to 7 of SWCHA
        m.triggers = 1 if parts & FIRE else 0


cdef inline void start(Play* p, const Rom* rom, int resets) noexcept nogil:
    """Turn the console off and on, with its RAM kept, and begin a game as ALE does."""
    cdef Console* m = &p.now
    cdef const Facts* facts = &rom.facts
    cdef int k, _k
    power_on_again(m, rom, POWER_ON_TIMERS[resets if resets < 512 else 2 + (resets - 2) % 510])
    m.resets = resets
    m.ohm = OHM_START
    for k in range(4):
        m.paddles[k] = OHM_START if k < 2 and facts.paddles else OHM_LEAST  # the second pair is not moved
    press(m, facts, 0)
    for _k in range(60):
        play_frame(p, rom)
    for k in range(facts.start_frames):
        set_switches(m, ALL_UP & ~facts.start[k] & 0xFF)
        play_frame(p, rom)
    for k in range(facts.begin_actions):
        press(m, facts, facts.begin[k])
        play_frame(p, rom)
    m.score = number(m, facts.score, facts.scores)


cdef inline int decoded(int value, int coding) noexcept nogil:
    if coding == BCD:
        return (value >> 4) * 10 + (value & 15)
    if coding == LO:
        return value & 15
    if coding == LOW3:
        return value & 7
    if coding == HI:
        return value >> 4
    return value - 256 if coding == SIGNED and value > 127 else value


cdef inline int32_t number(const Console* m, const Term* terms, int count) noexcept nogil:
    """The number that these parts of RAM make."""
    cdef int k
    cdef int32_t total = 0
    for k in range(count):
        total += terms[k].multiplier * decoded(m.ram[terms[k].address & 0x7F], terms[k].coding)
    return total


cdef inline int32_t reward(Console* m, const Facts* facts) noexcept nogil:
    """The score since the last call."""
    cdef int32_t score = number(m, facts.score, facts.scores), gain = score - m.score
    m.score = score
    if facts.wrap > 0 and gain < -(facts.wrap // 2):
        gain += facts.wrap
    return gain


cdef inline int lives_left(const Console* m, const Facts* facts) noexcept nogil:
    return number(m, facts.lives, facts.lives_terms) + facts.lives_more


cdef inline bint is_over(const Console* m, const Facts* facts) noexcept nogil:
    cdef int k, value
    for k in range(facts.ends_count):
        value = m.ram[facts.ends[k].address & 0x7F]
        if facts.ends[k].values[value >> 3] >> (value & 7) & 1:
            return True
    return False

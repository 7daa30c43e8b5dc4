"""What is particular to a game: its controls, its start, and how its RAM tells score, lives and end."""

from libc.stdint cimport int32_t, uint8_t

from envs_c.console.frame cimport play_frame, power_on_again
from envs_c.console.state cimport OPEN, Console, End, Facts, Play, Rom, Step, Term


cdef enum Coding:
    BIN, BCD, LO, HI, SIGNED, LOW3, HI3, ONES, LO10, HI10, EIGHTH, GLYPH,
    LOW1, LOW2, ONES3, BCD7, STOCK, WON8


cdef enum Rule:
    # What ale-py makes of the number of lives in RAM.
    NOW     # they are that number
    WHILE   # they change to it only in frames in which the tests are true
    FALLS   # a fall by one is believed only if the tests are true
    ONCE    # they are those of an episode's start until the number has been equal to them
    COUNTED  # they fall by one if the number does; it may wrap around at 256


cdef enum:
    UP = 1
    DOWN = 2
    LEFT = 4
    RIGHT = 8
    FIRE = 16
    OHM_LEAST = 27450     # a paddle turned to the right; those of Pong's second pair, which nobody moves
    OHM_START = 408823    # a paddle of the first pair that nobody moves
    OHM_STEP = 23000      # a frame
    ALL_UP = 0x3F         # SWCHB without a switch
    TURNS = 256           # presses of SELECT after which a mode that does not come is given up


cdef extern from *:
    """
    /* parts of ALE's 18 actions */
    static const unsigned char PARTS[18] = {0, 16, 1, 8, 4, 2, 9, 5, 10, 6, 17, 24, 20, 18, 25, 21, 26, 22};
    """
    const unsigned char[18] PARTS


cdef inline void press(Console* m, const Facts* facts, int action, int switches=0) noexcept nogil:
    """Set the inputs for one of ALE's actions. switches: those that are pressed, as in Step."""
    cdef int parts = PARTS[action], k
    m.sticks = 0xFF
    m.triggers = 0
    m.switches = <uint8_t>(m.switches_rest & ~switches)
    if facts.paddles:
        k = facts.paddles - 1
        m.ohm += OHM_STEP * ((parts & LEFT != 0) - (parts & RIGHT != 0))
        m.ohm = min(max(m.ohm, OHM_LEAST), facts.ohm_most)
        m.paddles[k] = m.ohm
        if parts & FIRE:
            m.sticks &= ~(0x80 >> k) & 0xFF
    elif facts.right_port:
        m.sticks = 0xFF & ~(parts & 15)
        m.triggers = 2 if parts & FIRE else 0
    else:
        m.sticks = 0xFF & ~((parts & 15) << 4)  # UP to RIGHT are bits 4 to 7 of SWCHA
        m.triggers = 1 if parts & FIRE else 0


cdef inline bint mode_is_there(const Console* m, const Facts* facts, int mode) noexcept nogil:
    """True if the RAM holds a mode; mode: its place in facts.modes."""
    cdef int k
    for k in range(facts.selects):
        if m.ram[facts.select[k] & 0x7F] != facts.values[mode][k]:
            return False
    return True


cdef inline void play_step(Play* p, const Rom* rom, const Step* step) noexcept nogil:
    cdef int _k
    for _k in range(step.frames):
        press(&p.now, &rom.facts, step.action, step.switches)
        play_frame(p, rom)


cdef inline void start(Play* p, const Rom* rom, int resets, int mode, int difficulty) noexcept nogil:
    """Turn the console off and on, with its RAM kept, and begin a game as ALE does. mode, difficulty: ALE's numbers."""
    cdef Console* m = &p.now
    cdef const Facts* facts = &rom.facts
    cdef int k, _k, j, place = 0, turns = 0
    power_on_again(m, rom, resets)
    m.resets = resets
    m.ohm = (OHM_LEAST + facts.ohm_most) // 2
    for k in range(4):
        m.paddles[k] = OPEN if not facts.paddles else OHM_START if k < 2 else OHM_LEAST if facts.paddles > 1 else OPEN
    if facts.paddles:
        m.paddles[facts.paddles - 1] = m.ohm
    m.switches_rest = <uint8_t>(ALL_UP | (difficulty & 3) << 6)
    for k in range(facts.mode_count):
        if facts.modes[k] == mode:
            place = k
    press(m, facts, 0)
    for _k in range(facts.idle):
        play_frame(p, rom)
    k = 0
    while k < facts.step_count:
        if facts.steps[k].body == 0:
            play_step(p, rom, &facts.steps[k])
            k += 1
        elif turns == TURNS or mode_is_there(m, facts, place):
            k += facts.steps[k].body + 1
        else:
            turns += 1
            for j in range(facts.steps[k].body):
                play_step(p, rom, &facts.steps[k + 1 + j])
    m.score = score_of(m, facts)
    m.par, m.hole, m.strokes = m.ram[136 - 128], m.ram[175 - 128], 0
    m.lives = -facts.lives_first if facts.lives_rule == ONCE else facts.lives_first


cdef inline int decoded(int value, int coding) noexcept nogil:
    if coding == BCD:
        return (value >> 4) * 10 + (value & 15)
    if coding == LO:
        return value & 15
    if coding == LOW3:
        return value & 7
    if coding == HI:
        return value >> 4
    if coding == HI3:
        return value >> 4 & 7
    if coding == LOW1:
        return value & 1
    if coding == LOW2:
        return value & 3
    if coding == BCD7:    # without bit 7
        return (value >> 4 & 7) * 10 + (value & 15)
    if coding == STOCK:   # the place of a digit's picture, of which 88 is the full number and 89 the last one
        return 3 if value == 88 else 0 if value == 89 else value >> 3
    if coding == WON8:    # 8 is a game that was won
        return 1 if value == 8 else -1
    if coding == ONES3:   # in the lowest three bits
        return (value & 1) + (value >> 1 & 1) + (value >> 2 & 1)
    if coding == LO10:    # digits, of which 10 is a blank
        return value & 15 if value & 15 != 10 else 0
    if coding == HI10:
        return value >> 4 if value >> 4 != 10 else 0
    if coding == EIGHTH:  # the place of a digit's picture, of which 128 is a blank
        return value >> 3 if value != 128 else 0
    if coding == GLYPH:   # the same with blanks for all that is no digit
        return value >> 3 if value & 7 == 0 and value <= 72 else 0
    if coding == ONES:  # in the high digit
        return (value >> 4 & 1) + (value >> 5 & 1) + (value >> 6 & 1) + (value >> 7)
    return value - 256 if coding == SIGNED and value > 127 else value


cdef inline int byte_of(const Console* m, int address) noexcept nogil:
    """A byte of RAM; from 128 on, of the cartridge's own."""
    return m.extra.ram[address & 0x7F] if address & 0x80 else m.ram[address]


cdef inline int32_t number(const Console* m, const Term* terms, int count) noexcept nogil:
    """The number that these parts of RAM make."""
    cdef int k
    cdef int32_t total = 0
    for k in range(count):
        total += terms[k].multiplier * decoded(byte_of(m, terms[k].address), terms[k].coding)
    return total


cdef inline bint all_true(const Console* m, const uint8_t* before, const End* end) noexcept nogil:
    """True if all tests are. before: (128,) the RAM before the frame."""
    cdef int k, at, value
    for k in range(end.count):
        for at in range(end.tests[k].address & 0x7F, (end.tests[k].last & 0x7F) + 1):
            value = before[at] if end.tests[k].before else m.ram[at]
            if not end.tests[k].values[value >> 3] >> (value & 7) & 1:
                return False
    return True


cdef inline int32_t score_of(const Console* m, const Facts* facts) noexcept nogil:
    cdef int k
    for k in range(facts.blanks):
        if all_true(m, m.ram, &facts.blank[k]):
            return 0
    return number(m, facts.score, facts.scores)


cdef inline int end_of(const Play* p, const Facts* facts) noexcept nogil:
    """The number of the end that is reached, from 1 on; 0 if the game goes on."""
    cdef int k
    for k in range(facts.ends_count):
        if all_true(&p.now, p.before[p.last].ram, &facts.ends[k]):
            return k + 1
    return 0


cdef inline bint is_over(const Play* p, const Facts* facts) noexcept nogil:
    return end_of(p, facts) != 0


cdef inline int32_t points_of_a_hole(Console* m) noexcept nogil:
    """In Miniature Golf the par less the strokes, in the frame in which a hole ends; 0 in all others.

    The RAM shows a hole's par until the first stroke. It counts the strokes of the whole game in two digits; ale-py counts
    those of the hole, without the stroke at which the digits go from 99 to 0.
    """
    cdef int hole = m.ram[175 - 128], par = m.ram[136 - 128], strokes = decoded(m.ram[135 - 128], BCD)
    cdef int32_t found = 0
    if hole != m.hole:
        found = m.par - m.score if m.score else 0
        m.hole = <uint8_t>hole
        m.score = 0
    elif par:
        m.par = <uint8_t>par
        m.score = 0
    else:
        m.score += strokes - m.strokes if strokes >= m.strokes else strokes
        m.strokes = <uint8_t>strokes
    return found


cdef inline int32_t reward(Play* p, const Facts* facts) noexcept nogil:
    """The score since the last call, or what the game's end gives."""
    cdef Console* m = &p.now
    cdef int32_t score, gain, large
    cdef int small = facts.scores_small, end = end_of(p, facts) if facts.points_count else 0
    if facts.holes:
        return points_of_a_hole(m)
    if 0 < end <= facts.points_count:
        return facts.points[end - 1]
    score = score_of(m, facts)
    gain = score - m.score
    m.score = score
    if small:
        large = number(m, &facts.score[small], facts.scores - small)
        large -= number(&p.before[p.last], &facts.score[small], facts.scores - small)
        gain = large if large else gain
    if gain < 0:
        gain += facts.wrap
    return min(gain, facts.most_reward) if facts.most_reward else gain


cdef inline int32_t lives_in_ram(const Console* m, const Facts* facts) noexcept nogil:
    return number(m, facts.lives, facts.lives_terms) + facts.lives_more


cdef inline void count_lives(Play* p, const Facts* facts) noexcept nogil:
    """Keep the count of lives after a frame, by the game's rule."""
    cdef Console* m = &p.now
    cdef int32_t found = lives_in_ram(m, facts)
    if facts.lives_rule == WHILE:
        if all_true(m, p.before[p.last].ram, &facts.lives_tests):
            m.lives = found
    elif facts.lives_rule == FALLS:
        if found != m.lives - 1 or all_true(m, p.before[p.last].ram, &facts.lives_tests):
            m.lives = found
    elif facts.lives_rule == ONCE:
        if m.lives >= 0 or found == -m.lives:
            m.lives = found
    elif facts.lives_rule == COUNTED:
        if lives_in_ram(&p.before[p.last], facts) - found & 0xFF == 1:
            m.lives -= 1


cdef inline int lives_left(const Play* p, const Facts* facts) noexcept nogil:
    if not facts.lives_stay and is_over(p, facts):
        return 0
    return lives_in_ram(&p.now, facts) if facts.lives_rule == NOW else max(p.now.lives, -p.now.lives)

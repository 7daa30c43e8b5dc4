"""What ale-py 0.12.1 puts into a console at power-on: the numbers of one generator, in the order in which they are drawn.

The generator is MT19937 (Matsumoto and Nishimura 1998) with one seed, whatever the environment's. It was found by trying
seeds against RAM and timers, read off with cartridges of our own: `python -m tools.console_facts power_on` compares again.

- The first 128 numbers are the RAM: their lowest eight bits. It keeps its bytes at later power-ons.
- One number is drawn that nothing shows.
- Each power-on draws the timer, 25 + number % 75, and after it the 128 bytes of a cartridge's own RAM, if it has one.
- `loadROM` turns the console on three times, of which the second runs no instruction; every `reset_game` once more.

After the last of the numbers that are kept here the third begins again; ale-py's go on.
"""

from libc.stdint cimport uint8_t, uint32_t

from envs_c.console.state cimport OWN_POWER_ONS, POWER_ONS, PowerOn


cdef enum:
    SEED = 4753849
    WORDS = 624           # of the generator
    MIDDLE = 397
    UNSEEN = 1            # the power-on of loadROM that runs no instruction


ctypedef struct Twister:
    uint32_t[WORDS] words
    int used


cdef inline void seed(Twister* t, uint32_t number) noexcept nogil:
    cdef int k
    t.words[0] = number
    for k in range(1, WORDS):
        number = 1812433253U * (number ^ number >> 30) + <uint32_t>k
        t.words[k] = number
    t.used = WORDS


cdef inline void twist(Twister* t) noexcept nogil:
    """The next WORDS words."""
    cdef int k
    cdef uint32_t both
    for k in range(WORDS):
        both = (t.words[k] & 0x80000000U) | (t.words[(k + 1) % WORDS] & 0x7FFFFFFFU)
        t.words[k] = t.words[(k + MIDDLE) % WORDS] ^ both >> 1 ^ (0x9908B0DFU if both & 1 else 0)
    t.used = 0


cdef inline uint32_t drawn(Twister* t) noexcept nogil:
    """The next number."""
    cdef uint32_t word
    if t.used == WORDS:
        twist(t)
    word = t.words[t.used]
    t.used += 1
    word ^= word >> 11
    word ^= word << 7 & 0x9D2C5680U
    word ^= word << 15 & 0xEFC60000U
    return word ^ word >> 18


cdef inline void fill_power_on(PowerOn* power, bint own_ram) noexcept nogil:
    """All of it, for a cartridge with RAM of its own or without."""
    cdef Twister t
    cdef int k, turn, place = 0
    cdef uint32_t number
    seed(&t, SEED)
    for k in range(128):
        power.ram[k] = <uint8_t>drawn(&t)
    drawn(&t)
    for turn in range(POWER_ONS + UNSEEN):
        power.timers[place] = <uint8_t>(25 + drawn(&t) % 75)
        for k in range(128 if own_ram else 0):
            number = drawn(&t)
            if place < OWN_POWER_ONS:
                power.own[place][k] = <uint8_t>number
        place += turn != UNSEEN


cdef inline int place_in(int resets, int kept) noexcept nogil:
    """The place of a power-on in a table that keeps so many."""
    return resets if resets < kept else 2 + (resets - 2) % (kept - 2)

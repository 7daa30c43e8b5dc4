"""The state of a game of Go, and sets of points.

A set of points is an array of n words of 64 bits: point p, counted row by row from the top left, is bit p % 64 of word
p / 64. Rules act on whole sets. n is handed from function to function: where it is a constant, 1 or 2, loops unroll and small
sets stay in registers.
"""

from libc.stdint cimport int16_t, uint8_t, uint64_t


cdef enum:
    BLACK, WHITE
    MAX_SIZE = 19
    WORDS = 6                         # of 64 points, for the largest board
    PLAYED = 2 * MAX_SIZE * MAX_SIZE  # stones that a game can play
    KEYS = 256                        # of the lists of earlier positions

cdef extern from *:
    """
    #define count_ones __builtin_popcountll
    #define lowest_one __builtin_ctzll
    """
    int count_ones(uint64_t x) noexcept nogil
    int lowest_one(uint64_t x) noexcept nogil  # of x > 0


ctypedef struct Word:        # 64 points of the board; point p is bit p % 64 of word p / 64
    uint64_t board           # those that exist
    uint64_t inner           # those with a left neighbour
    uint64_t[2] stones       # black, white
    uint64_t[2] held         # those that ever held a black, a white stone
    uint64_t atari           # stones whose chain has one liberty
    uint64_t legal           # where who is to play may
    uint64_t banned          # where only superko forbids it


ctypedef struct Go:
    Word[WORDS] word
    uint64_t hash            # of the board: the XOR of its stones' keys
    double komi
    int16_t[2] count         # stones on the board
    int16_t moves, limit     # passes among them; the last move's number
    int16_t played           # stones ever put
    uint8_t size, words      # words: of 64 points, in use
    uint8_t opponent
    uint8_t agent, to_play   # BLACK or WHITE
    uint8_t passes           # in a row
    int16_t[KEYS] newest     # 1 + index of the newest earlier position with stones of that key; 0 none
    int16_t[PLAYED] older    # the same, of the next older one with the same key
    uint64_t[PLAYED] seen    # hashes of the positions after each stone put


cdef inline bint none(const uint64_t* x, int n) noexcept nogil:
    cdef uint64_t bits = 0
    cdef int i
    for i in range(n):
        bits |= x[i]
    return bits == 0


cdef inline int size_of(const uint64_t* x, int n) noexcept nogil:
    cdef int i, total = 0
    for i in range(n):
        total += count_ones(x[i])
    return total


cdef inline void only(int point, uint64_t* x, int n) noexcept nogil:
    """x = {point}"""
    cdef int i
    for i in range(n):
        x[i] = <uint64_t>1 << (point & 63) if point >> 6 == i else 0


cdef inline int nth(const uint64_t* x, int k, int n) noexcept nogil:
    """The point number k, from 0, of a set of more than k."""
    cdef int i, ones
    cdef uint64_t bits
    for i in range(n):
        ones = count_ones(x[i])
        if k < ones:
            bits = x[i]
            while k:
                bits &= bits - 1
                k -= 1
            return 64 * i + lowest_one(bits)
        k -= ones
    return 0


cdef inline void neighbours(const Go* go, const uint64_t* x, uint64_t* out, int n) noexcept nogil:
    """Points beside any of x; some beyond the last row may be among them."""
    cdef int i, row = go.size
    cdef uint64_t below, above, left, right
    for i in range(n):
        below = x[i] << row | (x[i - 1] >> (64 - row) if i else 0)
        above = x[i] >> row | (x[i + 1] << (64 - row) if i + 1 < n else 0)
        right = (x[i] << 1 | (x[i - 1] >> 63 if i else 0)) & go.word[i].inner
        left = (x[i] & go.word[i].inner) >> 1 | ((x[i + 1] & go.word[i + 1].inner) << 63 if i + 1 < n else 0)
        out[i] = below | above | left | right


cdef inline void fill(const Go* go, uint64_t* x, const uint64_t* within, int n) noexcept nogil:
    """Let x, a part of `within`, grow to all of `within` that touches it."""
    cdef uint64_t[WORDS] beside
    cdef uint64_t grown = 1
    cdef int i
    while grown:
        neighbours(go, x, beside, n)
        grown = 0
        for i in range(n):
            beside[i] &= within[i] & ~x[i]
            grown |= beside[i]
            x[i] |= beside[i]


cdef inline bint two_liberties(const Go* go, uint64_t* x, const uint64_t* own, const uint64_t* empty,
                               int n) noexcept nogil:
    """Whether x, part of a chain of `own`, has two liberties or more; x grows as far as needed, if not to the whole chain."""
    cdef uint64_t[WORDS] beside
    cdef uint64_t grown = 1
    cdef int i, liberties
    while grown:
        neighbours(go, x, beside, n)
        liberties = 0
        grown = 0
        for i in range(n):
            liberties += count_ones(beside[i] & empty[i])
            beside[i] &= own[i] & ~x[i]
            grown |= beside[i]
            x[i] |= beside[i]
        if liberties > 1:
            return True
    return False

"""The state of a game of Go, and sets of points.

A set of points is an array of n words of 64 bits: point p, counted row by row from the top left, is bit p % 64 of word
p / 64. The rules work on whole sets. All functions take n: if it is a constant, 1 or 2, loops unroll and sets stay in
registers.
"""

from libc.stdint cimport int16_t, uint8_t, uint64_t


cdef enum:
    BLACK, WHITE
    MAX_SIZE = 19
    WORDS = 6                         # words of a set on the largest board
    PLAYED = 2 * MAX_SIZE * MAX_SIZE  # the largest number of stones that a game can play
    KEYS = 256                        # number of lists of earlier positions

cdef extern from *:
    """
    #define count_ones __builtin_popcountll
    #define lowest_one __builtin_ctzll
    """
    int count_ones(uint64_t x) noexcept nogil
    int lowest_one(uint64_t x) noexcept nogil  # x must not be 0


ctypedef struct Word:        # 64 points of the board; point p is bit p % 64 of word p / 64
    uint64_t board           # points that exist
    uint64_t inner           # points with a left neighbour
    uint64_t[2] stones       # black, white
    uint64_t[2] held         # points that ever held a black, a white stone
    uint64_t atari           # stones whose chain has one liberty
    uint64_t legal           # points at which the side to play may put a stone
    uint64_t banned          # points that only superko forbids


ctypedef struct Go:
    Word[WORDS] word
    uint64_t hash            # of the board: the XOR of its stones' keys
    double komi
    int16_t[2] count         # stones on the board: black, white
    int16_t moves, limit     # moves played, with passes; number of the last possible move
    int16_t played           # stones ever put on the board
    uint8_t size, words      # words: of a set on this board
    uint8_t opponent
    uint8_t agent, to_play   # BLACK or WHITE
    uint8_t passes           # in a row
    int16_t[KEYS] newest     # by list: 1 + index in `seen` of its newest position; 0: the list is empty
    int16_t[PLAYED] older    # by index in `seen`: the same for the next older position of the list
    uint64_t[PLAYED] seen    # hash of the position after each stone


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
    """The k-th point of a set, from 0. The set must have more than k points."""
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
    """out = points beside any point of x; it may have bits beyond the last row."""
    cdef int i, row = go.size
    cdef uint64_t below, above, left, right
    for i in range(n):
        below = x[i] << row | (x[i - 1] >> (64 - row) if i else 0)
        above = x[i] >> row | (x[i + 1] << (64 - row) if i + 1 < n else 0)
        right = (x[i] << 1 | (x[i - 1] >> 63 if i else 0)) & go.word[i].inner
        left = (x[i] & go.word[i].inner) >> 1 | ((x[i + 1] & go.word[i + 1].inner) << 63 if i + 1 < n else 0)
        out[i] = below | above | left | right


cdef inline void fill(const Go* go, uint64_t* x, const uint64_t* within, int n) noexcept nogil:
    """Let x, a part of `within`, grow to all points of `within` that are connected with it."""
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
    """Whether the chain of `own` with x in it has two liberties or more. x grows as far as needed, at most to the chain."""
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

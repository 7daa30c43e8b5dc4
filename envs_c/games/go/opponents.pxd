"""The built-in opponents of Go. go.pyx states in prose how they choose."""

from libc.stdint cimport uint64_t
from libc.string cimport memset

from envs_c.games.go.rules cimport any_of, repeats
from envs_c.games.go.sets cimport WORDS, Go, fill, neighbours, none, nth, only, size_of, two_liberties
from envs_c.rng cimport Rng


cdef enum:
    RANDOM, GREEDY, NONE    # values of option `opponent`


cdef inline void captures(const Go* go, uint64_t* x, int n) noexcept nogil:
    """x = the allowed points that capture the largest number of stones."""
    cdef int i, point, most = 1, taken, own = go.to_play
    cdef uint64_t[WORDS] prey, beside, put, victims
    for i in range(n):
        prey[i] = go.word[i].stones[1 - own] & go.word[i].atari
    neighbours(go, prey, beside, n)
    for i in range(n):
        beside[i] &= go.word[i].legal
        x[i] = 0
    while not none(beside, n):
        point = nth(beside, 0, n)
        beside[point >> 6] &= beside[point >> 6] - 1
        only(point, put, n)
        neighbours(go, put, victims, n)
        for i in range(n):
            victims[i] &= prey[i]
        fill(go, victims, prey, n)
        taken = size_of(victims, n)
        if taken >= most and not repeats(go, point, n):
            if taken > most:
                memset(x, 0, n * sizeof(uint64_t))
            most = taken
            x[point >> 6] |= <uint64_t>1 << (point & 63)


cdef inline void rescues(const Go* go, uint64_t* x, int n) noexcept nogil:
    """x = liberties of own chains in atari that give their chain two liberties or more."""
    cdef int i, point
    cdef uint64_t[WORDS] own, empty, beside, put
    for i in range(n):
        own[i] = go.word[i].stones[go.to_play]
        empty[i] = go.word[i].board & ~(go.word[i].stones[0] | go.word[i].stones[1])
        put[i] = own[i] & go.word[i].atari
        x[i] = 0
    neighbours(go, put, beside, n)
    for i in range(n):
        beside[i] &= go.word[i].legal
    while not none(beside, n):
        point = nth(beside, 0, n)
        beside[point >> 6] &= beside[point >> 6] - 1
        only(point, put, n)
        empty[point >> 6] ^= <uint64_t>1 << (point & 63)
        if two_liberties(go, put, own, empty, n):
            x[point >> 6] |= <uint64_t>1 << (point & 63)
        empty[point >> 6] ^= <uint64_t>1 << (point & 63)


cdef inline void no_eyes(const Go* go, uint64_t* x, int n) noexcept nogil:
    """x = legal points that are not eyes of the side to play."""
    cdef int i
    cdef uint64_t[WORDS] foreign
    for i in range(n):
        foreign[i] = go.word[i].board & ~go.word[i].stones[go.to_play]
    neighbours(go, foreign, x, n)
    for i in range(n):
        x[i] &= go.word[i].legal


cdef inline int answer(const Go* go, Rng* rng, int n) noexcept nogil:
    """The opponent's point, or -1 for a pass."""
    cdef int i, point
    cdef uint64_t[WORDS] x
    if go.opponent == RANDOM:
        for i in range(n):
            x[i] = go.word[i].legal
        return any_of(go, x, rng, n)
    captures(go, x, n)
    point = any_of(go, x, rng, n)
    if point < 0:
        rescues(go, x, n)
        point = any_of(go, x, rng, n)
    if point < 0:
        no_eyes(go, x, n)
        point = any_of(go, x, rng, n)
    return point

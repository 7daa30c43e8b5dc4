"""How a move changes a board of Go. go.pyx states the rules in prose; sets.pxd has the sets of points.

Atari. The board keeps the set of stones in atari up to date. Chains in atari can be captured, and all other chains can be
extended. So this set and the empty points give all legal moves at once, except for superko.

Superko. Each stone on the board has a random key. The XOR of all keys is the board's hash. The hashes after all moves are kept
in lists by the numbers of stones, since only positions with equal numbers can be equal.
"""

from libc.stdint cimport uint64_t

from envs_c.games.go.sets cimport (
    KEYS, WORDS, Go, count_ones, fill, lowest_one, neighbours, none, nth, only, size_of, two_liberties)
from envs_c.rng cimport Rng, rng_below, rng_mix


cdef inline uint64_t key_of(int point, int colour) noexcept nogil:
    """The random key of a stone."""
    return rng_mix(2 * point + colour + 1)


cdef inline uint64_t hash_of(const uint64_t* x, int colour, int n) noexcept nogil:
    cdef uint64_t bits, hashed = 0
    cdef int i
    for i in range(n):
        bits = x[i]
        while bits:
            hashed ^= key_of(64 * i + lowest_one(bits), colour)
            bits &= bits - 1
    return hashed


cdef inline int list_of(int black, int white) noexcept nogil:
    """Index of the list of earlier positions with these numbers of stones."""
    return (black + 16 * white) & (KEYS - 1)


cdef inline bint repeats(const Go* go, int point, int n) noexcept nogil:
    """Whether superko forbids a stone on `point`, which is legal otherwise.

    Only an earlier position with a stone of this colour there, and with equal numbers of stones, can be repeated.
    """
    cdef int i, own = go.to_play, other = 1 - own
    cdef int[2] count = [go.count[0], go.count[1]]
    cdef uint64_t hashed = go.hash
    cdef uint64_t[WORDS] put, beside, prey
    if not go.word[point >> 6].held[own] >> (point & 63) & 1:
        return False
    only(point, put, n)
    neighbours(go, put, beside, n)
    for i in range(n):
        prey[i] = go.word[i].stones[other] & go.word[i].atari
        beside[i] &= prey[i]
    if not none(beside, n):
        fill(go, beside, prey, n)
    count[own] += 1
    count[other] -= size_of(beside, n)
    i = go.newest[list_of(count[0], count[1])]
    if i == 0:
        return False
    hashed ^= key_of(point, own) ^ hash_of(beside, other, n)
    while i:
        if go.seen[i - 1] == hashed:
            return True
        i = go.older[i - 1]
    return False


cdef inline void find_legal(Go* go, int n) noexcept nogil:
    """Set `legal`, except for superko: points at which a stone has a liberty, joins a chain not in atari, or captures."""
    cdef int i, own = go.to_play
    cdef uint64_t[WORDS] open, beside
    for i in range(n):
        open[i] = go.word[i].board & ~go.word[i].stones[1 - own] & ~(go.word[i].stones[own] & go.word[i].atari) \
            | go.word[i].stones[1 - own] & go.word[i].atari
    neighbours(go, open, beside, n)
    for i in range(n):
        go.word[i].legal = beside[i] & go.word[i].board & ~(go.word[i].stones[0] | go.word[i].stones[1])


cdef inline void find_banned(Go* go, int n) noexcept nogil:
    """Move the points that superko forbids from `legal` to `banned`."""
    cdef int i
    cdef uint64_t bits
    for i in range(n):
        go.word[i].banned = 0
        bits = go.word[i].legal & go.word[i].held[go.to_play]
        while bits:
            if repeats(go, 64 * i + lowest_one(bits), n):
                go.word[i].banned |= bits & -bits
            bits &= bits - 1
        go.word[i].legal ^= go.word[i].banned


cdef inline void put_stone(Go* go, int point, int n) noexcept nogil:
    """Play a legal point: capture, and update the chains whose liberties changed."""
    cdef int i, key, colour = go.to_play
    cdef uint64_t[WORDS] own, other, atari, empty, put, beside, taken, eased, chain
    only(point, put, n)
    neighbours(go, put, beside, n)
    for i in range(n):
        own[i] = go.word[i].stones[colour]
        other[i] = go.word[i].stones[1 - colour]
        atari[i] = go.word[i].atari
        go.word[i].held[colour] |= put[i]
        taken[i] = beside[i] & other[i] & atari[i]
        eased[i] = beside[i] & own[i] & atari[i]
    go.hash ^= key_of(point, colour)
    go.count[colour] += 1
    if not none(taken, n):
        for i in range(n):
            chain[i] = other[i] & atari[i]
        fill(go, taken, chain, n)
        neighbours(go, taken, chain, n)
        for i in range(n):
            other[i] ^= taken[i]
            atari[i] ^= taken[i]
            eased[i] |= chain[i] & own[i] & atari[i]
        go.hash ^= hash_of(taken, 1 - colour, n)
        go.count[1 - colour] -= size_of(taken, n)
    if not none(eased, n):  # own chains that got liberties or the new stone
        for i in range(n):
            chain[i] = own[i] & atari[i]
        fill(go, eased, chain, n)
        for i in range(n):
            atari[i] ^= eased[i]
    for i in range(n):
        own[i] |= put[i]
        empty[i] = go.word[i].board & ~(own[i] | other[i])
        beside[i] &= other[i]
    if not two_liberties(go, put, own, empty, n):
        for i in range(n):
            atari[i] |= put[i]
    while not none(beside, n):  # chains of the other side that lost a liberty
        only(nth(beside, 0, n), chain, n)
        key = two_liberties(go, chain, other, empty, n)
        for i in range(n):
            beside[i] &= ~chain[i]
            if not key:
                atari[i] |= chain[i]
    for i in range(n):
        go.word[i].stones[colour] = own[i]
        go.word[i].stones[1 - colour] = other[i]
        go.word[i].atari = atari[i]
    key = list_of(go.count[0], go.count[1])
    go.seen[go.played] = go.hash
    go.older[go.played] = go.newest[key]
    go.played += 1
    go.newest[key] = go.played


cdef inline bint move(Go* go, int point, int n) noexcept nogil:
    """Play a legal point, or pass at -1. Returns whether the game has ended."""
    if point >= 0:
        put_stone(go, point, n)
    go.passes = 0 if point >= 0 else go.passes + 1
    go.to_play = 1 - go.to_play
    go.moves += 1
    find_legal(go, n)
    return go.passes == 2 or go.moves == go.limit


cdef inline int any_of(const Go* go, uint64_t* x, Rng* rng, int n) noexcept nogil:
    """A random point of x that superko allows; -1 if there is none. Points of x must be legal otherwise."""
    cdef int point, count = size_of(x, n)
    while count:
        point = nth(x, <int>rng_below(rng, count), n)
        if not repeats(go, point, n):
            return point
        x[point >> 6] ^= <uint64_t>1 << (point & 63)
        count -= 1
    return -1


cdef inline float result(const Go* go, int colour, int n) noexcept nogil:
    """The result for `colour`, by area and komi: 1 won, 0 draw, -1 lost."""
    cdef int i, side
    cdef int[2] area
    cdef double margin
    cdef uint64_t[2][WORDS] reach
    cdef uint64_t[WORDS] empty
    for i in range(n):
        empty[i] = go.word[i].board & ~(go.word[i].stones[0] | go.word[i].stones[1])
    for side in range(2):
        for i in range(n):
            reach[side][i] = go.word[i].stones[side]
            empty[i] |= reach[side][i]
        fill(go, reach[side], empty, n)
        for i in range(n):
            empty[i] ^= go.word[i].stones[side]
    for side in range(2):
        area[side] = 0
        for i in range(n):
            area[side] += count_ones(reach[side][i] & ~reach[1 - side][i])
    margin = (area[0] - area[1] - go.komi) * (1 - 2 * colour)
    return 1 if margin > 0 else -1 if margin < 0 else 0

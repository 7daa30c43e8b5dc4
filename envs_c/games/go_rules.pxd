"""The board of Go and what a move does to it, for go.pyx, which states the rules.

A set of points is an array of n words of 64 bits: point p, counted row by row from the top left, is bit p % 64 of word
p / 64. Rules act on whole sets. The board keeps the set of stones in atari up to date: chains in it can be captured, others
can be played from, so that this and the empty points give all legal moves at once, but for superko.

Superko. Each stone on the board has a random key; the XOR of all is the board's hash. Hashes after every move are kept in
lists by the numbers of stones, since only a position with as many can be the same.

n is handed from function to function: where it is a constant, 1 or 2, loops unroll and small sets stay in registers.
"""

from libc.stdint cimport int16_t, uint8_t, uint64_t

from envs_c.rng cimport Rng, rng_below, rng_mix


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


cdef inline uint64_t key_of(int point, int colour) noexcept nogil:
    """The random number that stands for a stone in the board's hash."""
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
    """Which list holds the earlier positions of so many stones."""
    return (black + 16 * white) & (KEYS - 1)


cdef inline bint repeats(const Go* go, int point, int n) noexcept nogil:
    """Whether a stone on `point`, legal otherwise, is against superko.

    That takes an earlier position with a stone of this colour there, and as many stones of both.
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
    """Set `legal` but for superko: where a stone has a liberty, joins a chain with another one, or captures."""
    cdef int i, own = go.to_play
    cdef uint64_t[WORDS] open, beside
    for i in range(n):
        open[i] = go.word[i].board & ~go.word[i].stones[1 - own] & ~(go.word[i].stones[own] & go.word[i].atari) \
            | go.word[i].stones[1 - own] & go.word[i].atari
    neighbours(go, open, beside, n)
    for i in range(n):
        go.word[i].legal = beside[i] & go.word[i].board & ~(go.word[i].stones[0] | go.word[i].stones[1])


cdef inline void find_banned(Go* go, int n) noexcept nogil:
    """Move what superko forbids from `legal` to `banned`."""
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
    """Play a legal point: capture, and see whose liberties changed."""
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
    if not none(eased, n):  # own chains that got liberties, or a new stone
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
    while not none(beside, n):  # chains of the other that lost a liberty
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
    """Play a legal point, or pass at -1; whether that ended the game."""
    if point >= 0:
        put_stone(go, point, n)
    go.passes = 0 if point >= 0 else go.passes + 1
    go.to_play = 1 - go.to_play
    go.moves += 1
    find_legal(go, n)
    return go.passes == 2 or go.moves == go.limit


cdef inline int any_of(const Go* go, uint64_t* x, Rng* rng, int n) noexcept nogil:
    """A point of x, legal but for superko, that superko allows, all alike likely; -1 where there is none."""
    cdef int point, count = size_of(x, n)
    while count:
        point = nth(x, <int>rng_below(rng, count), n)
        if not repeats(go, point, n):
            return point
        x[point >> 6] ^= <uint64_t>1 << (point & 63)
        count -= 1
    return -1


cdef inline float result(const Go* go, int colour, int n) noexcept nogil:
    """1, 0 or -1: whether `colour` has won, by area and komi."""
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

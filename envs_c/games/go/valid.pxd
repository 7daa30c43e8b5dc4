"""The check of a restored game of Go. Everything that follows from the stones is computed again and compared."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp, memset

from envs_c.games.go.rules cimport find_banned, find_legal, hash_of
from envs_c.games.go.sets cimport (
    KEYS, PLAYED, WORDS, Go, count_ones, fill, neighbours, none, nth, only, size_of, two_liberties)
from envs_c.valid cimport between


cdef inline void set_board(Go* go, int size) noexcept nogil:
    """Set the sets that depend only on the board's size."""
    cdef int point
    go.size, go.words = <uint8_t>size, <uint8_t>((size * size + 63) // 64)
    for point in range(size * size):
        go.word[point >> 6].board |= <uint64_t>1 << (point & 63)
        go.word[point >> 6].inner |= <uint64_t>(point % size > 0) << (point & 63)


cdef inline bint find_atari(Go* go, int colour) noexcept nogil:
    """Add the chains of this colour with one liberty to `atari`; False if a chain has none."""
    cdef uint64_t[WORDS] own, empty, left, chain, beside
    cdef int i
    for i in range(WORDS):
        own[i] = left[i] = go.word[i].stones[colour]
        empty[i] = go.word[i].board & ~(go.word[i].stones[0] | go.word[i].stones[1])
    while not none(left, WORDS):
        only(nth(left, 0, WORDS), chain, WORDS)
        if not two_liberties(go, chain, own, empty, WORDS):  # the chain is complete now
            neighbours(go, chain, beside, WORDS)
            for i in range(WORDS):
                beside[i] &= empty[i]
                go.word[i].atari |= chain[i]
            if none(beside, WORDS):
                return False
        fill(go, chain, own, WORDS)
        for i in range(WORDS):
            left[i] &= ~chain[i]
    return True


cdef inline bint has_history(const Go* go) noexcept nogil:
    """True if each earlier position is in exactly one list, and the lists lead from newer to older ones."""
    cdef uint8_t[PLAYED] listed
    cdef int k, at
    memset(listed, 0, sizeof(listed))
    for k in range(KEYS + go.played):
        at = go.newest[k] if k < KEYS else go.older[k - KEYS]
        if not between(at, 0, go.played if k < KEYS else k - KEYS) or (at > 0 and listed[at - 1]):
            return False
        if at > 0:
            listed[at - 1] = 1
    for k in range(go.played):
        if not listed[k]:
            return False
    return go.played == 0 or go.seen[go.played - 1] == go.hash


cdef inline bint has_board(const Go* go, Go* same, int size) noexcept nogil:
    """True if the sets, the counts and the hash follow from the stones. `same` is a copy of the game, which is changed."""
    cdef uint64_t[2][WORDS] stones
    cdef int i, side
    memset(same.word, 0, sizeof(same.word))
    set_board(same, size)
    for i in range(WORDS):
        for side in range(2):
            stones[side][i] = same.word[i].stones[side] = go.word[i].stones[side]
            same.word[i].held[side] = go.word[i].held[side]
            if stones[side][i] & ~go.word[i].held[side] or go.word[i].held[side] & ~same.word[i].board:
                return False
        if stones[0][i] & stones[1][i]:
            return False
    if size_of(stones[0], WORDS) != go.count[0] or size_of(stones[1], WORDS) != go.count[1] or (
            hash_of(stones[0], 0, WORDS) ^ hash_of(stones[1], 1, WORDS) != go.hash):
        return False
    if not find_atari(same, 0) or not find_atari(same, 1):
        return False
    find_legal(same, WORDS)
    find_banned(same, WORDS)
    return memcmp(same.word, go.word, sizeof(go.word)) == 0


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if board, lists and counts agree with one another."""
    cdef const Go* go = <const Go*>state
    cdef Go same
    cdef int size = <int>options[0]
    if (go.size != size or go.words != (size * size + 63) // 64 or go.komi != options[1] or go.opponent != options[2]
            or go.agent > 1 or (options[3] < 2 and go.agent != options[3]) or go.to_play > 1
            or go.limit != 2 * size * size or not between(go.moves, 0, go.limit - 1 + over)
            or not between(go.played, 0, go.moves) or go.passes > 1 + over or not has_history(go)):
        return False
    same = go[0]
    return has_board(go, &same, size)

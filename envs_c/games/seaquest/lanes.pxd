"""Seaquest's lanes: waves of enemies, divers and shots. The prose is in seaquest.pyx."""

from libc.stdint cimport int16_t, uint8_t

from envs_c.games.seaquest.rules cimport (
    COUNTS, LANES, NOBODY, PLAYS, SILENT_SUBMARINES, TANK, UNIT, WAITING, Seaquest, bob)


cdef enum:
    FROM_LEFT = -88, FROM_RIGHT = 215           # x of a wave's first place at the start
    PAST_RIGHT = 160, PAST_LEFT = -33, MARGIN = 8       # a wave ends on the first MARGIN x from here on; behind, it comes again
    ROUND = 256
    SIDE = 8, BRINGS_DIVER = 80                 # bit of the chance that sends a wave from the right; least chance with a diver
    SHOT_FROM = 39, SHOT_TO = 126, LAST_X = 159         # x from which submarines fire; the last x of a guest

cdef extern from *:
    """
    static const unsigned char FORMATION[2][4] = {{4, 6, 5, 7}, {1, 3, 5, 7}};  // [right][pace / 2 % 4]: bits 4 (left), 2, 1
    static const unsigned char SPREAD[8] = {0, 32, 16, 32, 0, 32, 16, 32};      // [alive]: offset of the rightmost copy
    static const unsigned char LEAD[8] = {0, 32, 16, 16, 0, 0, 0, 0};           // [alive]: offset of the leftmost copy
    """
    const uint8_t[2][4] FORMATION
    const uint8_t[8] SPREAD, LEAD


cdef inline void send_wave(Seaquest* game, int lane, bint sub, int chance) noexcept nogil:
    """Start the lane's next wave, with the enemies left of the last one, or complete if none is left.

    sub: True for submarines.
    chance: the random number that chooses its side and its diver.
    """
    cdef int right = not chance & SIDE
    game.right[lane] = <uint8_t>right
    game.x[lane] = FROM_LEFT if right else FROM_RIGHT
    if game.alive[lane] == 0:
        game.alive[lane] = FORMATION[right][game.pace >> 1 & 3]
    if game.diver[lane] == NOBODY and chance >= BRINGS_DIVER:
        game.diver[lane] = WAITING
    game.sub[lane] = sub
    game.pose[lane] = game.chased[lane] = 0


cdef inline void fill(Seaquest* game) noexcept nogil:
    """One frame in which the tank is filled in the empty sea. The frame's number chooses the first waves."""
    cdef int lane
    if game.frame & (UNIT - 1) != 0:
        return
    game.oxygen += 1
    if game.oxygen == TANK:
        game.phase = PLAYS
        for lane in range(LANES):
            send_wave(game, lane, False, (game.frame & 255) >> (LANES - 1 - lane))


cdef inline void swim(Seaquest* game) noexcept nogil:
    """Choose the poses of sharks and divers in this frame."""
    cdef int lane
    cdef uint8_t quick = game.frame >> 1 & 1
    if game.phase != COUNTS:
        game.sway = <uint8_t>bob(game)
    for lane in range(LANES):
        game.pose[lane] = quick if game.chased[lane] else game.stroke


cdef inline int owed(uint8_t* part, int sixteenths) noexcept nogil:
    """Whole pixels of a move of `sixteenths`; the remainder is kept in `part` for the next frame."""
    cdef int total = part[0] + sixteenths
    part[0] = <uint8_t>(total & 15)
    return total >> 4


cdef inline bint move_wave(Seaquest* game, int lane, int enemy, int chance) noexcept nogil:
    """Move a lane's wave, or start the next one; returns False if the wave was shot completely and the next one has started.

    enemy: pixels that it moves.
    """
    cdef bint busy = game.sub[lane] and game.guest[lane] > 0  # the next wave waits for the last shot
    cdef bint passed
    cdef int x = game.x[lane]
    if game.right[lane]:
        x += enemy
        passed = PAST_RIGHT <= x < PAST_RIGHT + MARGIN
        x -= ROUND if x >= PAST_RIGHT else 0
    else:
        x -= enemy
        passed = PAST_LEFT - MARGIN < x <= PAST_LEFT
        x += ROUND if x <= PAST_LEFT - MARGIN else 0
    if game.alive[lane] == 0 and not busy:
        send_wave(game, lane, False, chance)
        return False
    if not passed:
        game.x[lane] = <int16_t>x
    elif not busy:
        send_wave(game, lane, not game.sub[lane] and game.guest[lane] == 0, chance)
    return True


cdef inline void move_guest(Seaquest* game, int lane, int step) noexcept nogil:
    """Move the lane's diver or shot by `step` pixels, or let a diver enter, or fire a shot."""
    cdef int front
    if game.sub[lane]:
        if game.guest[lane] == 0 and game.alive[lane] and not game.rules & SILENT_SUBMARINES:
            front = game.x[lane] + (SPREAD[game.alive[lane]] if game.right[lane] else LEAD[game.alive[lane]])
            if SHOT_FROM <= front <= SHOT_TO:
                game.guest[lane] = <int16_t>front
        if game.guest[lane] == 0:
            return
    elif game.diver[lane] != WAITING:
        return
    if game.guest[lane] == 0:
        if step > 0:
            game.guest[lane] = <int16_t>(step if game.right[lane] else LAST_X + 1 - step)
        return
    game.guest[lane] += step if game.right[lane] else -step
    if game.guest[lane] > LAST_X or game.guest[lane] < 1:
        game.guest[lane] = 0
        if not game.sub[lane]:
            game.diver[lane] = NOBODY


cdef inline void move_lanes(Seaquest* game, int chance) noexcept nogil:
    """One frame of all lanes; waves that end are followed by the next."""
    cdef int enemy = owed(&game.enemy_part, 6 + game.pace)
    cdef int diver = owed(&game.diver_part, 3 + (game.pace >> 1))
    cdef int extra = owed(&game.shot_part, game.pace)
    cdef int lane, step
    cdef bint gone, sub
    for lane in range(LANES):
        sub = game.sub[lane]
        step = 1 + extra if sub else enemy if game.chased[lane] else diver
        gone = sub and game.right[lane] and game.guest[lane] == LAST_X
        if gone:
            game.guest[lane] = 0
        if move_wave(game, lane, enemy, chance) and not gone:
            move_guest(game, lane, extra - (game.pace >> 4) if sub and not game.sub[lane] else step)

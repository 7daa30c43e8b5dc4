"""Seaquest's lanes: waves of enemies, divers and shots. The prose is in seaquest.pyx."""

from libc.stdint cimport int16_t, uint8_t, uint32_t
from libc.string cimport memcpy

from envs_c.games.seaquest.rules cimport (
    BYTE, COUNTS, LANES, NOBODY, PLAYS, SILENT_SUBMARINES, TANK, UNIT, WAITING, Seaquest, bob, enemy_speed)


cdef enum:
    FROM_LEFT = -88, FROM_RIGHT = 215           # x of a wave's first place at the start
    PAST_RIGHT = 160, PAST_LEFT = -33, MARGIN = 8       # a wave ends on the first MARGIN x from here on; behind, it comes again
    ROUND = 256
    SIDE = 8, BRINGS_DIVER = 80                 # bit of the chance that sends a wave from the right; least chance with a diver
    SURELY = 0                                  # least chance with a diver, if one comes in any case
    UNIT_SHOT = 16                              # sixteenths of a pixel that a shot moves in a frame at pace 0
    SHOT_FROM = 39, SHOT_TO = 126, LAST_X = 159         # x from which submarines fire; the last x of a guest

cdef extern from *:
    """
    static const unsigned char FORMATION[2][4] = {{4, 6, 5, 7}, {1, 3, 5, 7}};  // [right][pace / 2 % 4]: bits 4 (left), 2, 1
    // [right][alive]: offset of the foremost copy
    static const unsigned char FRONT[2][8] = {{0, 32, 16, 16, 0, 0, 0, 0}, {0, 32, 16, 32, 0, 32, 16, 32}};
    """
    const uint8_t[2][4] FORMATION
    const uint8_t[2][8] FRONT


cdef inline void send_wave(Seaquest* game, int lane, bint sub, int chance, int least) noexcept nogil:
    """Start the lane's next wave, with the enemies left of the last one.

    sub: True for submarines.
    chance: the random number that chooses its side and its diver.
    least: the least chance with which it brings a diver: BRINGS_DIVER or SURELY.
    """
    cdef int right = not chance & SIDE
    game.right[lane] = <uint8_t>right
    game.x[lane] = FROM_LEFT if right else FROM_RIGHT
    if game.diver[lane] == NOBODY and chance >= least:
        game.diver[lane] = WAITING
    game.sub[lane] = sub
    game.pose[lane] = game.chased[lane] = 0


cdef inline void send_sharks(Seaquest* game, int lane, int chance, int least) noexcept nogil:
    """Start a complete wave of sharks."""
    send_wave(game, lane, False, chance, least)
    game.alive[lane] = FORMATION[game.right[lane]][game.pace >> 1 & 3]


cdef inline void fill(Seaquest* game) noexcept nogil:
    """One frame in which the tank is filled in the empty sea. The frame's number chooses the first waves."""
    cdef int lane
    if game.frame & (UNIT - 1) != 0:
        return
    game.oxygen += 1
    if game.oxygen == TANK:
        game.phase = PLAYS
        game.torpedo = 0
        for lane in range(LANES):
            send_sharks(game, lane, (game.frame & 255) >> (LANES - 1 - lane), BRINGS_DIVER)


cdef inline void swim(Seaquest* game) noexcept nogil:
    """Choose the poses of sharks and divers in this frame."""
    cdef uint32_t chased, quick = game.frame >> 1 & 1, each = 0x01010101
    if game.phase != COUNTS:
        game.sway = <uint8_t>bob(game)
    memcpy(&chased, game.chased, LANES)
    chased = chased * 255 & quick * each | ~(chased * 255) & game.stroke * each
    memcpy(game.pose, &chased, LANES)


cdef inline int owed(uint8_t* part, int sixteenths) noexcept nogil:
    """Whole pixels of a move of `sixteenths`; the remainder is kept in `part` for the next frame."""
    cdef int total = part[0] + sixteenths
    part[0] = <uint8_t>(total & 15)
    return total >> 4


cdef inline bint move_wave(Seaquest* game, int lane, int enemy, int chance) noexcept nogil:
    """Move a lane's wave, or start the next one; returns False if sharks that were all gone have started anew.

    enemy: pixels that it moves.
    """
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
    if not passed:
        game.x[lane] = <int16_t>x
    elif not game.sub[lane] and game.alive[lane] == 0 and game.guest[lane] == 0:
        send_sharks(game, lane, chance, SURELY)
        return False
    else:
        send_wave(game, lane, not game.sub[lane], chance, BRINGS_DIVER)
    return True


cdef inline void move_guest(Seaquest* game, int lane, int step) noexcept nogil:
    """Move the lane's diver or shot by `step` pixels, or let a diver enter, or fire a shot."""
    cdef int front
    if game.sub[lane]:
        if game.guest[lane] == 0 and game.alive[lane] and not game.rules & SILENT_SUBMARINES:
            front = game.x[lane] + FRONT[game.right[lane]][game.alive[lane]]
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


cdef inline void move_lane(Seaquest* game, int lane, int enemy, int diver, int shot, int chance) noexcept nogil:
    """Move a lane's wave and its diver or shot. After submarines that were all shot sharks come, when their shot is gone.

    enemy, diver, shot: pixels that enemies, divers and shots move.
    """
    cdef bint fast = chance & 1 if game.sub[lane] else game.chased[lane]
    cdef bint moves = move_wave(game, lane, enemy, chance)
    cdef bint at_0 = game.guest[lane] > 0 and not game.right[lane] and game.guest[lane] == shot  # it keeps the lane for a frame
    if moves:
        move_guest(game, lane, shot if game.sub[lane] else enemy if fast else diver)
    if game.sub[lane] and game.alive[lane] == 0 and game.guest[lane] == 0 and not at_0:
        send_sharks(game, lane, chance, SURELY)


cdef inline bint glide(Seaquest* game, int lane, int enemy, int diver, int shot) noexcept nogil:
    """Do what move_lane does if wave and guest only move on; returns False, with nothing done, if more happens.

    No jump but the last depends on what the lane holds: no CPU could predict it.
    """
    cdef int sub = game.sub[lane], right = game.right[lane], way = 2 * right - 1, alive = game.alive[lane]
    cdef int x = game.x[lane] + way * enemy, past = way * x + (PAST_LEFT & (right - 1)) - (PAST_RIGHT & -right)
    cdef int guest = game.guest[lane], waiting = (sub == 0) & (game.diver[lane] == WAITING), empty = guest == 0
    cdef int step = diver + game.chased[lane] * (enemy - diver), front, fires, ends
    step += sub * (shot - step)
    x -= (ROUND * way) & -(past >= MARGIN)
    ends = (sub & (alive == 0) & empty) | ((past >= 0) & (past < MARGIN))
    front = x + FRONT[right][alive]
    fires = sub & (alive != 0) & (front >= SHOT_FROM) & (front <= SHOT_TO) & ((game.rules & SILENT_SUBMARINES) == 0)
    ends |= empty & (fires | (waiting & (step > 0)))
    guest += way * step & -(1 - empty & (sub | waiting))
    ends |= (guest > LAST_X) | (guest < 0) | (guest == 0) & (1 - empty)
    if ends:
        return False
    game.x[lane], game.guest[lane] = <int16_t>x, <int16_t>guest
    return True


cdef inline void move_lanes(Seaquest* game, int chance) noexcept nogil:
    """One frame of all lanes; waves that end are followed by the next."""
    cdef int enemy = owed(&game.enemy_part, enemy_speed(game))
    cdef int diver = owed(&game.diver_part, enemy_speed(game) >> 1)
    cdef int shot = owed(&game.shot_part, UNIT_SHOT + game.pace & BYTE)
    cdef int lane
    for lane in range(LANES):
        if not glide(game, lane, enemy, diver, shot):
            move_lane(game, lane, enemy, diver, shot, chance)

"""Seaquest's constants, state, and how the submarine, the lanes and the sea behave. The prose is in seaquest.pyx."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_next


cdef enum:
    NOOP, FIRE, UP, RIGHT, LEFT, DOWN, UPRIGHT  # the first of the 18 actions
    LANES = 4, COPIES = 3, GAP = 16             # a wave's enemies (copies of one figure), GAP pixels apart
    FROM_LEFT = -88, FROM_RIGHT = 215, WAY = 247        # x of a wave's first place at the start; pixels that it moves
    SPRITE = 8, SHIP = 16                       # widths of enemies and of the submarine
    SHIP_ROWS = 11, SHARK_ROWS = 7
    SHIP_Y = 33, SURFACE = 13, SEA_FLOOR = 108, LEFT_END = 21, RIGHT_END = 134, START_X = 76
    DEEP_ENOUGH_TO_FIRE = 18, BREATHES_BELOW = 20
    TORPEDO_ROW = 40, TORPEDO_SPEED = 5, FIRE_RIGHT = 13, FIRE_LEFT = 3
    LANE_Y = 137, PITCH = 24                    # screen row of lane 0, the lowest; sharks bob below it
    SHOT_ROW = 8, SHOT_FROM = 39, SHOT_TO = 126         # row of a lane's shot; x from which submarines fire
    TANK = 64, BREATH = 32, LOW = 16            # units of oxygen; frames a unit lasts; alarm
    CREW = 6                                    # most divers on board
    DROWN = 92, EMPTIED = 56, BONUS_UNIT = 2, BONUS_DIVER = 16        # frames
    MOST_LIVES = 7, LIFE_POINTS = 10_000, MOST_POINTS = 999_999
    PATROL_FROM = 2                             # rescues before the first patrol
    PATROL_PACE = 4                             # frames a pixel of the patrol
    FASTEST = 250, FIRST_FRAME = 67
    NOBODY = 0, WAITING, SAVED                  # a lane's diver
    FILLS = 0, PLAYS, DIES, COUNTS              # phases

cdef extern from *:
    """
    static const signed char ACROSS[18] = {0, 0, 0, 1, -1, 0, 1, -1, 1, -1, 0, 1, -1, 0, 1, -1, 1, -1};  // by action
    static const signed char DOWNWARDS[18] = {0, 0, -1, 0, 0, 1, -1, -1, 1, 1, -1, 0, 0, 1, -1, -1, 1, 1};
    static const unsigned char FIRES[18] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    static const unsigned char FORMATION[2][4] = {{4, 6, 5, 7}, {1, 3, 5, 7}};  // [right][pace / 2 % 4]: bits 4 (left), 2, 1
    static const unsigned char SPREAD[8] = {0, 32, 16, 32, 0, 32, 16, 32};      // [alive]: offset of the rightmost copy
    static const unsigned char LEAD[8] = {0, 32, 16, 16, 0, 0, 0, 0};           // [alive]: offset of the leftmost copy
    """
    const int8_t[18] ACROSS, DOWNWARDS
    const uint8_t[18] FIRES
    const uint8_t[2][4] FORMATION
    const uint8_t[8] SPREAD, LEAD


ctypedef struct Seaquest:
    int32_t score
    int16_t[LANES] x            # of the wave's left place, -88 .. 215, even if no copy is there
    int16_t[LANES] guest        # x of the lane's diver (sharks) or shot (submarines); 0: none
    int16_t x_ship, y, torpedo, patrol      # torpedo and patrol are x; 0: none
    int16_t wait                # frames left of a phase
    uint16_t frame, pace, rescues
    uint8_t[LANES] alive        # bits of the copies, 4 for the left
    uint8_t[LANES] right        # 1: moves to the right
    uint8_t[LANES] sub          # 1: submarines, 0: sharks
    uint8_t[LANES] diver        # NOBODY, WAITING or SAVED
    uint8_t phase, facing       # facing and torpedo_right: 1 is right
    uint8_t torpedo_right
    uint8_t lives, oxygen, crew
    uint8_t docked              # 1: the tank is filled at the surface
    uint8_t enemy_part, diver_part, shot_part           # 1/16 pixels carried over to the next frame


cdef inline int lane_y(int lane) noexcept nogil:
    """Screen row of a lane."""
    return LANE_Y - PITCH * lane


cdef inline int bob(const Seaquest* game) noexcept nogil:
    """Rows by which sharks are below their lane's row now, 0 .. 7."""
    cdef int turn = game.frame >> 2 & 15
    return turn if turn < 8 else 15 - turn


cdef inline float score(Seaquest* game, int points) noexcept nogil:
    """Add points, and a life at each ten thousand; returns the points added."""
    cdef int before = game.score, lives
    game.score = min(before + points, MOST_POINTS)
    lives = game.score // LIFE_POINTS - before // LIFE_POINTS
    game.lives = <uint8_t>min(game.lives + lives, max(MOST_LIVES, game.lives))
    return game.score - before


cdef inline int enemy_points(const Seaquest* game) noexcept nogil:
    """Points of an enemy, and of a unit of oxygen in a rescue."""
    return 10 * min(game.rescues + 2, 9)


cdef inline void send_wave(Seaquest* game, int lane, bint sub, uint32_t chance) noexcept nogil:
    """Start the lane's next wave, with the enemies left of the last one, or complete if none is left.

    sub: True for submarines.
    chance: random bits that choose its side and its diver.
    """
    cdef int right = chance & 1
    game.right[lane] = <uint8_t>right
    game.x[lane] = FROM_LEFT if right else FROM_RIGHT
    if game.alive[lane] == 0:
        game.alive[lane] = FORMATION[right][game.pace >> 1 & 3]
    if game.diver[lane] == NOBODY and chance >> 1 & 3:
        game.diver[lane] = WAITING
    game.sub[lane] = sub
    if not sub and game.diver[lane] == WAITING and game.guest[lane] == 0:
        game.guest[lane] = 1 if right else 159


cdef inline void clear_sea(Seaquest* game) noexcept nogil:
    """Begin to fill the tank: an empty sea with the submarine at its start."""
    memset(game.alive, 0, sizeof(game.alive))
    memset(game.guest, 0, sizeof(game.guest))
    memset(game.sub, 0, sizeof(game.sub))
    game.x_ship, game.y = START_X, SURFACE
    game.torpedo = game.oxygen = game.docked = 0
    game.phase = FILLS
    game.wait = 2 * TANK


cdef inline void begin_death(Seaquest* game) noexcept nogil:
    """Destroy the submarine."""
    game.phase = DIES
    game.wait = DROWN
    game.torpedo = game.patrol = game.docked = 0


cdef inline void keep_waiting(Seaquest* game, Rng* rng, bint* over) noexcept nogil:
    """One frame of the phase FILLS or DIES."""
    cdef int lane
    game.wait -= 1
    if game.phase == FILLS:
        game.oxygen = <uint8_t>(TANK - (game.wait >> 1))
        if game.wait == 0:
            game.phase = PLAYS
            for lane in range(LANES):
                send_wave(game, lane, False, rng_next(rng))
        return
    if game.wait <= EMPTIED:
        game.oxygen = 0
    if game.wait == 0:
        game.lives -= 1
        over[0] = game.lives == 0
        game.crew -= game.crew > 0
        clear_sea(game)


cdef inline float count_bonus(Seaquest* game) noexcept nogil:
    """One frame of a rescue's bonus, first for the oxygen left, then for the divers; returns the points."""
    game.wait -= 1
    if game.wait > 0:
        return 0.0
    if game.oxygen > 0:
        game.oxygen -= 1
        game.wait = BONUS_UNIT if game.oxygen > 0 else BONUS_DIVER // 2
        return score(game, enemy_points(game))
    game.wait = BONUS_DIVER
    if game.crew > 0:
        game.crew -= 1
        return score(game, min(50 * (game.rescues + 1), 1000))
    game.rescues = <uint16_t>min(game.rescues + 1, FASTEST)
    game.pace += game.pace < game.rescues
    clear_sea(game)
    return 0.0


cdef inline void steer(Seaquest* game, int action) noexcept nogil:
    """Move the submarine and its torpedo, or fire."""
    cdef int across = ACROSS[action]
    if not game.docked:
        if across != 0:
            game.facing = across > 0
        game.x_ship = <int16_t>min(max(game.x_ship + across, LEFT_END), RIGHT_END)
        game.y = <int16_t>min(max(game.y + DOWNWARDS[action], SURFACE), SEA_FLOOR)
    if game.torpedo > 0:
        game.torpedo += TORPEDO_SPEED if game.torpedo_right else -TORPEDO_SPEED
        if game.torpedo > 159 or game.torpedo < 1:
            game.torpedo = 0
    elif FIRES[action] and game.y >= DEEP_ENOUGH_TO_FIRE:
        game.torpedo_right = game.facing
        game.torpedo = game.x_ship + (FIRE_RIGHT if game.facing else FIRE_LEFT)


cdef inline void breathe(Seaquest* game) noexcept nogil:
    """Use oxygen below the surface; at the surface fill the tank, begin a rescue or a death."""
    if game.y == SURFACE:
        if game.docked:
            game.oxygen += game.frame & 1
            if game.oxygen >= TANK:
                game.docked = 0
                game.crew -= 1
                game.pace = <uint16_t>min(game.pace + 1, FASTEST)
        elif game.oxygen < TANK:
            if game.crew == 0:
                begin_death(game)
            elif game.crew == CREW:
                game.phase = COUNTS
                game.wait = BONUS_UNIT
                game.torpedo = 0
            else:
                game.docked = 1
    elif game.y >= BREATHES_BELOW and game.frame & (BREATH - 1) == 0:
        game.oxygen -= 1
        if game.oxygen == 0:
            begin_death(game)


cdef inline int owed(uint8_t* part, int sixteenths) noexcept nogil:
    """Whole pixels of a move of `sixteenths`; the remainder is kept in `part` for the next frame."""
    cdef int total = part[0] + sixteenths
    part[0] = <uint8_t>(total & 15)
    return total >> 4


cdef inline bint pushed(const Seaquest* game, int lane) noexcept nogil:
    """True if a shark is at the heels of the lane's diver."""
    cdef int copy, ahead
    for copy in range(COPIES):
        if game.alive[lane] & (4 >> copy):
            ahead = game.guest[lane] - game.x[lane] - GAP * copy
            if 0 <= (ahead if game.right[lane] else -ahead) <= 5:
                return True
    return False


cdef inline void move_guest(Seaquest* game, int lane, int enemy, int diver, int shot) noexcept nogil:
    """Move the lane's diver or shot, or fire a shot.

    enemy, diver, shot: pixels that each moves in this frame.
    """
    cdef int front, step
    if game.guest[lane] > 0:
        step = shot if game.sub[lane] else enemy if pushed(game, lane) else diver
        game.guest[lane] += step if game.right[lane] else -step
        if game.guest[lane] > 159 or game.guest[lane] < 1:
            game.guest[lane] = 0
            if not game.sub[lane]:
                game.diver[lane] = NOBODY
    elif game.sub[lane] and game.alive[lane]:
        front = game.x[lane] + (SPREAD[game.alive[lane]] if game.right[lane] else LEAD[game.alive[lane]])
        if SHOT_FROM <= front <= SHOT_TO:
            game.guest[lane] = <int16_t>(front + (1 if game.right[lane] else -1))


cdef inline void move_lanes(Seaquest* game, Rng* rng) noexcept nogil:
    """One frame of all lanes; waves that end are followed by the next."""
    cdef int enemy = owed(&game.enemy_part, 6 + game.pace)
    cdef int diver = owed(&game.diver_part, 3 + (game.pace >> 1))
    cdef int shot = owed(&game.shot_part, 16 + game.pace)
    cdef uint32_t chance = 0
    cdef bint drawn = False, passed
    cdef int lane
    for lane in range(LANES):
        game.x[lane] += enemy if game.right[lane] else -enemy
        move_guest(game, lane, enemy, diver, shot)
        passed = game.x[lane] >= FROM_LEFT + WAY if game.right[lane] else game.x[lane] <= FROM_RIGHT - WAY
        if game.alive[lane] and not passed:
            continue
        if game.sub[lane] and game.guest[lane] > 0:  # the next wave waits for the last shot
            game.x[lane] = FROM_LEFT + WAY if game.right[lane] else FROM_RIGHT - WAY
            continue
        if not drawn:
            chance = rng_next(rng)  # waves that start in one frame share their random bits
            drawn = True
        send_wave(game, lane, passed and game.alive[lane] and not game.sub[lane] and game.guest[lane] == 0, chance)

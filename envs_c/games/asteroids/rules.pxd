"""The rules of Asteroids: the state, rocks, ship, shots and hits. asteroids.pyx states the rules in prose."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint32_t

from envs_c.rng cimport Rng, rng_next


cdef enum:
    FIRE = 1, UP = 2, RIGHT = 4, LEFT = 8, DOWN = 16  # bits of the keys
    WIDE = 160, HIGH = 89                   # the field, in pixels and in lines of two pixels; opposite edges join
    SLOTS = 16, SINKS = 8                   # rocks in slots 0 .. 7 climb, in 8 .. 15 sink
    COLOUR = 7, LEFTWARD = 8, SIZE = 48      # bits of a rock's kind
    MEDIUM = 32, SMALL = 48                 # of SIZE; 0 and 16 are the two shapes of large rocks
    BROKEN = 64, PALER = 4, NONE = 255      # bits of a rock that was hit in this frame; the kind of an empty slot
    DRIFT = 7                               # odd frames from one drift to the next
    START_X = 84, START_Y = 41, TOP_Y = -5, END_Y = 84
    ONE = 256                               # units of x and y in a pixel and in a line
    FAST = 16384                            # speed limit along each axis: 4 pixels, or 4 lines, in 2 frames
    THE_SHIP = 2                            # entry of WATCH; 0 and 1 are the shots
    BLAST = 6, REST = 63, JUMP = 31         # in turns of 2 frames
    BONUS = 5000, MOST_LIVES = 9, POINTS_END = 100000
    MANY = 1000, MORE = 15000               # points from which a wave has 6 and 8 rocks
    CLEAR_X = 64, CLEAR_X_END = 106, CLEAR_Y = 8, CLEAR_Y_END = 64

cdef extern from *:
    """
    static const unsigned char KEYS[14] = {0, 1, 2, 4, 8, 16, 6, 10, 3, 5, 9, 17, 7, 11};
    static const short PUSH_X[16] = {0, 49, 90, 117, 127, 117, 90, 49, 0, -49, -90, -117, -127, -117, -90, -49};
    static const short PUSH_Y[16] = {-127, -117, -90, -49, 0, 49, 90, 117, 127, 117, 90, 49, 0, -49, -90, -117};
    static const signed char SHOT_X[16] = {0, 1, 3, 3, 4, 3, 3, 1, 0, -1, -3, -3, -4, -3, -3, -1};
    static const signed char SHOT_Y[16] = {-4, -3, -3, -1, 0, 1, 3, 3, 4, 3, 3, 1, 0, -1, -3, -3};
    static const unsigned char LIFE[16] = {6, 7, 7, 11, 9, 11, 7, 7, 6, 7, 7, 11, 9, 11, 7, 7};
    static const unsigned char POINTS[4] = {20, 20, 50, 100};
    static const unsigned char COLUMN[8] = {25, 25, 40, 40, 55, 112, 127, 127}, WATCH[8] = {2, 0, 1, 0, 2, 1, 0, 1};
    """
    const uint8_t[14] KEYS
    const int16_t[16] PUSH_X, PUSH_Y        # to the left and down, by the ship's way: 1/4096 pixel or line a turn, per turn
    const int8_t[16] SHOT_X, SHOT_Y         # to the left and down, by the shot's way: pixels and lines a turn
    const uint8_t[16] LIFE                  # time that a shot flies, by its way, in units of 4 frames
    const uint8_t[4] POINTS                 # by a rock's size
    const uint8_t[8] COLUMN, WATCH          # middles of the places where rocks begin; the order of hits


ctypedef struct Asteroids:
    int32_t x, y                # ship: 1/256 pixel, 0 .. 160; 1/256 line, -5 .. 84
    int32_t score
    int16_t vx, vy              # ship, to the left and down: 1/4096 pixel and line a turn
    uint8_t lives, way          # way: 16ths of a full turn from straight up, counter-clockwise
    uint8_t frame               # counts frames, modulo 4
    uint8_t drift               # odd frames until the rocks drift
    uint8_t blast, hidden       # turns left of an explosion, and until the ship comes back
    uint8_t fired, dived        # not 0 if FIRE, DOWN was held in the last turn
    uint8_t watch               # place in WATCH
    uint8_t rocks, broken       # number of rocks; number of those hit in this frame
    uint8_t[2] shot_x, shot_y, shot_way
    uint8_t[2] shot_life        # 0 if there is no shot
    uint8_t[SLOTS] rock_x, rock_y, kind


cdef inline bint is_here(const Asteroids* game) noexcept nogil:
    """Whether the ship can be steered and can hit a rock."""
    return not (game.blast or game.hidden)


cdef inline int ship_x(const Asteroids* game) noexcept nogil:
    cdef int x = (game.x + ONE - 1) >> 8
    return x if x < WIDE else 0


cdef inline int ship_y(const Asteroids* game) noexcept nogil:
    cdef int y = game.y >> 8
    return y if y >= 0 else y + HIGH


# --- rocks -----------------------------------------------------------------------------------------------------------

cdef inline void put_rock(Asteroids* game, int first, int x, int y, int kind) noexcept nogil:
    """Put a rock into a free slot of the eight from `first` on. There is one, since four large rocks make eight small ones."""
    cdef int slot
    for slot in range(first, first + SINKS):
        if game.kind[slot] == NONE:
            game.rock_x[slot] = <uint8_t>(x if x < WIDE else x - WIDE)
            game.rock_y[slot] = <uint8_t>(y if y < HIGH else y - HIGH)
            game.kind[slot] = <uint8_t>kind
            game.rocks += 1
            return


cdef inline int far_x(uint32_t bits) noexcept nogil:
    """The x at which a rock begins or a jump ends: 19 .. 63 or 106 .. 135."""
    cdef int more = bits >> 3 & 15
    return COLUMN[bits & 7] + (more - 6 if more < 15 else 8)


cdef inline void begin_wave(Asteroids* game, Rng* rng) noexcept nogil:
    cdef int i, half, row
    cdef uint32_t bits
    for i in range(8):
        half = i >> 2
        row = i & 3
        if (row == 1 and game.score < (MANY if half else MORE)) or (row == 2 and game.score < (MORE if half else MANY)):
            continue
        bits = rng_next(rng)
        put_rock(game, half * SINKS, far_x(bits) if row == 0 or row == 3 else <int>(WIDE - 9 + 2 * (bits & 7)),
                 1 if row == 0 else 21 * row, bits >> 8 & 31)


cdef inline void split_rocks(Asteroids* game, Rng* rng) noexcept nogil:
    """Break the rocks that were hit in the last frame."""
    cdef int slot, kind
    cdef uint32_t bits
    game.broken = 0
    for slot in range(SLOTS):
        kind = game.kind[slot]
        if kind == NONE or not kind & BROKEN:
            continue
        if kind & SIZE == SMALL:
            game.kind[slot] = NONE
            game.rocks -= 1
            continue
        bits = rng_next(rng) >> 8
        if kind & SIZE == MEDIUM:
            game.kind[slot] = SMALL | (bits & 15)
        else:
            game.kind[slot] = MEDIUM | (bits & 15)
            put_rock(game, slot & SINKS, game.rock_x[slot], game.rock_y[slot] + 10,
                     MEDIUM | (bits >> 4 & COLOUR) | (~bits & LEFTWARD))


cdef inline void move_rocks(Asteroids* game) noexcept nogil:
    cdef long slot
    cdef uint8_t x
    for slot in range(SINKS):
        game.rock_y[slot] = game.rock_y[slot] - 1 if game.rock_y[slot] > 0 else HIGH - 1
    for slot in range(SINKS, SLOTS):
        game.rock_y[slot] = game.rock_y[slot] + 1 if game.rock_y[slot] < HIGH - 1 else 0
    game.drift -= 1
    if game.drift > 0:
        return
    game.drift = DRIFT
    for slot in range(SLOTS):
        x = game.rock_x[slot]
        if game.kind[slot] & LEFTWARD:
            game.rock_x[slot] = x - 1 if x > 0 else WIDE - 1
        else:
            game.rock_x[slot] = x + 1 if x < WIDE - 1 else 0


cdef inline int hit_rock(Asteroids* game, int x, int y, int breadth, int above) noexcept nogil:
    """Break the first rock hit by a thing `breadth` pixels wide at (x, y), `above` lines deep below y. Returns points or 0."""
    cdef uint8_t left = <uint8_t>x, top = <uint8_t>y, dx, dy, size, wide, high, meets, first = SLOTS
    cdef long slot
    for slot in range(SLOTS):  # bytes, without branches: so the compiler takes 16 slots at once
        size = game.kind[slot] & SIZE
        wide = 4 if size == SMALL else 8 if size == MEDIUM else 16
        high = 6 if size == SMALL else 9 if size == MEDIUM else 15
        dx = <uint8_t>(game.rock_x[slot] - left + (WIDE if game.rock_x[slot] < left else 0))
        dy = <uint8_t>(game.rock_y[slot] - top + (HIGH if game.rock_y[slot] < top else 0))
        meets = (((dx < <uint8_t>breadth) | (dx > <uint8_t>(WIDE - wide)))
                 & ((dy <= <uint8_t>above) | (dy >= <uint8_t>(HIGH - high)))
                 & ((game.kind[slot] & BROKEN) == 0))  # NONE has this bit, too
        first = min(first, <uint8_t>slot if meets else <uint8_t>SLOTS)
    if first == SLOTS:
        return 0
    size = game.kind[first] >> 4
    game.kind[first] |= BROKEN | PALER
    game.broken += 1
    return POINTS[size]


cdef inline bint is_clear(const Asteroids* game) noexcept nogil:
    """Whether no rock is near the place at which ships begin."""
    cdef int slot
    for slot in range(SLOTS):
        if (game.kind[slot] != NONE and CLEAR_X <= game.rock_x[slot] < CLEAR_X_END
                and CLEAR_Y <= game.rock_y[slot] < CLEAR_Y_END):
            return False
    return True


# --- ship and shots --------------------------------------------------------------------------------------------------

cdef inline int slow(int v) noexcept nogil:
    return v - 2 * (v >> 8) - (v > 0)


cdef inline int push(int v, int more) noexcept nogil:
    v += more
    return v - 256 if v >= FAST else v + 256 if v < -FAST else v


cdef inline void jump(Asteroids* game, Rng* rng) noexcept nogil:
    cdef uint32_t bits = rng_next(rng) >> 8
    cdef int y = bits >> 8 & 127
    game.x = far_x(bits) * ONE
    game.y = (y if y < 79 else y - 79) * ONE
    game.vx = game.vy = 0
    game.hidden = JUMP


cdef inline void fire(Asteroids* game) noexcept nogil:
    cdef int shot = 0 if game.shot_life[0] == 0 else 1
    if game.shot_life[shot] > 0:
        return
    game.shot_x[shot] = <uint8_t>ship_x(game)
    game.shot_y[shot] = <uint8_t>((ship_y(game) + 3) % HIGH)
    game.shot_way[shot] = game.way
    game.shot_life[shot] = LIFE[game.way]


cdef inline void steer(Asteroids* game, int keys, Rng* rng) noexcept nogil:
    """Obey the keys. The ship moves later, in `move_ship`: the shots move before it does."""
    if game.frame == 2:
        game.way = (game.way + ((keys & LEFT) > 0) - ((keys & RIGHT) > 0)) & 15
    if keys & UP:
        game.vx = <int16_t>push(game.vx, PUSH_X[game.way])
        game.vy = <int16_t>push(game.vy, PUSH_Y[game.way])
    else:
        game.vx = <int16_t>slow(game.vx)
        game.vy = <int16_t>slow(game.vy)
    if keys & FIRE and not game.fired:
        fire(game)


cdef inline void move_ship(Asteroids* game) noexcept nogil:
    game.x -= game.vx >> 4
    game.y += game.vy >> 4
    if game.x < 0:
        game.x += WIDE * ONE
    elif game.x >= WIDE * ONE:
        game.x -= WIDE * ONE
    if game.y < TOP_Y * ONE:
        game.y += HIGH * ONE
    elif game.y >= END_Y * ONE:
        game.y -= HIGH * ONE


cdef inline int carried(int v) noexcept nogil:
    """Pixels or lines a turn that a ship of this speed adds to a shot."""
    return v >> 12 if v >= 0 else -(~(v >> 8) >> 4)


cdef inline void shot_speed(const Asteroids* game, int shot, int* dx, int* dy) noexcept nogil:
    """Set dx and dy to the shot's pixels to the right and lines down a turn."""
    cdef int left = SHOT_X[game.shot_way[shot]] + carried(game.vx)
    dx[0] = -left if left >= 0 else 1 - left
    dy[0] = SHOT_Y[game.shot_way[shot]] + carried(game.vy)


cdef inline void move_shots(Asteroids* game) noexcept nogil:
    cdef int shot, dx, dy, x, y
    for shot in range(2):
        if game.shot_life[shot] == 0:
            continue
        game.shot_life[shot] -= game.frame == 0
        shot_speed(game, shot, &dx, &dy)
        x = game.shot_x[shot] + dx
        y = game.shot_y[shot] + dy
        game.shot_x[shot] = <uint8_t>(x - WIDE if x >= WIDE else x + WIDE if x < 0 else x)
        game.shot_y[shot] = <uint8_t>(y - HIGH if y >= HIGH else y + HIGH if y < 0 else y)


cdef inline int meet_rocks(Asteroids* game) noexcept nogil:
    """Compare the next of ship and shots with the rocks; returns the points of the rock that is hit, or 0."""
    cdef int _try, who, points = 0
    if not (is_here(game) or game.shot_life[0] or game.shot_life[1]):
        return 0  # as after all 8 tries: `watch` is back at its place
    for _try in range(8):
        game.watch = (game.watch + 1) & 7
        who = WATCH[game.watch]
        if who == THE_SHIP:
            if is_here(game):
                points = hit_rock(game, ship_x(game), ship_y(game), 6, 2)
                if points:
                    game.blast = BLAST
                return points
        elif game.shot_life[who] > 0:
            points = hit_rock(game, game.shot_x[who], game.shot_y[who], 4, 0)
            if points:
                game.shot_life[who] = 0
            return points
    return 0


cdef inline void rest(Asteroids* game, bint* over) noexcept nogil:
    """A turn without a ship: it explodes, or the next one is waited for, or it is in hyperspace."""
    if game.blast > 0:
        game.blast -= 1
        if game.blast == 0:
            game.lives -= 1
            over[0] = game.lives == 0
            game.hidden = REST
            game.x = START_X * ONE
            game.y = START_Y * ONE
            game.way = 0
    elif game.hidden > 1 or game.x != START_X * ONE or is_clear(game):
        game.hidden -= 1
        if game.hidden == 0:
            game.vx = game.vy = 0

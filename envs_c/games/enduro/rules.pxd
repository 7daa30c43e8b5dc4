"""The rules of Enduro: constants, the state, and how a frame changes it. enduro.pyx states the rules in prose."""

from libc.stdint cimport int16_t, int32_t, uint8_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_below


cdef enum:
    NOOP, FIRE, RIGHT, LEFT, DOWN, DOWNRIGHT, DOWNLEFT, RIGHTFIRE, LEFTFIRE
    SLOTS = 7                 # slots of the road in sight, the nearest first
    PHASE = 256               # length of a slot
    DEPTHS = 16 * SLOTS       # places at which a car is painted, from near to far
    CAR_ROWS = 11             # rows of the biggest shape
    DAY = 13312               # frames in a day
    FIRST_QUOTA = 200         # cars to pass on the first day
    QUOTA = 300               # cars to pass on each later day
    SLOWEST = 6               # speeds, in 1/256 slots a frame
    TRAFFIC = 24
    FASTEST = 120
    SOON = 46                 # speed from which on the motor gains half as much
    PIXEL = 64                # units in a pixel, of `x` and of the tables of steering
    WAY = 10000 * 256         # the odometer begins again here
    STRAIGHT_ROLLS = 120      # slots before the first bend may come
    MOST_ROLLS = 247          # slots before another bend may come
    BEND_STEP = 84            # units of `bend` between two of the 21 shapes of a bend
    BENDS = 21
    FULL = BENDS * BEND_STEP
    CRASH = 128               # frames without control after touching a car, unless the edge comes first
    BOUNCE = 19               # frames without control after touching the edge
    IMMUNE = 32               # first frames of a crash, in which no other car is touched
    SLIDE = 24                # units of x a frame while the car is without control
    LEFT_EDGE = 22 * PIXEL    # x of the road when the car touches its left edge
    RIGHT_EDGE = -26 * PIXEL
    CAR_WIDTH = 16
    CAR_TOP = 144             # row of the own car at rest; it climbs by one for every 8 of speed, at most by CLIMB
    CLIMB = 9
    SUMMER = 0, SNOW, DUSK, NIGHT, FOG, DAWN
    NOBODY = 0, IN_LEFT, IN_MIDDLE, IN_RIGHT  # the two low bits of a slot; above them the hue, 1 .. 15
    FOG_DEPTH = 66            # fog hides cars from this depth on

cdef extern from *:
    """
    // Units of x a frame, by speed / 8: how far the wheel, and a full bend, move the road.
    static const unsigned char STEER[16] = {15, 16, 18, 25, 32, 44, 54, 61, 64, 64, 64, 64, 64, 64, 64, 64};
    static const unsigned char DRIFT[16] = {4, 4, 4, 6, 8, 9, 11, 13, 14, 16, 18, 20, 21, 22, 23, 24};
    static const unsigned char SLIPPERY = 13;  // upper bound of STEER in snow
    // SEASON: by frame / 256. DENSITY: by season, the probability of a car in a new slot, times 256.
    static const unsigned char SEASON[52] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2,
                                             3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 5, 5, 5, 5};
    static const unsigned char DENSITY[6] = {72, 58, 64, 84, 88, 96};
    // TOP: first row of a car by its depth, slot * 16 + phase / 16. WIDE, HIGH: size of a shape in pixels.
    static const unsigned char TOP[112] = {
        154, 154, 154, 154, 154, 153, 151, 149, 148, 146, 144, 143, 141, 140, 139, 137,
        136, 134, 133, 132, 131, 129, 128, 126, 125, 124, 122, 121, 120, 118, 117, 116,
        115, 113, 112, 111, 110, 109, 108, 107, 106, 105, 104, 102, 101, 100, 99, 98,
        97, 96, 94, 93, 93, 92, 91, 91, 90, 89, 88, 87, 87, 86, 85, 85,
        84, 83, 83, 82, 81, 81, 80, 79, 79, 78, 78, 77, 76, 76, 75, 74,
        74, 73, 73, 72, 72, 71, 71, 70, 70, 70, 69, 69, 69, 69, 68, 68,
        67, 67, 67, 66, 66, 66, 65, 65, 65, 65, 64, 64, 64, 64, 64, 64};
    static const unsigned char WIDE[7] = {16, 12, 8, 6, 4, 4, 2}, HIGH[7] = {11, 8, 6, 4, 3, 2, 1};
    static const unsigned char FIRST_DEPTH[6] = {17, 33, 48, 63, 79, 95};  // depths at which the next smaller shape begins
    """
    const uint8_t[16] STEER, DRIFT
    const uint8_t SLIPPERY
    const uint8_t[52] SEASON
    const uint8_t[6] DENSITY, FIRST_DEPTH
    const uint8_t[112] TOP
    const uint8_t[7] WIDE, HIGH


ctypedef struct Enduro:
    int32_t odometer        # sum over frames of half the speed, rounded up; 256 are one unit of the panel
    int16_t day             # from 1
    int16_t frame           # of the day, from 0
    int16_t left            # cars to pass today; 0: done until the next day
    int16_t speed
    int16_t x               # of the road, to the right of its middle place; the car moves half as far to the other side
    int16_t phase           # way of the traffic into its slots, 0 .. 255
    int16_t road            # way of the own car, 0 .. 7 * 256 - 1
    int16_t bend            # present bend, -FULL (to the left) .. FULL
    int16_t toward          # the bend that comes up: -FULL, 0 or FULL
    int16_t rolls           # slots until `toward` is drawn again
    int16_t hills           # 1/32 pixels to the right, 0 .. 160 * 32 - 1
    int16_t crash           # frames left without control
    int16_t slide           # units of x a frame in these
    uint8_t[SLOTS] slot     # IN_LEFT, IN_MIDDLE or IN_RIGHT + 4 * hue, or NOBODY


cdef inline int season_of(const Enduro* game) noexcept nogil:
    return SEASON[game.frame >> 8]


cdef inline int size_of(int depth) noexcept nogil:
    """Number of the shape of a car at this depth, 0 the biggest."""
    cdef int size = 0
    while size < 6 and depth >= FIRST_DEPTH[size]:
        size += 1
    return size


cdef inline int lane_x(int lane, int row) noexcept nogil:
    """How far the middle of a lane is right of that of a straight road."""
    cdef int half = row - 53  # in half pixels
    if lane == IN_LEFT:
        return (256 - 70 * half) >> 8
    return -1 if lane == IN_MIDDLE else (79 * half - 922) >> 8


cdef inline int car_left(const Enduro* game) noexcept nogil:
    """Column of the own car's left end."""
    return (2500 - 17 * (game.x >> 6)) >> 5


cdef inline int car_top(const Enduro* game) noexcept nogil:
    return CAR_TOP - min(game.speed >> 3, CLIMB)


cdef inline bint hits(const Enduro* game, int slot) noexcept nogil:
    """Whether the own car overlaps the car in slot 0 or 1. The outermost columns of both do not count."""
    cdef int depth = 16 * slot + (game.phase >> 4), size = size_of(depth)
    cdef int away = TOP[depth] - car_top(game), middle
    if away <= -<int>HIGH[size] or away >= CAR_ROWS:
        return False
    middle = 88 + (game.x >> 6) + lane_x(game.slot[slot] & 3, min(TOP[depth] + HIGH[size] - 1, 154))
    away = 2 * (middle - car_left(game) - CAR_WIDTH // 2)
    return -(CAR_WIDTH + WIDE[size] - 2) < away < CAR_WIDTH + WIDE[size] - 2


cdef inline void steer(Enduro* game, int action) noexcept nogil:
    """Motor, brake, wheel and the bend's pull, or the slide of a crash; then the edges of the road."""
    cdef int gear, turn
    if game.crash > 0:
        game.crash -= 1
        game.x = <int16_t>(game.x + game.slide)
    else:
        if action == FIRE or action >= RIGHTFIRE:
            if game.frame & 7 == 6:
                game.speed = <int16_t>min(game.speed + (2 if game.speed < SOON else 1), FASTEST)
        elif DOWN <= action <= DOWNLEFT:
            game.speed = <int16_t>max(game.speed - 1, SLOWEST)
        gear = game.speed >> 3
        if action == RIGHT or action == DOWNRIGHT or action == RIGHTFIRE or (
                action == LEFT or action == DOWNLEFT or action == LEFTFIRE):
            turn = STEER[gear]
            if season_of(game) == SNOW:
                turn = min(turn, SLIPPERY)
            game.x = <int16_t>(game.x + (turn if action == LEFT or action == DOWNLEFT or action == LEFTFIRE else -turn))
        if game.bend == FULL:
            game.x = <int16_t>(game.x + DRIFT[gear])
        elif game.bend == -FULL:
            game.x = <int16_t>(game.x - DRIFT[gear])
    if game.x > LEFT_EDGE or game.x < RIGHT_EDGE:
        game.slide = -SLIDE if game.x > 0 else SLIDE
        game.x = LEFT_EDGE if game.x > 0 else RIGHT_EDGE
        game.crash = BOUNCE
        game.speed = <int16_t>max(game.speed - (game.speed >> 2), SLOWEST)


cdef inline bint roll_on(Enduro* game, Rng* rng) noexcept nogil:
    """Drive on: odometer, bends, and hills, which move against a bend. Returns whether a new slot of the road begins."""
    cdef int slot = game.road >> 8
    cdef bint new
    game.odometer += (game.speed + 1) >> 1
    if game.odometer >= WAY:
        game.odometer -= WAY
    game.road = <int16_t>(game.road + game.speed)
    new = game.road >> 8 != slot
    if new:
        if game.road >= SLOTS * PHASE:
            game.road -= SLOTS * PHASE
        game.rolls -= 1
        if game.rolls <= 0:
            game.rolls = <int16_t>(8 + rng_below(rng, MOST_ROLLS - 7))
            game.toward = <int16_t>((<int>rng_below(rng, 3) - 1) * FULL)
    if game.bend < game.toward:
        game.bend = <int16_t>min(game.bend + game.speed, game.toward)
    elif game.bend > game.toward:
        game.bend = <int16_t>max(game.bend - game.speed, game.toward)
    if game.bend == FULL or game.bend == -FULL:
        game.hills = <int16_t>(game.hills + (game.speed if game.bend < 0 else -game.speed))
        if game.hills < 0:
            game.hills += 160 * 32
        elif game.hills >= 160 * 32:
            game.hills -= 160 * 32
    return new


cdef inline uint8_t new_car(int lane, Rng* rng) noexcept nogil:
    return <uint8_t>(lane + 4 * (1 + rng_below(rng, 15)))


cdef inline void come_nearer(Enduro* game, Rng* rng, float* reward) noexcept nogil:
    """Pass the nearest car, and bring a new slot into sight."""
    cdef int k, lane
    if game.slot[0] and game.left > 0:
        game.left -= 1
        reward[0] = 1.0
    for k in range(SLOTS - 1):
        game.slot[k] = game.slot[k + 1]
    game.slot[SLOTS - 1] = NOBODY
    k = rng_below(rng, 1 << 16)
    if k & 255 >= DENSITY[season_of(game)] or (game.slot[SLOTS - 2] and game.slot[SLOTS - 3]):
        return
    k >>= 8
    lane = IN_LEFT if k < 132 else IN_RIGHT if k < 236 else IN_MIDDLE
    if game.slot[SLOTS - 2]:
        lane = game.slot[SLOTS - 2] & 3
    game.slot[SLOTS - 1] = new_car(lane, rng)


cdef inline void go_ahead(Enduro* game, Rng* rng, float* reward) noexcept nogil:
    """Lose sight of the farthest slot; a car from behind may come on the other side of the road."""
    cdef int k
    cdef bint near = game.slot[0] != NOBODY
    for k in range(SLOTS - 1, 0, -1):
        game.slot[k] = game.slot[k - 1]
    game.slot[0] = NOBODY
    if near or <int>rng_below(rng, 256) >= DENSITY[season_of(game)] + 12:
        return
    game.slot[0] = new_car(IN_LEFT if game.x < 0 else IN_RIGHT, rng)
    if 0 < game.left < (FIRST_QUOTA if game.day == 1 else QUOTA):
        game.left += 1
        reward[0] = -1.0


cdef inline void drive_traffic(Enduro* game, bint waits, Rng* rng, float* reward) noexcept nogil:
    """Move all other cars; crash if the own car touches one.

    waits: the own car came into a new slot, so the traffic keeps its pace in this frame.
    """
    cdef int slot
    if not waits:
        game.phase = <int16_t>(game.phase + TRAFFIC - game.speed)
    if game.phase < 0:
        game.phase += PHASE
        come_nearer(game, rng, reward)
    elif game.phase >= PHASE:
        game.phase -= PHASE
        go_ahead(game, rng, reward)
    if (game.slot[0] or game.slot[1]) and game.crash <= CRASH - IMMUNE:
        for slot in range(2):
            if game.slot[slot] and hits(game, slot):
                game.speed = SLOWEST
                game.crash = CRASH
                game.slide = -SLIDE if game.x > 0 else SLIDE


cdef inline float play_frame(Enduro* game, int action, Rng* rng, bint* over) noexcept nogil:
    cdef float reward = 0.0
    steer(game, action)
    drive_traffic(game, roll_on(game, rng), rng, &reward)
    game.frame += 1
    if game.frame == DAY:
        if game.left > 0:
            over[0] = True
            game.frame = DAY - 1  # so that the last observation is of this day
        else:
            game.frame = 0
            game.day = <int16_t>min(game.day + 1, 9999)
            game.left = QUOTA
    return reward


cdef inline void begin(Enduro* game, int speed) noexcept nogil:
    memset(game, 0, sizeof(Enduro))
    game.day = 1
    game.left = FIRST_QUOTA
    game.speed = <int16_t>speed
    game.phase = TRAFFIC
    game.road = PHASE - 1
    game.rolls = STRAIGHT_ROLLS
    game.hills = 36 * 32

"""The rules of Freeway: constants, the state, and how a frame changes it. freeway.pyx states the rules in prose."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_below
from envs_c.stamp cimport WIDTH


cdef enum:
    NOOP, UP, DOWN
    LANES = 10, RIGHT_LANES = 5, PADDED = 16    # PADDED: length of the arrays, a power of 2 for vectors
    FRAMES = 8192
    BOTTOM = 6, TOP = 177, CHICKEN_X = 44, CHICKEN_ROWS = 8
    PITCH = 16, CAR_ROWS = 10, REACH = 13       # a chicken of height 13 .. 29 overlaps the rows of lane 0
    STUNNED = 64, WON = 128, COUNT = 63         # bits of the timer: why the chicken waits, and the counter
    STUN = 28, REST = 15, SAFE = 22, FALL = 16
    SLOWEST = 5, STILL = 6, TRUCK = 5, SEED = 132   # STILL: the pace of cars that do not move
    STAND = 0, WALK, FLAP                       # poses
    FROZEN_TRAFFIC = 1, FAST_TRAFFIC = 2, HARMLESS_CARS = 4     # bits of `rules`: changes of the cartridge's rules
    FORECAST = 8                                # another bit of it: the features of the forecast follow
    CHANGE_PACES = 1, IGNORE_HITS = 2           # bits of `changing`

cdef extern from *:
    """
    static const unsigned char PACE[4][10] = {{5, 4, 3, 2, 1, 1, 2, 3, 4, 5}, {4, 3, 2, 1, 0, 1, 1, 2, 3, 4},
                                              {4, 3, 2, 1, 0, 0, 1, 2, 3, 4}, {0, 1, 2, 1, 0, 0, 1, 2, 1, 0}};
    static const unsigned char KIND[4][10] = {{0}, {0, 1, 2, 3, 4, 5, 4, 3, 2, 1},
                                              {6, 6, 0, 6, 5, 0, 6, 0, 6, 6}, {5, 5, 5, 5, 5, 5, 5, 5, 5, 5}};
    static const unsigned char CARS[7] = {1, 2, 2, 3, 2, 1, 3}, GAP[7] = {0, 16, 32, 16, 64, 0, 32};  // by kind
    static const unsigned short SHAPE[4][10] = {  // rows of a car and a truck to the right, then to the left
        {0x6600, 0xFE00, 0xCF00, 0xB300, 0xB300, 0xB300, 0xB300, 0xCF00, 0xFE00, 0x6600},
        {0xC033, 0xFFFF, 0xC033, 0xFFF3, 0xFFF3, 0xFFF3, 0xFFF3, 0xC033, 0xFFFF, 0xC033},
        {0x6600, 0x7F00, 0xF300, 0xCD00, 0xCD00, 0xCD00, 0xCD00, 0xF300, 0x7F00, 0x6600},
        {0xCC03, 0xFFFF, 0xCC03, 0xCFFF, 0xCFFF, 0xCFFF, 0xCFFF, 0xCC03, 0xFFFF, 0xCC03}};
    static const unsigned short POSE[3][8] = {
        {0x0800, 0x0C00, 0x1800, 0xB800, 0xF800, 0x7800, 0x3000, 0x1800},
        {0x0400, 0x0600, 0x0C00, 0xB800, 0xF800, 0x7800, 0x6000, 0x3000},
        {0x4000, 0x2800, 0x3C00, 0xB800, 0xF800, 0x7800, 0x3000, 0x6000}};
    """
    const uint8_t[4][10] PACE, KIND
    const uint8_t[7] CARS, GAP
    const uint16_t[4][10] SHAPE
    const uint16_t[3][8] POSE


ctypedef struct Freeway:
    int16_t[PADDED] x           # place of a lane: 3 pixels right of its first car's left end
    int16_t[PADDED] wait        # frames until the lane moves, less 1
    int16_t[PADDED] pause       # value with which `wait` begins again
    int16_t[PADDED] move        # pixels to the right, each time the lane moves
    int32_t frame               # number of frames played
    uint8_t[LANES] pace, kind
    uint8_t y, score
    uint8_t timer               # 0, or STUNNED or WON and the counter
    uint8_t pose                # STAND, WALK or FLAP
    uint8_t touch               # 1 if chicken and car overlap in this frame
    uint8_t late                # 1 if they overlap in lane 0
    uint8_t met                 # 1 if the chicken can be hit in the next frame
    uint8_t register
    uint8_t changing            # CHANGE_PACES and IGNORE_HITS: what is done after each frame; 0 in most games
    uint8_t difficulty
    uint8_t rules               # the changed ones, and FORECAST
    uint8_t unseen              # points that the picture does not show yet: it takes them over in odd frames
    uint8_t fell                # y before a fall to BOTTOM at once in this frame, where the picture shows the chicken; or 0


cdef inline int pause_of(int pace) noexcept nogil:
    return 0 if pace == STILL else max(pace - 1, 0)


cdef inline int move_of(int lane, int pace) noexcept nogil:
    """Pixels to the right, each time the lane moves."""
    cdef int pixels = 2 if pace == 0 else 0 if pace == STILL else 1
    return pixels if lane < RIGHT_LANES else -pixels


cdef inline void set_pace(Freeway* game, int lane, int pace) noexcept nogil:
    game.pace[lane] = <uint8_t>pace
    game.pause[lane] = <int16_t>pause_of(pace)
    game.move[lane] = <int16_t>move_of(lane, pace)


cdef inline int rules_of(const double* options) noexcept nogil:
    """The bits of `rules` under these options."""
    return ((options[3] != 0.0) * FROZEN_TRAFFIC | (options[4] != 0.0) * FAST_TRAFFIC | (options[5] != 0.0) * HARMLESS_CARS
            | (options[6] != 0.0) * FORECAST)


cdef inline int first_pace(int rules, int number, int lane) noexcept nogil:
    """A lane's pace at the start. number: the cartridge's game, less 1."""
    return STILL if rules & FROZEN_TRAFFIC else 0 if rules & FAST_TRAFFIC else PACE[number & 3][lane]


cdef inline int changes_of(int rules, int number) noexcept nogil:
    """The bits of `changing`. number: the cartridge's game, less 1."""
    return (number >= 4 and not rules & FROZEN_TRAFFIC) * CHANGE_PACES | (rules & HARMLESS_CARS != 0) * IGNORE_HITS


cdef inline void begin(Freeway* game, int number, bint difficulty, bint scatter, int rules, Rng* rng) noexcept nogil:
    """Begin a new episode.

    number: the cartridge's game, less 1.
    difficulty: a hit puts the chicken back to the start.
    scatter: lanes and register are random.
    rules: bits of the changed rules.
    """
    cdef int lane
    memset(game, 0, sizeof(Freeway))
    game.y = BOTTOM
    game.difficulty = difficulty
    game.rules = <uint8_t>rules
    game.changing = <uint8_t>changes_of(rules, number)
    game.register = <uint8_t>(1 + rng_below(rng, 255)) if scatter else SEED
    for lane in range(LANES):
        set_pace(game, lane, first_pace(rules, number, lane))
        game.kind[lane] = KIND[number & 3][lane]
        game.wait[lane] = 1
        if scatter and not rules & FROZEN_TRAFFIC:
            game.x[lane] = <int16_t>rng_below(rng, WIDTH)
            game.wait[lane] = <int16_t>rng_below(rng, game.pause[lane] + 1)


cdef inline void move_cars(Freeway* game) noexcept nogil:
    """Move all lanes at once, with masks instead of branches, so that the compiler uses vectors."""
    cdef int16_t wait, go, x
    cdef int i
    for i in range(PADDED):
        wait = <int16_t>(game.wait[i] - 1)
        go = wait >> 15  # all bits set if the lane moves now
        x = <int16_t>(game.x[i] + (game.move[i] & go))
        x = <int16_t>((x & ~(x >> 15)) | (WIDTH - 1 & (x >> 15)))
        game.x[i] = <int16_t>(x & (<int16_t>(x - WIDTH) >> 15))
        game.wait[i] = <int16_t>((wait & ~go) | (game.pause[i] & go))


cdef inline void change_pace(Freeway* game) noexcept nogil:
    """Change the pace of one lane, and shift the register. Only in games 5 to 8."""
    cdef int lane = game.frame & 127, bits = game.register ^ lane, pace
    if lane < LANES:
        pace = game.pace[lane]
        if bits & 1 and pace > 0:
            pace -= 1
        if bits & 2 and pace < SLOWEST:
            pace += 1
        set_pace(game, lane, pace)
    if game.frame & 31 == 0:
        game.register = <uint8_t>(game.register << 1 | (game.register >> 7 ^ game.register >> 4) & 1)


cdef inline void apply_changes(Freeway* game) noexcept nogil:
    """What follows a frame in games with changing paces or harmless cars: one check in all other games."""
    if game.changing & CHANGE_PACES:
        change_pace(game)
    if game.changing & IGNORE_HITS:
        game.met = 0


cdef inline const uint16_t* shape_of(const Freeway* game, int lane) noexcept nogil:
    return SHAPE[(2 if lane >= RIGHT_LANES else 0) + (game.kind[lane] == TRUCK)]


cdef inline int left_of(const Freeway* game, int lane, int car) noexcept nogil:
    """Column of the left end of a lane's car; WIDTH or more if the car comes in again at the left."""
    cdef int left = game.x[lane] - 3 + (game.kind[lane] == TRUCK) + car * GAP[game.kind[lane]]
    return left if left >= 0 else left + WIDTH


cdef inline bint touches(const Freeway* game, int lane, int row) noexcept nogil:
    """Whether a pixel of the chicken lies on a pixel of a car of the lane.

    row: first row of the chicken, counted from the first row of the cars, -7 .. 9.
    """
    cdef const uint16_t* shape = shape_of(game, lane)
    cdef int car, away, r
    cdef uint32_t chicken, bits = 0
    for car in range(CARS[game.kind[lane]]):
        away = left_of(game, lane, car) - CHICKEN_X
        if away >= WIDTH - 64:
            away -= WIDTH
        if -16 < away < 8:
            for r in range(max(-row, 0), min(CHICKEN_ROWS, CAR_ROWS - row)):
                chicken = <uint32_t>POSE[game.pose][r] << 8
                chicken = chicken << away if away > 0 else chicken >> -away
                bits |= chicken & <uint32_t>shape[row + r] << 8
    return bits != 0


cdef inline void look_for_cars(Freeway* game) noexcept nogil:
    cdef int above = game.y - REACH, lane = above >> 4, row = 9 - (above & 15)
    game.met = game.late
    game.touch = game.late = 0
    if above >= 0 and lane < LANES:
        game.touch = touches(game, lane, row)
        game.late = game.touch and lane == 0
    if above >= PITCH and row == 9 and touches(game, lane - 1, -7):
        game.touch = 1
        game.late |= lane == 1
    game.met |= game.touch


cdef inline float move_chicken(Freeway* game, int action) noexcept nogil:
    """Move the chicken, or count its stun or rest down; returns the points."""
    cdef float points = 0.0
    game.fell = 0
    game.unseen &= ~game.frame & 1
    if game.timer == 0:
        if action == UP:
            game.y += 1
            if game.y > TOP:
                game.y = BOTTOM
                game.score += 1
                game.unseen = 1
                game.timer = WON | REST
                points = 1.0
        elif action == DOWN and game.y > BOTTOM:
            game.y -= 1
    elif game.timer & FALL and game.y > BOTTOM:
        game.y -= 1
    if game.met and game.timer & COUNT <= SAFE:
        game.timer = STUNNED | STUN
    game.pose = STAND if game.y & 4 else FLAP if game.timer else WALK
    if game.timer and game.frame & 1 == 0:
        game.timer -= 1
        if game.timer & COUNT == 0:
            game.timer = 0
        if game.difficulty and game.timer & STUNNED:
            game.fell = game.y
            game.y = BOTTOM
    return points

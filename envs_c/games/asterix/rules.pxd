"""The rules of Asterix: constants, the state, and how a frame changes it. asterix.pyx states the rules in prose."""

from libc.stdint cimport int16_t, int32_t, uint8_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_below


cdef enum:
    NOOP, UP, RIGHT, LEFT, DOWN, UP_RIGHT, UP_LEFT, DOWN_RIGHT, DOWN_LEFT
    NOTHING = 0, LYRE, TREASURE, POINTS             # kinds of things; POINTS + k: the picture of PRICE[k]
    LANES = 8
    START_X = 76, START_LANE = 3, LEFT_END = 24, RIGHT_END = 128
    ENTRY = 5, EXIT = 143                           # x of things that come in from the left and from the right
    STAGE = 50, OBELIX = 4, FAST = 16, LAST_STAGE = 24
    STUN = 126, TITLE_FRAMES = 255
    WIDE_LEFT = 3, WIDE_RIGHT = 5                   # pixels by which a stunned Asterix reaches farther; Obelix 1 less
    AGAIN = 4                                       # pixels by which a stun that begins again moves the hero to the left
    ROUND = 128, MOST_LIVES = 8, LAP = 1_000_000_000    # points that are taken off before int32 overflows
    HARMLESS_LYRES = 1, RANDOM_THINGS = 2, QUICK_POINTS = 4     # bits of `rules`: changes of the cartridge's rules
    LYRES = 9, PRICES = 11                          # sprites: 0 .. 8 treasures, 9 and 10 lyres, 11 .. 16 points

cdef extern from *:
    """
    static const signed char STICK_X[9] = {0, 0, 1, -1, 0, 1, -1, 1, -1}, STICK_Y[9] = {0, -1, 0, 0, 1, -1, -1, 1, 1};
    static const short PRICE[6] = {50, 100, 200, 300, 400, 500};
    static const unsigned char WAIT[25] = {254, 134, 66, 32, 254, 134, 66, 32, 16, 16, 16, 16, 16, 16, 16, 16,
                                           254, 134, 66, 32, 16, 16, 16, 16, 7};
    static const int BONUS[6] = {10000, 20000, 20000, 30000, 30000, 40000};  // points from one more life to the next
    // By the sprites of thing and hero: they touch if x of the hero less x of the thing lies between these two.
    static const signed char REACH[11][4][2] = {
        {{-7, 7}, {-6, 7}}, {{-4, 5}, {-6, 6}}, {{-6, 5}, {-6, 5}}, {{-7, 6}, {-5, 6}, {-6, 6}, {-6, 6}},
        {{0, 0}, {0, 0}, {-5, 6}, {-6, 5}}, {{0, 0}, {0, 0}, {-6, 6}, {-6, 6}}, {{0, 0}, {0, 0}, {-3, 4}, {-5, 2}},
        {{-7, 6}, {-7, 3}, {-6, 5}, {-6, 3}}, {{-7, 6}, {-6, 7}, {-6, 6}, {-6, 5}},
        {{-6, 5}, {-7, 6}, {-6, 5}, {-6, 4}}, {{-6, 7}, {-5, 6}, {-4, 6}, {-5, 6}}};
    """
    const signed char[9] STICK_X, STICK_Y
    const int16_t[6] PRICE
    const uint8_t[25] WAIT
    const int32_t[6] BONUS
    const signed char[PRICES][4][2] REACH


ctypedef struct Asterix:
    int32_t score, next_bonus   # points; points at which the next life comes
    int16_t[LANES] x            # of the things
    uint8_t[LANES] kind, wait   # wait: frames until the thing moves on, 0 if it moves
    int16_t hero                # x of the hero
    uint8_t lane, right         # of the hero; right: 1 if it looks to the right
    uint8_t lives, stage, taken  # taken: treasures taken in this stage
    uint8_t bonus               # lives won by points, at most 5
    uint8_t stun, title         # frames left of each
    uint8_t clock, held         # held: the second counter
    uint8_t touch               # 1 if hero and thing touched at the end of the last frame
    uint8_t met_obelix          # 1 if the title was shown
    uint8_t rules               # the changed ones
    uint8_t old_stage, old_lanes  # in the frame that ends old_stage, treasures in lanes above old_lanes look as in it
    uint8_t late                # 1 + the lane in which the picture shows the hero still, who is at its start; else 0
    uint8_t again               # 1 in the frame in which a stun begins again; the picture shows the hero as before


cdef inline int pace(const Asterix* game) noexcept nogil:
    """Speed of things in pixels a frame. The hero is twice as fast."""
    return 1 + (game.stage >= OBELIX) + (game.stage >= FAST)


cdef inline int rules_of(const double* options) noexcept nogil:
    """The bits of `rules` under these options."""
    return (options[3] != 0.0) * HARMLESS_LYRES | (options[4] != 0.0) * RANDOM_THINGS | (options[5] != 0.0) * QUICK_POINTS


cdef inline void begin(Asterix* game, const double* options, Rng* rng) noexcept nogil:
    """Begin a new episode."""
    cdef int i
    memset(game, 0, sizeof(Asterix))
    game.rules = <uint8_t>rules_of(options)
    game.lives = <uint8_t>options[0]
    game.next_bonus = BONUS[0]
    game.hero, game.lane = START_X, START_LANE
    game.clock = 1
    for i in range(LANES):
        game.x[i] = EXIT + 2 if i & 1 else ENTRY - 1
        game.kind[i] = TREASURE
    game.stage = <uint8_t>options[1]
    game.met_obelix = game.stage >= OBELIX
    if options[2] != 0.0:
        game.clock = <uint8_t>(2 + rng_below(rng, ROUND - 1))
        game.held = 1
        game.x[0] = <int16_t>(ENTRY + rng_below(rng, EXIT - ENTRY))
        game.x[1] = <int16_t>(ENTRY + rng_below(rng, EXIT - ENTRY))
        for i in range(2, LANES):
            game.x[i] = game.x[i - 2]


cdef inline int hero_of(const Asterix* game) noexcept nogil:
    """The hero's sprite, 0 .. 3: Asterix to the left and to the right, Obelix to the left and to the right."""
    return (2 if game.stage & OBELIX or game.stage == LAST_STAGE else 0) + game.right


cdef inline int sprite_of(const Asterix* game, int lane) noexcept nogil:
    """The sprite of the thing in a lane that is not empty."""
    cdef int kind = game.kind[lane], stage = game.old_stage if lane < game.old_lanes else game.stage
    if kind == LYRE:
        return LYRES + (lane & 1)
    return PRICES + kind - POINTS if kind >= POINTS else 8 if stage == LAST_STAGE else stage & 7


cdef inline void start_again(Asterix* game, int kind) noexcept nogil:
    """Put the hero at its start; make all things of one kind, at their places, and let them move."""
    memset(game.kind, kind, LANES)
    memset(game.wait, 0, LANES)
    game.late = <uint8_t>(game.lane + 1)
    game.hero, game.lane = START_X, START_LANE


cdef inline void move_things(Asterix* game, uint8_t entering) noexcept nogil:
    cdef int16_t speed = <int16_t>pace(game), x
    cdef int i
    for i in range(0, LANES, 2):
        x = game.x[i] + (speed if game.wait[i] == 0 else <int16_t>0)
        game.kind[i] = entering if x >= EXIT else game.kind[i]
        game.x[i] = <int16_t>(ENTRY if x >= EXIT else x)
        x = game.x[i + 1] - (speed if game.wait[i + 1] == 0 else <int16_t>0)
        game.kind[i + 1] = entering if x < ENTRY else game.kind[i + 1]
        game.x[i + 1] = <int16_t>(EXIT if x < ENTRY else x)


cdef inline void pass_waits(Asterix* game) noexcept nogil:
    """Count the waits down. Points whose wait is over become an empty place, which moves in this frame."""
    cdef int i
    for i in range(LANES):
        game.kind[i] = game.kind[i] if game.kind[i] < POINTS or game.wait[i] != 1 else NOTHING
        game.wait[i] = <uint8_t>(game.wait[i] - (game.wait[i] != 0))


cdef inline int wait_of(const Asterix* game) noexcept nogil:
    """Frames that the points of a treasure wait."""
    return WAIT[LAST_STAGE if game.rules & QUICK_POINTS else game.stage]


cdef inline void meet_obelix(Asterix* game) noexcept nogil:
    """Begin to show the title if it is due."""
    if game.stage == OBELIX and not game.met_obelix:
        game.met_obelix = True
        game.title = TITLE_FRAMES


cdef inline int stage_after(int stage) noexcept nogil:
    return FAST if stage == LAST_STAGE else stage + 1


cdef inline void next_stage(Asterix* game) noexcept nogil:
    """Begin the next stage. Points that wait now go on in the next frame, lanes above the hero's get the new look then."""
    cdef int i
    game.taken = 0
    game.old_stage, game.old_lanes = game.stage, game.lane
    game.stage = <uint8_t>stage_after(game.stage)
    for i in range(LANES):
        game.wait[i] = game.wait[i] != 0
    if game.stun == 0:
        meet_obelix(game)


cdef inline float take_treasure(Asterix* game) noexcept nogil:
    """Take the treasure in the hero's lane; returns its points."""
    cdef int price = min(<int>game.stage, 5), lane = game.lane
    game.score += PRICE[price]
    if game.score >= game.next_bonus:
        game.bonus += game.bonus < 5
        game.next_bonus += BONUS[game.bonus]
        game.lives += game.lives < MOST_LIVES
        if game.next_bonus > 2 * LAP:  # the picture shows the score modulo 1,000,000, and lives come every 40,000: as before
            game.score -= LAP
            game.next_bonus -= LAP
    game.taken += 1
    if game.taken == STAGE:
        next_stage(game)
    game.kind[lane] = <uint8_t>(POINTS + price)
    game.wait[lane] = <uint8_t>wait_of(game)
    return PRICE[price]


cdef inline void move_hero(Asterix* game, int action, int speed, bint step_lane) noexcept nogil:
    cdef int lane
    if STICK_X[action]:
        game.right = STICK_X[action] > 0
        if game.right and game.hero < RIGHT_END:
            game.hero += <int16_t>speed
        elif not game.right and game.hero > LEFT_END:
            game.hero -= <int16_t>speed
    if step_lane:
        game.late = 0
        lane = game.lane + STICK_Y[action]
        game.lane = <uint8_t>min(max(lane, 0), LANES - 1)


cdef inline void look_for_touch(Asterix* game, bint stunned) noexcept nogil:
    """Set `touch` for the next frame. Only treasures and lyres can be touched. A stunned hero is wider."""
    cdef int lane = game.lane, away = game.hero - game.x[lane], hero = hero_of(game)
    cdef int obelix = hero >> 1, left = stunned * (WIDE_LEFT - obelix), right = stunned * (WIDE_RIGHT - obelix)
    cdef const signed char* reach
    game.touch = 0
    if game.kind[lane] == LYRE or game.kind[lane] == TREASURE:
        reach = REACH[sprite_of(game, lane)][hero]
        game.touch = reach[0] - right <= away <= reach[1] + left


cdef inline float take_thing(Asterix* game) noexcept nogil:
    """The touch of the last frame takes effect; returns its points."""
    if game.kind[game.lane] == TREASURE:
        return take_treasure(game)
    game.kind[game.lane] = NOTHING
    game.again = game.stun > 0
    game.hero -= <int16_t>(AGAIN if game.stun else 0)
    game.stun = 0 if game.rules & HARMLESS_LYRES else STUN
    return 0.0


cdef inline float stay_stunned(Asterix* game, bint* over) noexcept nogil:
    """One frame of a stun; returns the points of a treasure that the hero had touched."""
    cdef float points = 0.0
    game.stun -= 1
    if game.stun == 1 and game.lives == 1:
        game.lives = 0
        over[0] = True
    elif game.stun == 0:
        game.lives -= 1
        start_again(game, NOTHING)
        meet_obelix(game)
    elif game.touch:
        points = take_thing(game)
    game.touch = 0
    if game.stun == STUN - 1:
        look_for_touch(game, True)
    return points


cdef inline void show_title(Asterix* game) noexcept nogil:
    """One frame of the screen with Obelix's name. Only the clock goes on, modulo 256."""
    game.clock += 1
    game.title -= 1
    if game.title == 0:
        start_again(game, TREASURE)

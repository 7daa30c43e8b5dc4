"""Asterix, after the cartridge of 1983 for the Atari 2600.

Screen. On 160x210 pixels (x to the right, y down) eight lanes lie between two roofs, lane 0 on top: lane i has the rows
25 + 16 * i .. 38 + 16 * i. What is in it, hero or thing, is 8 pixels wide, x is its left end, and 11 high.

Hero. LEFT and RIGHT move it by 2 pixels a frame, by 4 from stage 4 on, by 6 from stage 16 on, while x > 24 and x < 128.
UP and DOWN move it by a lane, only in frames
before which the clock (below) is a multiple of 4. It starts in lane 3 at x 76.

Things. Each lane holds one. In lanes 0, 2, 4 and 6 they come in at x 5, go to the right by 1 pixel a frame (2 from stage 4
on, 3 from stage 16 on) and leave before x 143; in the others they come in at 143, go to the left and leave before x 5. When
one leaves, or the nothing that is left of it, the next comes in at once: a treasure, or a lyre. A clock decides: it goes
from 1 or 2 to 128 by 1 a frame and begins again at 2. A second counter begins at 0, later at 1 whenever the clock begins
again, and counts the frames in which the stick is held straight to the LEFT or RIGHT. If, before the frame, both are even
or both are odd, it is a treasure. So the things of lanes that were not disturbed come and go together.

Touch. If hero and thing of a lane overlap, as REACH says for each pair, it counts in the next frame, after all have moved.
  Treasure: its points, which stand in its place until a wait is over; then nothing at all goes on from there. The points are
  50, 100, 200, 300, 400 in stages 0 .. 4 and 500 later, the wait is 254, 134, 66 or 32 frames for stages 0 .. 3, 4 .. 7 and
  16 .. 19 in this order, 16 for 8 .. 15 and 20 .. 23, and 7 for 24; of the last treasure of a stage it is the next stage's.
  Lyre: it vanishes and the hero is stunned for 126 frames, in which nothing moves, but waits go on. Then a life is lost,
all things become nothing that goes on, and the hero stands at its start. The last life ends a frame earlier, and with
it the episode.

Stages. 50 treasures make a stage, after 24 comes 16 again. Treasures look after their stage, and those on the screen change
with it. In stages 4 .. 7, 12 .. 15 and 20 .. 24 the hero is Obelix. When he first comes, in stage 4, the screen shows his
name for 255 frames; then all things are treasures, at the places where they were, and he stands at the start.

Lives. 3 at first; one more at 10,000, 30,000, 50,000, 80,000 and 110,000 points and then every 40,000, but never more than 8.

Start. The clock and the places of the first things, all treasures, are random. With scatter=0 things stand at x 4 and
  145 and all goes as on the cartridge from its first frame on.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport Canvas, canvas_rect, canvas_swap, grey_of, touch_row
from envs_c.game import Option


cdef enum:
    NOOP, UP, RIGHT, LEFT, DOWN, UP_RIGHT, UP_LEFT, DOWN_RIGHT, DOWN_LEFT
    NOTHING = 0, LYRE, TREASURE, POINTS             # kinds of things; POINTS and up: the points of stage 0 .. 5
    LANES = 8, SLOTS = 15                           # slots: lanes counted from the hero's, 7 above to 7 below
    START_X = 76, START_LANE = 3, LEFT_END = 24, RIGHT_END = 128
    ENTRY = 5, EXIT = 143                           # where things go in and out at the left and at the right
    STAGE = 50, OBELIX = 4, FAST = 16, LAST_STAGE = 24
    STUN = 126, WIDE = 79, TITLE_FRAMES = 255       # the hero is drawn twice as wide while his stun is WIDE or more
    ROUND = 128, MOST_LIVES = 8
    LYRES = 9, PRICES = 11, HEROES = 17, DIGITS = 21, SPRITES = 31      # in SHAPE
    WIDTH = 8, HEIGHT = 11, DIGIT_HEIGHT = 7
    THING_Y = 26, PITCH = 16, LINE_Y = 39, LINE_X = 24, LINE_WIDTH = 112
    TOP_ROOF = 9, BOTTOM_ROOF = 150, LIVES_X = 60, LIVES_Y = 169, SCORE_X = 96, SCORE_Y = 184, TITLE_X = 56, TITLE_Y = 94
    UNIT_X = 21, CELL_X = 40, UNIT_Y = 2, CELL_Y = 5        # of the grey canvas: units a pixel and a cell
    FEATURES = 8 + 4 * SLOTS
    BLACK = 0x000000, BLUE = 0x545CD6, SILVER = 0xC0C0C0

cdef extern from *:
    """
    static const signed char STICK_X[9] = {0, 0, 1, -1, 0, 1, -1, 1, -1}, STICK_Y[9] = {0, -1, 0, 0, 1, -1, -1, 1, 1};
    static const short PRICE[6] = {50, 100, 200, 300, 400, 500};
    static const unsigned char WAIT[25] = {254, 134, 66, 32, 254, 134, 66, 32, 16, 16, 16, 16, 16, 16, 16, 16,
                                           254, 134, 66, 32, 16, 16, 16, 16, 7};
    static const int BONUS[6] = {10000, 20000, 20000, 30000, 30000, 40000};  // from one more life to the next
    static const unsigned ROOF[8] = {0x331AA3, 0x4E32B5, 0x6848C6, 0x7F5CD5, 0x181AA7, 0x2D32B8, 0x4248C8, 0x545CD6};
    static const unsigned PALETTE[20] = {
        0x545CD6, 0x548AD2, 0x6E9C42, 0x7F5CD5, 0x87B754, 0xA33915, 0xA459D0, 0xA71A1A, 0xAAAAAA, 0xB83232,
        0xBBBB35, 0xC0C0C0, 0xC3903D, 0xC659B3, 0xD5824A, 0xD65C5C, 0xD6D6D6, 0xE46F6F, 0xECECEC, 0xF08080};
    static const unsigned char SHAPE[31][11] = {  // rows from the top, the high bit at the left: 9 sorts of treasure,
        // the lyre to the right and to the left, 50 .. 500, Asterix to the left and to the right, Obelix, digits
        {0x00, 0x7E, 0x00, 0x3C, 0x7E, 0x6E, 0x76, 0x79, 0x7E, 0x7E, 0x3C},
        {0x1C, 0x3E, 0x1E, 0x1F, 0x3B, 0x7C, 0x7C, 0x7C, 0x1C, 0x14, 0x30},
        {0x44, 0x7C, 0x7C, 0x6C, 0x6C, 0x44, 0x44, 0x6C, 0x6C, 0x7C, 0x38},
        {0xA0, 0x40, 0x02, 0xC7, 0xFD, 0x7D, 0x3E, 0x18, 0x18, 0x3C, 0x7E},
        {0x66, 0xE4, 0x18, 0x66, 0x7E, 0xFF, 0xFF, 0xFF, 0xFF, 0x7E, 0x24},
        {0x00, 0x00, 0x00, 0x00, 0x8E, 0xDD, 0x7F, 0xDF, 0x8E, 0x00, 0x00},
        {0x10, 0x38, 0x38, 0x10, 0x10, 0x38, 0x38, 0x7C, 0x7C, 0x7C, 0x38},
        {0x10, 0x28, 0xB0, 0x58, 0xA8, 0xAC, 0xAA, 0xAA, 0xAA, 0xAC, 0xF8},
        {0x00, 0x00, 0x38, 0x7C, 0xFE, 0xFE, 0x7C, 0x38, 0x00, 0x00, 0x00},
        {0x02, 0x36, 0x6C, 0xC4, 0xFC, 0xC4, 0xFC, 0xC4, 0x6C, 0x36, 0x02},
        {0x40, 0x6C, 0x36, 0x23, 0x3F, 0x23, 0x3F, 0x23, 0x36, 0x6C, 0x40},
        {0xFC, 0x78, 0x00, 0xE8, 0x94, 0xF4, 0x34, 0xE8, 0x00, 0x78, 0xFC},
        {0xFF, 0x7E, 0x00, 0x4A, 0x55, 0x55, 0x55, 0x4A, 0x00, 0x7E, 0xFF},
        {0xFF, 0x7E, 0x00, 0xEA, 0x15, 0xF5, 0x95, 0xEA, 0x00, 0x7E, 0xFF},
        {0xFF, 0x7E, 0x00, 0xEA, 0x15, 0x75, 0x15, 0xEA, 0x00, 0x7E, 0xFF},
        {0xFF, 0x7E, 0x00, 0xAA, 0xB5, 0xF5, 0x35, 0x2A, 0x00, 0x7E, 0xFF},
        {0xFF, 0x7E, 0x00, 0xEA, 0x95, 0xF5, 0x35, 0xEA, 0x00, 0x7E, 0xFF},
        {0x07, 0x0C, 0x13, 0x0E, 0x3C, 0x38, 0xD0, 0xF8, 0x70, 0x70, 0x60},
        {0xE0, 0x30, 0xC8, 0x70, 0x3C, 0x1C, 0x0B, 0x1F, 0x0E, 0x0E, 0x06},
        {0x30, 0x78, 0x70, 0x7E, 0x7E, 0x7C, 0x78, 0x38, 0x20, 0x70, 0x20},
        {0x0C, 0x1E, 0x0E, 0x7E, 0x7E, 0x3E, 0x1E, 0x1C, 0x04, 0x0E, 0x04},
        {0x78, 0xCC, 0xCC, 0xCC, 0xCC, 0xCC, 0x78, 0, 0, 0, 0}, {0x70, 0xF0, 0x30, 0x30, 0x30, 0x30, 0xFC, 0, 0, 0, 0},
        {0xF8, 0x8C, 0x0C, 0x78, 0xC0, 0xC0, 0xFC, 0, 0, 0, 0}, {0x78, 0x8C, 0x0C, 0x18, 0x0C, 0x8C, 0x78, 0, 0, 0, 0},
        {0x18, 0x38, 0x58, 0x98, 0xFC, 0x18, 0x18, 0, 0, 0, 0}, {0xFC, 0xC0, 0xC0, 0xF8, 0x0C, 0x8C, 0xF8, 0, 0, 0, 0},
        {0x78, 0xC4, 0xC0, 0xF8, 0xCC, 0xCC, 0x78, 0, 0, 0, 0}, {0xFC, 0xC4, 0x04, 0x08, 0x10, 0x30, 0x30, 0, 0, 0, 0},
        {0x78, 0xCC, 0xCC, 0x78, 0xCC, 0xCC, 0x78, 0, 0, 0, 0}, {0x78, 0xCC, 0xCC, 0x7C, 0x0C, 0x8C, 0x78, 0, 0, 0, 0}};
    static const unsigned char INK[21][11] = {  // of their rows, in PALETTE; that of the rest is PALETTE[10]
        {0, 9, 0, 7, 7, 9, 9, 9, 9, 7, 7}, {18, 16, 11, 8, 19, 19, 19, 19, 19, 19, 19},
        {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {16, 16, 10, 9, 10, 9, 10, 9, 10, 9, 10},
        {2, 2, 2, 9, 9, 9, 9, 9, 9, 9, 9}, {0, 0, 0, 0, 13, 13, 13, 13, 13, 0, 0}, {16, 16, 16, 16, 16, 9, 9, 9, 9, 9, 9},
        {16, 16, 16, 16, 16, 9, 9, 9, 9, 9, 9}, {0, 0, 16, 16, 16, 16, 9, 9, 0, 0, 0},
        {17, 17, 17, 17, 9, 17, 9, 17, 17, 17, 17}, {17, 17, 17, 17, 9, 17, 9, 17, 17, 17, 17},
        {13, 3, 0, 8, 8, 8, 8, 8, 0, 3, 13}, {4, 14, 0, 8, 8, 8, 8, 8, 0, 14, 4}, {12, 1, 0, 8, 8, 8, 8, 8, 0, 1, 12},
        {14, 0, 0, 8, 8, 8, 8, 8, 0, 0, 14}, {4, 15, 0, 8, 8, 8, 8, 8, 0, 15, 4}, {5, 6, 0, 8, 8, 8, 8, 8, 0, 6, 5},
        {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
        {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}};
    static const signed char REACH[11][4][2] = {  // by thing and hero, where both meet: how far the hero may be to the right
        {{-7, 7}, {-6, 7}}, {{-4, 5}, {-6, 6}}, {{-6, 5}, {-6, 5}}, {{-7, 6}, {-5, 6}},
        {{0, 0}, {0, 0}, {-5, 6}, {-6, 5}}, {{0, 0}, {0, 0}, {-6, 6}, {-6, 6}}, {{0, 0}, {0, 0}, {-3, 4}, {-5, 2}},
        {{0, 0}, {0, 0}, {-6, 5}, {-6, 3}}, {{0, 0}, {0, 0}, {-6, 6}, {-6, 5}},
        {{-6, 5}, {-7, 6}, {-6, 5}, {-6, 4}}, {{-6, 7}, {-5, 6}, {-4, 6}, {-5, 6}}};
    static const unsigned long long TITLE[15] = {  // OBELIX WAVE, 48 columns
        0x78F8FC80FE82ULL, 0x848480801044ULL, 0x848480801028ULL, 0x84F8F8801010ULL, 0x848480801028ULL, 0x848480801044ULL,
        0x78F8FCFCFE82ULL, 0x000000000000ULL, 0x01086104FC00ULL, 0x010891048000ULL, 0x010909048000ULL, 0x0109F904FC00ULL,
        0x016908888000ULL, 0x019908508000ULL, 0x01090820FC00ULL};
    """
    const signed char[9] STICK_X, STICK_Y
    const int16_t[6] PRICE
    const uint8_t[25] WAIT
    const int32_t[6] BONUS
    const uint32_t[8] ROOF
    const uint32_t[20] PALETTE
    const uint8_t[31][11] SHAPE
    const uint8_t[21][11] INK
    const uint64_t[15] TITLE
    const signed char[PRICES][4][2] REACH


cdef uint16_t[SPRITES][CELL_X][CELL_Y][6][8] STAMP  # by sprite and units into a cell: grey * units of the cells from there


ctypedef struct Asterix:
    int32_t score, next_bonus   # points; those that give the next life
    int16_t[LANES] x            # of things
    uint8_t[LANES] kind, wait   # wait: frames until a thing goes on, 0 if it goes
    int16_t hero                # its x
    uint8_t lane, right         # right: it looks there
    uint8_t lives, stage, taken  # taken: treasures of this stage
    uint8_t bonus               # lives won by points, 5 at most
    uint8_t stun, title         # frames left
    uint8_t clock, held         # held: the second counter
    uint8_t touch               # hero and thing do in this frame
    uint8_t met_obelix


cdef inline int pace(const Asterix* game) noexcept nogil:
    """Pixels a frame of things; the hero has twice as many."""
    return 1 + (game.stage >= OBELIX) + (game.stage >= FAST)


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Asterix* game = <Asterix*>state
    cdef int i
    memset(game, 0, sizeof(Asterix))
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
    """Which of the four sprites of heroes."""
    return (2 if game.stage & OBELIX or game.stage == LAST_STAGE else 0) + game.right


cdef inline int sprite_of(const Asterix* game, int lane) noexcept nogil:
    """Of a thing that is there."""
    cdef int kind = game.kind[lane]
    if kind == LYRE:
        return LYRES + (lane & 1)
    return PRICES + kind - POINTS if kind >= POINTS else 8 if game.stage == LAST_STAGE else game.stage & 7


cdef inline void start_again(Asterix* game, int kind) noexcept nogil:
    """The hero at its start, all things of one kind where they are, and on their way."""
    memset(game.kind, kind, LANES)
    memset(game.wait, 0, LANES)
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
    """Count down; points whose wait is over become nothing, which goes on in this frame."""
    cdef int i
    for i in range(LANES):
        game.kind[i] = game.kind[i] if game.kind[i] < POINTS or game.wait[i] != 1 else NOTHING
        game.wait[i] = <uint8_t>(game.wait[i] - (game.wait[i] != 0))


cdef inline float take_treasure(Asterix* game) noexcept nogil:
    """Returns its points."""
    cdef int price = min(<int>game.stage, 5), lane = game.lane
    game.score += PRICE[price]
    if game.score >= game.next_bonus:
        game.bonus += game.bonus < 5
        game.next_bonus += BONUS[game.bonus]
        game.lives += game.lives < MOST_LIVES
    game.taken += 1
    if game.taken == STAGE:
        game.taken = 0
        game.stage = <uint8_t>(FAST if game.stage == LAST_STAGE else game.stage + 1)
        if game.stage == OBELIX and not game.met_obelix:
            game.met_obelix = True
            game.title = TITLE_FRAMES
    game.kind[lane] = <uint8_t>(POINTS + price)
    game.wait[lane] = WAIT[game.stage]
    return PRICE[price]


cdef inline void move_hero(Asterix* game, int action, bint step_lane) noexcept nogil:
    cdef int speed = 2 * pace(game), lane
    if STICK_X[action]:
        game.right = STICK_X[action] > 0
        if game.right and game.hero < RIGHT_END:
            game.hero += <int16_t>speed
        elif not game.right and game.hero > LEFT_END:
            game.hero -= <int16_t>speed
    if step_lane:
        lane = game.lane + STICK_Y[action]
        game.lane = <uint8_t>min(max(lane, 0), LANES - 1)


cdef inline void look_for_touch(Asterix* game) noexcept nogil:
    """Points are no longer to be touched, and nothing never was."""
    cdef int lane = game.lane, away = game.hero - game.x[lane]
    cdef const signed char* reach
    game.touch = 0
    if game.kind[lane] == LYRE or game.kind[lane] == TREASURE:
        reach = REACH[sprite_of(game, lane)][hero_of(game)]
        game.touch = reach[0] <= away <= reach[1]


cdef inline void show_title(Asterix* game) noexcept nogil:
    """A frame of it: only the clock goes on, now to 255."""
    game.clock += 1
    game.title -= 1
    if game.title == 0:
        start_again(game, TREASURE)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Asterix* game = <Asterix*>state
    cdef uint8_t entering = LYRE if (game.clock ^ game.held) & 1 else TREASURE
    cdef bint step_lane = game.clock & 3 == 0
    cdef float points = 0.0
    if game.title:
        show_title(game)
        return 0.0
    if action == RIGHT or action == LEFT:
        game.held += 1
    if game.clock >= ROUND:
        game.clock = game.held = 1
    game.clock += 1
    pass_waits(game)
    if game.stun:
        game.stun -= 1
        if game.stun == 1 and game.lives == 1:
            game.lives = 0
            over[0] = True
        elif game.stun == 0:
            game.lives -= 1
            start_again(game, NOTHING)
        return 0.0
    move_things(game, entering)
    if game.touch:
        if game.kind[game.lane] == LYRE:
            game.kind[game.lane] = NOTHING
            game.stun = STUN
        else:
            points = take_treasure(game)
    move_hero(game, action, step_lane)
    if game.stun == 0 and game.title == 0:
        look_for_touch(game)
    else:
        game.touch = 0
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Hero's x, lane, direction and stun, frames to the next lane change, stage, lives and score; then for the lanes from
    7 above the hero's to 7 below it: treasure there, lyre there, how far its thing is to the right, and its velocity.

    In units of about their deviation in play; 0 where there is no lane, and velocity where a thing waits.
    """
    cdef const Asterix* game = <const Asterix*>state
    cdef float* features = <float*>out
    cdef float* slot = features + 8 + 4 * (7 - game.lane)
    cdef float speed = <float>(0.5 * pace(game))
    cdef int i
    memset(features, 0, FEATURES * sizeof(float))
    features[0] = (game.hero - START_X) * <float>(1.0 / 36)
    features[1] = (2 * game.lane - 7) * <float>(1.0 / 5)
    features[2] = 1 if game.right else -1
    features[3] = game.stun * <float>(1.0 / STUN) + game.title * <float>(1.0 / TITLE_FRAMES)
    features[4] = (-game.clock & 3) * <float>(1.0 / 3)
    features[5] = game.stage * <float>(1.0 / 8)
    features[6] = (game.lives - 3) * <float>(1.0 / 2)
    features[7] = min(game.score, 1000000) * <float>(1.0 / 20000)
    for i in range(LANES):
        slot[0] = game.kind[i] == TREASURE
        slot[1] = game.kind[i] == LYRE
        slot[2] = (game.x[i] - game.hero) * <float>(1.0 / 40)
        slot[3] = 0 if game.wait[i] else -speed if i & 1 else speed
        slot += 4


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """The roofs and the lines between lanes."""
    cdef int k
    for k in range(16):
        canvas_rect(canvas, START_X - 4 * k, TOP_ROOF + k, 8 + 8 * k, 1, ROOF[k // 2])
        canvas_rect(canvas, 4 * k + 16, BOTTOM_ROOF + k, 128 - 8 * k, 1, ROOF[k // 2])
    for k in range(LANES - 1):
        canvas_rect(canvas, LINE_X, LINE_Y + PITCH * k, LINE_WIDTH, 2, BLUE)


cdef inline uint32_t colour_of(int sprite, int row) noexcept nogil:
    return PALETTE[INK[sprite][row] if sprite < DIGITS else 10]


cdef void make_tables() noexcept:
    """Fill STAMP: sprites are many, so on the grey canvas they are added cell by cell."""
    cdef int sprite, row, column, shift, down, x, y, grey
    for sprite in range(SPRITES):
        for row in range(HEIGHT):
            grey = grey_of(colour_of(sprite, row))
            for column in range(WIDTH):
                if SHAPE[sprite][row] & 0x80 >> column:
                    for shift in range(CELL_X):
                        for down in range(CELL_Y):
                            for x in range(shift + column * UNIT_X, shift + (column + 1) * UNIT_X):
                                for y in range(down + row * UNIT_Y, down + (row + 1) * UNIT_Y):
                                    STAMP[sprite][shift][down][y // CELL_Y][x // CELL_X] += grey


cdef inline void stamp(Canvas* canvas, int sprite, int height, int x, int y) noexcept nogil:
    """A sprite on black ground onto the grey canvas, its left end at 0 .. 145."""
    cdef int cell = x * UNIT_X // CELL_X, top = y * UNIT_Y // CELL_Y, down = y * UNIT_Y - top * CELL_Y, row
    cdef long k
    cdef const uint16_t* sums
    cdef float* to
    for row in range((height * UNIT_Y + down + CELL_Y - 1) // CELL_Y):
        sums = STAMP[sprite][x * UNIT_X - cell * CELL_X][down][row]
        to = touch_row(canvas, top + row) + cell
        for k in range(8):
            to[k] += sums[k]


cdef inline void draw_bits(Canvas* canvas, int x, int y, uint64_t bits, int scale, uint32_t colour) noexcept nogil:
    """A row of pixels on black ground, the high bit at the left, runs together."""
    cdef int left = 0, right
    while bits:
        while not bits >> 63:
            bits, left = bits << 1, left + 1
        right = left
        while bits >> 63:
            bits, right = bits << 1, right + 1
        canvas_swap(canvas, x + left * scale, y, (right - left) * scale, 1, BLACK, colour)
        left = right


cdef inline void draw_sprite(Canvas* canvas, int sprite, int height, int x, int y) noexcept nogil:
    cdef int row
    if canvas.rgb == NULL:
        stamp(canvas, sprite, height, x, y)
    else:
        for row in range(height):
            draw_bits(canvas, x, y + row, <uint64_t>SHAPE[sprite][row] << 56, 1, colour_of(sprite, row))


cdef inline bint is_wide(const Asterix* game) noexcept nogil:
    """The hero is drawn twice as wide, around its middle, when the lyre has just stunned it."""
    return WIDE <= game.stun < STUN


cdef void draw_behind(const Asterix* game, Canvas* canvas, int lane) noexcept nogil:
    """A thing of which the hero hides what they share; rows of 64 pixels that begin 16 left of it."""
    cdef int sprite = sprite_of(game, lane), x = game.x[lane] - 16, y = THING_Y + PITCH * lane, row, column
    cdef int away = game.hero - 4 * is_wide(game) - x, scale = 1 + is_wide(game)
    cdef uint64_t hidden
    for row in range(HEIGHT):
        hidden = 0
        for column in range(WIDTH * scale):
            if SHAPE[HEROES + hero_of(game)][row] & 0x80 >> column // scale:
                hidden |= <uint64_t>1 << (63 - away - column)
        draw_bits(canvas, x, y + row, <uint64_t>SHAPE[sprite][row] << 40 & ~hidden, 1, colour_of(sprite, row))


cdef void draw_title(Canvas* canvas) noexcept nogil:
    cdef int row
    canvas_rect(canvas, 0, 0, 160, 210, BLACK)
    for row in range(15):
        draw_bits(canvas, TITLE_X, TITLE_Y + row, TITLE[row] << 16, 1, SILVER)


cdef inline void draw_hero(const Asterix* game, Canvas* canvas) noexcept nogil:
    cdef int sprite = HEROES + hero_of(game), y = THING_Y + PITCH * game.lane, row
    if is_wide(game):
        for row in range(HEIGHT):
            draw_bits(canvas, game.hero - 4, y + row, <uint64_t>SHAPE[sprite][row] << 56, 2, colour_of(sprite, row))
    else:
        draw_sprite(canvas, sprite, HEIGHT, game.hero, y)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Asterix* game = <const Asterix*>state
    cdef int lane, left = game.score % 1000000, x = SCORE_X, near = WIDTH + 4 * is_wide(game)
    if game.title:
        draw_title(canvas)
        return
    while True:
        draw_sprite(canvas, DIGITS + left % 10, DIGIT_HEIGHT, x, SCORE_Y)
        left, x = left // 10, x - WIDTH
        if left == 0:
            break
    for lane in range(min(<int>game.lives - 1, 3)):
        draw_sprite(canvas, HEROES + hero_of(game), HEIGHT, LIVES_X + PITCH * lane, LIVES_Y)
    for lane in range(LANES):
        if game.kind[lane] != NOTHING:
            if lane == game.lane and game.lives > 0 and -near < game.hero - game.x[lane] < near:
                draw_behind(game, canvas, lane)
            else:
                draw_sprite(canvas, sprite_of(game, lane), HEIGHT, game.x[lane], THING_Y + PITCH * lane)
    if game.lives > 0:
        draw_hero(game, canvas)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Asterix), states, io, lo, hi)


make_tables()
GAME = Game(
    name="asterix", title="Asterix", version=1, summary="Gather treasures that cross eight lanes, and keep off the lyres.",
    actions=("NOOP", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT"),
    feature_shape=(FEATURES,), frame_skip=4,
    feature_low=(-2, -2, -1, 0, 0, 0, -2, 0) + (0, 0, -4, -2) * SLOTS,
    feature_high=(2, 2, 1, 1, 1, 3, 3, 50) + (1, 1, 4, 2) * SLOTS,
    options={
        "lives": Option(3, 1, 8, "lives at first"),
        "first_stage": Option(0, 0, LAST_STAGE, "stage to begin with"),
        "scatter": Option(1, 0, 1, "0: things and clock start as on the cartridge"),
    },
).bind(chunk, backdrop, draw, sizeof(Asterix))

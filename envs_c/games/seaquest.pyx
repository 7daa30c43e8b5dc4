"""Seaquest, as the cartridge of 1983 for the Atari 2600 plays it, but for its random numbers and some details of drawing.

Submarine. On a screen of 160x210 pixels (x to the right, y down) it is 16 wide and 11 high, its rows from y + 33 on. It moves
by 1 pixel a frame in eight directions, x within 21 .. 134 and y within 13 (the surface) .. 108. From y 18 on FIRE lets a
torpedo go to the side that it faces, one at a time, 5 pixels a frame; held, FIRE shoots again when it is gone. A torpedo
keeps to the submarine's height, wherever that goes.

Lanes. Four lie 24 rows apart, lane 0 the lowest. In each a wave crosses, from left or right at random, 6/16 pixel a frame:
one enemy at pace 0 and 1, then two 16 apart, two 32 apart and three, for two paces each, and over again. Each step of pace
adds 1/16 pixel a frame. After 247 pixels a wave that was not shot is followed by the next: enemy submarines after sharks,
sharks after submarines. Those who were shot are missing from the next wave too, but a wave that was shot to the last is
followed by new sharks, at once or when a submarine's shot has gone. The first waves of a life are sharks. Sharks bob by 7
rows in 64 frames.

Shots. The foremost submarine of a wave, while its x is 39 .. 126, fires as soon as the lane's shot before is gone. A shot
goes ahead at 1 pixel a frame, at pace p 1 + p/16. Torpedoes do not stop it.

Divers. A wave brings a diver to its lane with a chance of 3 in 4, or the lane's diver waits for it already. With sharks he
swims along at 3/16 pixel a frame, 1/16 more at every second pace, as fast as the shark that is at his heels, and turns when
the next wave comes from the other side. Past the edge he is lost. The submarine takes him in by touching him, six at most;
a lane whose diver was taken brings none until all four were.

Points. An enemy gives 20, and 10 more for each rescue made, up to 90. Shots, sharks and submarines kill what they touch;
the enemy that is run into counts as shot.

Oxygen. The tank holds 64 units. Below y 20 one goes every 32 frames; the last one's end is death. At the surface with less
than 64: without divers it is death; with one to five the tank is filled, a unit every other frame, during which the
submarine cannot leave, then one diver goes ashore and the pace rises by 1; with six it is a rescue: every unit left gives
as much as an enemy, every diver 50, and 50 more for each rescue made before, up to 1000. The pace rises by 1 if it is
below the number of rescues, and all begins anew as after a death.

Patrol. From the second rescue on a submarine that cannot be shot crosses the surface to the left, 1 pixel every fourth
frame; it comes again every 1024 frames. It kills at y 13 and 14.

Lives. The episode ends with the fourth death. Each costs a diver too; 92 frames pass, then the sea is empty and the tank is
filled for 128 frames, as at the start. Each 10,000 points give a life, as long as there are fewer than seven. The score
stops at 999,999.
"""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.games.seaquest_rules cimport (
    CREW, COPIES, COUNTS, DIES, FIRST_FRAME, GAP, LANES, LOW, PATROL_FROM, PATROL_PACE, PLAYS, SHARK_ROWS, SHIP_ROWS, SHIP_Y,
    SHOT_ROW, SPRITE, START_X, SURFACE, TANK, TORPEDO_ROW, Seaquest, bob, breathe, clear_sea, count_bonus,
    hit_enemies, keep_waiting, lane_y, move_lanes, steer, touch,
)
from envs_c.rng cimport Rng
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, canvas_swap, grey_of, touch_row
from envs_c.game import Option


cdef enum:
    EDGE = 8, WIDTH = 160, HEIGHT = 210         # the first 8 columns stay black
    UNIT_X = 21, CELL_X = 40, CELL_Y = 5        # of the grey canvas: units a pixel and a cell; a pixel has 2 rows of units
    TALL = 14                                   # rows of the tallest figure
    SELF = 17, LANE = 13                        # features of the submarine, and of each lane
    SCORE_X = 98, SCORE_Y = 9, ICONS_X = 58, LIVES_Y = 22, CREW_Y = 178, ICON_CELLS = 4
    BAR_X = 49, BAR_Y = 170, BAR = 63, BAR_ROWS = 5
    UNDER_WATER = 53, BELOW_WATER = 57          # rows between hide the submarine
    BLACK = 0x000000, SAND = 0x8E8E8E, YELLOW = 0xBBBB35, GOLD = 0xD2D240, GREY = 0xAAAAAA, DIVER = 0x4248C8
    CREW_BLUE = 0x181AA7, LIGHT = 0xD6D6D6, RED = 0xA33915, FLASH = 0xECECEC

cdef extern from *:
    """
    static const unsigned BANDS[24][2] = {  // first row and colour of what lies behind all
        {0, 0x000000}, {7, 0x2D32B8}, {33, 0x4E32B5}, {35, 0x7D30AD}, {37, 0xA8308F}, {39, 0xB83232}, {41, 0xB55328},
        {43, 0xA26221}, {44, 0x86861D}, {45, 0x183B9D}, {47, 0x001C88}, {48, 0x183B9D}, {50, 0x001C88}, {51, 0x183B9D},
        {55, 0x000000}, {56, 0x001C88}, {153, 0x003064}, {155, 0x004030}, {157, 0x004400}, {162, 0x8E8E8E}, {188, 0x000000},
        {210, 0}};
    static const unsigned SHARKS[8] = {  // by pace
        0x5CBA5C, 0xA0AB4F, 0xC659B3, 0xC66C3A, 0x48A048, 0xA0AB4F, 0x5CBA5C, 0xC66C3A};
    static const unsigned char SHARK[2][7] = {
        {0x08, 0x0C, 0xDF, 0x7F, 0x7F, 0xD8, 0x10}, {0x08, 0x8C, 0xDF, 0x7F, 0x7E, 0xDB, 0x91}};
    static const unsigned char SUBMARINE[3][11] = {
        {0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0x3F, 0xFF, 0xFD, 0x7F, 0xFE, 0x80},
        {0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0xBF, 0x7F, 0xFD, 0xFF, 0x7E, 0x80},
        {0x04, 0x0C, 0x0C, 0x0C, 0x0C, 0xBF, 0xFF, 0x7D, 0xFF, 0xFE, 0x00}};
    static const unsigned char SWIMMER[3][14] = {
        {0x00, 0x20, 0x10, 0x00, 0x08, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0xF0, 0x20, 0x40, 0x80},
        {0x20, 0x00, 0x20, 0x10, 0x00, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0x30, 0x60, 0x80, 0x00},
        {0x20, 0x20, 0x00, 0x08, 0x08, 0x02, 0x02, 0x0C, 0x0F, 0x18, 0xF0, 0x20, 0x40, 0x80}};
    static const unsigned char SHOT[4] = {0x3C, 0x00, 0x00, 0xF0};
    static const unsigned char BURST[2][11] = {
        {0, 0, 0, 0x10, 0, 0x28, 0, 0x10}, {0, 0x82, 0, 0x10, 0, 0x54, 0, 0x10, 0, 0x82}};
    static const unsigned char TORPEDO_BITS[1] = {0xFF};
    static const unsigned char LIFE[8] = {0x04, 0x0C, 0x0C, 0xBE, 0xFE, 0xFE, 0xFC, 0x80};
    static const unsigned char ABOARD[9] = {0x02, 0x02, 0x0C, 0x0F, 0x18, 0xF0, 0x20, 0x40, 0x80};
    static const unsigned char DIGIT[10][8] = {
        {0x3C, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x3C}, {0x18, 0x38, 0x18, 0x18, 0x18, 0x18, 0x18, 0x3C},
        {0x3C, 0x46, 0x06, 0x06, 0x3C, 0x60, 0x60, 0x7E}, {0x3C, 0x46, 0x06, 0x0C, 0x0C, 0x06, 0x46, 0x3C},
        {0x0C, 0x1C, 0x2C, 0x4C, 0x7E, 0x0C, 0x0C, 0x0C}, {0x7E, 0x60, 0x60, 0x7C, 0x06, 0x06, 0x46, 0x7C},
        {0x3C, 0x62, 0x60, 0x7C, 0x66, 0x66, 0x66, 0x3C}, {0x7E, 0x42, 0x06, 0x0C, 0x18, 0x18, 0x18, 0x18},
        {0x3C, 0x66, 0x66, 0x3C, 0x3C, 0x66, 0x66, 0x3C}, {0x3C, 0x66, 0x66, 0x66, 0x3E, 0x06, 0x46, 0x3C}};
    static const unsigned OXYGEN[5] = {0xEAAED2, 0xAEE89A, 0xA44ADE, 0xAE4A96, 0xEA4ED2};  // the word, 24 columns
    static const unsigned long long MAKER[7] = {  // 40 columns, from row 191 on
        0x3FC3F8000, 0x1044600000, 0x3B54CEBA40, 0x2A55A8AB40, 0x3A572EABC0, 0x2A5622AAC0, 0x2B542EBA40};
    static const unsigned char SEABED[8] = {162, 161, 161, 162, 163, 164, 164, 163};  // first row of sand, by 4 columns
    // Made when seaquest.pyx is imported, and constant from then on:
    static float COVER[40][256][8];     // by units into a cell and bits of a row: units covered of the cells from there
    static unsigned GROUND[210];        // a row's colour behind all figures
    static float GROUND_GREY[210];
    static unsigned char MIRROR[256], WIDE[16];     // bits from right to left; four bits, each twice
    static unsigned char ICONS[2][7][4][84];        // grey rows of so many lives or divers: there nothing else is drawn
    """
    const uint32_t[24][2] BANDS
    const uint32_t[8] SHARKS
    const uint8_t[2][7] SHARK
    const uint8_t[3][11] SUBMARINE
    const uint8_t[3][14] SWIMMER
    const uint8_t[4] SHOT
    const uint8_t[2][11] BURST
    const uint8_t[1] TORPEDO_BITS
    const uint8_t[8] LIFE
    const uint8_t[9] ABOARD
    const uint8_t[10][8] DIGIT
    const uint32_t[5] OXYGEN
    const unsigned long long[7] MAKER
    const uint8_t[8] SEABED
    float[40][256][8] COVER
    uint32_t[210] GROUND
    float[210] GROUND_GREY
    uint8_t[256] MIRROR
    uint8_t[16] WIDE
    uint8_t[2][7][4][84] ICONS


ctypedef struct Figure:
    # Eight columns of pixels somewhere on the screen.
    int x, y, rows
    uint8_t[TALL] bits


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Seaquest* game = <Seaquest*>state
    memset(game, 0, sizeof(Seaquest))
    game.lives = <uint8_t>options[0]
    game.rescues = game.pace = <uint8_t>options[1]
    game.frame = FIRST_FRAME
    game.facing = 1
    clear_sea(game)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Seaquest* game = <Seaquest*>state
    cdef float points = 0.0
    game.frame += 1
    if game.rescues >= PATROL_FROM and game.phase != DIES and game.frame & (PATROL_PACE - 1) == 0:
        game.patrol = (game.patrol - 1) & 255
    if game.phase == PLAYS:
        steer(game, action)
        breathe(game)
        if game.phase == PLAYS:
            move_lanes(game, rng)
            points = hit_enemies(game, rng)
            points += touch(game, rng)
    elif game.phase == COUNTS:
        points = count_bonus(game)
    else:
        keep_waiting(game, rng, over)
    return points


cdef void observe(const void* state, void* out) noexcept nogil:
    """Of the submarine: x, y, facing, oxygen used, alarm, divers, six of them, torpedo: there, how far to the right, to which
    side; lives, rescues, pace, docked, waiting, patrol: there, how far to the right. Of each lane: how far below, speed to the
    right, submarines, three copies: there, how far to the right; diver: there, how far to the right; shot: the same.

    What is normal is 0, distances are in 40 pixels across and 28 down; what is not there is at 0.
    """
    cdef const Seaquest* game = <const Seaquest*>state
    cdef float* features = <float*>out
    cdef float* lane_of = features + SELF
    cdef float speed = (6 + game.pace) * <float>(1.0 / 12), there, away
    cdef int lane, copy, alive, sub
    features[0] = (game.x_ship - START_X) * <float>(1.0 / 30)
    features[1] = (game.y - 60) * <float>(1.0 / 28)
    features[2] = 1.0 if game.facing else -1.0
    features[3] = (TANK - game.oxygen) * <float>(1.0 / 32)
    features[4] = game.oxygen <= LOW
    features[5] = game.crew * <float>(1.0 / 3)
    features[6] = game.crew == CREW
    features[7] = game.torpedo > 0
    features[8] = features[7] * (game.torpedo - game.x_ship) * <float>(1.0 / 40)
    features[9] = features[7] * (1 if game.torpedo_right else -1)
    features[10] = (game.lives - 3) * <float>(1.0 / 2)
    features[11] = game.rescues * <float>(1.0 / 4)
    features[12] = game.pace * <float>(1.0 / 8)
    features[13] = game.docked
    features[14] = game.phase != PLAYS
    features[15] = EDGE - SPRITE < game.patrol < WIDTH
    features[16] = features[15] * (game.patrol - game.x_ship) * <float>(1.0 / 40)
    for lane in range(LANES):
        away = game.x[lane] - game.x_ship
        alive, sub = game.alive[lane], game.sub[lane]
        lane_of[0] = (lane_y(lane) - game.y - SHIP_Y) * <float>(1.0 / 28)
        lane_of[1] = speed if game.right[lane] else -speed
        lane_of[2] = sub
        for copy in range(COPIES):
            there = alive >> (2 - copy) & 1
            lane_of[3 + 2 * copy] = there
            lane_of[4 + 2 * copy] = there * (away + GAP * copy) * <float>(1.0 / 40)
        away = (game.guest[lane] - game.x_ship) * <float>(1.0 / 40)
        there = game.guest[lane] > 0
        lane_of[9] = there * (1 - sub)
        lane_of[10] = lane_of[9] * away
        lane_of[11] = there * sub
        lane_of[12] = lane_of[11] * away
        lane_of += LANE


cdef inline void stamp(Canvas* canvas, int x, int y, const uint8_t* bits, int rows, uint32_t colour) noexcept nogil:
    """Paint a figure where there is only ground; columns of it that are off the sea are left out."""
    cdef int row, k, cell, columns, line, unit, end, high
    cdef float weight, grey = grey_of(colour)
    cdef uint32_t mask = 0xFF, b, marks
    cdef const float* covers
    cdef float[SPRITE] sums
    cdef float* to
    if x <= EDGE - SPRITE or x >= WIDTH:
        return
    if x < EDGE:
        mask = 0xFF >> (EDGE - x)
    elif x > WIDTH - SPRITE:
        mask = 0xFF << (x - WIDTH + SPRITE) & 0xFF
    if canvas.rgb != NULL:
        for row in range(rows):
            for k in range(SPRITE):
                if bits[row] & mask & 0x80 >> k:
                    canvas_rect(canvas, x + k, y + row, 1, 1, colour)
        return
    cell = x * UNIT_X // CELL_X
    covers = &COVER[x * UNIT_X - cell * CELL_X][0][0]
    columns = min(SPRITE, SMALL - cell)
    unit = 2 * y
    line = unit // CELL_Y
    while unit < 2 * (y + rows):  # a row of cells at a time: two or three rows of pixels, the outer ones by half at times
        for k in range(SPRITE):
            sums[k] = 0.0
        end = min((line + 1) * CELL_Y, 2 * (y + rows))
        marks = 0
        while unit < end:
            row = unit >> 1
            high = min(2 * row + 2, end) - unit
            b = bits[row - y] & mask
            marks |= b
            weight = high * (grey - GROUND_GREY[row])
            for k in range(SPRITE):
                sums[k] += weight * covers[SPRITE * b + k]
            unit += high
        if marks:
            to = touch_row(canvas, line) + cell
            if columns == SPRITE:
                for k in range(SPRITE):
                    to[k] += sums[k]
            else:
                for k in range(columns):
                    to[k] += sums[k]
        line += 1


cdef inline void place(Figure* figure, int x, int y, const uint8_t* bits, int rows, bint mirrored) noexcept nogil:
    cdef int row
    figure.x, figure.y, figure.rows = x, y, rows
    for row in range(rows):
        figure.bits[row] = MIRROR[bits[row]] if mirrored else bits[row]


cdef inline void hide(Figure* figure, const Figure* front) noexcept nogil:
    """Take away what another figure stands before."""
    cdef int across = front.x - figure.x, down = front.y - figure.y, row
    cdef uint32_t bits
    if -SPRITE < across < SPRITE and -front.rows < down < figure.rows:
        for row in range(max(down, 0), min(down + front.rows, figure.rows)):
            bits = front.bits[row - down]
            figure.bits[row] &= ~(bits >> across if across >= 0 else bits << -across)


cdef inline void paint(Canvas* canvas, const Figure* figure, uint32_t colour) noexcept nogil:
    stamp(canvas, figure.x, figure.y, figure.bits, figure.rows, colour)


cdef inline void draw_ship(const Seaquest* game, Canvas* canvas, Figure* front) noexcept nogil:
    """The submarine in two halves, or what a death leaves of it; what the water's edge hides is left out."""
    cdef const uint8_t* bits = &SUBMARINE[(game.frame >> 2) % 3][0]
    cdef uint32_t colour = YELLOW
    cdef uint8_t b
    cdef int row
    if game.phase == DIES:
        colour = FLASH if game.wait & 4 else BLACK
        if game.wait <= 60:
            bits = &BURST[game.wait <= 42][0]
            colour = 0x75B5EF if game.wait > 42 else 0x4272C2 if game.wait > 28 else 0x183B9D
    for row in range(SHIP_ROWS):
        b = bits[row] if game.facing else MIRROR[bits[row]]
        if UNDER_WATER <= game.y + SHIP_Y + row < BELOW_WATER or (game.phase == DIES and game.wait <= 14):
            b = 0
        front[0].bits[row] = WIDE[b >> 4]
        front[1].bits[row] = WIDE[b & 15]
    front[0].x, front[1].x = game.x_ship, game.x_ship + SPRITE
    front[0].y = front[1].y = game.y + SHIP_Y
    front[0].rows = front[1].rows = SHIP_ROWS
    paint(canvas, &front[0], colour)
    paint(canvas, &front[1], colour)


cdef inline void draw_lane(const Seaquest* game, Canvas* canvas, int lane, Figure* front, int fronts) noexcept nogil:
    """`front` holds the submarine and its torpedo, and has room for three more."""
    cdef const uint8_t* bits
    cdef Figure guest
    cdef int copy, k, rows, y = lane_y(lane)
    cdef uint32_t colour
    cdef int before = fronts
    if game.sub[lane]:
        bits = &SUBMARINE[(game.frame >> 2) % 3][0]
        rows, colour = SHIP_ROWS, GREY
        y += 3
    else:
        bits = &SHARK[game.frame >> 1 & 1][0]
        rows, colour = SHARK_ROWS, SHARKS[game.pace & 7]
        y += bob(game)
    for copy in range(COPIES):
        if game.alive[lane] & (4 >> copy):
            place(&front[fronts], game.x[lane] + GAP * copy, y, bits, rows, not game.right[lane])
            for k in range(before):
                hide(&front[fronts], &front[k])
            paint(canvas, &front[fronts], colour)
            fronts += 1
    if game.guest[lane] > 0:
        if game.sub[lane]:
            place(&guest, game.guest[lane] + 2, lane_y(lane) + SHOT_ROW, SHOT, 4, not game.right[lane])
        else:
            place(&guest, game.guest[lane], lane_y(lane) - 1, SWIMMER[2 - (game.frame >> 3) % 3], TALL, not game.right[lane])
        for k in range(fronts):
            hide(&guest, &front[k])
        paint(canvas, &guest, DIVER)


cdef inline void draw_icons(Canvas* canvas, int aboard, int count) noexcept nogil:
    """The lives in reserve, or the divers; in grey they are copied."""
    cdef int k
    for k in range(ICON_CELLS if canvas.rgb == NULL and count > 0 else 0):
        memcpy(canvas_row(canvas, 2 * (CREW_Y if aboard else LIVES_Y) // CELL_Y + k), ICONS[aboard][count][k], SMALL)
    for k in range(count if canvas.rgb != NULL else 0):
        if aboard:
            stamp(canvas, ICONS_X + SPRITE * k, CREW_Y, ABOARD, 9, CREW_BLUE)
        else:
            stamp(canvas, ICONS_X + SPRITE * k, LIVES_Y, LIFE, 8, GOLD)


cdef inline void draw_numbers(const Seaquest* game, Canvas* canvas) noexcept nogil:
    """Score, lives in reserve, divers and oxygen."""
    cdef int x = SCORE_X, rest = game.score, left = min(game.oxygen, BAR)
    while True:
        stamp(canvas, x, SCORE_Y, DIGIT[rest % 10], 8, GOLD)
        rest //= 10
        x -= SPRITE
        if rest == 0:
            break
    draw_icons(canvas, 0, max(game.lives - 1, 0))
    draw_icons(canvas, 1, game.crew)
    if left < BAR:
        canvas_swap(canvas, BAR_X + left, BAR_Y, BAR - left, BAR_ROWS, LIGHT, RED)
    if game.oxygen <= LOW and game.phase == PLAYS and not game.frame & 16:
        canvas_swap(canvas, BAR_X, BAR_Y, left, BAR_ROWS, LIGHT, BLACK)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """All but the figures and numbers; the tank is full."""
    cdef int row, k
    for row in range(HEIGHT):
        canvas_rect(canvas, EDGE, row, WIDTH - EDGE, 1, GROUND[row])
    for k in range(0, WIDTH - EDGE, 4):
        row = SEABED[k >> 2 & 7]
        canvas_rect(canvas, EDGE + k, 157, 4, row - 157, 0x004400)
        canvas_rect(canvas, EDGE + k, row, 4, 166 - row, SAND)
    canvas_rect(canvas, BAR_X, BAR_Y, BAR, BAR_ROWS, LIGHT)
    for row in range(BAR_ROWS):
        for k in range(24):
            if OXYGEN[row] >> (23 - k) & 1:
                canvas_swap(canvas, 15 + k, BAR_Y + row, 1, 1, SAND, BLACK)
    for row in range(7):
        for k in range(40):
            if MAKER[row] >> (39 - k) & 1:
                canvas_swap(canvas, 64 + k, 191 + row, 1, 1, BLACK, DIVER)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Seaquest* game = <const Seaquest*>state
    cdef Figure[6] front
    cdef Figure patrol
    cdef int lane, fronts = 2
    draw_numbers(game, canvas)
    draw_ship(game, canvas, front)
    if game.torpedo > 0:
        place(&front[2], game.torpedo + 1, game.y + TORPEDO_ROW, TORPEDO_BITS, 1, False)
        hide(&front[2], &front[0])
        hide(&front[2], &front[1])
        paint(canvas, &front[2], YELLOW)
        fronts = 3
    if 0 < game.patrol < WIDTH:
        place(&patrol, game.patrol, SURFACE + SHIP_Y, SUBMARINE[0], 7, True)
        hide(&patrol, &front[0])
        hide(&patrol, &front[1])
        paint(canvas, &patrol, GREY)
    for lane in range(LANES):
        draw_lane(game, canvas, lane, front, fronts)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Seaquest), states, io, lo, hi)


cdef void draw_icon_rows(int aboard, int count):
    """Their rows of the grey canvas, summed unit by unit."""
    cdef int top = CREW_Y if aboard else LIVES_Y, rows = 9 if aboard else 8
    cdef int line, column, unit, across, x, row, bits
    cdef float total
    for line in range(ICON_CELLS):
        for column in range(SMALL):
            total = 0.5 * CELL_X * CELL_Y + 0.25  # rounded as canvas_finish does
            for unit in range((2 * top // CELL_Y + line) * CELL_Y, (2 * top // CELL_Y + line + 1) * CELL_Y):
                row = unit // 2 - top
                bits = 0 if row < 0 or row >= rows else ABOARD[row] if aboard else LIFE[row]
                for across in range(column * CELL_X, (column + 1) * CELL_X):
                    x = across // UNIT_X
                    if ICONS_X <= x < ICONS_X + SPRITE * count and bits & 0x80 >> (x - ICONS_X) % SPRITE:
                        total += grey_of(CREW_BLUE if aboard else GOLD)
                    elif x >= EDGE:
                        total += GROUND_GREY[top + row]
            ICONS[aboard][count][line][column] = <uint8_t><int>(total * <float>(1.0 / (CELL_X * CELL_Y)))


cdef void lay_out():
    """Fill the tables that drawing looks up."""
    cdef int offset, bits, k, unit, band = 0
    for k in range(HEIGHT):
        band += k == <int>BANDS[band + 1][0]
        GROUND[k] = BANDS[band][1]
        GROUND_GREY[k] = grey_of(GROUND[k])
    for bits in range(256):
        for k in range(SPRITE):
            if bits & 0x80 >> k:
                MIRROR[bits] |= 1 << k
                for offset in range(CELL_X):
                    for unit in range(offset + k * UNIT_X, offset + (k + 1) * UNIT_X):
                        COVER[offset][bits][unit // CELL_X] += 1
    for bits in range(16):
        for k in range(4):
            if bits >> k & 1:
                WIDE[bits] |= 3 << 2 * k
    for k in range(CREW + 1):
        draw_icon_rows(0, k)
        draw_icon_rows(1, k)


lay_out()
GAME = Game(
    name="seaquest", title="Seaquest", version=1, summary="Bring divers home in a submarine before the oxygen runs out.",
    actions=("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
             "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"),
    feature_shape=(SELF + LANES * LANE,), frame_skip=4, feature_low=-70, feature_high=70,
    options={
        "lives": Option(4, 1, 7, "lives at first"),
        "first_level": Option(0, 0, 20, "rescues that count as made, and so the pace at first"),
    },
).bind(chunk, backdrop, draw, sizeof(Seaquest))

"""Seaquest's picture: tables, and how figures are painted in colour and in grey.

In grey a figure adds its difference from the ground to sums of covered area, so no two figures may cover the same pixel: bits
hidden by a figure in front are removed first.
"""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.games.seaquest.rules cimport (
    COPIES, CREW, DIES, EMPTIED, GAP, LOW, PLAYS, SHARK_ROWS, SHIP_ROWS, SHIP_Y, SHOT_ROW, SHOT_X, SPRITE, SURFACE,
    Seaquest, crew_shown, lane_y, screw)
from envs_c.games.seaquest.shapes cimport (
    ABOARD, DIGIT, LIFE, MIRROR, SHARK, SHOT, SUBMARINE, SWIMMER, foam, hull, make_mirror)
from envs_c.screen cimport SMALL, grey_of
from envs_c.stamp cimport (
    CELLS, CELL_X, CELL_Y, HEIGHT, STAMP, UNIT_X, UNIT_Y, WIDTH, Sheet, add_units, cell_at, cover_bits, doubled, put, put_row,
    to_bytes)


cdef enum:
    EDGE = 8                                    # the first 8 columns stay black
    TALL = 14, BLOCK = 5, TALLEST = 20          # rows: tallest figure; two grey rows; whole blocks that hold any figure
    SCORE_X = 98, SCORE_Y = 9, ICONS_X = 58, LIVES_Y = 22, CREW_Y = 178, ICON_CELLS = 4
    BAR_X = 49, BAR_Y = 170, BAR = 63, BAR_ROWS = 5
    UNDER_WATER = 53, BELOW_WATER = 57          # the rows between hide the submarine
    WAVES_Y = 45, WAVES_END = 55                # rows of the water's edge, each of one of two blues
    SEA = 0x001C88, FOAM = 0x183B9D
    BLACK = 0x000000, SAND = 0x8E8E8E, YELLOW = 0xBBBB35, GOLD = 0xD2D240, GREY = 0xAAAAAA, DIVER = 0x4248C8
    CREW_BLUE = 0x181AA7, LIGHT = 0xD6D6D6, RED = 0xA33915, FLASH = 0xECECEC

cdef extern from *:
    """
    static const unsigned BANDS[18][2] = {  // first row and colour of each band of the background
        {0, 0x000000}, {7, 0x2D32B8}, {33, 0x4E32B5}, {35, 0x7D30AD}, {37, 0xA8308F}, {39, 0xB83232}, {41, 0xB55328},
        {43, 0xA26221}, {44, 0x86861D}, {45, 0x001C88}, {55, 0x000000}, {56, 0x001C88}, {153, 0x003064},
        {155, 0x004030}, {157, 0x004400}, {162, 0x8E8E8E}, {188, 0x000000}, {210, 0}};
    static const unsigned SHARKS[8] = {  // by pace
        0x5CBA5C, 0xA0AB4F, 0xC659B3, 0xC66C3A, 0x48A048, 0xA0AB4F, 0x5CBA5C, 0xC66C3A};
    static const unsigned FADING[15] = {  // colour of a burst, by the steps left of a death; at last that of the sea
        0x001C88, 0x001C88, 0x001C88, 0x001C88, 0x001C88, 0x001C88, 0x183B9D, 0x2D57B0, 0x4272C2, 0x548AD2, 0x65A0E1,
        0x75B5EF, 0x75B5EF, 0x75B5EF, 0x75B5EF};
    static const unsigned OXYGEN[5] = {0xEAAED2, 0xAEE89A, 0xA44ADE, 0xAE4A96, 0xEA4ED2};  // the word OXYGEN, 24 columns
    static const unsigned char SEABED[8] = {162, 161, 161, 162, 163, 164, 164, 163};  // first row of sand, for 4 columns each
    // Made when seaquest.pyx is imported, then constant:
    static unsigned char COVER[40][256][8];         // [x % 40][bits of a row]: units covered of 8 grey pixels
    static unsigned GROUND[210];                    // [row]: colour behind all figures
    static short GROUND_GREY[210];
    static unsigned short STANDING[84 * 84];        // sums of the backdrop
    static unsigned char FOAMING[256][4];           // [first 8 rows that are lighter]: units down of grey rows 18 .. 21
    static unsigned char ICONS[2][7][4][84];        // grey rows by lives or divers; no other thing is drawn there
    """
    const uint32_t[18][2] BANDS
    const uint32_t[8] SHARKS
    const uint32_t[15] FADING
    const uint32_t[5] OXYGEN
    const uint8_t[8] SEABED
    uint8_t[40][256][8] COVER
    uint32_t[210] GROUND
    int16_t[210] GROUND_GREY
    uint16_t[84 * 84] STANDING
    uint8_t[256][4] FOAMING
    uint8_t[2][7][4][84] ICONS


ctypedef struct Figure:
    # Eight columns of pixels at a place on the screen.
    int x, y, rows
    uint8_t[TALL] bits


cdef inline void stamp(Sheet* sheet, int x, int y, const uint8_t* bits, int rows, uint32_t colour) noexcept nogil:
    """Paint a figure over ground, cut off at the sea's left and right edges.

    x, y: its left column and first row.
    bits: one byte a row, the highest bit at the left.
    """
    cdef int row
    if x <= EDGE - SPRITE or x >= WIDTH:
        return
    if sheet.canvas == NULL:
        stamp_grey(sheet.sums, x, y, bits, rows, grey_of(colour), 0)
        return
    for row in range(rows):
        put_row(sheet, x, y + row, <uint16_t>(bits[row] << 8), GROUND[y + row], colour)


cdef inline void stamp_grey(uint16_t* sums, int x, int y, const uint8_t* bits, int rows, int grey, int waves) noexcept nogil:
    """As `stamp`, in grey: five rows of pixels, which are two grey rows, at a time.

    waves: the lighter rows of the water's edge behind the figure, as `foam` gives them.
    """
    cdef int mask = 0xFF, above = y % BLOCK, block, row
    cdef uint8_t[TALLEST] padded
    cdef uint16_t[STAMP] upper, lower
    cdef uint16_t middle
    cdef int[BLOCK] weight
    cdef long[BLOCK] at
    cdef const uint8_t* cover = &COVER[x % CELL_X][0][0]
    cdef long k
    if x < EDGE:
        mask = 0xFF >> (EDGE - x)
    elif x > WIDTH - SPRITE:
        mask = 0xFF << (x - WIDTH + SPRITE)
    memset(padded, 0, sizeof(padded))
    memcpy(padded + above, bits, rows)
    y -= above
    sums += cell_at(x, y)
    for block in range((above + rows + BLOCK - 1) // BLOCK):
        for row in range(BLOCK):
            at[row] = STAMP * (padded[BLOCK * block + row] & mask)
            weight[row] = grey - GROUND_GREY[y + BLOCK * block + row]
            if waves and 0 <= y + BLOCK * block + row - WAVES_Y < WAVES_END - WAVES_Y:
                weight[row] -= (waves >> (y + BLOCK * block + row - WAVES_Y) & 1) * (grey_of(FOAM) - grey_of(SEA))
        memcpy(upper, sums, sizeof(upper))
        memcpy(lower, sums + SMALL, sizeof(lower))
        for k in range(STAMP):
            middle = <uint16_t>(cover[at[2] + k] * weight[2])
            upper[k] += <uint16_t>(2 * (cover[at[0] + k] * weight[0] + cover[at[1] + k] * weight[1]) + middle)
            lower[k] += <uint16_t>(2 * (cover[at[3] + k] * weight[3] + cover[at[4] + k] * weight[4]) + middle)
        memcpy(sums, upper, sizeof(upper))
        memcpy(sums + SMALL, lower, sizeof(lower))
        sums += 2 * SMALL


cdef inline void place(Figure* figure, int x, int y, const uint8_t* bits, int rows, bint mirrored) noexcept nogil:
    """Set a figure's place and bits."""
    cdef int row
    figure.x, figure.y, figure.rows = x, y, rows
    for row in range(rows):
        figure.bits[row] = MIRROR[bits[row]] if mirrored else bits[row]


cdef inline void hide(Figure* figure, const Figure* front) noexcept nogil:
    """Remove the bits of a figure that are behind another one."""
    cdef int across = front.x - figure.x, down = front.y - figure.y, row
    cdef uint32_t bits
    if -SPRITE < across < SPRITE and -front.rows < down < figure.rows:
        for row in range(max(down, 0), min(down + front.rows, figure.rows)):
            bits = front.bits[row - down]
            figure.bits[row] &= ~(bits >> across if across >= 0 else bits << -across)


cdef inline void paint(Sheet* sheet, const Figure* figure, uint32_t colour) noexcept nogil:
    """Paint a figure at its place."""
    stamp(sheet, figure.x, figure.y, figure.bits, figure.rows, colour)


cdef inline void draw_waves(const Seaquest* game, Sheet* sheet) noexcept nogil:
    """Paint the lighter rows of the water's edge, which is four rows of grey cells."""
    cdef int rows = foam(game), light = grey_of(FOAM) - grey_of(SEA), row
    if sheet.canvas == NULL:
        for row in range(4):
            if FOAMING[rows & 255][row]:
                add_units(sheet.sums + cell_at(0, WAVES_Y) + SMALL * row, UNIT_X * EDGE, UNIT_X * WIDTH,
                          FOAMING[rows & 255][row] * light)
        return
    for row in range(WAVES_END - WAVES_Y):
        if rows >> row & 1:
            put(sheet, EDGE, WAVES_Y + row, WIDTH - EDGE, 1, SEA, FOAM)


cdef inline void paint_wet(const Seaquest* game, Sheet* sheet, const Figure* figure, uint32_t colour) noexcept nogil:
    """Paint a figure that may be at the water's edge."""
    if sheet.canvas != NULL or figure.y >= WAVES_END:
        paint(sheet, figure, colour)
    elif EDGE - SPRITE < figure.x < WIDTH:
        stamp_grey(sheet.sums, figure.x, figure.y, figure.bits, figure.rows, grey_of(colour), foam(game))


cdef inline void draw_ship(const Seaquest* game, Sheet* sheet, Figure* front) noexcept nogil:
    """Paint the submarine or its remains, without the rows that the water's edge hides.

    front: OUT, its two halves.
    """
    cdef const uint8_t* bits = hull(game)
    cdef uint32_t colour = YELLOW
    cdef uint8_t b
    cdef int row, half
    if game.phase == DIES:
        colour = FLASH if game.sinks & 1 else BLACK
        if game.sinks <= EMPTIED:
            colour = FADING[game.sinks]
    for row in range(SHIP_ROWS):
        b = bits[row] if game.facing else MIRROR[bits[row]]
        if UNDER_WATER <= game.y + SHIP_Y + row < BELOW_WATER:
            b = 0
        front[0].bits[row] = <uint8_t>(doubled(b) >> 8)
        front[1].bits[row] = <uint8_t>doubled(b)
    front[0].x, front[1].x = game.x_ship, game.x_ship + SPRITE
    front[0].y = front[1].y = game.y + SHIP_Y
    front[0].rows = front[1].rows = SHIP_ROWS
    for half in range(2):
        paint_wet(game, sheet, &front[half], colour)


cdef inline void draw_lane(const Seaquest* game, Sheet* sheet, int lane, Figure* front, int fronts) noexcept nogil:
    """Paint a lane's enemies and its diver or shot.

    front: the `fronts` figures before them (submarine and torpedo), with room for three more.
    """
    cdef const uint8_t* bits
    cdef Figure guest
    cdef int copy, k, rows, y = lane_y(lane)
    cdef uint32_t colour
    cdef int before = fronts
    if game.sub[lane]:
        bits = &SUBMARINE[screw(game)][0]
        rows, colour = SHIP_ROWS, GREY
        y += 3
    else:
        bits = &SHARK[game.pose[lane] > 0][0]
        rows, colour = SHARK_ROWS, SHARKS[game.tint]
        y += game.sway
    for copy in range(COPIES):
        if game.alive[lane] & (4 >> copy):
            place(&front[fronts], game.x[lane] + GAP * copy, y, bits, rows, not game.right[lane])
            for k in range(before):
                hide(&front[fronts], &front[k])
            paint(sheet, &front[fronts], colour)
            fronts += 1
    if game.guest[lane] > 0:
        if game.sub[lane]:
            place(&guest, game.guest[lane] + SHOT_X, lane_y(lane) + SHOT_ROW, SHOT, 4, False)
        else:
            place(&guest, game.guest[lane], lane_y(lane), SWIMMER[game.pose[lane]], TALL, not game.right[lane])
        for k in range(fronts):
            hide(&guest, &front[k])
        paint(sheet, &guest, DIVER)


cdef inline void put_icons(Sheet* sheet, int aboard, int count) noexcept nogil:
    """Paint icons of lives in reserve, or of divers if `aboard`."""
    cdef int k
    for k in range(count):
        if aboard:
            stamp(sheet, ICONS_X + SPRITE * k, CREW_Y, ABOARD, 9, CREW_BLUE)
        else:
            stamp(sheet, ICONS_X + SPRITE * k, LIVES_Y, LIFE, 8, GOLD)


cdef inline int icons_cell(int aboard) noexcept nogil:
    """Index of the icons' first row on the grey canvas."""
    return cell_at(0, CREW_Y if aboard else LIVES_Y)


cdef inline void copy_icons(const Seaquest* game, uint8_t* grey) noexcept nogil:
    """Draw lives in reserve and divers in grey, after everything else."""
    memcpy(grey + icons_cell(0), ICONS[0][max(game.lives - 1, 0)], ICON_CELLS * SMALL)
    memcpy(grey + icons_cell(1), ICONS[1][crew_shown(game)], ICON_CELLS * SMALL)


cdef inline void draw_numbers(const Seaquest* game, Sheet* sheet) noexcept nogil:
    """Draw score and oxygen; in colour also lives in reserve and divers."""
    cdef int x = SCORE_X, rest = game.score, left = min(game.oxygen, BAR)
    while True:
        stamp(sheet, x, SCORE_Y, DIGIT[rest % 10], 8, GOLD)
        rest //= 10
        x -= SPRITE
        if rest == 0:
            break
    if sheet.canvas != NULL:
        put_icons(sheet, 0, max(game.lives - 1, 0))
        put_icons(sheet, 1, crew_shown(game))
    if left == 0:
        put(sheet, BAR_X - 1, BAR_Y, 1, BAR_ROWS, SAND, RED)
    if left < BAR:
        put(sheet, BAR_X + left, BAR_Y, BAR - left, BAR_ROWS, LIGHT, RED)
    if game.oxygen <= LOW and game.phase == PLAYS and game.y != SURFACE and not game.frame & 16:
        put(sheet, BAR_X, BAR_Y, left, BAR_ROWS, LIGHT, BLACK)


cdef inline void make_tables() noexcept nogil:
    """Fill GROUND, GROUND_GREY, COVER, FOAMING and MIRROR."""
    cdef int bits, k, band = 0
    make_mirror()
    for k in range(HEIGHT):
        band += k == <int>BANDS[band + 1][0]
        GROUND[k] = BANDS[band][1]
        GROUND_GREY[k] = <int16_t>grey_of(GROUND[k])
    for bits in range(256):
        for k in range(CELL_X):
            cover_bits(bits, k, COVER[k][bits])
        memset(FOAMING[bits], 0, sizeof(FOAMING[bits]))
        for k in range(UNIT_Y * (WAVES_END - WAVES_Y)):
            FOAMING[bits][k // CELL_Y] += bits >> (k // UNIT_Y & 7) & 1


cdef inline void make_icons() noexcept nogil:
    """Fill ICONS; STANDING must be filled before."""
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet
    cdef int aboard, count
    sheet.canvas, sheet.sums, sheet.edge = NULL, sums, EDGE
    for aboard in range(2):
        for count in range(CREW + 1):
            memcpy(sums, STANDING, sizeof(sums))
            put_icons(&sheet, aboard, count)
            to_bytes(sums + icons_cell(aboard), &ICONS[aboard][count][0][0], ICON_CELLS * SMALL)

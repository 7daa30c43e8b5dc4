"""The pictures of Asterix: sprites, colours, and how they are painted, in colour and in grey."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from envs_c.games.asterix.rules cimport AGAIN, NOTHING, STUN, Asterix, hero_of, sprite_of
from envs_c.stamp cimport CELLS, CELL_X, CELL_Y, STAMP, Sheet, add_stamp, cell_at, cut_stamp, doubled, put_bits


cdef enum:
    HEROES = 17, DIGITS = 21, SPRITES = 31          # first indices in SHAPE, and its length
    WIDTH = 8, HEIGHT = 11, DIGIT_HEIGHT = 7        # of sprites, in pixels
    SPRITE_STAMP = 6, DIGIT_STAMP = 4               # rows of a stamp, in grey cells
    WIDE = 79                                       # the hero is drawn twice as wide while its stun is WIDE or more
    PITCH = 16, THING_Y = 26, LIVES_X = 60, LIVES_Y = 169, SCORE_X = 96, SCORE_Y = 184, TITLE_X = 56, TITLE_Y = 94
    BLACK = 0x000000, SILVER = 0xC0C0C0

cdef extern from *:
    """
    static const unsigned PALETTE[20] = {
        0x545CD6, 0x548AD2, 0x6E9C42, 0x7F5CD5, 0x87B754, 0xA33915, 0xA459D0, 0xA71A1A, 0xAAAAAA, 0xB83232,
        0xBBBB35, 0xC0C0C0, 0xC3903D, 0xC659B3, 0xD5824A, 0xD65C5C, 0xD6D6D6, 0xE46F6F, 0xECECEC, 0xF08080};
    // Rows from the top, the high bit at the left: 9 sorts of treasure, the lyre to the right and to the left, 50 .. 500,
    // Asterix to the left and to the right, Obelix to the left and to the right, digits.
    static const unsigned char SHAPE[31][11] = {
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
    static const unsigned char INK[21][11] = {  // by sprite and row: an index into PALETTE; digits have PALETTE[10]
        {0, 9, 0, 7, 7, 9, 9, 9, 9, 7, 7}, {18, 16, 11, 8, 19, 19, 19, 19, 19, 19, 19},
        {16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}, {16, 16, 10, 9, 10, 9, 10, 9, 10, 9, 10},
        {2, 2, 2, 9, 9, 9, 9, 9, 9, 9, 9}, {0, 0, 0, 0, 13, 13, 13, 13, 13, 0, 0}, {16, 16, 16, 16, 16, 9, 9, 9, 9, 9, 9},
        {16, 16, 16, 16, 16, 9, 9, 9, 9, 9, 9}, {0, 0, 16, 16, 16, 16, 9, 9, 0, 0, 0},
        {17, 17, 17, 17, 9, 17, 9, 17, 17, 17, 17}, {17, 17, 17, 17, 9, 17, 9, 17, 17, 17, 17},
        {13, 3, 0, 8, 8, 8, 8, 8, 0, 3, 13}, {4, 14, 0, 8, 8, 8, 8, 8, 0, 14, 4}, {12, 1, 0, 8, 8, 8, 8, 8, 0, 1, 12},
        {14, 0, 0, 8, 8, 8, 8, 8, 0, 0, 14}, {4, 15, 0, 8, 8, 8, 8, 8, 0, 15, 4}, {5, 6, 0, 8, 8, 8, 8, 8, 0, 6, 5},
        {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10},
        {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, {10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}};
    static const unsigned long long TITLE[15] = {  // OBELIX WAVE, 48 columns
        0x78F8FC80FE82ULL, 0x848480801044ULL, 0x848480801028ULL, 0x84F8F8801010ULL, 0x848480801028ULL, 0x848480801044ULL,
        0x78F8FCFCFE82ULL, 0x000000000000ULL, 0x01086104FC00ULL, 0x010891048000ULL, 0x010909048000ULL, 0x0109F904FC00ULL,
        0x016908888000ULL, 0x019908508000ULL, 0x01090820FC00ULL};
    // Filled when asterix.pyx is imported, and constant from then on:
    static unsigned short STANDING[84 * 84];            // grey sums of the backdrop
    static unsigned short STAMPS[31][40][5][6][8];      // grey sums by sprite, x modulo 40 and y modulo 5
    """
    const uint32_t[20] PALETTE
    const uint8_t[31][11] SHAPE
    const uint8_t[21][11] INK
    const uint64_t[15] TITLE
    uint16_t[CELLS] STANDING
    uint16_t[SPRITES][CELL_X][CELL_Y][SPRITE_STAMP][STAMP] STAMPS


cdef inline uint32_t colour_of(int sprite, int row) noexcept nogil:
    return PALETTE[INK[sprite][row] if sprite < DIGITS else 10]


cdef inline void put_sprite(Sheet* sheet, int sprite, int height, int x, int y) noexcept nogil:
    """Paint a sprite row by row on black ground."""
    cdef int row
    for row in range(height):
        put_bits(sheet, x, y + row, <uint64_t>SHAPE[sprite][row] << 56, BLACK, colour_of(sprite, row))


cdef inline void draw_sprite(Sheet* sheet, int sprite, int x, int y) noexcept nogil:
    cdef bint digit = sprite >= DIGITS
    if sheet.canvas != NULL:
        put_sprite(sheet, sprite, DIGIT_HEIGHT if digit else HEIGHT, x, y)
    else:
        add_stamp(sheet.sums + cell_at(x, y), &STAMPS[sprite][x % CELL_X][y % CELL_Y][0][0],
                  DIGIT_STAMP if digit else SPRITE_STAMP)


cdef inline void make_stamps() noexcept nogil:
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet
    cdef int sprite, x, y
    memset(sums, 0, sizeof(sums))
    sheet.canvas, sheet.sums, sheet.edge = NULL, sums, 0
    for sprite in range(SPRITES):
        for x in range(CELL_X):
            for y in range(CELL_Y):
                put_sprite(&sheet, sprite, DIGIT_HEIGHT if sprite >= DIGITS else HEIGHT, x, y)
                cut_stamp(sums, cell_at(x, y), SPRITE_STAMP, &STAMPS[sprite][x][y][0][0])


cdef inline void draw_title(Sheet* sheet) noexcept nogil:
    """Paint Obelix's name on a black screen."""
    cdef int row
    for row in range(15):
        put_bits(sheet, TITLE_X, TITLE_Y + row, TITLE[row] << 16, BLACK, SILVER)


# --- the hero, who hides the thing behind it -------------------------------------------------------------------------

cdef inline bint is_wide(const Asterix* game) noexcept nogil:
    """Whether the hero is drawn twice as wide around its middle: it is in the first frames of a stun."""
    return WIDE <= game.stun < STUN or game.again


cdef inline uint64_t hero_bits(const Asterix* game, int row) noexcept nogil:
    """A row of the hero, 8 or 16 pixels, the high bit at the left."""
    cdef uint8_t bits = SHAPE[HEROES + hero_of(game)][row]
    return <uint64_t>doubled(bits) << 48 if is_wide(game) else <uint64_t>bits << 56


cdef inline int hero_shown(const Asterix* game) noexcept nogil:
    """The x of the hero in the picture, while it is not wide."""
    return game.hero + AGAIN * game.again


cdef inline int hero_x(const Asterix* game) noexcept nogil:
    return hero_shown(game) - (WIDTH // 2 - 1 if is_wide(game) else 0)


cdef inline int lane_shown(const Asterix* game) noexcept nogil:
    """The lane in which the hero is drawn. After a stun and the title it stays in its lane until UP and DOWN work again."""
    return game.late - 1 if game.late else game.lane


cdef inline void draw_behind(const Asterix* game, Sheet* sheet, int lane) noexcept nogil:
    """Paint a thing without the pixels that the hero covers. Rows have 64 pixels and begin 16 to the left of the thing."""
    cdef int sprite = sprite_of(game, lane), x = game.x[lane] - 16, row
    cdef uint64_t bits
    for row in range(HEIGHT):
        bits = <uint64_t>SHAPE[sprite][row] << 40 & ~(hero_bits(game, row) >> (hero_x(game) - x))
        put_bits(sheet, x, THING_Y + PITCH * lane + row, bits, BLACK, colour_of(sprite, row))


cdef inline void draw_hero(const Asterix* game, Sheet* sheet) noexcept nogil:
    cdef int sprite = HEROES + hero_of(game), y = THING_Y + PITCH * lane_shown(game), row
    if not is_wide(game):
        draw_sprite(sheet, sprite, game.hero, y)
        return
    for row in range(HEIGHT):
        put_bits(sheet, hero_x(game), y + row, hero_bits(game, row), BLACK, colour_of(sprite, row))


cdef inline void draw_thing(const Asterix* game, Sheet* sheet, int lane) noexcept nogil:
    cdef int near = WIDTH + (WIDTH // 2 + 1 if is_wide(game) else 0)
    if game.kind[lane] == NOTHING:
        return
    if lane == lane_shown(game) and game.lives > 0 and -near < hero_shown(game) - game.x[lane] < near:
        draw_behind(game, sheet, lane)
    else:
        draw_sprite(sheet, sprite_of(game, lane), game.x[lane], THING_Y + PITCH * lane)

"""Space Invaders' shapes, and how they come onto the grey canvas.

A shape in a colour on black is one STAMP for each place within the 40 x 5 pixels after which grey pixels (40/21 x 5/2 of the
screen's) come to lie the same again: 6 rows of 8 grey pixels, to be added to what is there. So no two shapes may cover one
pixel: what would be hidden is left out.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.screen cimport SMALL, Canvas, canvas_rect, grey_of


cdef enum:
    INVADERS = 0, BLAST = 12, CANNON = 13, WRECK = 14, SAUCER = 16, SHAPES = 17     # in SHAPE; invaders by row, then pose
    LINES = 10                              # of a shape
    ROUND_X = 40, ROUND_Y = 5               # pixels after which the grid of grey pixels is the same again
    UNIT_X = 21, CELL_X = 40, UNIT_Y = 2, CELL_Y = 5, AREA = 200    # of the grey canvas
    STAMP_ROWS = 6, STAMP_WIDE = 8
    DIGIT_PLACES = 5, DIGIT_ROWS = 4, LIVES_PLACE = 4, DIGIT_WIDE = 4, DIGIT_HIGH = 2   # a digit is 3 x 5 such blocks
    SHIELDS = 3, SHIELD_ROWS = 9, SHIELD_X = 42, SHIELD_PITCH = 32, SHIELD_Y = 157, SHIELD_END = 175
    BLACK = 0x000000, OLIVE = 0x86861D, GREEN = 0x328432, BROWN = 0xA28638, RUST = 0xB55328, SILVER = 0x8E8E8E
    PURPLE = 0x97197A, EARTH = 0x505916

cdef extern from *:
    """
    static const unsigned char SHAPE[17][10] = {  // a bit a pixel, the left one the highest
        {128, 66, 37, 25, 124, 86, 126, 126, 66, 198}, {60, 126, 90, 255, 165, 153, 90, 90, 90, 66},
        {0, 24, 90, 189, 153, 153, 165, 36, 66, 36}, {60, 126, 215, 126, 60, 36, 66, 90, 36, 0},
        {60, 126, 207, 207, 255, 58, 34, 34, 34, 238}, {24, 126, 219, 255, 66, 66, 34, 17, 17, 9},
        {1, 66, 164, 152, 62, 107, 126, 126, 66, 231}, {60, 126, 90, 255, 165, 153, 153, 165, 165, 165},
        {129, 129, 165, 189, 90, 24, 24, 24, 36, 195}, {60, 126, 235, 126, 60, 36, 36, 66, 66, 129},
        {60, 126, 243, 243, 255, 92, 68, 68, 68, 119}, {24, 90, 219, 255, 66, 66, 68, 136, 136, 144},
        {32, 16, 72, 18, 99, 36, 74, 18, 0, 0}, {16, 56, 56, 124, 56, 56, 254, 124, 254, 254},
        {16, 40, 100, 102, 133, 36, 91, 93, 190, 182}, {40, 20, 76, 60, 99, 89, 107, 93, 190, 182},
        {56, 124, 254, 170, 254, 254, 124, 56, 0, 0}};
    static const unsigned char DIGIT[10][5] = {  // 3 bits a row
        {7, 5, 5, 5, 7}, {1, 1, 1, 1, 1}, {7, 1, 7, 4, 7}, {7, 1, 7, 1, 7}, {5, 5, 7, 1, 1},
        {7, 4, 7, 1, 7}, {7, 4, 7, 5, 7}, {7, 1, 1, 1, 1}, {7, 5, 7, 5, 7}, {7, 5, 7, 1, 7}};
    static const short DIGIT_X[5] = {4, 20, 36, 52, 84}, DIGIT_Y[5] = {10, 10, 10, 10, 185};
    static unsigned char STAMP[17][5][40][6][8];
    static unsigned char DIGIT_STAMP[10][5][4][8];
    static unsigned char SPREAD[256][3][8];  // a row of a shield: units of each grey pixel that its bits cover
    """
    const uint8_t[17][10] SHAPE
    const uint8_t[10][5] DIGIT
    const int16_t[5] DIGIT_X, DIGIT_Y
    uint8_t[17][5][40][6][8] STAMP
    uint8_t[10][5][4][8] DIGIT_STAMP
    uint8_t[256][3][8] SPREAD


cdef inline uint32_t colour_of(int shape) noexcept nogil:
    return OLIVE if shape <= BLAST else PURPLE if shape == SAUCER else GREEN


cdef inline int overlap(int start, int stop, int low, int high) noexcept nogil:
    """How much of start .. stop lies in low .. high."""
    return max(min(stop, high) - max(start, low), 0)


cdef inline int units_x(int x, int pixels, int cell) noexcept nogil:
    """Units of a grey column that so many pixels from x on cover."""
    return overlap(UNIT_X * x, UNIT_X * (x + pixels), CELL_X * cell, CELL_X * (cell + 1))


cdef inline int units_y(int y, int lines, int cell) noexcept nogil:
    return overlap(UNIT_Y * y, UNIT_Y * (y + lines), CELL_Y * cell, CELL_Y * (cell + 1))


cdef inline uint8_t shade(int units, int grey) noexcept nogil:
    """The grey of a grey pixel of whose AREA so many units are covered, on black."""
    return <uint8_t>((units * grey + AREA // 2) // AREA)


cdef inline void make_stamps() noexcept nogil:
    cdef int shape, phase_y, phase_x, row, column, line, bit, units, wide
    for shape in range(SHAPES):
        for phase_y in range(ROUND_Y):
            for phase_x in range(ROUND_X):
                for row in range(STAMP_ROWS):
                    for column in range(STAMP_WIDE):
                        units = 0
                        for line in range(LINES):
                            wide = 0
                            for bit in range(8):
                                if SHAPE[shape][line] >> (7 - bit) & 1:
                                    wide += units_x(phase_x + bit, 1, UNIT_X * phase_x // CELL_X + column)
                            units += wide * units_y(phase_y + line, 1, row)
                        STAMP[shape][phase_y][phase_x][row][column] = shade(units, grey_of(colour_of(shape)))


cdef inline void make_digits() noexcept nogil:
    cdef int number, place, row, column, block, units
    for number in range(10):
        for place in range(DIGIT_PLACES):
            for row in range(DIGIT_ROWS):
                for column in range(STAMP_WIDE):
                    units = 0
                    for block in range(15):
                        if DIGIT[number][block // 3] >> (2 - block % 3) & 1:
                            units += (units_x(DIGIT_X[place] + DIGIT_WIDE * (block % 3), DIGIT_WIDE,
                                              UNIT_X * DIGIT_X[place] // CELL_X + column)
                                      * units_y(DIGIT_Y[place] + DIGIT_HIGH * (block // 3), DIGIT_HIGH,
                                                UNIT_Y * DIGIT_Y[place] // CELL_Y + row))
                    DIGIT_STAMP[number][place][row][column] = shade(
                        units, grey_of(BROWN if place == LIVES_PLACE else GREEN))


cdef inline void make_spread() noexcept nogil:
    cdef int bits, shield, column, bit, x
    memset(SPREAD, 0, sizeof(SPREAD))
    for bits in range(256):
        for shield in range(SHIELDS):
            x = SHIELD_X + SHIELD_PITCH * shield
            for column in range(STAMP_WIDE):
                for bit in range(8):
                    if bits >> (7 - bit) & 1:
                        SPREAD[bits][shield][column] += <uint8_t>units_x(x + bit, 1, UNIT_X * x // CELL_X + column)


cdef inline void add(uint8_t* pixels, const uint8_t* stamp) noexcept nogil:
    """Add 8 grey pixels; no sum is over 255."""
    cdef uint64_t here, there
    memcpy(&here, pixels, 8)
    memcpy(&there, stamp, 8)
    here += there
    memcpy(pixels, &here, 8)


cdef inline void put_bits(Canvas* canvas, int x, int y, const uint8_t* rows, int lines, uint32_t colour) noexcept nogil:
    """Paint a shape in colour."""
    cdef int line, bit
    for line in range(lines):
        for bit in range(8):
            if rows[line] >> (7 - bit) & 1:
                canvas_rect(canvas, x + bit, y + line, 1, 1, colour)


cdef inline void put_shape(Canvas* canvas, int x, int y, int shape) noexcept nogil:
    cdef const uint8_t* stamp
    cdef uint8_t* pixels
    cdef int row
    if canvas.rgb != NULL:
        put_bits(canvas, x, y, SHAPE[shape], LINES, colour_of(shape))
        return
    stamp = &STAMP[shape][y % ROUND_Y][x % ROUND_X][0][0]
    pixels = canvas.grey + 2 * (y // ROUND_Y) * SMALL + UNIT_X * x // CELL_X
    for row in range(STAMP_ROWS):
        add(pixels + row * SMALL, stamp + row * STAMP_WIDE)


cdef inline void put_digit(Canvas* canvas, int place, int number) noexcept nogil:
    cdef int row, block, x = DIGIT_X[place], y = DIGIT_Y[place]
    if canvas.rgb != NULL:
        for block in range(15):
            if DIGIT[number][block // 3] >> (2 - block % 3) & 1:
                canvas_rect(canvas, x + DIGIT_WIDE * (block % 3), y + DIGIT_HIGH * (block // 3), DIGIT_WIDE, DIGIT_HIGH,
                            BROWN if place == LIVES_PLACE else GREEN)
        return
    for row in range(DIGIT_ROWS):
        add(canvas.grey + (UNIT_Y * y // CELL_Y + row) * SMALL + UNIT_X * x // CELL_X, DIGIT_STAMP[number][place][row])

"""The pictures of Freeway: digits, colours, and how they are painted, in colour and in grey."""

from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from envs_c.games.freeway.rules cimport (
    BOTTOM, CARS, CAR_ROWS, CHICKEN_ROWS, CHICKEN_X, FRAMES, LANES, PITCH, POSE, RIGHT_LANES, SHAPE, TOP, TRUCK, Freeway,
    left_of, shape_of)
from envs_c.screen cimport grey_of
from envs_c.stamp cimport CELLS, CELL_X, STAMP, WIDTH, Sheet, add_cover, add_stamp, cell_at, cover_rows, cut_stamp, put, put_row


cdef enum:
    EDGE = 8                    # columns left of it stay black
    FLASH = 512                 # last frames, in which the score flashes
    FEET = 193, LANE_Y = 171    # first row of a chicken of height 0, and of the cars of lane 0
    SCORE_X = 48, RIVAL_SCORE_X = 112, SCORE_Y = 5, RIVAL_X = 108
    SCORES = 3                  # places of digits: tens, ones, the second player's
    PLACES = CELL_X + 22        # places of a car: in the grid of cells, and cut off at the left and right edge
    CAR_STAMP = 5, SMALL_STAMP = 4              # rows of a stamp, in grey cells
    BLACK = 0x000000, ROAD = 0x8E8E8E, PAVEMENT = 0xAAAAAA, WHITE = 0xD6D6D6, YELLOW = 0xFCFC54, PINK = 0xE46F6F

cdef extern from *:
    """
    static const unsigned short DIGIT[10][8] = {
        {0x3C00, 0x6600, 0x6600, 0x6600, 0x6600, 0x6600, 0x6600, 0x3C00},
        {0x1800, 0x3800, 0x1800, 0x1800, 0x1800, 0x1800, 0x1800, 0x3C00},
        {0x3C00, 0x4600, 0x0600, 0x0600, 0x3C00, 0x6000, 0x6000, 0x7E00},
        {0x3C00, 0x4600, 0x0600, 0x0C00, 0x0C00, 0x0600, 0x4600, 0x3C00},
        {0x0C00, 0x1C00, 0x2C00, 0x4C00, 0x7E00, 0x0C00, 0x0C00, 0x0C00},
        {0x7E00, 0x6000, 0x6000, 0x7C00, 0x0600, 0x0600, 0x4600, 0x7C00},
        {0x3C00, 0x6200, 0x6000, 0x7C00, 0x6600, 0x6600, 0x6600, 0x3C00},
        {0x7E00, 0x4200, 0x0600, 0x0C00, 0x1800, 0x1800, 0x1800, 0x1800},
        {0x3C00, 0x6600, 0x6600, 0x3C00, 0x3C00, 0x6600, 0x6600, 0x3C00},
        {0x3C00, 0x6600, 0x6600, 0x6600, 0x3E00, 0x0600, 0x4600, 0x3C00}};
    static const unsigned COLOUR[10] = {0xD2D240, 0x87B754, 0xB83232, 0x545CD6, 0xA26221,
                                        0x181AA7, 0xE46F6F, 0x69690F, 0xB4E775, 0xA71A1A};
    static const unsigned FLASHES[128] = {  // the console's colours, in its order
        0, 0x4A4A4A, 0x6F6F6F, 0x8E8E8E, 0xAAAAAA, 0xC0C0C0, 0xD6D6D6, 0xECECEC, 0x484800, 0x69690F, 0x86861D, 0xA2A22A,
        0xBBBB35, 0xD2D240, 0xE8E84A, 0xFCFC54, 0x7C2C00, 0x904811, 0xA26221, 0xB47A30, 0xC3903D, 0xD2A44A, 0xDFB755, 0xECC860,
        0x901C00, 0xA33915, 0xB55328, 0xC66C3A, 0xD5824A, 0xE39759, 0xF0AA67, 0xFCBC74, 0x940000, 0xA71A1A, 0xB83232, 0xC84848,
        0xD65C5C, 0xE46F6F, 0xF08080, 0xFC9090, 0x840064, 0x97197A, 0xA8308F, 0xB846A2, 0xC659B3, 0xD46CC3, 0xE07CD2, 0xEC8CE0,
        0x500084, 0x68199A, 0x7D30AD, 0x9246C0, 0xA459D0, 0xB56CE0, 0xC57CEE, 0xD48CFC, 0x140090, 0x331AA3, 0x4E32B5, 0x6848C6,
        0x7F5CD5, 0x956FE3, 0xA980F0, 0xBC90FC, 0x000094, 0x181AA7, 0x2D32B8, 0x4248C8, 0x545CD6, 0x656FE4, 0x7580F0, 0x8490FC,
        0x001C88, 0x183B9D, 0x2D57B0, 0x4272C2, 0x548AD2, 0x65A0E1, 0x75B5EF, 0x84C8FC, 0x003064, 0x185080, 0x2D6D98, 0x4288B0,
        0x54A0C5, 0x65B7D9, 0x75CCEB, 0x84E0FC, 0x004030, 0x18624E, 0x2D8169, 0x429E82, 0x54B899, 0x65D1AE, 0x75E7C2, 0x84FCD4,
        0x004400, 0x1A661A, 0x328432, 0x48A048, 0x5CBA5C, 0x6FD26F, 0x80E880, 0x90FC90, 0x143C00, 0x355F18, 0x527E2D, 0x6E9C42,
        0x87B754, 0x9ED065, 0xB4E775, 0xC8FC84, 0x303800, 0x505916, 0x6D762B, 0x88923E, 0xA0AB4F, 0xB7C25F, 0xCCD86E, 0xE0EC7C,
        0x482C00, 0x694D14, 0x866A26, 0xA28638, 0xBB9F47, 0xD2B656, 0xE8CC63, 0xFCE070};
    // Filled when freeway.pyx is imported, and constant from then on:
    static unsigned short STANDING[84 * 84];                    // grey sums of the backdrop
    static unsigned short CAR_STAMPS[3][10][62][5][8];          // by part (car, left or right half of a truck), lane, place
    static unsigned short CHICKEN_STAMPS[3][178][4][8];         // by pose and height
    static unsigned char DIGIT_COVER[3][10][4][8];              // units covered, by place and digit
    """
    const uint16_t[10][8] DIGIT
    const uint32_t[10] COLOUR
    const uint32_t[128] FLASHES
    uint16_t[CELLS] STANDING
    uint16_t[3][LANES][PLACES][CAR_STAMP][STAMP] CAR_STAMPS
    uint16_t[3][TOP + 1][SMALL_STAMP][STAMP] CHICKEN_STAMPS
    uint8_t[SCORES][10][SMALL_STAMP][STAMP] DIGIT_COVER


cdef inline int lane_y(int lane) noexcept nogil:
    """First row of a lane's cars."""
    return LANE_Y - PITCH * lane


# --- the ground -------------------------------------------------------------------------------------------------------

cdef inline uint32_t ground(int x, int y) noexcept nogil:
    """Colour of the ground at a pixel."""
    if y < 14 or 23 < y < 185:
        if y & 15 == 7 and 39 <= y <= 167 and x & 4 and y != 103:
            return WHITE
        return YELLOW if (y == 102 or y == 104) and x & 4 else ROAD
    return PAVEMENT if 14 < y < 23 or 185 < y < 195 else BLACK


cdef inline void put_shape(Sheet* sheet, int x, int y, const uint16_t* rows, int count,
                           uint32_t under, uint32_t colour) noexcept nogil:
    cdef int row
    for row in range(count):
        put_row(sheet, x, y + row, rows[row], under, colour)


# --- scores -----------------------------------------------------------------------------------------------------------

cdef inline int score_x(int place) noexcept nogil:
    return RIVAL_SCORE_X if place == 2 else SCORE_X - 8 + 8 * place


cdef inline void draw_digit(Sheet* sheet, int place, int digit, uint32_t under, uint32_t colour) noexcept nogil:
    if sheet.canvas != NULL:
        put_shape(sheet, score_x(place), SCORE_Y, DIGIT[digit], 8, under, colour)
    else:
        add_cover(sheet.sums + cell_at(score_x(place), SCORE_Y), &DIGIT_COVER[place][digit][0][0], SMALL_STAMP, STAMP,
                  grey_of(colour) - grey_of(under))


cdef inline void draw_scores(const Freeway* game, Sheet* sheet) noexcept nogil:
    cdef uint32_t colour = PINK
    cdef int score = game.score - game.unseen
    if game.frame >= FRAMES - FLASH:
        colour = FLASHES[(game.frame & 255) >> 1]
        draw_digit(sheet, 2, 0, PINK, colour)
    if score >= 10:
        draw_digit(sheet, 0, score // 10, ROAD, colour)
    draw_digit(sheet, 1, score % 10, ROAD, colour)


# --- the chicken ------------------------------------------------------------------------------------------------------

cdef inline bint car_at(const Freeway* game, int x, int y) noexcept nogil:
    """Whether a pixel belongs to a car."""
    cdef int lane = (LANE_Y + CAR_ROWS - 1 + PITCH - y) // PITCH - 1
    cdef int row = y - LANE_Y + PITCH * lane, car, column
    if row < 0 or row >= CAR_ROWS or lane < 0 or lane >= LANES:
        return False
    for car in range(CARS[game.kind[lane]]):
        column = x - left_of(game, lane, car)
        column = column if column > -WIDTH + 16 else column + WIDTH
        if 0 <= column < 16 and shape_of(game, lane)[row] & 0x8000 >> column:
            return True
    return False


cdef inline void put_chicken(Sheet* sheet, int pose, int y, const Freeway* cars) noexcept nogil:
    """Paint the chicken pixel by pixel, since the ground under it changes.

    cars: leave out pixels behind the cars of this game; NULL paints all pixels.
    """
    cdef int row, x
    for row in range(CHICKEN_ROWS):
        for x in range(CHICKEN_X, CHICKEN_X + 8):
            if POSE[pose][row] & 0x8000 >> (x - CHICKEN_X) and not (cars != NULL and car_at(cars, x, FEET - y + row)):
                put(sheet, x, FEET - y + row, 1, 1, ground(x, FEET - y + row), YELLOW)


cdef inline void draw_chicken(const Freeway* game, Sheet* sheet) noexcept nogil:
    cdef int y = game.fell if game.fell else game.y
    cdef bint overlaps = game.touch or game.fell  # `touch` is that of y, not of the place from which the chicken fell
    if sheet.canvas != NULL or overlaps:
        put_chicken(sheet, game.pose, y, game if overlaps else NULL)
    else:
        add_stamp(sheet.sums + cell_at(CHICKEN_X, FEET - y), &CHICKEN_STAMPS[game.pose][y][0][0], SMALL_STAMP)


# --- cars -------------------------------------------------------------------------------------------------------------

cdef inline void put_car(Sheet* sheet, int x, int lane, const uint16_t* shape, int part) noexcept nogil:
    """Paint 8 columns of a shape, the right ones if `part` is 2, otherwise the left ones, with their left end at x."""
    cdef int row
    for row in range(CAR_ROWS):
        put_row(sheet, x, lane_y(lane) + row, <uint16_t>(shape[row] << 8) if part == 2 else shape[row] & 0xFF00, ROAD,
                BLACK if row == 0 or row == CAR_ROWS - 1 else COLOUR[lane])


cdef inline int place_of(int x) noexcept nogil:
    """Index among the PLACES of an x of -7 .. 159. From 8 to 152 all of a car is on the road."""
    return x + CELL_X + 7 if x < EDGE else x % CELL_X if x <= WIDTH - 8 else x - WIDTH + PLACES


cdef inline void draw_part(Sheet* sheet, int x, int lane, const uint16_t* shape, int part) noexcept nogil:
    """Paint the columns of a part that are on the road."""
    if x <= EDGE - 8 or x >= WIDTH:
        return
    if sheet.canvas != NULL:
        put_car(sheet, x, lane, shape, part)
    else:
        add_stamp(sheet.sums + cell_at(max(x, 0), lane_y(lane)), &CAR_STAMPS[part][lane][place_of(x)][0][0], CAR_STAMP)


cdef inline void draw_lane(const Freeway* game, Sheet* sheet, int lane) noexcept nogil:
    cdef const uint16_t* shape = shape_of(game, lane)
    cdef bint truck = game.kind[lane] == TRUCK
    cdef int car, part, left
    for car in range(CARS[game.kind[lane]]):
        for part in range(truck, 2 * truck + 1):
            left = left_of(game, lane, car) + (8 if part == 2 else 0)
            left = left if left < WIDTH else left - WIDTH
            draw_part(sheet, left, lane, shape, part)
            draw_part(sheet, left - WIDTH, lane, shape, part)


cdef inline void make_stamps() noexcept nogil:
    """Fill the tables of stamps."""
    cdef uint16_t[CELLS] sums
    cdef Sheet sheet
    cdef int part, lane, x, pose, y, place, digit
    memset(sums, 0, sizeof(sums))
    sheet.canvas, sheet.sums, sheet.edge = NULL, sums, EDGE
    for part in range(3):
        for lane in range(LANES):
            for x in range(-7, WIDTH):
                put_car(&sheet, x, lane, SHAPE[(2 if lane >= RIGHT_LANES else 0) + (part > 0)], part)
                cut_stamp(sums, cell_at(max(x, 0), lane_y(lane)), CAR_STAMP, &CAR_STAMPS[part][lane][place_of(x)][0][0])
    for pose in range(3):
        for y in range(BOTTOM, TOP + 1):
            put_chicken(&sheet, pose, y, NULL)
            cut_stamp(sums, cell_at(CHICKEN_X, FEET - y), SMALL_STAMP, &CHICKEN_STAMPS[pose][y][0][0])
    for place in range(SCORES):
        for digit in range(10):
            cover_rows(DIGIT[digit], 8, score_x(place), SCORE_Y, &DIGIT_COVER[place][digit][0][0])

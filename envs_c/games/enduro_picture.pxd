"""Enduro's pictures: their tables, and how they are painted, in colour and in grey.

In grey a picture is summed in whole units, modulo 2^16: the ground first, then for every figure its grey less the ground's, so
that a figure costs as many additions as it covers cells. What one figure hides of another is taken away again.
"""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from envs_c.games.enduro_rules cimport (
    CAR_ROWS, CAR_WIDTH, BEND_STEP, DEPTHS, FOG, FOG_DEPTH, HIGH, NIGHT, SLOTS, TOP, WIDE, Enduro, car_left, car_top, lane_x,
    season_of, size_of)
from envs_c.screen cimport SMALL, Canvas, fill_rgb, grey_of


cdef enum:
    WIDTH = 160, HEIGHT = 210
    UNIT_X = 21, CELL_X = 40, UNIT_Y = 2, CELL_Y = 5  # units of a screen pixel and of a pixel of the grey canvas
    AREA = CELL_X * CELL_Y
    CELLS = SMALL * SMALL
    MARGIN = 8                # columns left of it are black
    ROAD_Y = 52, ROAD_ROWS = 103, ROAD_END = ROAD_Y + ROAD_ROWS
    HILL_ROW = 18             # rows of the grey canvas: from here on hills,
    GROUND_ROW = 21           # ground and road,
    PANEL_ROW = 62            # nothing,
    NUMBERS = 64              # the panel's numbers,
    NUMBERS_END = 77          # and its lower edge
    PALETTES = 14
    LIGHT_COVER = 14          # of COVER: first the shapes with both states of their wheels, from here on their lights
    COVER_ROWS = 6, COVER_COLUMNS = 16
    CLEAR = 14                # an edge of the road bends by fewer columns within the rows of a car
    PLACES = 8                # of digits: 4 of the way, the day, 3 of the cars
    STAMP_ROWS = 5, STAMP_COLUMNS = 8
    BLACK = 0, RED = 0xA71A1A, SAND = 0xC3903D, GREEN = 0x5CBA5C, OWN = 0xC0C0C0, LIGHTS = 0xB846A2

cdef extern from *:
    """
    // By frame / 256, which of the palettes: summer 2, snow, dusk 8, night, fog, dawn.
    static const unsigned char PALETTE[52] = {
        0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10,
        11, 11, 11, 11, 11, 11, 11, 11, 12, 12, 12, 12, 12, 12, 12, 12, 11, 11, 11, 11, 13, 13, 13, 13};
    static const unsigned SKY[14][4] = {  // rows 0, 45, 47 and 49 on
        {0x181AA7, 0x181AA7, 0x181AA7, 0x181AA7}, {0x2D32B8, 0x2D32B8, 0x2D32B8, 0x2D32B8},
        {0x2D32B8, 0x2D32B8, 0x2D32B8, 0x2D32B8}, {0x181AA7, 0x181AA7, 0x181AA7, 0x181AA7},
        {0x181AA7, 0x181AA7, 0x331AA3, 0x68199A}, {0x181AA7, 0x331AA3, 0x68199A, 0x97197A},
        {0x331AA3, 0x68199A, 0x97197A, 0xA71A1A}, {0x68199A, 0x97197A, 0xA71A1A, 0xA33915},
        {0x97197A, 0xA71A1A, 0xA33915, 0xB55328}, {0xA71A1A, 0xA33915, 0xB55328, 0xA26221},
        {0xA33915, 0xB55328, 0xA26221, 0x866A26}, {0x4A4A4A, 0x4A4A4A, 0x4A4A4A, 0x4A4A4A},
        {0x4A4A4A, 0x4A4A4A, 0x4A4A4A, 0x4A4A4A}, {0x6F6F6F, 0x6F6F6F, 0x6F6F6F, 0x6F6F6F}};
    static const unsigned GROUND[14] = {
        0x004400, 0x004400, 0xECECEC, 0x143C00, 0x143C00, 0x143C00, 0x143C00, 0x303800, 0x303800, 0x303800, 0x303800,
        0, 0x4A4A4A, 0};
    static const unsigned HILL[14] = {0x86861D, 0x88923E, 0xD6D6D6, 0x004400, 0x004400, 0x004400, 0x004400, 0, 0, 0, 0,
                                      0x8E8E8E, 0x4A4A4A, 0xB55328};
    // Of a row from 45 on: left and width of the first hill, of the second; left of the first one's second peak.
    static const unsigned char HILLS[6][5] = {
        {10, 4, 72, 0, 0}, {8, 8, 84, 4, 0}, {6, 12, 82, 12, 22}, {4, 24, 76, 20, 0}, {2, 28, 74, 24, 0}, {0, 32, 72, 28, 0}};
    static const unsigned EDGES[4] = {0x4A4A4A, 0x6F6F6F, 0xAAAAAA, 0xC0C0C0};  // of the road, up to row
    static const unsigned char EDGE_ROW[4] = {40, 55, 74, 103};
    // Where a straight road's edges are in its first rows; then a pixel farther out every other row.
    static const unsigned char EDGE_TOP[2][19] = {
        {87, 87, 87, 86, 86, 86, 85, 85, 85, 84, 84, 83, 83, 82, 81, 81, 80, 79, 79},
        {87, 87, 88, 88, 89, 89, 90, 90, 90, 91, 91, 92, 92, 93, 94, 94, 95, 95, 96}};
    // At row 52:
    static const unsigned char BEND[22] = {0, 0, 0, 0, 1, 1, 2, 3, 4, 6, 8, 9, 13, 15, 18, 22, 26, 30, 35, 39, 45, 50};
    static const unsigned short SHAPE[7][2][11] = {  // two states of the wheels, the high bit at the left
        {{0x33CC, 0x3FFC, 0x3FFC, 0xC3CC, 0x3FF3, 0xCFFC, 0x3FF3, 0xCFFC, 0x3FF3, 0xCFFC, 0x33C3},
         {0x33CC, 0x3FFC, 0x3FFC, 0x33C3, 0xCFFC, 0x3FF3, 0xCFFC, 0x3FF3, 0xCFFC, 0x3FF3, 0xC3CC}},
        {{0x0F00, 0xFFF0, 0x0F30, 0xFFC0, 0x3FF0, 0xFFC0, 0x3FF0, 0xCF00},
         {0x0F00, 0xFFF0, 0xCF00, 0x3FF0, 0xFFC0, 0x3FF0, 0xFFC0, 0x0F30}},
        {{0x1800, 0x7E00, 0xBE00, 0x7D00, 0xBE00, 0x7D00}, {0x1800, 0x7E00, 0x7D00, 0xBE00, 0x7D00, 0xBE00}},
        {{0x3000, 0xF800, 0x7C00, 0xF800}, {0x3000, 0x7C00, 0xF800, 0x7C00}},
        {{0x6000, 0xE000, 0x7000}, {0x6000, 0x7000, 0xE000}},
        {{0x6000, 0xF000}, {0x6000, 0xF000}}, {{0xC000}, {0xC000}}};
    static const unsigned short LIGHTS_SHAPE[7][3] = {
        {0x3C3C, 0x3C3C, 0x3C3C}, {0xF0F0, 0xF0F0, 0xF0F0}, {0x6600, 0x6600}, {0xCC00, 0xCC00}, {0x9000, 0x9000},
        {0x9000}, {0xC000}};
    static const unsigned char LIGHT_ROWS[7] = {3, 3, 2, 2, 2, 1, 1}, LIGHT_UP[7] = {2, 1, 0, 0, 0, 0, 0};
    static const unsigned CARS[16] = {0xAAAAAA, 0x8E8E8E, 0xA28638, 0xC66C3A, 0xC84848, 0xB846A2, 0x9246C0, 0x6848C6, 0x4248C8,
                                      0x4272C2, 0x4288B0, 0x429E82, 0x48A048, 0x6E9C42, 0x88923E, 0xA2A22A};
    static const unsigned short DIGIT[10][7] = {
        {0x3C00, 0x6600, 0x6600, 0x6600, 0x6600, 0x6600, 0x3C00}, {0x1800, 0x3800, 0x1800, 0x1800, 0x1800, 0x1800, 0x3C00},
        {0x3C00, 0x4600, 0x0600, 0x3C00, 0x6000, 0x6000, 0x7E00}, {0x3C00, 0x4600, 0x0C00, 0x0C00, 0x0600, 0x4600, 0x3C00},
        {0x0C00, 0x1C00, 0x2C00, 0x4C00, 0x7E00, 0x0C00, 0x0C00}, {0x7E00, 0x6000, 0x6000, 0x7C00, 0x0600, 0x4600, 0x7C00},
        {0x3C00, 0x6200, 0x6000, 0x7C00, 0x6600, 0x6600, 0x3C00}, {0x7E00, 0x4200, 0x0600, 0x0C00, 0x1800, 0x1800, 0x1800},
        {0x3C00, 0x6600, 0x6600, 0x3C00, 0x6600, 0x6600, 0x3C00}, {0x3C00, 0x6600, 0x6600, 0x3E00, 0x0600, 0x4600, 0x3C00}};
    static const unsigned short SIGN[7] = {0x4200, 0x7E00, 0x5A00, 0x1800, 0x5A00, 0x7E00, 0x5A00};  // of a car
    static const unsigned short FLAG[8] = {0x0800, 0x3800, 0x7800, 0x7800, 0x7800, 0x4800, 0x0800, 0x0800};
    static const unsigned char PLACE_X[8] = {64, 72, 80, 88, 56, 80, 88, 96};
    static const unsigned char PLACE_Y[8] = {165, 165, 165, 165, 180, 180, 180, 180};
    static const unsigned RAINBOW[7] = {0xB83232, 0xB47A30, 0xB47A30, 0xD2D240, 0x6E9C42, 0x6E9C42, 0x2D32B8};
    // Made when enduro.pyx is imported, and constant from then on:
    static unsigned char PICTURES[14][84 * 84];                     // all that stands still, in grey
    // Sums of the rows of hills, without them, and of a row of ground:
    static unsigned short SKIES[14][3 * 84], GROUNDS[14][84];
    static unsigned short PANELS[3][13 * 84];                       // of the panel: with the sign of a car; two states of flags
    static unsigned short STAMPS[8][10][5][8], DRUM[80][5][8];      // what digits add: by place and digit; the last, by eighths
    // Units that a shape covers of the cells around, by units into the first:
    static unsigned char COVER[21][40][5][6][16];
    static unsigned char HILL_COVER[160][5][84];                    // units that hills cover, by their column, in parts of rows
    // 1/16 pixels: a bend's shift of the road, a straight road's edges:
    static short OFFSET[22][103], STRAIGHT[2][103];
    static short EDGE_GREY[103], EDGE_LINE[103];                    // of the road, by row: grey, where its cells are in sums
    static unsigned char EDGE_HALF[103];                            // 1 where half of it is in the next row of cells
    static unsigned EDGE_COLOUR[103];
    static unsigned char DOT_CELL[160];                             // of a pixel: its first cell
    static unsigned DOT_UNITS[160];                                 // units that it covers of that, and of the next << 16
    """
    const uint8_t[52] PALETTE
    const uint32_t[14][4] SKY
    const uint32_t[14] GROUND, HILL
    const uint8_t[6][5] HILLS
    const uint32_t[4] EDGES
    const uint8_t[4] EDGE_ROW
    const uint8_t[2][19] EDGE_TOP
    const uint8_t[22] BEND
    const uint16_t[7][2][11] SHAPE
    const uint16_t[7][3] LIGHTS_SHAPE
    const uint16_t[7] SIGN
    const uint8_t[7] LIGHT_ROWS, LIGHT_UP
    const uint32_t[16] CARS
    const uint16_t[10][7] DIGIT
    const uint16_t[8] FLAG
    const uint8_t[8] PLACE_X, PLACE_Y
    const uint32_t[7] RAINBOW
    uint8_t[14][84 * 84] PICTURES
    uint16_t[14][3 * 84] SKIES
    uint16_t[14][84] GROUNDS
    uint16_t[3][13 * 84] PANELS
    uint16_t[8][10][5][8] STAMPS
    uint16_t[80][5][8] DRUM
    uint8_t[21][40][5][6][16] COVER
    uint8_t[160][5][84] HILL_COVER
    int16_t[22][103] OFFSET
    int16_t[2][103] STRAIGHT
    int16_t[103] EDGE_GREY, EDGE_LINE
    uint8_t[103] EDGE_HALF
    uint32_t[103] EDGE_COLOUR
    uint8_t[160] DOT_CELL
    uint32_t[160] DOT_UNITS


ctypedef struct Scene:
    # What a picture is painted on, and what has been painted of the road.
    Canvas* canvas          # in colour, or NULL
    uint16_t* sums          # (SMALL, SMALL) grey * units, where canvas is NULL
    uint32_t ground         # colour
    int16_t[2][ROAD_ROWS] edge  # column of the road's edges


cdef inline void add(uint16_t* sums, int x0, int x1, int y, int grey) noexcept nogil:
    """Add to columns x0 .. x1-1 of a row of the screen."""
    cdef int row = UNIT_Y * y // CELL_Y, part = CELL_Y - (UNIT_Y * y - CELL_Y * row), high = min(part, UNIT_Y)
    cdef int left = UNIT_X * x0 // CELL_X, right = UNIT_X * x1 // CELL_X
    cdef int first = UNIT_X * x0 - CELL_X * left, last = UNIT_X * x1 - CELL_X * right
    cdef uint16_t* line = sums + row * SMALL
    cdef int k
    while True:
        line[left] += <uint16_t>(-first * high * grey)
        for k in range(left, right):
            line[k] += <uint16_t>(CELL_X * high * grey)
        if last:
            line[right] += <uint16_t>(last * high * grey)
        if high == UNIT_Y or row == SMALL - 1 or line != sums + row * SMALL:
            return
        line += SMALL
        high = UNIT_Y - high


cdef inline void put(Scene* scene, int x, int y, int w, int h, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint w x h pixels, which have the colour `under`; columns outside the picture are cut off."""
    cdef int left = max(x, MARGIN), right = min(x + w, WIDTH), row
    if left >= right:
        return
    if scene.canvas != NULL:
        fill_rgb(scene.canvas, left, y, right, y + h, colour)
        return
    for row in range(y, y + h):
        add(scene.sums, left, right, row, grey_of(colour) - grey_of(under))


cdef inline void put_bits(Scene* scene, int x, int y, uint32_t bits, uint32_t under, uint32_t colour) noexcept nogil:
    """Paint a row of a shape, its high bit of 16 at column x."""
    cdef int left = 0, right
    while bits & 0xFFFF:
        while not bits & 0x8000:
            bits, left = bits << 1, left + 1
        right = left
        while bits & 0x8000:
            bits, right = bits << 1, right + 1
        put(scene, x + left, y, right - left, 1, under, colour)
        left = right


cdef inline void to_bytes(const uint16_t* sums, uint8_t* grey, int count) noexcept nogil:
    """Sums to greys: a division by AREA = 8 * 25, rounded to nearest, exact for all that occur."""
    cdef long k
    for k in range(count):
        grey[k] = <uint8_t>(<uint16_t>((<uint32_t>((<uint16_t>(sums[k] + AREA // 2)) >> 3) * 5243) >> 16) >> 1)


cdef inline void put_digit(Scene* scene, int place, int digit, uint32_t under) noexcept nogil:
    cdef int row
    for row in range(7):
        put_bits(scene, PLACE_X[place], PLACE_Y[place] + row, DIGIT[digit][row], under, BLACK)


cdef inline void put_drum(Scene* scene, int eighths) noexcept nogil:
    """The last digit of the way, which rolls on by a row with each eighth."""
    cdef int row, place
    for row in range(9):
        place = row - 1 + eighths
        if place >= 0 and place & 7 < 7:
            put_bits(scene, 96, 164 + row, DIGIT[(place >> 3) % 10][place & 7], BLACK, SAND)


cdef inline void put_stamp(uint16_t* sums, int x, int y, const uint16_t* stamp, int rows) noexcept nogil:
    cdef int row, column
    cdef uint16_t* line = sums + UNIT_Y * y // CELL_Y * SMALL + UNIT_X * x // CELL_X
    for row in range(rows):
        for column in range(STAMP_COLUMNS):
            line[row * SMALL + column] += stamp[row * STAMP_COLUMNS + column]


cdef inline void draw_numbers(const Enduro* game, Scene* scene) noexcept nogil:
    """The way, the day and the cars to pass."""
    cdef int way = (game.odometer >> 8) % 10000, left = game.left, k
    cdef int[PLACES] digits = [0, way // 1000, way // 100 % 10, way // 10 % 10, game.day % 10,
                               left // 100, left // 10 % 10, left % 10]
    cdef int last = 8 * (way % 10) + (game.odometer >> 5 & 7)
    for k in range(PLACES if left > 0 else 5):
        if scene.canvas != NULL or (k == 4 and left == 0):
            put_digit(scene, k, digits[k], SAND if left > 0 or k < 4 else GREEN)
        else:
            put_stamp(scene.sums, PLACE_X[k], PLACE_Y[k], &STAMPS[k][digits[k]][0][0], 3)
    if scene.canvas != NULL:
        put_drum(scene, last)
    else:
        put_stamp(scene.sums, 96, 164, &DRUM[last][0][0], STAMP_ROWS)


cdef inline void put_hills(Scene* scene, int x, uint32_t under, uint32_t colour, int first, int last) noexcept nogil:
    """Rows first .. last-1 of both hills, which come in again at the other side."""
    cdef int row, around
    for row in range(first, last):
        for around in range(2):
            put(scene, x - WIDTH * around + HILLS[row][0], 45 + row, HILLS[row][1], 1, under, colour)
            put(scene, x - WIDTH * around + HILLS[row][2], 45 + row, HILLS[row][3], 1, under, colour)
            if HILLS[row][4]:
                put(scene, x - WIDTH * around + HILLS[row][4], 45 + row, 4, 1, under, colour)


cdef inline void draw_hills(const Enduro* game, Scene* scene, int palette) noexcept nogil:
    cdef int x = (game.hills >> 5) + (game.x >> 6), part, grey
    cdef uint16_t* line
    cdef const uint8_t* cover
    cdef long k
    x = x - WIDTH if x >= WIDTH else x + WIDTH if x < 0 else x
    for part in range(3 if scene.canvas != NULL else 0):
        put_hills(scene, x, SKY[palette][1 + part], HILL[palette], 2 * part, 2 * part + 2)
    for part in range(0 if scene.canvas != NULL else 5):
        line = scene.sums + (HILL_ROW + (part >> 1)) * SMALL
        cover = HILL_COVER[x][part]
        grey = grey_of(HILL[palette]) - grey_of(SKY[palette][1 + ((part + 1) >> 1)])
        for k in range(SMALL):
            line[k] += <uint16_t>(cover[k] * grey)


cdef inline void add_pair(uint16_t* sums, uint32_t units) noexcept nogil:
    """Add to two neighbouring sums at once; none of them leaves its 16 bits (the machine is little-endian)."""
    cdef uint32_t pair
    memcpy(&pair, sums, sizeof(pair))
    pair += units
    memcpy(sums, &pair, sizeof(pair))


cdef inline void draw_edge(Scene* scene, int side, int ground) noexcept nogil:
    """One edge of the road in grey, pixel by pixel; where both meet only the left one is there."""
    cdef int row, x
    cdef uint32_t units
    cdef uint16_t* line
    for row in range(ROAD_ROWS):
        x = scene.edge[side][row]
        if x < MARGIN or x >= WIDTH or (side == 1 and x == scene.edge[0][row]):
            continue
        line = scene.sums + EDGE_LINE[row] + DOT_CELL[x]
        units = <uint32_t>(EDGE_GREY[row] - ground) * DOT_UNITS[x]
        if EDGE_HALF[row]:
            add_pair(line + SMALL, units)
            add_pair(line, units)
        else:
            add_pair(line, units * UNIT_Y)


cdef inline void draw_edges(const Enduro* game, Scene* scene) noexcept nogil:
    """The road, with a narrow place in it that comes nearer as the car drives on."""
    cdef int sign = 1 if game.bend >= 0 else -1, top = TOP[DEPTHS - 1 - (game.road >> 4)] - ROAD_Y, side, row, end, narrow
    cdef const int16_t* offset = OFFSET[sign * game.bend // BEND_STEP]
    cdef int16_t x = game.x >> 6
    cdef long k
    end = min(top + (top >> 2) + 3, ROAD_ROWS)
    for side in range(2):
        for k in range(ROAD_ROWS):
            scene.edge[side][k] = <int16_t>(((STRAIGHT[side][k] + sign * offset[k]) >> 4) + x)
        for row in range(top, end):
            narrow = min((row - top + 2) >> 1, 3 if top > 20 else 1)
            scene.edge[side][row] += -narrow if side else narrow
        if scene.canvas == NULL:
            draw_edge(scene, side, grey_of(scene.ground))
    for row in range(ROAD_ROWS if scene.canvas != NULL else 0):
        put(scene, scene.edge[1][row], ROAD_Y + row, 1, 1, BLACK, EDGE_COLOUR[row])
        put(scene, scene.edge[0][row], ROAD_Y + row, 1, 1, BLACK, EDGE_COLOUR[row])


cdef inline bint tail_lights(int season) noexcept nogil:
    return season == NIGHT or season == FOG


cdef inline int column_of(const Enduro* game, int slot, int depth) noexcept nogil:
    """The left end of a slot's car on the screen."""
    cdef int size = size_of(depth), row = min(TOP[depth] + HIGH[size], ROAD_END) - 1
    cdef int sign = 1 if game.bend >= 0 else -1
    cdef int bend = sign * OFFSET[sign * game.bend // BEND_STEP][row - ROAD_Y] >> 4
    return 88 + (game.x >> 6) + bend + lane_x(game.slot[slot] & 3, row) - WIDE[size] // 2


cdef inline const uint16_t* shape_of(int size, bint dark, int wheels, int* rows, int* cover) noexcept nogil:
    """A car's rows of bits, how many they are, and where they are in COVER; of its tail lights alone where it is dark."""
    rows[0] = LIGHT_ROWS[size] if dark else HIGH[size]
    cover[0] = LIGHT_COVER + size if dark else 2 * size + wheels
    if dark:
        return LIGHTS_SHAPE[size]
    return SHAPE[size][wheels]


cdef inline void draw_car(Scene* scene, int x, int y, const uint16_t* shape, int rows, int cover,
                          uint32_t colour) noexcept nogil:
    """A shape with its corner at (x, y), or what of it is above the road's lower end."""
    cdef int side, row, away, grey = grey_of(colour) - grey_of(scene.ground)
    cdef int cell = UNIT_X * x // CELL_X, top = UNIT_Y * y // CELL_Y
    cdef const uint8_t* units
    cdef uint16_t* line
    cdef long k
    if scene.canvas == NULL and MARGIN <= x <= WIDTH - CAR_WIDTH:
        units = COVER[cover][UNIT_X * x - CELL_X * cell][UNIT_Y * y - CELL_Y * top][0]
        for row in range((UNIT_Y * rows + UNIT_Y * y - CELL_Y * top + CELL_Y - 1) // CELL_Y):
            line = scene.sums + (top + row) * SMALL + cell
            for k in range(COVER_COLUMNS):
                line[k] += <uint16_t>(units[row * COVER_COLUMNS + k] * grey)
    else:
        for row in range(min(rows, ROAD_END - y)):
            put_bits(scene, x, y + row, shape[row], scene.ground, colour)
    rows = min(rows, ROAD_END - y)
    row = y - ROAD_Y
    if scene.canvas == NULL and not (max(scene.edge[0][row], scene.edge[0][row + rows - 1]) < x - CLEAR and
                                     min(scene.edge[1][row], scene.edge[1][row + rows - 1]) > x + CAR_WIDTH + CLEAR):
        for row in range(rows):
            for side in range(2):
                away = scene.edge[side][y - ROAD_Y + row] - x
                if 0 <= away < CAR_WIDTH and shape[row] & 0x8000 >> away:
                    put(scene, x + away, y + row, 1, 1, EDGE_COLOUR[y - ROAD_Y + row], scene.ground)


cdef inline void draw_traffic(const Enduro* game, Scene* scene) noexcept nogil:
    """All cars, the own one over the others: grey sums lose what it hides of the nearest two."""
    cdef int season = season_of(game), left = car_left(game), top = car_top(game)
    cdef int slot, depth, size, x, y, row, rows, cover, away, wheels = game.road >> 3 & 1
    cdef bint dark = tail_lights(season)
    cdef const uint16_t* shape
    cdef uint32_t colour, bits
    for slot in range(SLOTS - 1, -1, -1):
        depth = 16 * slot + (game.phase >> 4)
        if game.slot[slot] == 0 or (season == FOG and depth >= FOG_DEPTH):
            continue
        size = size_of(depth)
        colour = LIGHTS if dark else CARS[game.slot[slot] >> 2]
        shape = shape_of(size, dark, game.phase >> 4 & 1, &rows, &cover)
        x, y = column_of(game, slot, depth), TOP[depth] - (LIGHT_UP[size] if dark else 0)
        draw_car(scene, x, y, shape, rows, cover, colour)
        away = x - left
        if scene.canvas == NULL and slot < 2 and -CAR_WIDTH < away < CAR_WIDTH:
            for row in range(max(y, top), min(y + rows, top + CAR_ROWS)):
                bits = shape[row - y] >> away if away >= 0 else shape[row - y] << -away
                put_bits(scene, left, row, bits & SHAPE[0][wheels][row - top], colour, scene.ground)
    draw_car(scene, left, top, SHAPE[0][wheels], CAR_ROWS, wheels, OWN)

"""How the pictures of Enduro are painted, in colour and in grey.

A grey picture is a sum: the ground first, then for every figure its grey minus the ground's. So a figure costs one addition
for each cell that it covers. Where one figure hides another, the hidden part is subtracted again.
"""

from libc.stdint cimport int16_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from envs_c.games.enduro.rules cimport (
    BEND_STEP, CAR_ROWS, CAR_WIDTH, DEPTHS, FOG, FOG_DEPTH, HIGH, NIGHT, SLOTS, TOP, WIDE, Enduro, car_left, car_top, lane_x,
    season_of, size_of)
from envs_c.games.enduro.tables cimport (
    BLACK, CARS, CLEAR, COVER, COVER_COLUMNS, COVER_ROWS, DIGIT, DOT, DOTS, DOT_WIDE, DRUM, DRUM_X, DRUM_Y, EDGE_ABOVE,
    EDGE_COLOUR, EDGE_GREY, EDGE_LINE, EDGE_PAIRS, GREEN, HILL, HILLS, HILL_COVER, HILL_ROW, LIGHTS, LIGHTS_SHAPE, LIGHT_COVER,
    LIGHT_ROWS, LIGHT_UP, MARGIN, OFFSET, OWN, PLACES, PLACE_X, PLACE_Y, ROAD_END, ROAD_ROWS, ROAD_Y, SAND, SHAPE, SKY, STAMPS,
    STAMP_ROWS, STRAIGHT)
from envs_c.screen cimport SMALL, grey_of
from envs_c.stamp cimport CELL_X, CELL_Y, STAMP, UNIT_X, WIDTH, Sheet, add_cover, add_stamp, cell_at, put, put_row


ctypedef struct Scene:
    # The sheet to paint on, and the road on it.
    Sheet sheet
    uint32_t ground             # colour of the ground
    int16_t[2][ROAD_ROWS] edge  # columns of the road's left and right edge


cdef inline void put_digit(Sheet* sheet, int place, int digit, uint32_t under) noexcept nogil:
    cdef int row
    for row in range(7):
        put_row(sheet, PLACE_X[place], PLACE_Y[place] + row, DIGIT[digit][row], under, BLACK)


cdef inline void put_drum(Sheet* sheet, int eighths) noexcept nogil:
    """Paint the last digit of the distance, which rolls on by one row with each eighth."""
    cdef int row, place
    for row in range(9):
        place = row - 1 + eighths
        if place >= 0 and place & 7 < 7:
            put_row(sheet, DRUM_X, DRUM_Y + row, DIGIT[(place >> 3) % 10][place & 7], BLACK, SAND)


cdef inline void draw_numbers(const Enduro* game, Sheet* sheet) noexcept nogil:
    """Paint the distance, the day and the cars to pass."""
    cdef int way = (game.odometer >> 8) % 10000, left = game.left, k
    cdef int[PLACES] digits = [0, way // 1000, way // 100 % 10, way // 10 % 10, game.day % 10,
                               left // 100, left // 10 % 10, left % 10]
    cdef int last = 8 * (way % 10) + (game.odometer >> 5 & 7)
    for k in range(PLACES if left > 0 else 5):
        if sheet.canvas != NULL or (k == 4 and left == 0):
            put_digit(sheet, k, digits[k], SAND if left > 0 or k < 4 else GREEN)
        else:
            add_stamp(sheet.sums + cell_at(PLACE_X[k], PLACE_Y[k]), &STAMPS[k][digits[k]][0][0], 3)
    if sheet.canvas != NULL:
        put_drum(sheet, last)
    else:
        add_stamp(sheet.sums + cell_at(DRUM_X, DRUM_Y), &DRUM[last][0][0], STAMP_ROWS)


cdef inline void put_hills(Sheet* sheet, int x, uint32_t under, uint32_t colour, int first, int last) noexcept nogil:
    """Paint rows first .. last - 1 of both hills, which come in again at the other side of the screen."""
    cdef int row, around
    for row in range(first, last):
        for around in range(2):
            put(sheet, x - WIDTH * around + HILLS[row][0], 45 + row, HILLS[row][1], 1, under, colour)
            put(sheet, x - WIDTH * around + HILLS[row][2], 45 + row, HILLS[row][3], 1, under, colour)
            if HILLS[row][4]:
                put(sheet, x - WIDTH * around + HILLS[row][4], 45 + row, 4, 1, under, colour)


cdef inline void draw_hills(const Enduro* game, Sheet* sheet, int palette) noexcept nogil:
    cdef int x = (game.hills >> 5) + (game.x >> 6), part, grey
    cdef uint16_t* line
    cdef const uint8_t* cover
    cdef long k
    x = x - WIDTH if x >= WIDTH else x + WIDTH if x < 0 else x
    for part in range(3 if sheet.canvas != NULL else 0):
        put_hills(sheet, x, SKY[palette][1 + part], HILL[palette], 2 * part, 2 * part + 2)
    for part in range(0 if sheet.canvas != NULL else 5):
        line = sheet.sums + (HILL_ROW + (part >> 1)) * SMALL
        cover = HILL_COVER[x][part]
        grey = grey_of(HILL[palette]) - grey_of(SKY[palette][1 + ((part + 1) >> 1)])
        for k in range(SMALL):
            line[k] += <uint16_t>(cover[k] * grey)


cdef inline void draw_edge(Scene* scene, int side, int ground) noexcept nogil:
    """Add one edge of the road to the grey sums, five rows of pixels (two of cells) at a time.

    In rows where both edges meet only the left one is painted.
    """
    cdef uint16_t[5 * EDGE_PAIRS] cell, grey
    cdef int16_t[5 * EDGE_PAIRS] place  # index in DOT of cell 0
    cdef uint16_t[STAMP] upper, lower
    cdef uint16_t* line
    cdef const uint16_t* dot
    cdef int pair, first, left, right, _part
    cdef uint16_t middle
    cdef int16_t x
    cdef long k
    for k in range(ROAD_ROWS):
        x = scene.edge[side][k]
        grey[EDGE_ABOVE + k] = <uint16_t>(EDGE_GREY[k] - ground)
        if x < MARGIN or x >= WIDTH or (side == 1 and x == scene.edge[0][k]):
            grey[EDGE_ABOVE + k] = 0
        x = <int16_t>(MARGIN if x < MARGIN else WIDTH - 1 if x >= WIDTH else x)
        cell[EDGE_ABOVE + k] = <uint16_t>(UNIT_X * x) // CELL_X
        place[EDGE_ABOVE + k] = <int16_t>(DOTS * (UNIT_X * x - CELL_X * cell[EDGE_ABOVE + k]) + DOT_WIDE - cell[EDGE_ABOVE + k])
    for k in range(EDGE_ABOVE):
        cell[k], place[k], grey[k] = cell[EDGE_ABOVE], place[EDGE_ABOVE], 0
    for pair in range(EDGE_PAIRS):
        first = 5 * pair
        left = min(cell[first], cell[first + 1], cell[first + 2], cell[first + 3], cell[first + 4])
        right = max(cell[first], cell[first + 1], cell[first + 2], cell[first + 3], cell[first + 4])
        line = scene.sheet.sums + (EDGE_LINE + 2 * pair) * SMALL + left
        dot = &DOT[0][0] + left
        for _part in range(1 if right - left < STAMP - 1 else DOT_WIDE // STAMP):
            memcpy(upper, line, sizeof(upper))
            memcpy(lower, line + SMALL, sizeof(lower))
            for k in range(STAMP):
                middle = dot[place[first + 2] + k] * grey[first + 2]
                upper[k] += middle + 2 * (
                    dot[place[first] + k] * grey[first] + dot[place[first + 1] + k] * grey[first + 1])
                lower[k] += middle + 2 * (
                    dot[place[first + 3] + k] * grey[first + 3] + dot[place[first + 4] + k] * grey[first + 4])
            memcpy(line, upper, sizeof(upper))
            memcpy(line + SMALL, lower, sizeof(lower))
            line, dot = line + STAMP, dot + STAMP


cdef inline void draw_edges(const Enduro* game, Scene* scene) noexcept nogil:
    """Paint the road, with a narrow place that comes nearer as the car drives on."""
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
    if scene.sheet.canvas == NULL:
        draw_edge(scene, 0, grey_of(scene.ground))
        draw_edge(scene, 1, grey_of(scene.ground))
        return
    for row in range(ROAD_ROWS):
        put(&scene.sheet, scene.edge[1][row], ROAD_Y + row, 1, 1, BLACK, EDGE_COLOUR[row])
        put(&scene.sheet, scene.edge[0][row], ROAD_Y + row, 1, 1, BLACK, EDGE_COLOUR[row])


cdef inline bint tail_lights(int season) noexcept nogil:
    return season == NIGHT or season == FOG


cdef inline int column_of(const Enduro* game, int slot, int depth) noexcept nogil:
    """Column of the left end of a slot's car."""
    cdef int size = size_of(depth), row = min(TOP[depth] + HIGH[size], ROAD_END) - 1
    cdef int sign = 1 if game.bend >= 0 else -1
    cdef int bend = sign * OFFSET[sign * game.bend // BEND_STEP][row - ROAD_Y] >> 4
    return 88 + (game.x >> 6) + bend + lane_x(game.slot[slot] & 3, row) - WIDE[size] // 2


cdef inline const uint16_t* shape_of(int size, bint dark, int wheels, int* rows, int* cover) noexcept nogil:
    """The rows of bits of a car, or of its tail lights only.

    size: number of the shape, 0 the biggest.
    dark: tail lights only.
    wheels: state of the wheels, 0 or 1.
    rows: OUT, number of rows.
    cover: OUT, index in COVER.
    """
    rows[0] = LIGHT_ROWS[size] if dark else HIGH[size]
    cover[0] = LIGHT_COVER + size if dark else 2 * size + wheels
    if dark:
        return LIGHTS_SHAPE[size]
    return SHAPE[size][wheels]


cdef inline void hide_edges(Scene* scene, int x, int y, const uint16_t* shape, int rows) noexcept nogil:
    """Subtract the pixels of the road's edges that a shape hides."""
    cdef const int16_t* left = scene.edge[0] + (y - ROAD_Y)
    cdef const int16_t* right = scene.edge[1] + (y - ROAD_Y)
    cdef int row, side, away
    if max(left[0], left[rows - 1]) < x - CLEAR and min(right[0], right[rows - 1]) > x + CAR_WIDTH + CLEAR:
        return
    for row in range(rows):
        for side in range(2):
            away = (right[row] if side else left[row]) - x
            if 0 <= away < CAR_WIDTH and shape[row] & 0x8000 >> away:
                put(&scene.sheet, x + away, y + row, 1, 1, EDGE_COLOUR[y - ROAD_Y + row], scene.ground)


cdef inline void draw_car(Scene* scene, int x, int y, const uint16_t* shape, int rows, int cover,
                          uint32_t colour) noexcept nogil:
    """Paint a shape with its corner at (x, y), cut off at the road's lower end."""
    cdef int row
    if scene.sheet.canvas == NULL and MARGIN <= x <= WIDTH - CAR_WIDTH:
        add_cover(scene.sheet.sums + cell_at(x, y), COVER[cover][x % CELL_X][y % CELL_Y][0], COVER_ROWS, COVER_COLUMNS,
                  grey_of(colour) - grey_of(scene.ground))
    else:
        for row in range(min(rows, ROAD_END - y)):
            put_row(&scene.sheet, x, y + row, shape[row], scene.ground, colour)
    if scene.sheet.canvas == NULL:
        hide_edges(scene, x, y, shape, min(rows, ROAD_END - y))


cdef inline void draw_traffic(const Enduro* game, Scene* scene) noexcept nogil:
    """Paint all cars, the own one over the others. From grey sums the hidden parts of the nearest two are subtracted."""
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
        if scene.sheet.canvas == NULL and slot < 2 and -CAR_WIDTH < away < CAR_WIDTH:
            for row in range(max(y, top), min(y + rows, top + CAR_ROWS)):
                bits = shape[row - y] >> away if away >= 0 else shape[row - y] << -away
                put_row(&scene.sheet, left, row, <uint16_t>bits & SHAPE[0][wheels][row - top], colour, scene.ground)
    draw_car(scene, left, top, SHAPE[0][wheels], CAR_ROWS, wheels, OWN)

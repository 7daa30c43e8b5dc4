"""How the pictures of Enduro are painted, in colour and in grey; panel.pxd has the panel.

A grey picture is a sum: the ground first, then for every figure its grey minus the ground's. So a figure costs one addition
for each cell that it covers. Where one figure hides another, the hidden part is subtracted again.
"""

from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from envs_c.games.enduro.contact cimport car_shape, own_shape, own_wheels
from envs_c.games.enduro.road cimport (
    CAR_ROWS, ROAD_END, ROAD_ROWS, ROAD_SPACE, ROAD_Y, TOP, car_column, own_column, own_top, place_edges)
from envs_c.games.enduro.state cimport FOG, HILLS, SLOTS, Race, clock_of, lit_slots, season_of
from envs_c.games.enduro.tables cimport (
    BLACK, CARS, CAR_WIDTH, CLEAR, COVER, COVER_COLUMNS, COVER_ROWS, DOT, DOTS, DOT_WIDE, EDGES, EDGE_ABOVE, EDGE_LINE,
    EDGE_PAIRS, GROUND, HILL, HILLS_AT, HILLS_SHAPE, HILL_COVER, HILL_ROW, LIGHT_COVER, MARGIN, OWN, PALETTES, RED, SKY)
from envs_c.screen cimport SMALL, grey_of
from envs_c.stamp cimport CELL_X, CELL_Y, STAMP, UNIT_X, WIDTH, Sheet, add_cover, cell_at, put, put_row


cdef enum:
    FIRST_SEEN = 61             # first column in which the road's first row shows an edge
    EARLY = 151                 # column from which on the right edge has its last colour one row earlier
    FAR_LEFT = 26, FAR_RIGHT = 145  # least and greatest column of the farthest car; one slot nearer the least is FAR_LEFT - 1
    HALF_LIT = 5                # slot whose tail lights have a single row just before they come into the next slot

cdef extern from *:
    """
    static unsigned short MORE[15][16][103];  // Scene.more by palette and part, filled when enduro.pyx is imported
    """
    uint16_t[PALETTES][16][ROAD_ROWS] MORE


ctypedef struct Scene:
    # The sheet to paint on, and the road on it.
    Sheet sheet
    uint32_t ground             # colour of the ground
    int16_t[2][ROAD_SPACE] edge  # columns of the road's left and right edge
    const uint16_t* more         # the grey of these minus the ground's, of (ROAD_ROWS,)
    int part                     # of the traffic's way into its slots, 0 .. 15


cdef inline void put_background(Sheet* sheet, int palette) noexcept nogil:
    """Paint sky, ground and the panel's frame. All grey sums must be 0 before the call."""
    cdef int k
    put(sheet, MARGIN, 0, WIDTH, 45, BLACK, SKY[palette][0])
    for k in range(1, 4):
        put(sheet, MARGIN, 43 + 2 * k, WIDTH, 2, BLACK, SKY[palette][k])
    put(sheet, MARGIN, 51, WIDTH, ROAD_END - 51, BLACK, GROUND[palette])
    put(sheet, 48, 161, 64, 30, BLACK, RED)


cdef inline void put_hills(Sheet* sheet, int x, uint32_t under, uint32_t colour, int first, int last) noexcept nogil:
    """Paint rows first .. last - 1 of both hills, which come in again at the other side of the screen."""
    cdef int row, around
    for row in range(first, last):
        for around in range(2):
            put(sheet, x - WIDTH * around + HILLS_SHAPE[row][0], 45 + row, HILLS_SHAPE[row][1], 1, under, colour)
            put(sheet, x - WIDTH * around + HILLS_SHAPE[row][2], 45 + row, HILLS_SHAPE[row][3], 1, under, colour)
            if HILLS_SHAPE[row][4]:
                put(sheet, x - WIDTH * around + HILLS_SHAPE[row][4], 45 + row, 4, 1, under, colour)


cdef inline void draw_hills(const Race* race, Sheet* sheet, int palette) noexcept nogil:
    cdef int x = (race.hills + HILLS_AT) % HILLS, part, grey
    cdef uint16_t* line
    cdef const uint8_t* cover
    cdef long k
    for part in range(3 if sheet.canvas != NULL else 0):
        put_hills(sheet, x, SKY[palette][1 + part], HILL[palette], 2 * part, 2 * part + 2)
    for part in range(0 if sheet.canvas != NULL else 5):
        line = sheet.sums + (HILL_ROW + (part >> 1)) * SMALL
        cover = HILL_COVER[x][part]
        grey = grey_of(HILL[palette]) - grey_of(SKY[palette][1 + ((part + 1) >> 1)])
        for k in range(SMALL):
            line[k] += <uint16_t>(cover[k] * grey)


cdef inline void draw_edge(Scene* scene, int side) noexcept nogil:
    """Add one edge of the road to the grey sums, five rows of pixels (two of cells) at a time.

    In rows where both edges meet only the left one is painted.
    """
    cdef uint16_t[5 * EDGE_PAIRS] cell, grey
    cdef int16_t[5 * EDGE_PAIRS] place  # index in DOT of cell 0
    cdef uint16_t[STAMP] upper, lower
    cdef uint16_t* line
    cdef const uint16_t* dot
    cdef const int16_t* edge = scene.edge[side]
    cdef const int16_t* first_edge = scene.edge[0]
    cdef int pair, first, left, right, _part
    cdef uint16_t middle
    cdef int16_t x, seen
    cdef long k
    for k in range(ROAD_ROWS):  # without jumps, so that compilers use vectors
        x = edge[k]
        seen = (x >= MARGIN) & (x < WIDTH) & ((x != first_edge[k]) | (side == 0))
        grey[EDGE_ABOVE + k] = scene.more[k] & <uint16_t>-seen
        x = min(max(x, <int16_t>MARGIN), <int16_t>(WIDTH - 1))
        cell[EDGE_ABOVE + k] = <uint16_t>(UNIT_X * x) // CELL_X
        place[EDGE_ABOVE + k] = <int16_t>(DOTS * (UNIT_X * x - CELL_X * cell[EDGE_ABOVE + k]) + DOT_WIDE - cell[EDGE_ABOVE + k])
    if edge[0] < FIRST_SEEN:
        grey[EDGE_ABOVE] = 0
    k = last_colour(scene.part)
    if side == 1 and EARLY <= edge[k - 1] < WIDTH:
        grey[EDGE_ABOVE + k - 1] = scene.more[k]
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


cdef inline uint32_t edge_colour(int row, int part) noexcept nogil:
    """The colour of the road's edges in a row of the road. It changes at the tops of three slots, by the traffic's way."""
    cdef int first = 3 if part else 4, zone = 0
    while zone < 3 and row >= TOP[16 * (first - zone) + part] - ROAD_Y:
        zone += 1
    return EDGES[4 if zone == 2 and 1 <= part <= 8 else zone]


cdef inline int last_colour(int part) noexcept nogil:
    """The first row of the road with the last colour of its edges."""
    return TOP[16 * (1 if part else 2) + part] - ROAD_Y


cdef inline uint32_t edge_colour_at(const Scene* scene, int side, int row) noexcept nogil:
    """The colour of one edge of the road. The right one has the last colour one row earlier from column EARLY on."""
    cdef bint early = side == 1 and row + 1 == last_colour(scene.part) and scene.edge[1][row] >= EARLY
    return edge_colour(row + early, scene.part)


cdef inline void make_more() noexcept nogil:
    """Fill MORE."""
    cdef int palette, part, row
    for palette in range(PALETTES):
        for part in range(16):
            for row in range(ROAD_ROWS):
                MORE[palette][part][row] = <uint16_t>(grey_of(edge_colour(row, part)) - grey_of(GROUND[palette]))


cdef inline void draw_edges(const Race* race, const int8_t* groups, Scene* scene) noexcept nogil:
    """Paint the road's edges. The console shows them from column FIRST_SEEN of the road's first row on."""
    cdef int row, side
    place_edges(race, groups, scene.edge[0], scene.edge[1])
    if scene.sheet.canvas == NULL:
        draw_edge(scene, 0)
        draw_edge(scene, 1)
        return
    for row in range(ROAD_ROWS):
        for side in range(1, -1, -1):
            if row > 0 or scene.edge[side][row] >= FIRST_SEEN:
                put(&scene.sheet, scene.edge[side][row], ROAD_Y + row, 1, 1, BLACK, edge_colour_at(scene, side, row))


cdef inline void cover_edges(Scene* scene, int x, int y, const uint16_t* shape, int rows, uint32_t colour,
                             bint far) noexcept nogil:
    """Where a car and an edge of the road overlap, the car hides the edge. But the left edge hides a far car."""
    cdef const int16_t* left = scene.edge[0] + (y - ROAD_Y)
    cdef const int16_t* right = scene.edge[1] + (y - ROAD_Y)
    cdef int row, side, away
    cdef uint32_t edge
    if max(left[0], left[rows - 1]) < x - CLEAR and min(right[0], right[rows - 1]) > x + CAR_WIDTH + CLEAR:
        return
    for row in range(rows):
        for side in range(2):
            away = (right[row] if side else left[row]) - x
            if 0 <= away < CAR_WIDTH and shape[row] & 0x8000 >> away:
                edge = edge_colour_at(scene, side, y - ROAD_Y + row)
                if far and side == 0:
                    put(&scene.sheet, x + away, y + row, 1, 1, colour, edge if scene.sheet.canvas != NULL else scene.ground)
                elif scene.sheet.canvas == NULL:
                    put(&scene.sheet, x + away, y + row, 1, 1, edge, scene.ground)


cdef inline void draw_car(Scene* scene, int x, int y, const uint16_t* shape, int rows, int cover, uint32_t colour,
                          bint far) noexcept nogil:
    """Paint a shape with its corner at (x, y), cut off at the road's lower end. cover: its index in COVER; -1 for a part."""
    cdef int row
    if cover >= 0 and scene.sheet.canvas == NULL and MARGIN <= x <= WIDTH - CAR_WIDTH:
        add_cover(scene.sheet.sums + cell_at(x, y), COVER[cover][x % CELL_X][y % CELL_Y][0], COVER_ROWS, COVER_COLUMNS,
                  grey_of(colour) - grey_of(scene.ground))
    else:
        for row in range(min(rows, ROAD_END - y)):
            put_row(&scene.sheet, x, y + row, shape[row], scene.ground, colour)
    if scene.sheet.canvas == NULL or far:
        cover_edges(scene, x, y, shape, min(rows, ROAD_END - y), colour, far)


cdef inline void draw_traffic(const Race* race, const int8_t* groups, bint bent, Scene* scene) noexcept nogil:
    """Paint all cars, the own one over the others. From grey sums the hidden parts of the nearest two are subtracted."""
    cdef int left = own_column(race), top = own_top(race), lit = lit_slots(race), slot, x, y, row, rows, down, away, cover
    cdef const uint16_t* shape
    cdef const uint16_t* own = own_shape(race)
    cdef uint32_t colour, bits
    for slot in range(SLOTS - 1, -1, -1):
        if race.slot[slot] == 0 or (season_of(race) == FOG and slot >= lit):
            continue
        colour = CARS[(4 | race.slot[slot] >> 4 & 1) if slot < lit else race.slot[slot] >> 4]
        shape = car_shape(race, slot, slot < lit, &rows, &down)
        x, y = car_column(race, slot, groups, bent), TOP[16 * slot + (race.phase >> 4)] + down
        if slot >= SLOTS - 2:
            x = max(x, FAR_LEFT - 1) if slot == SLOTS - 2 else min(max(x, FAR_LEFT), FAR_RIGHT)
        if y >= ROAD_END:
            continue
        cover = LIGHT_COVER + slot if slot < lit else 2 * slot + (clock_of(race) >> 1 & 1)
        if slot == HALF_LIT and slot < lit and scene.part == 15:
            cover, rows = -1, 1
        draw_car(scene, x, y, shape, rows, cover, colour, slot >= SLOTS - 2)
        away = x - left
        if scene.sheet.canvas == NULL and slot < 2 and -CAR_WIDTH < away < CAR_WIDTH:
            for row in range(max(y, top), min(y + rows, top + CAR_ROWS)):
                bits = shape[row - y] >> away if away >= 0 else shape[row - y] << -away
                put_row(&scene.sheet, left, row, <uint16_t>bits & own[row - top], colour, scene.ground)
    draw_car(scene, left, top, own, CAR_ROWS, own_wheels(race), OWN, False)

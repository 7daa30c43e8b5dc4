"""Whether the own car of Enduro touches something: whether their pixels on the screen overlap, as on the cartridge."""

from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from envs_c.games.enduro.road cimport (
    CAR_ROWS, CAR_TOP, CLIMB, CODE, GROUPS, HIGH, KNOWN, KNOWN_SPACE, MARKS, MIDDLE, ROAD_END, ROAD_SPACE, ROAD_Y, TOP,
    car_column, curve, find_edges, known_edges, own_column, own_top)
from envs_c.games.enduro.state cimport WIDEST, Race, clock_of, lit_slots
from envs_c.games.enduro.tables cimport LIGHTS_SHAPE, LIGHT_DOWN, LIGHT_ROWS, SHAPE


cdef enum:
    NEAR = 24          # columns between two cars from which on they cannot touch, however the road bends
    CLIMBED = CAR_TOP - CLIMB                   # first row in which the own car can be
    LOW_ROW = CLIMBED - ROAD_Y                  # that row of the road
    SPARE = 1          # columns by which an edge may be off from the farthest one of both bends while one comes up
    NOWHERE = 500      # columns from the middle to a car that is not there, or that the own car cannot touch
    LEVELS = 16        # of speed / 8

cdef extern from *:
    """
    // Filled when enduro.pyx is imported. Columns are from the road's middle. FREE: those between the edges in which the own
    // car touches neither, the first one and their number, by both bends, as in `bend`, the narrow place, and speed / 8. AWAY:
    // that of a car in the nearest two slots of a straight road, by the low bits of `slot` and its depth. PLACE: that of the
    // own car, by the road's x + 48.
    static signed char FREE[16][8][16][2];
    static short AWAY[32][32];
    static signed char PLACE[97];
    """
    int8_t[16][8][LEVELS][2] FREE
    int16_t[32][32] AWAY
    int8_t[2 * WIDEST + 1] PLACE
    int ctz "__builtin_ctz"(unsigned int) noexcept nogil
    int clz "__builtin_clz"(unsigned int) noexcept nogil


cdef inline int own_wheels(const Race* race) noexcept nogil:
    """State of the own car's wheels, 0 or 1. They turn by its way, or in each frame if that would be too fast."""
    return (race.travelled >> 5 if race.speed < 32 else clock_of(race)) & 1


cdef inline const uint16_t* own_shape(const Race* race) noexcept nogil:
    """The rows of bits of the own car, the high bit at the left."""
    return SHAPE[0][own_wheels(race)]


cdef inline const uint16_t* car_shape(const Race* race, int slot, bint lit, int* rows, int* down) noexcept nogil:
    """The rows of bits of a slot's car, or of its tail lights, their number, and by how much they begin below TOP."""
    rows[0] = LIGHT_ROWS[slot] if lit else HIGH[slot]
    down[0] = LIGHT_DOWN[slot] if lit else 0
    if lit:
        return LIGHTS_SHAPE[slot]
    return SHAPE[slot][clock_of(race) >> 1 & 1]


cdef inline int own_place(const Race* race) noexcept nogil:
    """Columns from the road's middle to the own car's left end."""
    return PLACE[WIDEST + race.x]


cdef inline bint is_clear(const Race* race) noexcept nogil:
    """True if tables tell that the own car touches nothing: nearly always, so that all else needs no speed."""
    cdef int place = own_place(race), depth = race.phase >> 4
    cdef const int8_t* free = FREE[race.bend >> 4][race.marks & 7][race.speed >> 3]
    cdef uint32_t edge = <uint32_t>(place - free[0])
    cdef uint32_t first = <uint32_t>(AWAY[race.slot[0] & 31][depth] - place + NEAR - 1)
    cdef uint32_t second = <uint32_t>(AWAY[race.slot[1] & 31][16 + depth] - place + NEAR - 1)
    return (edge < <uint32_t>free[1]) & (first >= 2 * NEAR - 1) & (second >= 2 * NEAR - 1)


cdef inline bint is_near(const Race* race, int slot, int top, int own) noexcept nogil:
    """False if the car of a slot, 0 or 1, cannot be at the own one, which has its corner in this row and column."""
    cdef int y = TOP[16 * slot + (race.phase >> 4)], away = car_column(race, slot, NULL, False) - own
    return (race.slot[slot] != 0) & (y + HIGH[slot] > top) & (y < top + CAR_ROWS) & (away < NEAR) & (away > -NEAR)


cdef inline bint hits_car(const Race* race) noexcept nogil:
    """Whether a pixel of the own car covers one of a car in the nearest two slots."""
    cdef int8_t[GROUPS] groups
    cdef const uint16_t* own
    cdef const uint16_t* other
    cdef int top = own_top(race), x = own_column(race), slot, rows, down, away, row, y
    cdef bint bent
    if not is_near(race, 0, top, x) | is_near(race, 1, top, x):
        return False
    own, bent = own_shape(race), curve(race, groups)
    for slot in range(2):
        if is_near(race, slot, top, x):
            other = car_shape(race, slot, slot < lit_slots(race), &rows, &down)
            y = TOP[16 * slot + (race.phase >> 4)] + down
            away = car_column(race, slot, groups, bent) - x
            if -16 < away < 16:
                for row in range(max(y, top), min(y + rows, top + CAR_ROWS, ROAD_END)):
                    if own[row - top] & <uint16_t>(other[row - y] >> away if away >= 0 else other[row - y] << -away):
                        return True
    return False


cdef inline bint covers_edge(const uint16_t* own, int x, const int8_t* edge) noexcept nogil:
    """Whether a pixel of the own car, x columns from MIDDLE, covers one of an edge, by columns of its rows from MIDDLE."""
    cdef int row, covered = 0
    cdef uint32_t away
    for row in range(CAR_ROWS):
        away = <uint32_t>(edge[row] - x)
        covered |= (<int>own[row] << (away & 15)) & (0x8000 if away < 16 else 0)
    return covered != 0


cdef inline bint hits_coming(const Race* race, bint right) noexcept nogil:
    """As hits_edge, for one edge while a bend comes up."""
    cdef int8_t[GROUPS] groups
    cdef int16_t[2][ROAD_SPACE] edges
    cdef int8_t[CAR_ROWS] edge
    cdef int row, top = own_top(race) - ROAD_Y, middle = MIDDLE + race.x
    curve(race, groups)
    find_edges(race, groups, edges[0], edges[1], LOW_ROW)
    for row in range(CAR_ROWS):
        edge[row] = <int8_t>(edges[right][top + row] - middle)
    return covers_edge(own_shape(race), own_place(race), edge)


cdef inline bint hits_edge(const Race* race) noexcept nogil:
    """Whether a pixel of the own car covers one of the road's edges."""
    cdef const int8_t* free = FREE[race.bend >> 4][race.marks & 7][race.speed >> 3]
    cdef int place = own_place(race)
    cdef bint right = place >= free[0]
    if right and place < free[0] + free[1]:
        return False
    if race.bend & 15:
        return hits_coming(race, right)
    return covers_edge(own_shape(race), place, known_edges(race) + KNOWN_SPACE * right + own_top(race) - ROAD_Y)


cdef inline void make_free(int old, int new) noexcept nogil:
    """Fill FREE for two bends, -1, 0 or 1 each."""
    cdef int bend, mark, place, level, row, top, left, right, spare = SPARE if old != new else 0
    cdef int8_t* free
    cdef const int8_t* edges
    cdef uint32_t bits
    for mark in range(MARKS + 1):
        for level in range(LEVELS):
            top, left, right = CLIMB - min(level, CLIMB), -128, 127
            for bend in range(min(old, new), max(old, new) + 1):
                for place in range(256):
                    edges = KNOWN[bend + 1][min(mark, MARKS - 1)][place >> 4][place & 15][0] + LOW_ROW + top
                    for row in range(CAR_ROWS):
                        bits = SHAPE[0][0][row] | SHAPE[0][1][row]
                        left = max(left, edges[row] + spare - (clz(bits) - 16))
                        right = min(right, edges[KNOWN_SPACE + row] - spare - (15 - ctz(bits)))
            free = FREE[CODE[old + 1] << 2 | CODE[new + 1]][mark][level]
            free[0], free[1] = <int8_t>(left + 1), <int8_t>max(right - left - 1, 0)


cdef inline void make_away() noexcept nogil:
    cdef int slot, depth, look
    cdef Race race
    memset(&race, 0, sizeof(race))
    for depth in range(32):
        for look in range(32):
            race.phase, slot = <uint8_t>(depth << 4), depth >> 4
            race.slot[slot] = <uint8_t>look
            AWAY[look][depth] = NOWHERE
            if look and TOP[depth] < CAR_TOP + CAR_ROWS and TOP[depth] + HIGH[slot] > CLIMBED:
                AWAY[look][depth] = <int16_t>(car_column(&race, slot, NULL, False) - MIDDLE)


cdef inline void make_contact() noexcept nogil:
    """Fill the tables. KNOWN must be filled before."""
    cdef int bend, new, x
    cdef Race race
    memset(&race, 0, sizeof(race))
    for x in range(-WIDEST, WIDEST + 1):
        race.x = <int8_t>x
        PLACE[WIDEST + x] = <int8_t>(own_column(&race) - x - MIDDLE)
    for bend in range(-1, 2):
        for new in range(-1, 2):
            make_free(bend, new)
    make_away()

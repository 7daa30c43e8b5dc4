"""Whether the own car of Enduro touches something: whether their pixels on the screen overlap, as on the cartridge."""

from libc.stdint cimport int8_t, int16_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memset

from envs_c.games.enduro.road cimport (
    CAR_ROWS, CAR_TOP, CLIMB, GROUPS, HIGH, MIDDLE, ROAD_END, ROAD_SPACE, ROAD_Y, TOP, car_column, curve,
    find_edges, own_column, own_top, side_of)
from envs_c.games.enduro.state cimport SLOTS, Race, clock_of, lit_slots
from envs_c.games.enduro.tables cimport LIGHTS_SHAPE, LIGHT_DOWN, LIGHT_ROWS, SHAPE


cdef enum:
    NEAR = 24          # columns between two cars from which on they cannot touch, however the road bends
    CLIMBED = CAR_TOP - CLIMB                   # first row in which the own car can be
    LOW_ROWS = ROAD_END - CLIMBED               # so many rows of the road follow
    MARKS = SLOTS      # places of the narrow place
    SPARE = 1          # columns by which an edge may be off from the farthest one of both bends while one comes up

cdef extern from *:
    """
    // Filled when enduro.pyx is imported. LOW: columns of both edges from MIDDLE in the rows of the own car, by the bend (to
    // the left, none, to the right), the narrow place, and the way of own car and traffic into their slots, if the road is in
    // its middle place and no bend comes up. REACH: the last column of the left edge and the first one of the right edge, from
    // MIDDLE, in the rows of an own car with its top so many rows below CLIMBED, by both bends, as in `bend`, and the narrow
    // place.
    static const unsigned char CODE[3] = {1, 0, 3};  // in `bend`
    static signed char LOW[3][7][16][16][2][20], REACH[16][7][10][2];
    """
    const uint8_t[3] CODE
    int8_t[3][7][16][16][2][20] LOW
    int8_t[16][7][10][2] REACH


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


cdef inline void find_low(const Race* race, int8_t* low) noexcept nogil:
    """Write the columns of both edges from MIDDLE, of (2, LOW_ROWS), in the rows of the own car; as if x were 0."""
    cdef int8_t[GROUPS] groups
    cdef int16_t[ROAD_SPACE] left, right
    cdef int row, middle = MIDDLE + race.x
    curve(race, groups)
    find_edges(race, groups, left, right)
    for row in range(LOW_ROWS):
        low[row] = <int8_t>(left[CLIMBED - ROAD_Y + row] - middle)
        low[LOW_ROWS + row] = <int8_t>(right[CLIMBED - ROAD_Y + row] - middle)


cdef inline bint covers_edge(const uint16_t* own, int x, const int8_t* edge) noexcept nogil:
    """Whether a pixel of the own car, x columns from MIDDLE, covers one of an edge, by columns of its rows from MIDDLE."""
    cdef int row, covered = 0
    cdef uint32_t away
    for row in range(CAR_ROWS):
        away = <uint32_t>(edge[row] - x)
        covered |= (<int>own[row] << (away & 15)) & (0x8000 if away < 16 else 0)
    return covered != 0


cdef inline bint hits_edge(const Race* race) noexcept nogil:
    """Whether a pixel of the own car covers one of the road's edges. Far from both, nothing is computed."""
    cdef int8_t[2 * LOW_ROWS] low
    cdef const int8_t* edges = low
    cdef int row = own_top(race) - CLIMBED, x = own_column(race) - race.x - MIDDLE, mark = min(race.marks & 7, MARKS - 1)
    cdef const int8_t* reach = REACH[race.bend >> 4][mark][row]
    if (reach[0] < x) & (x < reach[1] - 15):
        return False
    if race.bend & 15:
        find_low(race, low)
    else:
        edges = LOW[side_of(race.bend >> 6) + 1][mark][race.travelled >> 4][race.phase >> 4][0]
    return covers_edge(own_shape(race), x, edges + row + (0 if x <= reach[0] else LOW_ROWS))


cdef inline void make_reach(int old, int new) noexcept nogil:
    """Fill REACH for two bends, -1, 0 or 1 each."""
    cdef int bend, mark, place, top, row, spare = SPARE if old != new else 0
    cdef int8_t* reach
    cdef const int8_t* edges
    for mark in range(MARKS):
        for top in range(CLIMB + 1):
            reach = REACH[CODE[old + 1] << 2 | CODE[new + 1]][mark][top]
            reach[0], reach[1] = -128, 127
            for bend in range(min(old, new), max(old, new) + 1):
                for place in range(256):
                    edges = LOW[bend + 1][mark][place >> 4][place & 15][0]
                    for row in range(top, top + CAR_ROWS):
                        reach[0] = <int8_t>max(reach[0], edges[row] + spare)
                        reach[1] = <int8_t>min(reach[1], edges[LOW_ROWS + row] - spare)


cdef inline void make_low() noexcept nogil:
    cdef int bend, mark, place, new
    cdef Race race
    memset(&race, 0, sizeof(race))
    for bend in range(3):
        race.bend = <uint8_t>(80 * CODE[bend])
        for mark in range(MARKS):
            for place in range(256):
                race.marks, race.travelled, race.phase = <uint8_t>mark, <uint8_t>(place & 240), <uint8_t>(place << 4)
                find_low(&race, LOW[bend][mark][place >> 4][place & 15][0])
    for bend in range(-1, 2):
        for new in range(-1, 2):
            make_reach(bend, new)

"""Whether the own car of Enduro touches something: whether their pixels on the screen overlap, as on the cartridge."""

from libc.stdint cimport int8_t, int16_t, uint16_t

from envs_c.games.enduro.road cimport (
    CAR_ROWS, GROUPS, HIGH, ROAD_END, ROAD_ROWS, ROAD_Y, TOP, car_column, curve, find_edges, narrow_groups, own_column,
    own_top, side_of)
from envs_c.games.enduro.state cimport Race, clock_of, lit_slots
from envs_c.games.enduro.tables cimport LIGHTS_SHAPE, LIGHT_DOWN, LIGHT_ROWS, SHAPE


cdef enum:
    NEAR = 24      # columns between two cars from which on they cannot touch, however the road bends
    SPARE = 2      # columns by which an edge may be off from FREE
    LOW_GROUP = 5  # the farthest group of the road in which the own car can be

cdef extern from *:
    """
    // Columns of the left and the right edge for a full bend to the left, none, and one to the right, without a narrow place
    // near by, if the road is in its middle place. Filled when enduro.pyx is imported.
    static short FREE[3][2][103];
    """
    int16_t[3][2][103] FREE


cdef inline bint may_touch_edge(const Race* race, int x, int row) noexcept nogil:
    """False if no edge can be at the own car, whose left end is at column x and its top in this row of the road."""
    cdef int far, near, size, spare = SPARE, bend = side_of(race.bend >> 6) + 1, clear = (row - 83) >> 1
    if x - race.x > 52 - clear and x - race.x < 104 + clear:
        return False
    if race.bend & 15:
        return True
    narrow_groups(race, &far, &near, &size)
    if near <= LOW_GROUP:
        spare += (size + 3) >> 2
    return x - race.x <= FREE[bend][0][row] + spare or x + 15 - race.x >= FREE[bend][1][row] - spare


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


cdef inline bint hits_car(const Race* race) noexcept nogil:
    """Whether a pixel of the own car covers one of a car in the nearest two slots."""
    cdef int8_t[GROUPS] groups
    cdef const uint16_t* own = own_shape(race)
    cdef const uint16_t* other
    cdef int slot, rows, down, top = own_top(race), away, row, y
    cdef bint bent = False
    for slot in range(2):
        if race.slot[slot]:
            other = car_shape(race, slot, slot < lit_slots(race), &rows, &down)
            y = TOP[16 * slot + (race.phase >> 4)] + down
            if y + rows <= top or y >= ROAD_END or not NEAR > car_column(race, slot, groups, False) - own_column(race) > -NEAR:
                continue
            if race.bend and not bent:
                bent = curve(race, groups)
            away = car_column(race, slot, groups, bent) - own_column(race)
            if -16 < away < 16:
                for row in range(max(y, top), min(y + rows, top + CAR_ROWS, ROAD_END)):
                    if own[row - top] & <uint16_t>(other[row - y] >> away if away >= 0 else other[row - y] << -away):
                        return True
    return False


cdef inline bint hits_edge(const Race* race) noexcept nogil:
    """Whether a pixel of the own car covers one of the road's edges. Far from both, nothing is computed."""
    cdef int8_t[GROUPS] groups
    cdef int16_t[ROAD_ROWS] left, right
    cdef const uint16_t* own = own_shape(race)
    cdef int top = own_top(race), x = own_column(race), row, away
    if not may_touch_edge(race, x, top - ROAD_Y):
        return False
    curve(race, groups)
    find_edges(race, groups, top - ROAD_Y, left, right)
    for row in range(CAR_ROWS):
        away = left[top - ROAD_Y + row] - x
        if 0 <= away < 16 and own[row] & 0x8000 >> away:
            return True
        away = right[top - ROAD_Y + row] - x
        if 0 <= away < 16 and own[row] & 0x8000 >> away:
            return True
    return False

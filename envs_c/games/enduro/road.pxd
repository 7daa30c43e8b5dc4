"""The road of Enduro on the screen: its bends, its edges row by row, and where the cars are on it.

The road has 103 rows in 26 groups of four; group 0 is the nearest. Going down the screen, in each row the left edge moves to
the left and the right edge to the right, by as many sixteenths of a pixel as the group of the row says. A bend adds to both.
At a narrow place of the road, one group adds to one edge what it takes from the other.
"""

from libc.stdint cimport int8_t, int16_t, uint8_t
from libc.string cimport memset

from envs_c.games.enduro.state cimport SLOTS, Race


cdef enum:
    ROAD_Y = 52, ROAD_ROWS = 103, ROAD_END = ROAD_Y + ROAD_ROWS
    ROAD_SPACE = 108          # length of an array of columns that find_edges writes
    KNOWN_SPACE = 104         # length of one of KNOWN
    MARKS = SLOTS             # places of the narrow place
    GROUPS = 26
    MIDDLE = 87               # column of a straight road's far end
    GROWTH = 8                # sixteenths of a pixel that an edge of a straight road moves in each row
    NARROW = 15               # the nearest narrow place; each farther one is narrower by 2 less
    CAR_ROWS = 11             # rows of the biggest shape
    CAR_TOP = 144             # row of the own car at rest; it climbs by one for every 8 of speed, at most by CLIMB
    CLIMB = 9

cdef extern from *:
    """
    // TOP: first row of a car by its depth, slot * 16 + phase / 16. HIGH: rows of a slot's shape.
    static const unsigned char TOP[112] = {
        160, 160, 154, 154, 153, 151, 149, 148, 146, 144, 143, 141, 140, 139, 137, 136,
        134, 133, 132, 131, 129, 128, 126, 125, 124, 122, 121, 120, 118, 117, 116, 115,
        113, 112, 111, 110, 109, 108, 107, 106, 105, 104, 102, 101, 100, 99, 98, 97,
        97, 96, 95, 94, 93, 93, 92, 91, 91, 90, 89, 88, 87, 87, 86, 85,
        85, 84, 83, 83, 82, 81, 81, 80, 79, 79, 78, 78, 77, 76, 76, 75,
        74, 74, 73, 73, 72, 72, 71, 71, 71, 70, 70, 69, 69, 69, 69, 69,
        68, 68, 67, 67, 67, 66, 66, 65, 65, 65, 64, 64, 64, 64, 64, 64};
    static const unsigned char HIGH[7] = {11, 8, 6, 4, 3, 2, 1};
    // How much a full bend adds in each group; the first group that a bend has reached, by the steps that it still has to go.
    static const signed char CURVE[26] = {
        0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8, 9, 10, 10, 11, 12, 13, 14, 15, 16, 18, 21};
    static const unsigned char REACHED[8] = {0, 6, 11, 15, 19, 22, 24, 25};
    // Columns from the middle of a car in a slot to the left end of its shape; sixteenths of a pixel from the road's middle to
    // that of a lane (left, right, middle) at the screen's lower end, and by how much each row adds to them.
    static const unsigned char SHAPE_LEFT[7] = {7, 5, 4, 3, 2, 2, 1};
    static const short LANE[3] = {-486, 502, 10};
    static const signed char LANE_ROW[3] = {5, -5, 0};
    // By code, as in `bend`: -1, 0 or 1 for a bend to the left, none, and to the right; and back.
    static const signed char SIDE[4] = {0, -1, 0, 1};
    static const unsigned char CODE[3] = {1, 0, 3};
    // Filled when enduro.pyx is imported: the columns of both edges from the road's middle if no bend comes up, by the bend (to
    // the left, none, to the right), the narrow place, and the ways of own car and traffic into their slots.
    static signed char KNOWN[3][7][16][16][2][104];
    """
    const uint8_t[112] TOP
    const int8_t[4] SIDE
    const uint8_t[3] CODE
    int8_t[3][7][16][16][2][104] KNOWN
    const uint8_t[7] HIGH, SHAPE_LEFT
    const int8_t[26] CURVE
    const uint8_t[8] REACHED
    const int16_t[3] LANE
    const int8_t[3] LANE_ROW


cdef inline int side_of(int code) noexcept nogil:
    """-1, 0 or 1 for a bend to the left, none, and to the right: LEFT_BEND, NO_BEND, RIGHT_BEND."""
    return SIDE[code]


cdef inline bint curve(const Race* race, int8_t* groups) noexcept nogil:
    """Write what the bends add in each group; returns whether that is not 0 everywhere."""
    cdef int old = side_of(race.bend >> 6), new = side_of(race.bend >> 4 & 3), left = race.bend & 15
    cdef int change = new - old, size = 2 if change * change == 4 else 1, way = 255 - race.travelled, come, ripple, k, more
    if left == 0:
        for k in range(GROUPS):
            groups[k] = <int8_t>(new * CURVE[k])
        return new != 0
    come = 3 * size * (7 - left) + (3 * size * way >> 8)
    ripple = (12 * size * way >> 8) & 3
    for k in range(GROUPS):
        more = size * CURVE[k] - (21 * size - come)
        more = more if more > 0 and k >= REACHED[left] else 0
        if (k == 20 and left == 3) or ((k == 16 or k == 21) and left <= 2) or (k == 10 and left == 1):
            more += ripple
        groups[k] = <int8_t>(old * CURVE[k] + (more if change > 0 else -more))
    return True


cdef inline int shift_at(const int8_t* groups, int rows) noexcept nogil:
    """Sixteenths of a pixel that bends add between the screen's lower end and the row that is `rows` above it.

    As in find_edges, a group that begins just there begins one row later: its one row still counts as the group before.
    """
    cdef int k, last = (rows >> 2) - (rows & 3 == 1), total = 0
    for k in range(last):
        total += 4 * groups[k]
    return total + (rows - 4 * last) * groups[last]


cdef inline int car_column(const Race* race, int slot, const int8_t* groups, bint bent) noexcept nogil:
    """Column of the left end of a slot's car."""
    cdef int lane = 2 if not race.slot[slot] & 16 else race.slot[slot] & 1
    cdef int rows = 158 - TOP[16 * slot + (race.phase >> 4)] + (4 if slot == 0 else 0)
    cdef int across = LANE[lane] + LANE_ROW[lane] * rows + (shift_at(groups, rows) if bent else 0)
    return MIDDLE + race.x + (across >> 4) - SHAPE_LEFT[slot]


cdef inline int own_column(const Race* race) noexcept nogil:
    """Column of the own car's left end."""
    return 77 - (race.x >> 1) - ((race.x + 1) >> 4)


cdef inline int own_top(const Race* race) noexcept nogil:
    return CAR_TOP - min(race.speed >> 3, CLIMB)


cdef inline void narrow_groups(const Race* race, int* far, int* near, int* size) noexcept nogil:
    """The groups at both ends of the narrow place, and how narrow it is. `near` is -1 if that end is below the screen."""
    cdef int k = min(race.marks & 7, MARKS - 1), part = race.travelled >> 4
    size[0] = NARROW - 2 * k
    far[0] = (160 - TOP[16 * k + part]) >> 2
    near[0] = (160 - TOP[16 * (k - 1) + part]) >> 2 if k else -1


cdef inline void find_edges(const Race* race, const int8_t* groups, int16_t* left, int16_t* right, int first) noexcept nogil:
    """Write the columns of both edges from row `first` on, of (ROAD_SPACE,) each; those from ROAD_ROWS on mean nothing.

    As on the cartridge, sixteenths are added with the carry of an 8-bit sum: that of the left edge goes into the sum of the
    right one, and in a row above each of the nearest six slots that of the right edge into the next sum of the left one. If
    a new group begins in such a row, it begins one row later. The sums of rows that have a group in common need no loop.
    """
    cdef int k, slot = SLOTS - 2, far, near, size, group, rows, at, to, part = 0, rest = 0, out, back, carries, total = 0
    cdef int depth = race.phase >> 4, special = TOP[16 * slot + depth] - 54
    cdef int8_t[GROUPS] narrow
    cdef int step, j, come, carry
    for k in range(GROUPS):
        total += groups[k]
        narrow[k] = GROWTH
    narrow_groups(race, &far, &near, &size)
    narrow[far] = <int8_t>(narrow[far] - size)
    if near >= 0:
        narrow[near] = <int8_t>(narrow[near] + size)
    at = to = MIDDLE + race.x + (total >> 2)
    left[0] = left[1] = right[0] = right[1] = <int16_t>at
    k = 2
    while k < ROAD_ROWS:
        group, rows = GROUPS - 1 - ((k - 1) >> 2), 4 - ((k - 1) & 3)
        if k == special:
            slot -= 1
            special = TOP[16 * slot + depth] - 54 if slot >= 0 else ROAD_SPACE
            if rows == 4:
                group, rows = group + 1, 1
        elif special < k + rows:
            rows = special - k
        out, back = groups[group] + narrow[group], groups[group] - narrow[group]
        carries = -16 <= out < 0  # whether the left edge's sum may have a carry
        if k + 4 > first:
            for j in range(4):
                step = (part + (j + 1) * out) >> 4
                left[k + j] = <int16_t>(at - step)
                right[k + j] = <int16_t>(to - ((rest + (j + 1) * back + carries * (j + 1 + step)) >> 4))
        part += rows * out
        step = part >> 4
        come = rest + rows * back + carries * (rows + step)  # the right edge's sum
        at -= step
        to -= come >> 4
        rest = come & 15
        k += rows
        carry = 0
        if k == special and back < 0:  # whether the right edge's sum had a carry: it came no further to the left in this row
            carry = come >> 4 >= (come - back - carries * (1 + step - ((part - out) >> 4))) >> 4
        part = (part & 15) + carry


cdef inline const int8_t* known_edges(const Race* race) noexcept nogil:
    """The columns of both edges from the road's middle, (2, KNOWN_SPACE); only while no bend comes up."""
    return KNOWN[1 + side_of(race.bend >> 6)][min(race.marks & 7, MARKS - 1)][race.travelled >> 4][race.phase >> 4][0]


cdef inline void place_edges(const Race* race, const int8_t* groups, int16_t* left, int16_t* right) noexcept nogil:
    """Write the columns of both edges, of (ROAD_SPACE,) each; those from ROAD_ROWS on mean nothing."""
    cdef const int8_t* known
    cdef int16_t middle = <int16_t>(MIDDLE + race.x)
    cdef long k
    if race.bend & 15:
        find_edges(race, groups, left, right, 0)
        return
    known = known_edges(race)
    for k in range(KNOWN_SPACE):
        left[k] = <int16_t>(middle + known[k])
    for k in range(KNOWN_SPACE):
        right[k] = <int16_t>(middle + known[KNOWN_SPACE + k])


cdef inline void make_known() noexcept nogil:
    cdef int8_t[GROUPS] groups
    cdef int16_t[2][ROAD_SPACE] edges
    cdef int8_t* known
    cdef int bend, mark, place, side, k
    cdef Race race
    memset(&race, 0, sizeof(race))
    for bend in range(3):
        race.bend = <uint8_t>(80 * CODE[bend])
        curve(&race, groups)
        for mark in range(MARKS):
            for place in range(256):
                race.marks, race.travelled, race.phase = <uint8_t>mark, <uint8_t>(place & 240), <uint8_t>(place << 4)
                find_edges(&race, groups, edges[0], edges[1], 0)
                known = KNOWN[bend][mark][place >> 4][place & 15][0]
                for side in range(2):
                    for k in range(ROAD_ROWS):
                        known[KNOWN_SPACE * side + k] = <int8_t>(edges[side][k] - MIDDLE)

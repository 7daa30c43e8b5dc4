"""The state of a race of Enduro, and its constants. enduro.pyx states the rules in prose."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint64_t
from libc.string cimport memcpy


cdef enum:
    SLOTS = 7                 # slots of the road in sight, the nearest first
    PHASE = 256               # length of a slot
    DEPTHS = 16 * SLOTS       # places at which a car is painted, from near to far
    DAY = 13312               # frames in a day
    FIRST_QUOTA = 200         # cars to pass on the first day
    QUOTA = 300               # cars to pass on each later day
    MOST_LEFT = 9999          # most cars to pass; there can be more than QUOTA after day 99
    ROUND = 100               # the cartridge's count of days begins again at 0 after day 99
    SLOWEST = 6               # speeds, in 1/256 slots a frame
    FASTEST = 120
    WAY = 10000 * 256         # the odometer begins again here
    WIDEST = 48               # pixels; the road never moves so far to a side
    HILLS = 160               # columns after which the hills come again
    REST = 52                 # the pause after the day's last car; it lasts two frames for each
    NO_BEND = 0, LEFT_BEND = 1, RIGHT_BEND = 3
    COMING = 7                # steps in which a new bend comes up
    SUMMER = 0, SNOW, DUSK, NIGHT, FOG, DAWN
    SLIDING_RIGHT = 16, AT_EDGE = 64, HIT = 128  # bits of `crash`; below them are its steps of eight frames
    CLEAR_WEATHER = 1, STRAIGHT_ROAD = 2, SOFT_CARS = 4, NO_OVERTAKING = 8  # bits of `changes`: rules changed by options

cdef extern from *:
    """
    // SEASON: by frame / 256. LIT: by season, of how many slots, from the nearest, only the tail lights are seen.
    static const unsigned char SEASON[52] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2,
                                             3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 5, 5, 5, 5};
    static const unsigned char LIT[6] = {0, 0, 0, 7, 4, 0};
    """
    const uint8_t[52] SEASON
    const uint8_t[6] LIT


cdef extern from *:
    """
    // By the low bits of `slot`: 1 for its lane (left, middle, right); columns from the middle of the road to that of the
    // lane, beside the own car.
    static const float LANES[32][4] = {[6] = {0, 1, 0, 0}, [7] = {0, 1, 0, 0}, [22] = {1, 0, 0, -26}, [23] = {0, 0, 1, 26}};
    #define CAR_BITS 0x0202020202020202ULL  // one for each car in 8 slots
    #define NO_SLOT (1ULL << 56)            // a bit in the byte after the slots
    #define ALL_SLOTS (NO_SLOT - 1)              // the bytes of the slots
    """
    const float[32][4] LANES
    const uint64_t CAR_BITS, NO_SLOT, ALL_SLOTS
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil
    int ctzll "__builtin_ctzll"(unsigned long long) noexcept nogil
    int popcount "__builtin_popcountll"(unsigned long long) noexcept nogil


ctypedef struct Race:
    int32_t odometer        # sum over frames of half the speed, rounded up; 256 are one unit of the panel
    int16_t day             # from 1
    int16_t frame           # of the day, from 0
    int16_t left            # cars to pass today; 0: done until the next day
    int16_t speed
    int8_t x                # of the road, pixels to the right of its middle place; the car is on the other side
    uint8_t travelled       # 255 at the start of a slot of the own car's way, falls by the speed
    uint8_t phase           # way of the traffic into its slots, 0 .. 255
    uint8_t rolls           # slots until another bend may come
    uint8_t marks           # counts the slots of the own car's way down; a narrow place of the road comes every eight
    uint8_t bend            # the last bend * 64 + the present one * 16 + steps that it still has to go
    uint8_t hills           # their column, 0 .. 159
    uint8_t crash           # without control: HIT or AT_EDGE, SLIDING_RIGHT, and the steps of eight frames left; 0: none
    uint8_t serial          # number of the car behind; the others' colours and lanes go by their numbers
    uint8_t rest            # of the pause after the day's last car; 0: none
    uint8_t[2] random       # the last two random numbers
    uint8_t[SLOTS] slot     # colour of the car: 16 * hue + 6, plus 1 in the right lane; even hue: middle lane; 0: no car
    uint8_t changes         # of the rules; the byte after the slots, and the last one


ctypedef struct Enduro:
    Race now
    Race shown              # the race one frame ago, which the screen shows


cdef inline int changes_of(const double* options) noexcept nogil:
    """The bits of `changes` under these options."""
    return ((options[2] == 0.0) * CLEAR_WEATHER | (options[3] == 0.0) * STRAIGHT_ROAD | (options[4] == 0.0) * SOFT_CARS
            | (options[5] == 0.0) * NO_OVERTAKING)


cdef inline int clock_of(const Race* race) noexcept nogil:
    """255 .. 0, counted down in each frame."""
    return 255 - (race.frame & 255)


cdef inline int season_of(const Race* race) noexcept nogil:
    return SUMMER if race.changes & CLEAR_WEATHER else SEASON[race.frame >> 8]


cdef inline int lit_slots(const Race* race) noexcept nogil:
    """Of how many slots, from the nearest, only the tail lights are seen; fog hides the others."""
    return LIT[season_of(race)]


cdef inline uint64_t slots_of(const Race* race) noexcept nogil:
    """The bytes of `slot`, the nearest one lowest, and above them `changes`."""
    cdef uint64_t slots
    memcpy(&slots, <const char*>race + sizeof(Race) - sizeof(slots), sizeof(slots))
    return slots


cdef inline void put_slots(Race* race, uint64_t slots) noexcept nogil:
    memcpy(<char*>race + sizeof(Race) - sizeof(slots), &slots, sizeof(slots))


cdef inline uint64_t cars_seen(const Race* race, int season) noexcept nogil:
    """The bytes of `slot`, the nearest one lowest, without cars that fog hides."""
    return slots_of(race) & (ALL_SLOTS >> 24 if season == FOG else ALL_SLOTS)

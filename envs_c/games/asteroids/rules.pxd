"""The state of Asteroids, its constants, its random numbers and its ring of places. asteroids.pyx states the rules in prose."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t


cdef enum:
    FIRE = 1, UP = 2, RIGHT = 4, LEFT = 8, DOWN = 16  # bits of the keys
    WIDE = 160, HIGH = 89                   # the screen in pixels, and the field in lines of two pixels; opposite edges join
    FIRST_X = 4, LAST_X = 165, PLACES = 162  # places from left to right; x is shown at x modulo WIDE
    SEAM = 16, BEYOND = 19                  # a thing that goes right comes from 16 to 19
    SLOTS = 16, SINKS = 8                   # rocks in slots 0 .. 7 climb, in 8 .. 15 sink
    COLOUR = 7, LEFTWARD = 8, SIZE = 48      # bits of a rock's kind
    MEDIUM = 32, SMALL = 48                 # of SIZE; 0 and 16 are the two shapes of large rocks
    BROKEN = 64, PALER = 4, NONE = 255      # bits of a rock that was hit in this frame; the kind of an empty slot
    DRIFT = 7                               # odd frames from one drift to the next
    START_X = 84, START_Y = 41, TOP_Y = -5, END_Y = 84
    ONE = 256                               # units of x and y in a pixel and in a line
    FAST = 16384                            # speed limit along each axis: 4 pixels, or 4 lines, in 2 frames
    UFO_SHOT = 2, THE_SHIP = 3, THE_UFO = 4  # entries of WATCH; 0 and 1 are the ship's shots
    ROUND = 12                              # entries of WATCH
    BLAST = 6, REST = 64, JUMP = 32         # in turns of 2 frames; REST and JUMP with the turn in which the ship comes
    BONUS = 5000, MOST_LIVES = 9, POINTS_END = 100000
    MANY = 1000, MORE = 15000               # points from which a wave has 6 and 8 rocks
    ENTRIES = 7                             # rocks of a half, and those at the lower edge again, from which none is added
    NUMBERS = 32767                         # states of the register of random numbers, but for bit 15
    STILL_ROCKS = 1, NO_DRAG = 2, WHOLE_ROCKS = 4, UFOS = 8     # bits of `rules`
    UFO_X = 162, NO_UFO = 224               # the place at which UFOs come and leave; the line if there is none
    UFO_LINES = 80                          # lines in which UFOs come and fly, from 0 on
    UFO_LEFT = 1, UFO_UP = 2, UFO_DOWN = 4  # bits of a UFO's course; it flies level if it has both UP and DOWN
    NO_UFOS = 1024                          # frames at first in which no UFO is counted
    SOME_SMALL = 7000, ALL_SMALL = 15000    # points from which some and all UFOs are small
    BURST = 6, BURST_END = 18               # added to the timer in each turn while a UFO explodes, until it is this

cdef extern from *:
    """
    static const unsigned char KEYS[14] = {0, 1, 2, 4, 8, 16, 6, 10, 3, 5, 9, 17, 7, 11};
    static const short PUSH_X[16] = {0, 49, 90, 117, 127, 117, 90, 49, 0, -49, -90, -117, -127, -117, -90, -49};
    static const short PUSH_Y[16] = {-127, -117, -90, -49, 0, 49, 90, 117, 127, 117, 90, 49, 0, -49, -90, -117};
    static const signed char SHOT_X[16] = {0, 1, 3, 3, 4, 3, 3, 1, 0, -1, -3, -3, -4, -3, -3, -1};
    static const signed char SHOT_Y[16] = {-4, -3, -3, -1, 0, 1, 3, 3, 4, 3, 3, 1, 0, -1, -3, -3};
    static const unsigned char LIFE[16] = {6, 7, 7, 11, 9, 11, 7, 7, 6, 7, 7, 11, 9, 11, 7, 7};
    static const unsigned char POINTS[4] = {20, 20, 50, 100};
    static const unsigned char UFO_LIFE[16] = {6, 7, 7, 11, 9, 11, 7, 7, 8, 8, 8, 8, 8, 8, 8, 4};
    static const unsigned char COLUMN[8] = {127, 112, 25, 127, 40, 55, 40, 25};
    static const unsigned char WATCH[12] = {3, 0, 2, 1, 4, 0, 3, 1, 2, 0, 4, 1};
    """
    const uint8_t[14] KEYS
    const int16_t[16] PUSH_X, PUSH_Y        # to the left and down, by the ship's way: 1/4096 pixel or line a turn, per turn
    const int8_t[16] SHOT_X, SHOT_Y         # to the left and down, by the shot's way: pixels and lines a turn
    const uint8_t[16] LIFE, UFO_LIFE        # time that a shot flies, by its way, in units of 4 frames
    const uint8_t[4] POINTS                 # by a rock's size
    const uint8_t[8] COLUMN                 # middles of the places where rocks begin
    const uint8_t[ROUND] WATCH              # the order of hits


ctypedef struct Asteroids:
    int32_t x, y                # ship: 1/256 pixel, above 3 and up to 165; 1/256 line, -5 .. 84
    int32_t score
    int16_t vx, vy              # ship, to the left and down: 1/4096 pixel and line a turn
    uint16_t numbers            # the register of random numbers
    uint16_t frame              # counts frames, modulo 65,536
    uint8_t lives, way          # way: 16ths of a full turn from straight up, counter-clockwise
    uint8_t drift               # odd frames until the rocks drift
    uint8_t blast, hidden       # turns left of an explosion, and until the ship comes back; 1: it waits for free space
    uint8_t fired, dived        # not 0 if FIRE, DOWN was held in the ship's last turn
    uint8_t watch               # place in WATCH
    uint8_t rocks, broken       # number of rocks; number of those hit in this frame
    uint8_t rules               # UFOs, and the changed rules
    uint8_t[3] shot_x, shot_y, shot_way     # the ship's two shots, then the UFO's
    uint8_t[3] shot_life        # 0 if there is no shot
    uint8_t ufo_x, ufo_y, ufo_course        # course: bits, see UFO_LEFT
    uint8_t ufo_small           # of the present UFO, or the last one
    uint8_t ufo_timer           # odd frames until the next UFO; while one explodes, its time
    uint8_t ufo_burst           # 1: it explodes
    uint8_t[SLOTS] rock_x, rock_y, kind
    # What the picture shows (shown.pxd); 0 in all is an empty field.
    uint8_t[SLOTS] rocks_seen   # NONE less the kind
    uint8_t ship_seen, shots_seen           # ship: 0 none, 1 whole, 1 + blast; shots: bit k: shot k
    uint8_t ufo_seen, ufo_seen_x, ufo_seen_y    # ufo_seen: 0 none, 1 whole, more: its explosion
    uint8_t[2] gains, lives_seen            # of the last frame and the one before: points / 10; 1 + lives


cdef inline int rules_of(const double* options) noexcept nogil:
    """The bits of `rules` under these options."""
    return (UFOS * (options[2] != 0) | STILL_ROCKS * (options[3] != 0) | NO_DRAG * (options[4] != 0)
            | WHOLE_ROCKS * (options[5] != 0))


# --- random numbers --------------------------------------------------------------------------------------------------

cdef inline int draw(Asteroids* game) noexcept nogil:
    """Shift the register by a bit; returns its 16 bits."""
    cdef int old = game.numbers
    game.numbers = <uint16_t>(old << 1 | ((old >> 13 ^ old >> 14) & 1))
    return game.numbers


cdef inline int far_x(int column, int left) noexcept nogil:
    """The x at which a rock begins or a jump ends: 19 .. 63 or 106 .. 135."""
    left &= 15
    return COLUMN[column & 7] - (left if left < 7 else 8 - 16 if left == 7 else left - 16)


# --- places ----------------------------------------------------------------------------------------------------------

cdef inline int moved(int x, int more) noexcept nogil:
    """The place `more` pixels to the right of x, which may be less than 0."""
    cdef int place = x + more
    if x <= SEAM < place:
        place += BEYOND - SEAM - 1
    return place - PLACES if place > LAST_X else place + PLACES if place < FIRST_X else place


cdef inline uint8_t drifted(uint8_t x, bint left) noexcept nogil:
    """The next place of a rock or a UFO."""
    if left:
        return LAST_X if x == FIRST_X else SEAM if x == BEYOND else x - 1
    return FIRST_X if x == LAST_X else BEYOND if x == SEAM else x + 1


cdef inline uint8_t met_at(uint8_t x) noexcept nogil:
    """Where a thing at this place is compared with others. No thing meets one across the left edge of the places."""
    return <uint8_t>(x + (2 if x < BEYOND else 0))


# --- the ship's place ------------------------------------------------------------------------------------------------

cdef inline bint is_here(const Asteroids* game) noexcept nogil:
    """Whether the ship can be steered and can hit a rock."""
    return not (game.blast or game.hidden)


cdef inline int ship_x(const Asteroids* game) noexcept nogil:
    return (game.x + ONE - 1) >> 8


cdef inline int ship_line(const Asteroids* game) noexcept nogil:
    """The ship's line, 0 .. 88."""
    cdef int y = game.y >> 8
    return y if y >= 0 else y + HIGH

"""Seaquest's constants, state, and how the submarine and the sea behave. The prose is in seaquest.pyx."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t
from libc.string cimport memset

from envs_c.rng cimport Rng, rng_below


cdef enum:
    NOOP, FIRE, UP, RIGHT, LEFT, DOWN, UPRIGHT  # the first of the 18 actions
    LANES = 4, COPIES = 3, GAP = 16             # a wave's enemies (copies of one figure), GAP pixels apart
    SPRITE = 8, SHIP = 16                       # widths of enemies and of the submarine
    SHIP_ROWS = 11, SHARK_ROWS = 7, SWIMMER_ROWS = 14, SHOT_ROWS = 4
    SHIP_Y = 33, SURFACE = 13, SEA_FLOOR = 108, LEFT_END = 21, RIGHT_END = 134, START_X = 76
    DEEP_ENOUGH_TO_FIRE = 18, BREATHES_BELOW = 20
    TORPEDO_ROW = 40, TORPEDO_SPEED = 5, FIRE_RIGHT = 13, FIRE_LEFT = 3
    LANE_Y = 137, PITCH = 24, LANE_ROWS = 14    # screen row of lane 0, the lowest; rows of a lane
    SUB_ROW = 3, SHOT_ROW = 8, SHOT_X = 2       # rows of a lane's submarines and shot; first column of the shot's figure
    TANK = 64, BREATH = 32, LOW = 16            # units of oxygen; frames a unit lasts; alarm
    CREW = 6                                    # most divers on board
    SINKS = 23, EMPTIED = 14, SINK = 4          # steps of a death; step at which the tank is empty; frames a step
    UNIT = 2, AN_ASHORE = 16                    # frames from one unit of oxygen, one diver to the next
    MOST_LIVES = 7, LIFE_POINTS = 10_000, MOST_POINTS = 999_999
    PATROL_FROM = 2, FAST_PATROL_FROM = 5       # rescues before the first patrol, and before it is twice as fast
    BYTE = 255                                  # pace and rescues begin again at 0 after it
    FRAMES = 768, FIRST_FRAME = 67, FIRST_CHANCE = 204, CHANCES = 217
    NOBODY = 0, WAITING, SAVED                  # a lane's diver
    FILLS = 0, PLAYS, DIES, COUNTS              # phases
    ENDLESS_OXYGEN = 1, SILENT_SUBMARINES = 2, EARLY_PATROL = 4     # bits of `rules`: changes of the cartridge's rules
    FORECAST = 8                                # another bit of it: the features of the forecast follow

cdef extern from *:
    """
    static const signed char ACROSS[18] = {0, 0, 0, 1, -1, 0, 1, -1, 1, -1, 0, 1, -1, 0, 1, -1, 1, -1};  // by action
    static const signed char DOWNWARDS[18] = {0, 0, -1, 0, 0, 1, -1, -1, 1, 1, -1, 0, 0, 1, -1, -1, 1, 1};
    static const unsigned char FIRES[18] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    """
    const int8_t[18] ACROSS, DOWNWARDS
    const uint8_t[18] FIRES


ctypedef struct Seaquest:
    int32_t score
    int16_t[LANES] x            # of the wave's left place, -88 .. 215, even if no copy is there
    int16_t[LANES] guest        # x of the lane's diver (sharks) or shot (submarines); 0: none
    int16_t x_ship, y, torpedo, patrol      # torpedo and patrol are x; 0: none
    uint16_t frame              # 0 .. 767: all that repeats has periods that divide 768
    uint16_t pace, rescues
    uint8_t[LANES] alive        # bits of the copies, 4 for the left
    uint8_t[LANES] right        # 1: moves to the right
    uint8_t[LANES] sub          # 1: submarines, 0: sharks
    uint8_t[LANES] diver        # NOBODY, WAITING or SAVED
    uint8_t[LANES] pose         # 0 .. 2, of sharks and their diver
    uint8_t[LANES] chased       # 1: a shark has touched the lane's diver
    uint8_t phase, facing       # facing and torpedo_right: 1 is right
    uint8_t torpedo_right
    uint8_t lives, oxygen, crew
    uint8_t sinks               # steps left of a death, 0 in other phases
    uint8_t chance              # the cartridge's random number
    uint8_t stroke              # pose of sharks and divers that are not chased
    uint8_t enemy_part, diver_part, shot_part           # 1/16 pixels carried over to the next frame
    uint8_t sway                # rows by which sharks are below their lane's row, 0 .. 7
    uint8_t tint                # colour of the sharks: pace % 8 before the frame
    uint8_t rules               # the changed ones, and FORECAST


cdef inline int rules_of(const double* options) noexcept nogil:
    """The bits of `rules` under these options."""
    return ((options[3] != 0.0) * ENDLESS_OXYGEN | (options[4] != 0.0) * SILENT_SUBMARINES
            | (options[5] != 0.0) * EARLY_PATROL | (options[6] != 0.0) * FORECAST)


cdef inline int lane_y(int lane) noexcept nogil:
    """Screen row of a lane."""
    return LANE_Y - PITCH * lane


cdef inline int bob(const Seaquest* game) noexcept nogil:
    """Rows by which sharks are below their lane's row now, 0 .. 7."""
    cdef int turn = game.frame >> 2 & 15
    return turn ^ 15 * (turn >> 3)  # 15 - turn from 8 on


cdef inline int screw(const Seaquest* game) noexcept nogil:
    """The pose of all submarines, 0 .. 2."""
    return ((game.frame + 3) >> 2) % 3


cdef inline uint8_t next_chance(int chance) noexcept nogil:
    """Three steps of a shift register of 8 bits with taps at bits 7 and 4."""
    cdef int _
    for _ in range(3):
        chance = (chance << 1 & 255) | ((chance >> 7 ^ chance >> 4) & 1)
    return <uint8_t>chance


cdef inline uint8_t last_chance(int chance) noexcept nogil:
    """The number whose `next_chance` this is."""
    cdef int _
    for _ in range(3):
        chance = chance >> 1 | ((chance ^ chance >> 5) & 1) << 7
    return <uint8_t>chance


cdef inline float score(Seaquest* game, int points) noexcept nogil:
    """Add points, and a life at each ten thousand; returns the points added."""
    cdef int before = game.score
    game.score = min(before + points, MOST_POINTS)
    if game.score // LIFE_POINTS > before // LIFE_POINTS and game.lives < MOST_LIVES:
        game.lives += 1
    return game.score - before


cdef inline int enemy_speed(const Seaquest* game) noexcept nogil:
    """Sixteenths of a pixel that enemies move in a frame; divers move half as much."""
    return 6 + game.pace & BYTE


cdef inline int enemy_points(const Seaquest* game) noexcept nogil:
    """Points of an enemy, and of a unit of oxygen in a rescue."""
    return 10 * min(game.rescues + 2 & BYTE, 9)


cdef inline void clear_sea(Seaquest* game) noexcept nogil:
    """Begin to fill the tank at the surface: an empty sea."""
    memset(game.alive, 0, sizeof(game.alive))
    memset(game.guest, 0, sizeof(game.guest))
    memset(game.sub, 0, sizeof(game.sub))
    memset(game.chased, 0, sizeof(game.chased))
    game.y = SURFACE
    game.oxygen = 0
    game.phase = FILLS


cdef inline void begin_life(Seaquest* game) noexcept nogil:
    """Put the submarine at its start in an empty sea."""
    clear_sea(game)
    game.x_ship, game.facing, game.torpedo = START_X, 1, 0


cdef inline void begin(Seaquest* game, const double* options, Rng* rng) noexcept nogil:
    """Begin a new episode."""
    cdef int _
    memset(game, 0, sizeof(Seaquest))
    game.rules = <uint8_t>rules_of(options)
    game.lives = <uint8_t>options[0]
    game.rescues = game.pace = <uint8_t>options[1]
    memset(game.right, 1, sizeof(game.right))
    game.tint = <uint8_t>(game.pace & 7)
    game.frame = FIRST_FRAME
    game.chance = FIRST_CHANCE
    if options[2] != 0.0:
        game.frame = <uint16_t>(2 * rng_below(rng, FRAMES // 2) + 1)
        for _ in range(<int>rng_below(rng, CHANCES)):
            game.chance = next_chance(game.chance)
    begin_life(game)


cdef inline void begin_death(Seaquest* game) noexcept nogil:
    """Destroy the submarine."""
    game.phase = DIES
    game.sinks = SINKS


cdef inline void sink(Seaquest* game, bint* over) noexcept nogil:
    """One frame of a death."""
    if game.frame & (SINK - 1) != 0:
        return
    game.patrol = 0
    game.sinks -= 1
    if game.sinks == EMPTIED:
        game.oxygen = 0
    elif game.sinks == 0:
        game.lives -= 1
        over[0] = game.lives == 0
        game.crew -= game.crew > 0
        begin_life(game)


cdef inline float count_bonus(Seaquest* game) noexcept nogil:
    """One frame of a rescue's bonus, first for the oxygen left, then for the divers; returns the points."""
    if game.oxygen > 0:
        if game.frame & (UNIT - 1) != 0:
            return 0.0
        game.oxygen -= 1
        return score(game, enemy_points(game))
    if game.frame & (AN_ASHORE - 1) != 0:
        return 0.0
    if game.crew > 0:
        game.crew -= 1
        return score(game, min(50 * (game.rescues + 1), 1000))
    game.rescues = game.rescues + 1 & BYTE
    game.pace += game.pace < game.rescues
    clear_sea(game)
    return 0.0


cdef inline int patrol_y(const Seaquest* game) noexcept nogil:
    """First row of the patrol on the screen. It is one row higher if less than two lives are in reserve."""
    return SURFACE + SHIP_Y - (game.lives < 3)


cdef inline int patrol_rows(const Seaquest* game) noexcept nogil:
    """Rows of the patrol that are above the water."""
    return 7 + (game.lives < 3)


cdef inline int crew_shown(const Seaquest* game) noexcept nogil:
    """Icons of divers; six of them blink until they go ashore."""
    return 0 if game.crew == CREW and game.phase != COUNTS and not game.frame & 8 else game.crew


cdef inline void move_patrol(Seaquest* game) noexcept nogil:
    """Move the patrol, which goes round through x 255 .. 0."""
    cdef int moving = 3 if game.rescues < FAST_PATROL_FROM else 1
    if (game.rescues >= PATROL_FROM or game.rules & EARLY_PATROL) and game.phase != COUNTS and game.frame & moving == 0:
        game.patrol = (game.patrol - 1) & 255


cdef inline void steer(Seaquest* game, int action) noexcept nogil:
    """Move the submarine and its torpedo, or fire."""
    cdef int across = ACROSS[action]
    if across != 0:
        game.facing = across > 0
    game.x_ship = <int16_t>min(max(game.x_ship + across, LEFT_END), RIGHT_END)
    game.y = <int16_t>min(max(game.y + DOWNWARDS[action], SURFACE), SEA_FLOOR)
    if game.torpedo > 0:
        game.torpedo += TORPEDO_SPEED if game.torpedo_right else -TORPEDO_SPEED
        if game.torpedo > 159 or game.torpedo < 1:
            game.torpedo = 0
    elif FIRES[action] and game.y >= DEEP_ENOUGH_TO_FIRE:
        game.torpedo_right = game.facing
        game.torpedo = game.x_ship + (FIRE_RIGHT if game.facing else FIRE_LEFT)


cdef inline bint docked(const Seaquest* game) noexcept nogil:
    """True while the tank is filled at the surface, and in the frame before a rescue or a death there."""
    return game.phase == PLAYS and game.y == SURFACE and game.oxygen < TANK


cdef inline void surface(Seaquest* game, int action) noexcept nogil:
    """Fill the tank at the surface, or begin a rescue or a death; if the submarine is free, steer it and use oxygen."""
    if docked(game):
        if game.crew == 0:
            begin_death(game)
            return
        if game.crew == CREW:
            game.phase = COUNTS
            return
        game.oxygen += game.frame & (UNIT - 1) == 0
        if game.oxygen < TANK:
            return
        game.crew -= 1
        game.pace = game.pace + 1 & BYTE
    steer(game, action)
    if game.y >= BREATHES_BELOW and game.frame & (BREATH - 1) == 0 and not game.rules & ENDLESS_OXYGEN:
        game.oxygen -= 1
        if game.oxygen == 0:
            begin_death(game)

"""Pac-Man's constants, tables by maze and by level, and state. The rules are in prose in pacman.pyx."""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint32_t


cdef enum:
    UP, LEFT, DOWN, RIGHT                   # directions; d ^ 2 is opposite to d; action 1 + d
    BLINKY = 0, PINKY, INKY, CLYDE
    OUT = 0, EYES, SINKS, HOME              # ghosts: in the maze; eyes in the maze; eyes entering the house; in the house
    # columns of LEVEL
    GHOST = 0, TUNNEL, ELROY_DOTS, ELROY, FASTER, PLAYER, POWER_PLAYER, BLUE, SECONDS, FLASHES, FRUIT
    ROWS = 31, WIDE = 32                    # tiles; the maze has columns 2 .. 29, the tunnel all 32
    DOTS = 244, PELLETS = 240               # dots are numbered in reading order, pellets from 240 on
    TILE = 128, HALF = 64, ROUND = 4095     # 1/16 pixel; ROUND: mask for the tunnel
    DOOR_X = 2048, DOOR_Y = 1472, HOME_Y = 1856, START_Y = 3008, FRUIT_Y = 2240     # 1/16 pixel
    EYES_SPEED = 32, LEVELS = 21, LAST_WAVE = 7
    NO_UP = 16                              # bit of EXITS: ghosts do not turn up here
    FORECAST = 1                            # bit of `rules`: the features of the forecast follow

cdef extern from *:
    """
    static const char MAZE[31][29] = {  // # wall, . dot, o pellet; the house is part of the block in the middle
        "############################", "#............##............#", "#.####.#####.##.#####.####.#",
        "#o####.#####.##.#####.####o#", "#.####.#####.##.#####.####.#", "#..........................#",
        "#.####.##.########.##.####.#", "#.####.##.########.##.####.#", "#......##....##....##......#",
        "######.##### ## #####.######", "######.##### ## #####.######", "######.##          ##.######",
        "######.## ######## ##.######", "######.## ######## ##.######", "      .   ########   .      ",
        "######.## ######## ##.######", "######.## ######## ##.######", "######.##          ##.######",
        "######.## ######## ##.######", "######.## ######## ##.######", "#............##............#",
        "#.####.#####.##.#####.####.#", "#.####.#####.##.#####.####.#", "#o..##.......  .......##..o#",
        "###.##.##.########.##.##.###", "###.##.##.########.##.##.###", "#......##....##....##......#",
        "#.##########.##.##########.#", "#.##########.##.##########.#", "#..........................#",
        "############################"};
    static const unsigned char LEVEL[21][11] = {  // speeds in units of 5 %
        // ghost, in the tunnel; Elroy's dots, speed, faster speed; player, with power; blue ghost; seconds, flashes; fruit
        {15,  8,  20, 16, 17, 16, 18, 10, 6, 5,  1}, {17,  9,  30, 18, 19, 18, 19, 11, 5, 5,  3},
        {17,  9,  40, 18, 19, 18, 19, 11, 4, 5,  5}, {17,  9,  40, 18, 19, 18, 19, 11, 3, 5,  5},
        {19, 10,  40, 20, 21, 20, 20, 12, 2, 5,  7}, {19, 10,  50, 20, 21, 20, 20, 12, 5, 5,  7},
        {19, 10,  50, 20, 21, 20, 20, 12, 2, 5, 10}, {19, 10,  50, 20, 21, 20, 20, 12, 2, 5, 10},
        {19, 10,  60, 20, 21, 20, 20, 12, 1, 3, 20}, {19, 10,  60, 20, 21, 20, 20, 12, 5, 5, 20},
        {19, 10,  60, 20, 21, 20, 20, 12, 2, 5, 30}, {19, 10,  80, 20, 21, 20, 20, 12, 1, 3, 30},
        {19, 10,  80, 20, 21, 20, 20, 12, 1, 3, 50}, {19, 10,  80, 20, 21, 20, 20, 12, 3, 5, 50},
        {19, 10, 100, 20, 21, 20, 20, 12, 1, 3, 50}, {19, 10, 100, 20, 21, 20, 20, 12, 1, 3, 50},
        {19, 10, 100, 20, 21, 20, 20, 12, 0, 0, 50}, {19, 10, 100, 20, 21, 20, 20, 12, 1, 3, 50},
        {19, 10, 120, 20, 21, 20, 20, 12, 0, 0, 50}, {19, 10, 120, 20, 21, 20, 20, 12, 0, 0, 50},
        {19, 10, 120, 20, 21, 18, 18, 12, 0, 0, 50}};
    static const int WAVES[3][8] = {  // frames, for level 1, 2 .. 4, 5 ..; scatter first; the last wave never ends
        {420, 1200, 420, 1200, 300, 1200, 300}, {420, 1200, 420, 1200, 300, 61980, 1}, {300, 1200, 300, 1200, 300, 62220, 1}};
    static const unsigned char WAITS[3][4] = {{0, 0, 30, 60}, {0, 0, 0, 50}};  // dots, [level 1, 2, 3 ..][ghost]
    static const signed char DX[4] = {0, -1, 0, 1}, DY[4] = {-1, 0, 1, 0};
    static const signed char AHEAD_X[4] = {-1, -1, 0, 1};                      // the arcade machine's overflow: up is also left
    static const short SEAT[4] = {2048, 2048, 1792, 2304};                     // x in the house, by ghost
    static const signed char CORNER[4][2] = {{27, -3}, {4, -3}, {29, 31}, {2, 31}};  // tile column and row, by ghost
    // Made from MAZE when pacman.pyx is imported, then constant:
    static unsigned char EXITS[992], DOT_AT[992];
    static unsigned WALL_ROW[31], DOT_ROW[31], WALL_COLUMN[32], DOT_COLUMN[32];
    static float NEAR[33];
    """
    const char[31][29] MAZE
    const uint8_t[21][11] LEVEL
    const int[3][8] WAVES
    const uint8_t[3][4] WAITS
    const int8_t[4] DX, DY, AHEAD_X
    const int16_t[4] SEAT
    const int8_t[4][2] CORNER
    uint8_t[992] EXITS                          # [row * WIDE + column]: bits 1 << d of open directions; NO_UP
    uint8_t[992] DOT_AT                         # [row * WIDE + column]: the dot's number, or DOTS
    uint32_t[31] WALL_ROW, DOT_ROW              # bits 1 << column
    uint32_t[32] WALL_COLUMN, DOT_COLUMN        # bits 1 << row
    float[33] NEAR                              # [tiles]: 1 / tiles; 0 for 0
    int ctz "__builtin_ctz"(uint32_t bits) nogil
    int clz "__builtin_clz"(uint32_t bits) nogil


ctypedef struct Pacman:
    # Arrays are by ghost. A ghost goes in a straight line to (to_x, to_y), at the distance `left`.
    int16_t[4] to_x, to_y, left, speed, dx, dy
    int16_t[4] x, y         # 1/16 pixel
    uint8_t[4] way, next    # directions: now, and from (to_x, to_y) on
    uint8_t[4] phase        # OUT, EYES, SINKS or HOME
    uint8_t[4] blue, reverse    # 0 or 1; reverse: turns back at (to_x, to_y)
    uint8_t[4] count        # dots eaten while it was the first of the waiting ghosts
    int32_t score
    int32_t wave_left       # frames
    int16_t px, py          # the player: 1/16 pixel
    int16_t power, fruit, idle  # frames: power left, fruit left, since the last dot
    uint8_t facing          # the player's direction
    uint8_t pause, ready    # frames left: the player is held; READY! is shown
    uint8_t wave            # 0 .. 7; even waves scatter
    uint8_t chain           # ghosts eaten since the last pellet
    uint8_t waiting         # bits 1 << ghost: waits in the house
    uint8_t shared, total   # shared: 1 if one count serves all ghosts; total: that count
    uint8_t elroy, rests    # elroy: 0, 1 or 2 (faster); rests: 1 if he is suspended
    uint8_t lives, level, dots  # dots: left
    uint8_t[DOTS + 12] dot  # [number]: 1 if it is there; dot[DOTS] is always 0
    uint8_t rules           # bits of options: FORECAST
    uint32_t[ROWS] row      # dots as bits 1 << column
    uint32_t[WIDE] column   # dots as bits 1 << row


cdef inline int rules_of(const double* options) noexcept nogil:
    """The bits of `rules` under these options."""
    return (options[2] != 0.0) * FORECAST


cdef inline bint closed(int column, int row) noexcept nogil:
    """True for a wall and outside the maze. column: 0 .. 27 in the maze."""
    return not (0 <= column < 28 and 0 <= row < ROWS) or MAZE[row][column] == b"#"


cdef inline void lay_out() noexcept nogil:
    """Fill the tables that are made from MAZE."""
    cdef int column, row, way, number = 0, pellet = PELLETS, at
    for row in range(ROWS):
        for column in range(-2, 30):
            at = row * WIDE + column + 2
            DOT_AT[at] = DOTS
            if closed(column, row) and not (row == HOME_Y // TILE and (column < 0 or column > 27)):
                WALL_ROW[row] |= <uint32_t>1 << (column + 2)
                WALL_COLUMN[column + 2] |= <uint32_t>1 << row
            elif 0 <= column < 28 and MAZE[row][column] != b" ":
                DOT_ROW[row] |= <uint32_t>1 << (column + 2)
                DOT_COLUMN[column + 2] |= <uint32_t>1 << row
                if MAZE[row][column] == b"o":
                    DOT_AT[at] = pellet
                    pellet += 1
                else:
                    DOT_AT[at] = number
                    number += 1
    for at in range(ROWS * WIDE):
        row, column = at // WIDE, at % WIDE
        if WALL_ROW[row] >> column & 1:
            continue
        for way in range(4):
            if not WALL_ROW[row + DY[way]] >> ((column + DX[way]) & (WIDE - 1)) & 1:
                EXITS[at] |= 1 << way
        if (row == 11 or row == 23) and (column == 14 or column == 17):
            EXITS[at] |= NO_UP
    for at in range(1, WIDE + 1):
        NEAR[at] = <float>1 / at

"""How Pac-Man, his ghosts and their house behave, for pacman.pyx, which states the rules.

Ghosts go in legs: straight from one middle of a tile to the next, or from corner to corner on their way through the house.
A frame only shortens what is left of each leg; all that a ghost decides, it decides at the end of one, in `arrive`.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.rng cimport Rng, rng_below


cdef enum:
    UP, LEFT, DOWN, RIGHT                   # d ^ 2 is the way back; the action is 1 + d
    BLINKY = 0, PINKY, INKY, CLYDE
    OUT = 0, EYES, SINKS, HOME              # a ghost: in the maze; its eyes there; they enter; waits or leaves
    GHOST = 0, TUNNEL, ELROY_DOTS, ELROY, FASTER, PLAYER, POWER_PLAYER, BLUE, SECONDS, FLASHES, FRUIT
    ROWS = 31, WIDE = 32                    # of tiles; the maze has columns 2 .. 29, the tunnel's go around
    DOTS = 244, PELLETS = 240               # dots are numbered in reading order, the pellets after them
    TILE = 128, HALF = 64, ROUND = 4095     # 1/16 pixel
    DOOR_X = 2048, DOOR_Y = 1472, HOME_Y = 1856, START_Y = 3008, FRUIT_Y = 2240
    EYES_SPEED = 32, LEVELS = 21, LAST_WAVE = 7, NO_UP = 16

cdef extern from *:
    """
    static const char MAZE[31][29] = {  // # closed, . dot, o pellet; the house is the closed block in the middle
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
    static const unsigned char LEVEL[21][11] = {  // speeds in 5 %
        // ghosts, in the tunnel, Elroy's dots, his speed, and faster; player, under power; blue; seconds, flashes; fruit
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
    static const int WAVES[3][8] = {  // frames, by level 1, 2 to 4, 5 and more; scatter first; the last never ends
        {420, 1200, 420, 1200, 300, 1200, 300}, {420, 1200, 420, 1200, 300, 61980, 1}, {300, 1200, 300, 1200, 300, 62220, 1}};
    static const unsigned char WAITS[3][4] = {{0, 0, 30, 60}, {0, 0, 0, 50}};  // dots, by level 1, 2, 3 and more
    static const signed char DX[4] = {0, -1, 0, 1}, DY[4] = {-1, 0, 1, 0};
    static const signed char AHEAD_X[4] = {-1, -1, 0, 1};                      // with the machine's overflow
    static const short SEAT[4] = {2048, 2048, 1792, 2304};                     // x, as above
    static const signed char CORNER[4][2] = {{27, -3}, {4, -3}, {29, 31}, {2, 31}};  // tile column and row
    // Made from MAZE when pacman.pyx is imported, and constant from then on:
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
    uint8_t[992] EXITS                          # by row * WIDE + column: bits 1 << d, open on that side; NO_UP
    uint8_t[992] DOT_AT                         # the dot's number, or DOTS
    uint32_t[31] WALL_ROW, DOT_ROW              # bits 1 << column
    uint32_t[32] WALL_COLUMN, DOT_COLUMN        # bits 1 << row
    float[33] NEAR                              # 1 / tiles, 0 for 0
    int ctz "__builtin_ctz"(uint32_t bits) nogil
    int clz "__builtin_clz"(uint32_t bits) nogil


ctypedef struct Pacman:
    # By ghost. A ghost goes in a straight line to (to_x, to_y), which is `left` away.
    int16_t[4] to_x, to_y, left, speed, dx, dy
    int16_t[4] x, y         # 1/16 pixel
    uint8_t[4] way, next    # directions: now, and at (to_x, to_y)
    uint8_t[4] phase        # OUT, EYES, SINKS or HOME
    uint8_t[4] blue, reverse    # 0 or 1
    uint8_t[4] count        # dots eaten while it was the first of those who wait
    int32_t score
    int32_t wave_left       # frames
    int16_t px, py          # the player: 1/16 pixel
    int16_t power, fruit, idle  # frames: of power and of the fruit left, since the last dot
    uint8_t facing          # the player's direction
    uint8_t pause, ready    # frames
    uint8_t wave            # 0 .. 7, even ones scatter
    uint8_t chain           # ghosts eaten in this pellet's time
    uint8_t waiting         # bits 1 << ghost
    uint8_t shared, total   # whether one count serves all, and that count
    uint8_t elroy, rests    # 0, 1 or 2 times faster; whether that rests
    uint8_t lives, level, dots  # dots left
    uint8_t[DOTS + 12] dot  # 1 where there is one; one more, always 0
    uint32_t[ROWS] row      # the same as bits 1 << column
    uint32_t[WIDE] column   # and as bits 1 << row


cdef inline void set_speed(Pacman* game, int k) noexcept nogil:
    cdef const uint8_t* level = LEVEL[game.level - 1]
    if game.phase[k] == EYES or game.phase[k] == SINKS:
        game.speed[k] = EYES_SPEED
    elif game.phase[k] == HOME or (game.to_y[k] == HOME_Y and not 8 * TILE <= game.to_x[k] < 24 * TILE):
        game.speed[k] = level[TUNNEL]
    elif game.blue[k]:
        game.speed[k] = level[BLUE]
    else:
        game.speed[k] = level[ELROY - 1 + game.elroy] if k == BLINKY and game.elroy else level[GHOST]


cdef inline void set_elroy(Pacman* game) noexcept nogil:
    cdef int limit = LEVEL[game.level - 1][ELROY_DOTS]
    game.elroy = 0 if game.rests else (game.dots <= limit) + (2 * game.dots <= limit)
    set_speed(game, BLINKY)


cdef inline void go(Pacman* game, int k, int way, int length) noexcept nogil:
    """Send a ghost on from where it was going to."""
    game.way[k] = way
    game.dx[k], game.dy[k] = DX[way], DY[way]
    game.to_x[k] = (game.to_x[k] + DX[way] * length) & ROUND
    game.to_y[k] += DY[way] * length
    game.left[k] += length
    set_speed(game, k)


cdef inline void find_target(const Pacman* game, int k, int* x, int* y) noexcept nogil:
    """The tile that a ghost wants to reach."""
    cdef int column = game.px >> 7, row = game.py >> 7, facing = game.facing, across, down
    x[0], y[0] = column, row
    if game.phase[k] == EYES:
        x[0], y[0] = 15, 11
    elif game.wave & 1 == 0 and not (k == BLINKY and game.elroy):
        x[0], y[0] = CORNER[k][0], CORNER[k][1]
    elif k == PINKY:
        x[0], y[0] = column + 4 * AHEAD_X[facing], row + 4 * DY[facing]
    elif k == INKY:
        x[0] = 2 * (column + 2 * AHEAD_X[facing]) - (game.x[BLINKY] >> 7)
        y[0] = 2 * (row + 2 * DY[facing]) - (game.y[BLINKY] >> 7)
    elif k == CLYDE:
        across, down = column - (game.x[k] >> 7), row - (game.y[k] >> 7)
        if across * across + down * down < 64:
            x[0], y[0] = CORNER[k][0], CORNER[k][1]


cdef inline int choose(const Pacman* game, int k, Rng* rng) noexcept nogil:
    """Which way a ghost will leave the tile that it is going to."""
    cdef int column = game.to_x[k] >> 7, row = game.to_y[k] >> 7
    cdef int exits = EXITS[row * WIDE + column], way, across, down, key, x, y, best = 1 << 30
    cdef int ways = exits & 15 & ~(1 << (game.way[k] ^ 2))
    if exits & NO_UP and game.phase[k] == OUT and not game.blue[k]:
        ways &= ~(1 << UP)
    if ways & (ways - 1) == 0:
        return ctz(ways)
    if game.blue[k]:
        way = rng_below(rng, 4)
        return way if ways >> way & 1 else ctz(ways)
    find_target(game, k, &x, &y)
    for way in range(4):
        across, down = column + DX[way] - x, row + DY[way] - y
        key = (across * across + down * down) * 4 + way
        best = key if ways >> way & 1 and key < best else best
    return best & 3


cdef inline void arrive(Pacman* game, int k, Rng* rng) noexcept nogil:
    """A ghost has come to where it went: what now?"""
    cdef int x = game.to_x[k], y = game.to_y[k], way
    if game.phase[k] == SINKS:
        if y == DOOR_Y:
            go(game, k, DOWN, HOME_Y - DOOR_Y)
            return
        if x != SEAT[k]:
            go(game, k, LEFT if SEAT[k] < x else RIGHT, 2 * TILE)
            return
        game.phase[k] = HOME
    if game.phase[k] == HOME:
        if game.waiting >> k & 1:
            go(game, k, game.way[k] ^ 2, 2 * HALF)
            return
        if x != DOOR_X:
            go(game, k, LEFT if DOOR_X < x else RIGHT, 2 * TILE)
            return
        if y != DOOR_Y:
            go(game, k, UP, y - DOOR_Y)
            return
        game.phase[k] = OUT
        go(game, k, RIGHT if game.reverse[k] else LEFT, HALF)
    elif game.phase[k] == EYES and y == DOOR_Y and DOOR_X - HALF <= x <= DOOR_X + HALF:
        game.phase[k] = SINKS
        go(game, k, RIGHT if x < DOOR_X else LEFT, HALF)
        return
    else:
        way = game.way[k] ^ 2 if game.reverse[k] else game.next[k]
        go(game, k, way, TILE)
    game.reverse[k] = 0
    game.next[k] = choose(game, k, rng)


cdef inline void turn_back(Pacman* game, bint blue) noexcept nogil:
    """All ghosts but eyes, and blue ones stay blue."""
    cdef int k
    for k in range(4):
        if game.phase[k] == OUT or game.phase[k] == HOME:
            game.reverse[k] = 1
            game.blue[k] |= blue
            set_speed(game, k)


cdef inline int wave_frames(const Pacman* game) noexcept nogil:
    return WAVES[0 if game.level == 1 else 1 if game.level < 5 else 2][game.wave]


cdef inline void begin_life(Pacman* game, Rng* rng) noexcept nogil:
    """Put all in their places."""
    cdef int k
    game.px, game.py, game.facing = DOOR_X, START_Y, LEFT
    game.power = game.fruit = game.idle = game.pause = game.wave = game.chain = game.total = 0
    game.wave_left = wave_frames(game)
    game.ready = 1 + <uint8_t>rng_below(rng, 60)
    game.waiting = 1 << PINKY | 1 << INKY | 1 << CLYDE
    set_elroy(game)
    memset(game.blue, 0, 4)
    memset(game.reverse, 0, 4)
    memset(game.left, 0, sizeof(game.left))
    for k in range(4):
        game.phase[k] = HOME
        game.to_x[k], game.to_y[k] = SEAT[k], HOME_Y if k else DOOR_Y
        if k == BLINKY:
            arrive(game, k, rng)
        else:
            go(game, k, DOWN if k == PINKY else UP, HALF)
    place_ghosts(game)


cdef inline void begin_level(Pacman* game, Rng* rng) noexcept nogil:
    memset(game.dot, 1, DOTS)
    memcpy(game.row, DOT_ROW, sizeof(game.row))
    memcpy(game.column, DOT_COLUMN, sizeof(game.column))
    memset(game.count, 0, 4)
    game.dots = DOTS
    game.shared = game.rests = 0
    begin_life(game, rng)


cdef inline void add_points(Pacman* game, int points) noexcept nogil:
    game.lives += game.score < 10_000 <= game.score + points
    game.score += points


cdef inline void release(Pacman* game, int k) noexcept nogil:
    """Let one of those who wait leave the house."""
    game.waiting &= ~(1 << k)
    if k == CLYDE and game.rests:
        game.rests = 0
        set_elroy(game)


cdef inline void count_dot(Pacman* game) noexcept nogil:
    """The house's counts, while anyone waits in it."""
    if not game.shared:
        game.count[ctz(game.waiting)] += 1
        return
    game.total += 1
    if game.total == 7 and game.waiting >> PINKY & 1:
        release(game, PINKY)
    elif game.total == 17 and game.waiting >> INKY & 1:
        release(game, INKY)
    elif game.total == 32 and game.waiting >> CLYDE & 1:
        game.shared = 0


cdef inline void eat_dot(Pacman* game, int dot, Rng* rng) noexcept nogil:
    cdef int column = game.px >> 7, row = game.py >> 7
    cdef bint pellet = dot >= PELLETS
    game.dot[dot] = 0
    game.row[row] &= ~(<uint32_t>1 << column)
    game.column[column] &= ~(<uint32_t>1 << row)
    game.dots -= 1
    game.idle = 0
    game.pause = 3 if pellet else 1
    add_points(game, 50 if pellet else 10)
    if game.waiting:
        count_dot(game)
    if game.dots == DOTS - 70 or game.dots == DOTS - 170:
        game.fruit = 540 + <int16_t>rng_below(rng, 61)
    if pellet:
        game.chain = 0
        game.power = 60 * LEVEL[game.level - 1][SECONDS]
        turn_back(game, game.power > 0)
    set_elroy(game)


cdef inline int toward_middle(int place, int speed) noexcept nogil:
    """How far to drift along an axis, to the middle of the tile."""
    cdef int away = HALF - (place & (TILE - 1))
    return min(max(away, -speed), speed)


cdef inline void move_player(Pacman* game, int action) noexcept nogil:
    cdef int x = game.px, y = game.py, way = game.facing, ahead
    cdef int exits = EXITS[(y >> 7) * WIDE + (x >> 7)]
    cdef int speed = LEVEL[game.level - 1][POWER_PLAYER if game.power > 0 else PLAYER], pace = speed
    if action and (action - 1 == way ^ 2 or exits >> (action - 1) & 1):
        way = game.facing = action - 1
    if not exits >> way & 1:  # closed ahead: not past the middle
        ahead = DX[way] * (HALF - (x & (TILE - 1))) + DY[way] * (HALF - (y & (TILE - 1)))
        pace = min(max(ahead, 0), speed)
    game.px = (x + DX[way] * pace + DY[way] * DY[way] * toward_middle(x, speed)) & ROUND
    game.py = y + DY[way] * pace + DX[way] * DX[way] * toward_middle(y, speed)


cdef inline void keep_house(Pacman* game) noexcept nogil:
    """Let the first of those who wait leave, if it is time."""
    cdef int first = ctz(game.waiting)
    game.idle += 1
    if not game.shared and game.count[first] >= WAITS[min(game.level, 3) - 1][first]:
        release(game, first)
    elif game.idle >= (240 if game.level < 5 else 180):
        game.idle = 0
        release(game, first)


cdef inline void run_clocks(Pacman* game) noexcept nogil:
    """Power, or else the waves; and the fruit."""
    cdef int k
    if game.fruit > 0:
        game.fruit -= 1
    if game.power > 0:
        game.power -= 1
        if game.power == 0:
            memset(game.blue, 0, 4)
            for k in range(4):
                set_speed(game, k)
    elif game.wave < LAST_WAVE:
        game.wave_left -= 1
        if game.wave_left == 0:
            game.wave += 1
            game.wave_left = wave_frames(game)
            turn_back(game, False)


cdef inline void place_ghosts(Pacman* game) noexcept nogil:
    cdef int k
    for k in range(4):
        game.x[k] = (game.to_x[k] - game.dx[k] * game.left[k]) & ROUND
        game.y[k] = game.to_y[k] - game.dy[k] * game.left[k]


cdef inline void move_ghosts(Pacman* game, Rng* rng) noexcept nogil:
    cdef int k
    for k in range(4):
        game.left[k] -= game.speed[k]
    for k in range(4):
        if game.left[k] <= 0:
            arrive(game, k, rng)
    place_ghosts(game)


cdef inline bint meet_ghosts(Pacman* game) noexcept nogil:
    """Eat the blue ghosts that are in the player's tile; True if another one is."""
    cdef int k
    for k in range(4):
        if game.phase[k] == OUT and ((game.x[k] ^ game.px) | (game.y[k] ^ game.py)) < TILE:
            if not game.blue[k]:
                return True
            game.phase[k], game.blue[k], game.reverse[k] = EYES, 0, 0
            set_speed(game, k)
            add_points(game, 200 << game.chain)
            game.chain += 1
    return False

"""How Pac-Man's ghosts decide where they go, and how fast. The rules are in prose in pacman.pyx.

Ghosts move in legs: straight from the middle of a tile to the middle of the next, or from corner to corner on their way
through the house. A frame only shortens the rest of each leg. A ghost decides only at the end of a leg, in `arrive`.
"""

from libc.stdint cimport uint8_t

from envs_c.games.pacman.maze cimport (
    AHEAD_X, BLINKY, BLUE, CLYDE, CORNER, DOOR_X, DOOR_Y, DOWN, DX, DY, ELROY, ELROY_DOTS, EXITS, EYES, EYES_SPEED, GHOST, HALF,
    HOME, HOME_Y, INKY, LEFT, LEVEL, NO_UP, OUT, PINKY, RIGHT, ROUND, SEAT, SINKS, TILE, TUNNEL, UP, WIDE, Pacman, ctz)
from envs_c.rng cimport Rng, rng_below


cdef inline void set_speed(Pacman* game, int k) noexcept nogil:
    """Set the speed of ghost k by its phase and place."""
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
    """Set Elroy by the dots left, and Blinky's speed."""
    cdef int limit = LEVEL[game.level - 1][ELROY_DOTS]
    game.elroy = 0 if game.rests else (game.dots <= limit) + (2 * game.dots <= limit)
    set_speed(game, BLINKY)


cdef inline void go(Pacman* game, int k, int way, int length) noexcept nogil:
    """Begin ghost k's next leg, in direction `way`, at the end of its last one."""
    game.way[k] = way
    game.dx[k], game.dy[k] = DX[way], DY[way]
    game.to_x[k] = (game.to_x[k] + DX[way] * length) & ROUND
    game.to_y[k] += DY[way] * length
    game.left[k] += length
    set_speed(game, k)


cdef inline void find_target(const Pacman* game, int k, int* x, int* y) noexcept nogil:
    """Set (x, y) to the tile that ghost k wants to reach."""
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
    """The direction in which ghost k will leave the tile that it is going to."""
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
    """Begin the next leg of ghost k, which has reached the end of its last one."""
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
    """Turn all ghosts back except eyes; if `blue`, make them blue, too."""
    cdef int k
    for k in range(4):
        if game.phase[k] == OUT or game.phase[k] == HOME:
            game.reverse[k] = 1
            game.blue[k] |= blue
            set_speed(game, k)

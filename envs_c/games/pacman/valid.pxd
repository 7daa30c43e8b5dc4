"""The check of a restored game of Pac-Man. Ghosts must be on legs from which `arrive` leads them on through maze and house."""

from envs_c.games.pacman.maze cimport (
    DOOR_X, DOOR_Y, DOTS, DOWN, DX, DY, EXITS, EYES, EYES_SPEED, HALF, HOME, HOME_Y, LAST_WAVE, LEVELS, OUT, ROUND, ROWS, SEAT,
    SINKS, TILE, UP, WIDE, Pacman, rules_of)
from envs_c.valid cimport between


cdef enum:
    EXTRA_LIFE = 1, GHOSTS = 4
    MOST_READY = 60, MOST_POWER = 360, MOST_FRUIT = 600, MOST_IDLE = 240, LONGEST_WAVE = 62220  # frames
    MOST_POINTS = 10_000_000
    LONGEST_LEG = HOME_Y + HALF - DOOR_Y


cdef inline int exits_at(int x, int y) noexcept nogil:
    """The open directions of the tile at this place; 0 in walls and outside the maze."""
    if not between(x, 0, ROUND) or not between(y, 0, ROWS * TILE - 1):
        return 0
    return EXITS[(y >> 7) * WIDE + (x >> 7)]


cdef inline bint in_maze(const Pacman* game, int k) noexcept nogil:
    """True if ghost k goes to the middle of an open tile, from an open one to an open one."""
    cdef int x = game.to_x[k], y = game.to_y[k], exits = exits_at(x, y)
    return (x & y & (TILE - 1) == HALF and (x | y) & (HALF - 1) == 0 and game.left[k] <= TILE
            and exits >> game.next[k] & 1 and exits >> (game.way[k] ^ 2) & 1)


cdef inline bint in_house(const Pacman* game, int k) noexcept nogil:
    """True if ghost k goes to a corner of its way through the house."""
    cdef int x = game.to_x[k], y = game.to_y[k]
    if game.phase[k] == SINKS:
        return (x == DOOR_X and y == DOOR_Y) or ((x == DOOR_X or x == SEAT[k]) and y == HOME_Y)
    if game.waiting >> k & 1:
        return x == SEAT[k] and (y == HOME_Y - HALF and game.way[k] == UP or y == HOME_Y + HALF and game.way[k] == DOWN)
    return (x == DOOR_X and y == DOOR_Y) or (
        (x == DOOR_X or x == SEAT[k]) and (y == HOME_Y or y == HOME_Y - HALF or y == HOME_Y + HALF))


cdef inline bint has_ghost(const Pacman* game, int k) noexcept nogil:
    """True if ghost k is on its leg."""
    if game.way[k] > 3 or game.next[k] > 3 or game.phase[k] > HOME or game.blue[k] > 1 or game.reverse[k] > 1:
        return False
    if game.dx[k] != DX[game.way[k]] or game.dy[k] != DY[game.way[k]] or not between(game.speed[k], 0, EYES_SPEED):
        return False
    if not between(game.left[k], 1, LONGEST_LEG) or game.x[k] != ((game.to_x[k] - game.dx[k] * game.left[k]) & ROUND) or (
            game.y[k] != game.to_y[k] - game.dy[k] * game.left[k]):
        return False
    if game.phase[k] == OUT or game.phase[k] == EYES:
        return not game.waiting >> k & 1 and in_maze(game, k)
    return in_house(game, k)


cdef inline bint has_dots(const Pacman* game, bint over) noexcept nogil:
    cdef int k
    for k in range(<int>sizeof(game.dot)):
        if game.dot[k] > (k < DOTS):
            return False
    return between(game.dots, 1 - over, DOTS)


cdef inline bint has_clocks(const Pacman* game) noexcept nogil:
    return (between(game.power, 0, MOST_POWER) and between(game.fruit, 0, MOST_FRUIT) and between(game.idle, 0, MOST_IDLE)
            and game.ready <= MOST_READY and game.wave <= LAST_WAVE
            and between(game.wave_left, game.wave < LAST_WAVE, LONGEST_WAVE))


cdef inline bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if the player is in the maze, the ghosts are on their legs, and all counts are in their ranges."""
    cdef const Pacman* game = <const Pacman*>state
    cdef int k
    for k in range(GHOSTS):
        if not has_ghost(game, k):
            return False
    return (game.facing <= 3 and exits_at(game.px, game.py) != 0 and between(game.lives, 1 - over, <int>options[0] + EXTRA_LIFE)
            and between(game.level, <int>options[1], LEVELS) and between(game.score, 0, MOST_POINTS)
            and game.rules == rules_of(options) and game.chain <= GHOSTS and game.elroy <= 2 and game.shared <= 1
            and game.rests <= 1 and game.waiting & 1 == 0 and game.waiting < 16 and has_clocks(game) and has_dots(game, over))

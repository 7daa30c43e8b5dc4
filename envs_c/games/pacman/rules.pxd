"""How Pac-Man moves, eats and meets ghosts, how the house lets ghosts out, and how lives and levels begin.

The rules are in prose in pacman.pyx.
"""

from libc.stdint cimport int16_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.games.pacman.ghosts cimport arrive, go, set_elroy, set_speed, turn_back
from envs_c.games.pacman.maze cimport (
    BLINKY, CLYDE, DOOR_X, DOOR_Y, DOTS, DOT_COLUMN, DOT_ROW, DOWN, DX, DY, EXITS, EYES, HALF, HOME, HOME_Y, INKY, LAST_WAVE,
    LEFT, LEVEL, OUT, PELLETS, PINKY, PLAYER, POWER_PLAYER, ROUND, SEAT, SECONDS, START_Y, TILE, UP, WAITS, WAVES, WIDE, Pacman,
    ctz)
from envs_c.rng cimport Rng, rng_below


cdef inline int wave_frames(const Pacman* game) noexcept nogil:
    """Length of the current wave."""
    return WAVES[0 if game.level == 1 else 1 if game.level < 5 else 2][game.wave]


cdef inline void begin_life(Pacman* game, Rng* rng) noexcept nogil:
    """Put the player and the ghosts in their places."""
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
    """Fill the maze with dots and begin a life."""
    memset(game.dot, 1, DOTS)
    memcpy(game.row, DOT_ROW, sizeof(game.row))
    memcpy(game.column, DOT_COLUMN, sizeof(game.column))
    memset(game.count, 0, 4)
    game.dots = DOTS
    game.shared = game.rests = 0
    begin_life(game, rng)


cdef inline void add_points(Pacman* game, int points) noexcept nogil:
    """Add points, and a life at 10,000."""
    game.lives += game.score < 10_000 <= game.score + points
    game.score += points


cdef inline void release(Pacman* game, int k) noexcept nogil:
    """Let the waiting ghost k leave the house."""
    game.waiting &= ~(1 << k)
    if k == CLYDE and game.rests:
        game.rests = 0
        set_elroy(game)


cdef inline void count_dot(Pacman* game) noexcept nogil:
    """Count an eaten dot for the house. At least one ghost must be waiting."""
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
    """Eat the dot with this number in the player's tile."""
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
    """The drift along an axis towards the middle of the tile, at most `speed`."""
    cdef int away = HALF - (place & (TILE - 1))
    return min(max(away, -speed), speed)


cdef inline void move_player(Pacman* game, int action) noexcept nogil:
    """Turn the player by the action, if the way is open, and move him."""
    cdef int x = game.px, y = game.py, way = game.facing, ahead
    cdef int exits = EXITS[(y >> 7) * WIDE + (x >> 7)]
    cdef int speed = LEVEL[game.level - 1][POWER_PLAYER if game.power > 0 else PLAYER], pace = speed
    if action and (action - 1 == way ^ 2 or exits >> (action - 1) & 1):
        way = game.facing = action - 1
    if not exits >> way & 1:  # a wall ahead: not past the middle
        ahead = DX[way] * (HALF - (x & (TILE - 1))) + DY[way] * (HALF - (y & (TILE - 1)))
        pace = min(max(ahead, 0), speed)
    game.px = (x + DX[way] * pace + DY[way] * DY[way] * toward_middle(x, speed)) & ROUND
    game.py = y + DY[way] * pace + DX[way] * DX[way] * toward_middle(y, speed)


cdef inline void keep_house(Pacman* game) noexcept nogil:
    """Let the first of the waiting ghosts leave, if it is time. At least one must be waiting."""
    cdef int first = ctz(game.waiting)
    game.idle += 1
    if not game.shared and game.count[first] >= WAITS[min(game.level, 3) - 1][first]:
        release(game, first)
    elif game.idle >= (240 if game.level < 5 else 180):
        game.idle = 0
        release(game, first)


cdef inline void run_clocks(Pacman* game) noexcept nogil:
    """Advance the clocks of the fruit and of power, or of the waves if there is no power."""
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
    """Set x and y of all ghosts from their legs."""
    cdef int k
    for k in range(4):
        game.x[k] = (game.to_x[k] - game.dx[k] * game.left[k]) & ROUND
        game.y[k] = game.to_y[k] - game.dy[k] * game.left[k]


cdef inline void move_ghosts(Pacman* game, Rng* rng) noexcept nogil:
    """One frame of all ghosts; they see one another at the places of the previous frame."""
    cdef int k
    for k in range(4):
        game.left[k] -= game.speed[k]
    for k in range(4):
        if game.left[k] <= 0:
            arrive(game, k, rng)
    place_ghosts(game)


cdef inline bint meet_ghosts(Pacman* game) noexcept nogil:
    """Eat the blue ghosts in the player's tile; True if a ghost that is not blue is there."""
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

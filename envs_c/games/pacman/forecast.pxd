"""Pac-Man's option forecast: features that say where the four ways lead, how near the ghosts are, and how safe each way is."""

from libc.stdint cimport int16_t, uint8_t
from libc.string cimport memcpy, memset

from envs_c.games.pacman.maze cimport (
    DOOR_X, DOTS, DOT_AT, DX, DY, EXITS, FRUIT_Y, OUT, PELLETS, ROWS, TILE, WIDE, Pacman)


cdef enum:
    FORECAST_FEATURES = 36
    # The first of each four features, which are for up, left, down and right
    DOT = 0, DOT_NEAR = 4, PELLET = 8, DANGER = 12, PREY = 16, FRUIT_NEAR = 20, AREA = 24, DEPTH = 28, CLOSED_OFF = 32
    DOT_REACH = 30, PELLET_REACH = 20, DANGER_REACH = 12, PREY_REACH = 20   # tiles; no nearness beyond
    LARGE = 40                  # tiles of a safe area that counts as 1
    DEEPEST = 24                # tiles; the safe area is not followed further
    OPEN_TILES = 340            # with those of the tunnel
    WALL = OPEN_TILES           # stands for all walls where a tile's number is expected
    ANY = 4                     # in place of a direction: the first step may be in each
    NONE = 255                  # tiles to something that is not there

cdef extern from *:
    """
    // Open tiles have numbers: a tile with a dot at the start has the dot's; the others follow, in reading order.
    // Made by `lay_paths` when pacman.pyx is imported, then constant:
    static short TILE_AT[992], NEXT_TILE[341][4];
    static unsigned char AWAY[341][5][340];
    """
    int16_t[992] TILE_AT                    # [row * WIDE + column]: the tile's number, or WALL
    int16_t[OPEN_TILES + 1][4] NEXT_TILE    # [tile or WALL][direction]: its neighbour's number, or WALL
    # [from][direction][to]: tiles to go for one who looks in this direction, as his first step is not back; NONE from WALL
    uint8_t[OPEN_TILES + 1][5][OPEN_TILES] AWAY


cdef inline void measure(int start, int back, uint8_t* away) noexcept nogil:
    """Set, for each tile, the tiles to go from `start` if the first step is not in direction `back`."""
    cdef int16_t[OPEN_TILES] queue
    cdef int head = 0, tail = 1, tile, way, to
    memset(away, NONE, OPEN_TILES)
    away[start] = 0
    queue[0] = <int16_t>start
    while head < tail:
        tile = queue[head]
        head += 1
        for way in range(4):
            to = NEXT_TILE[tile][way]
            if to != WALL and away[to] == NONE and not (tile == start and way == back):
                away[to] = away[tile] + 1
                queue[tail] = <int16_t>to
                tail += 1


cdef inline void lay_paths() noexcept nogil:
    """Fill the tables. Those that are made from MAZE must be filled."""
    cdef int at, way, tile, others = DOTS
    for at in range(ROWS * WIDE):
        TILE_AT[at] = WALL
        if DOT_AT[at] < DOTS:
            TILE_AT[at] = DOT_AT[at]
        elif EXITS[at]:
            TILE_AT[at] = <int16_t>others
            others += 1
    for at in range(ROWS * WIDE):
        tile = TILE_AT[at]
        if tile != WALL:
            for way in range(4):
                NEXT_TILE[tile][way] = WALL
                if EXITS[at] >> way & 1:
                    NEXT_TILE[tile][way] = TILE_AT[(at // WIDE + DY[way]) * WIDE + ((at + DX[way]) & (WIDE - 1))]
    for way in range(4):
        NEXT_TILE[WALL][way] = WALL
    memset(AWAY[WALL], NONE, sizeof(AWAY[WALL]))
    for tile in range(OPEN_TILES):
        for way in range(ANY + 1):
            measure(tile, way ^ 2, AWAY[tile][way])     # ANY ^ 2 is no direction


cdef inline int tile_of(int x, int y) noexcept nogil:
    """The number of the tile at a place in 1/16 pixel."""
    return TILE_AT[y // TILE * WIDE + x // TILE]


cdef inline void find_ghosts(const Pacman* game, uint8_t* danger, uint8_t* prey) noexcept nogil:
    """Set, for each tile, how many tiles the nearest ghost that is a danger has to go to it, and the nearest blue one."""
    cdef const uint8_t* away
    cdef uint8_t* nearest
    cdef int k, tile
    memset(danger, NONE, OPEN_TILES)
    memset(prey, NONE, OPEN_TILES)
    for k in range(4):
        if game.phase[k] == OUT:
            away = AWAY[tile_of(game.x[k], game.y[k])][ANY if game.blue[k] else game.way[k]]
            nearest = prey if game.blue[k] else danger
            for tile in range(OPEN_TILES):
                nearest[tile] = min(nearest[tile], away[tile])


cdef inline void find_safety(int here, const uint8_t* danger, int* area, int* depth) noexcept nogil:
    """Count the tiles that the player reaches before a ghost, by the way on which he leaves his tile.

    here: the player's tile.
    danger: tiles that a ghost has to go, by tile.
    area: by way, the number of safe tiles.
    depth: by way, the most tiles that the player has to go to one of them.
    """
    cdef uint8_t[OPEN_TILES + 1] limit      # a tile is safe if it is more than the player's steps to it + 1; 0 in the queue
    cdef int16_t[OPEN_TILES + 1] queue      # safe tiles
    cdef uint8_t[OPEN_TILES + 1] steps, first       # by place in the queue; first: the way that the player took at first
    cdef int head = 0, tail = 1, way, to, safe, gone, k
    memcpy(limit, danger, OPEN_TILES)
    limit[here] = limit[WALL] = 0
    queue[0], steps[0] = <int16_t>here, 0
    while head < tail and steps[head] < DEEPEST:
        gone = steps[head]
        for way in range(4):    # without branches, as a processor could not predict them
            to = NEXT_TILE[queue[head]][way]
            safe = limit[to] > gone + 2
            limit[to] &= <uint8_t>(safe - 1)
            queue[tail], steps[tail] = <int16_t>to, <uint8_t>(gone + 1)
            first[tail] = <uint8_t>way if head == 0 else first[head]
            tail += safe
        head += 1
    for way in range(4):
        area[way] = depth[way] = 0
        for k in range(1, tail):
            area[way] += first[k] == way
            depth[way] = max(depth[way], steps[k] * (first[k] == way))


cdef inline int nearest_dot(const Pacman* game, int tile, int first, int end) noexcept nogil:
    """Tiles to go from a tile to the nearest dot that is left of those numbered `first` .. `end` - 1."""
    cdef const uint8_t* away = AWAY[tile][ANY]
    cdef int k, tiles, nearest = NONE
    for k in range(first, end):
        tiles = away[k] if game.dot[k] else NONE
        nearest = tiles if tiles < nearest else nearest
    return nearest


cdef inline float nearness(int away, int reach) noexcept nogil:
    """1 at 0 tiles, 0 from `reach` on."""
    return max(1 - away / <float>reach, <float>0)


cdef inline void forecast(const Pacman* game, float* features) noexcept nogil:
    """Write FORECAST_FEATURES float32. pacman.pyx says what they are."""
    cdef uint8_t[OPEN_TILES] danger, prey
    cdef int[4] area, depth
    cdef int here = tile_of(game.px, game.py), way, tile, dot
    memset(features, 0, FORECAST_FEATURES * sizeof(float))
    find_ghosts(game, danger, prey)
    find_safety(here, danger, area, depth)
    for way in range(4):
        tile = NEXT_TILE[here][way]
        if tile == WALL:
            continue
        dot = nearest_dot(game, tile, 0, PELLETS)
        features[DOT + way] = 1 / <float>(1 + dot) if dot < NONE else <float>0
        features[DOT_NEAR + way] = nearness(dot, DOT_REACH)
        features[PELLET + way] = nearness(nearest_dot(game, tile, PELLETS, DOTS), PELLET_REACH)
        features[DANGER + way] = nearness(danger[tile], DANGER_REACH)
        features[PREY + way] = nearness(prey[tile], PREY_REACH)
        if game.fruit > 0:
            features[FRUIT_NEAR + way] = 1 / <float>(1 + AWAY[tile][ANY][tile_of(DOOR_X, FRUIT_Y)])
        features[AREA + way] = min(area[way] / <float>LARGE, <float>1)
        features[DEPTH + way] = depth[way] / <float>DEEPEST
        features[CLOSED_OFF + way] = area[way] == 0

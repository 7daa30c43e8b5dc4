"""Cave: fly through a cave that grows narrower.

Cave. The screen shows 28 columns of 28 tiles. Every frame the cave moves one column to the left and a new one comes in at
the right: its ceiling is 0 or 1 tile higher or lower than the last one's, at random, as far as a tile of rock is left above
and below. The gap between ceiling and floor is 16 tiles at first and grows 1 tile narrower every 64 columns, down to 6.

Ship. It stays in column 5. Its height is kept to 1/8 tile. THRUST makes it climb by 1/8 tile a frame more than before, COAST
makes it fall by 1/8 tile a frame more; it climbs or falls by at most 1 tile a frame.

Points. A point a column. The episode ends when the ship's tile is rock. It is truncated after 2,000 frames.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t

from envs_c import register

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport Canvas, canvas_swap, canvas_rect


cdef enum:
    COAST, THRUST
    SIDE = 28              # tiles of the screen
    TILE = 6               # pixels: 3 x 3 of the 84 x 84 grey ones
    SHIP = 5               # its column
    AHEAD = 8              # columns that the features show
    EIGHTHS = 8            # of a tile
    WIDE = 16, NARROW = 6  # tiles of the gap
    EVERY = 64             # columns until it grows narrower
    ROCK = 0x604838, SKY = 0xB8D0E8, HULL = 0xC02020


ctypedef struct Cave:
    uint8_t[SIDE] ceiling  # the first open tile of each column, from the left
    uint8_t[SIDE] floor    # the first tile of rock below it
    int16_t height         # 1/8 tiles from the top
    int16_t speed          # 1/8 tiles a frame, downwards
    int32_t columns        # that have gone by


cdef inline void add_column(Cave* cave, Rng* rng) noexcept nogil:
    """Move all columns one to the left and make a new last one."""
    cdef int k, gap = max(WIDE - cave.columns // EVERY, NARROW)
    cdef int ceiling = cave.ceiling[SIDE - 1] + <int>rng_below(rng, 3) - 1
    for k in range(SIDE - 1):
        cave.ceiling[k] = cave.ceiling[k + 1]
        cave.floor[k] = cave.floor[k + 1]
    ceiling = min(max(ceiling, 1), SIDE - 1 - gap)
    cave.ceiling[SIDE - 1] = <uint8_t>ceiling
    cave.floor[SIDE - 1] = <uint8_t>(ceiling + gap)


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Cave* cave = <Cave*>state
    cdef int k, _column
    for k in range(SIDE):
        cave.ceiling[k] = (SIDE - WIDE) // 2
        cave.floor[k] = (SIDE + WIDE) // 2
    cave.height = EIGHTHS * SIDE // 2
    cave.speed = 0
    cave.columns = 0
    for _column in range(SIDE // 4):  # the ship begins before a straight piece
        add_column(cave, rng)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Cave* cave = <Cave*>state
    cdef int tile
    cave.speed += -1 if action == THRUST else 1
    cave.speed = min(max(cave.speed, -EIGHTHS), EIGHTHS)
    cave.height = min(max(cave.height + cave.speed, 0), EIGHTHS * SIDE - 1)
    cave.columns += 1
    add_column(cave, rng)
    tile = cave.height // EIGHTHS
    over[0] = not cave.ceiling[SHIP] <= tile < cave.floor[SHIP]
    return 1.0


cdef void observe(const void* state, void* out) noexcept nogil:
    """0 speed, 1 place between ceiling and floor, -1 .. 1; then of columns 1 .. 8 ahead of the ship the ceiling and the floor
    from the ship, in units of 8 tiles."""
    cdef const Cave* cave = <const Cave*>state
    cdef float* features = <float*>out
    cdef float place = cave.height * <float>(1.0 / EIGHTHS) + <float>0.0625  # the middle of its eighth
    cdef int k, ceiling = cave.ceiling[SHIP], floor = cave.floor[SHIP]
    features[0] = cave.speed * <float>(1.0 / EIGHTHS)
    features[1] = (2 * place - ceiling - floor) / (floor - ceiling)
    for k in range(AHEAD):
        features[2 + 2 * k] = (cave.ceiling[SHIP + 1 + k] - place) * <float>(1.0 / 8)
        features[3 + 2 * k] = (cave.floor[SHIP + 1 + k] - place) * <float>(1.0 / 8)


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 0, SIDE * TILE, SIDE * TILE, ROCK)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Cave* cave = <const Cave*>state
    cdef int k
    for k in range(SIDE):
        canvas_swap(canvas, k * TILE, cave.ceiling[k] * TILE, TILE, (cave.floor[k] - cave.ceiling[k]) * TILE, ROCK, SKY)
    canvas_rect(canvas, SHIP * TILE, cave.height // EIGHTHS * TILE, TILE, TILE, HULL)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Cave), states, io, lo, hi)


GAME = Game(
    name="cave", title="Cave", version=1, summary="Fly through a cave that grows narrower.",
    actions=("COAST", "THRUST"), feature_shape=(2 + 2 * AHEAD,), feature_low=-4, feature_high=4,
    screen=(SIDE * TILE, SIDE * TILE), time_limit=2000, fps=15,
).bind(chunk, backdrop, draw, sizeof(Cave))
register(GAME)

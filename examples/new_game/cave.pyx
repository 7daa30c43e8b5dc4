"""Cave: fly through a cave that grows narrower.

Cave. The screen shows 28 columns of 28 tiles. Every frame the cave moves one column to the left, and a new column enters at
the right. The new ceiling is at random 1 tile higher, equal or 1 tile lower than the last one, but at least one tile of rock
stays above and below the gap. The gap between ceiling and floor is 16 tiles at first. Every 64 columns it becomes 1 tile
narrower, down to 6.

Ship. It stays in column 5. Its height is measured in eighths of a tile. THRUST changes its speed by 1/8 tile per frame
upwards, COAST by 1/8 tile per frame downwards. Its speed is at most 1 tile per frame.

Points. Each column gives 1 point. The episode ends when the ship is in a tile of rock. It is truncated after 2,000 frames.
"""

from libc.stdint cimport int16_t, int32_t, uint8_t

from envs_c import register
from envs_c.game import Feature

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport Canvas, canvas_swap, canvas_rect
from envs_c.valid cimport between


cdef enum:
    COAST, THRUST
    SIDE = 28              # columns, and tiles of a column
    TILE = 6               # pixels: a tile covers 3 x 3 of the 84 x 84 grey ones
    SHIP = 5               # the ship's column
    AHEAD = 8              # columns that the features show
    EIGHTHS = 8            # units of height in a tile
    WIDE = 16, NARROW = 6  # tiles of the gap
    EVERY = 64             # columns until the gap becomes narrower
    MOST_COLUMNS = 2_000_000_000  # in a state; int32 holds some more
    ROCK = 0x604838, SKY = 0xB8D0E8, HULL = 0xC02020


ctypedef struct Cave:
    uint8_t[SIDE] ceiling  # the first open tile of each column, columns from the left
    uint8_t[SIDE] floor    # the first tile of rock below it
    int16_t height         # of the ship, in 1/8 tiles from the top
    int16_t speed          # in 1/8 tiles per frame, downwards
    int32_t columns        # that the ship has passed


cdef inline void add_column(Cave* cave, Rng* rng) noexcept nogil:
    """Move all columns one to the left and make a new last column."""
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
    for _column in range(SIDE // 4):  # the first columns ahead of the ship are straight
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
    """The features that Game(features=...) lists below."""
    cdef const Cave* cave = <const Cave*>state
    cdef float* features = <float*>out
    cdef float place = cave.height * <float>(1.0 / EIGHTHS) + <float>0.0625  # in tiles: the middle of its eighth
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


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    cdef const Cave* cave = <const Cave*>state
    cdef int k
    for k in range(SIDE):
        if not (cave.ceiling[k] >= 1 and cave.floor[k] < SIDE and between(cave.floor[k] - cave.ceiling[k], NARROW, WIDE)):
            return False
    return (between(cave.height, 0, EIGHTHS * SIDE - 1) and between(cave.speed, -EIGHTHS, EIGHTHS)
            and between(cave.columns, 0, MOST_COLUMNS))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Cave), states, io, lo, hi)


GAME = Game(
    name="cave", title="Cave", version=1, summary="Fly through a cave that grows narrower.",
    actions=("COAST", "THRUST"), feature_shape=(2 + 2 * AHEAD,), feature_low=-4, feature_high=4,
    screen=(SIDE * TILE, SIDE * TILE), time_limit=2000, fps=15,
    features=(
        Feature("speed", -1, 1, help="tiles per frame, downwards"),
        Feature("place in the gap", -2, 2, help="-1 at the ceiling, 1 at the floor, beyond them in the rock"),
        *(Feature(f"{edge} {column} ahead", -3.5, 3.5, help="from the ship, downwards, in units of 8 tiles")
          for column in range(1, AHEAD + 1) for edge in ("ceiling", "floor")),
    ),
).bind(chunk, backdrop, draw, sizeof(Cave), has_mask=False, valid=valid)
register(GAME)

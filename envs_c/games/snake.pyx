"""Snake, on square boards of 4x4 to 20x20 cells.

Board. `size` cells a side. Cell (x, y) counts from the top left, x to the right and y down. The snake is a chain of cells,
each next to the one before. It begins 3 cells long in row size // 2, heading right: its head at x = size // 2, the others
left of it. One food lies on a cell that the snake does not cover; all such cells are equally likely.

Screen. 168x168 pixels: the board between walls, or inside a dark edge with option `wrap`. The head and the food have
colours of their own.

Actions. UP, LEFT, DOWN and RIGHT turn the head. The action opposite to the heading changes nothing. Then the snake moves
one cell in its heading:

  - Onto the food: the snake grows by one cell, its tail stays, and new food is placed.
  - Else: the tail leaves its cell before the head enters a cell, so the head may follow the tail.

Walls stand around the board. With option `wrap` there are none: a head that leaves the board enters it at the opposite
side.

Points. Each food gives 1.

End. The episode ends if the head would enter a wall or the snake (which then does not move), if the snake covers the board,
or if it starves: after `patience` * size * size moves in a row without food. (With patience 1, a snake that goes round over
all cells still reaches every food in time.)
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of
from envs_c.valid cimport between
from envs_c.game import Feature, Option


cdef enum:
    UP, LEFT, DOWN, RIGHT
    MAX_SIZE = 20, MAX_CELLS = MAX_SIZE * MAX_SIZE
    START_LENGTH = 3
    ROW = 256                           # place (x, y) is stored as y * ROW + x
    BLOCKED = 4, FOOD = 8, BOARD = 12   # indices in the features, after the heading; BOARD: the first of three planes
    SIDE = 2 * SMALL                    # screen pixels
    FIELD = 0x14261C, WALL = 0x9A8F80, EDGE = 0x2C4436, BODY = 0x2E8B4A, HEAD = 0xD6F07A, APPLE = 0xFF7A66

cdef extern from *:
    """
    #define count_ones __builtin_popcountll
    static const short STEP_X[4] = {0, -1, 0, 1};
    static const short STEP_Y[4] = {-1, 0, 1, 0};
    """
    int count_ones(uint64_t x) noexcept nogil
    const int16_t[4] STEP_X, STEP_Y


ctypedef struct Snake:
    int32_t hunger, limit         # moves since the last food; moves until the snake starves
    int16_t cells, length         # cells of the board, of the snake
    int16_t tail                  # index of the tail in `ring`
    uint16_t head, food           # places
    uint8_t size, wrap, heading
    # The observation, kept up to date: heading, blocked, food, then three planes of `cells` bytes: snake, head, food.
    uint8_t[BOARD + 3 * MAX_CELLS] seen
    uint16_t[MAX_CELLS] ring      # the snake's places from `tail` to the head; index 0 follows `cells` - 1


cdef inline int cell_of(const Snake* game, int place) noexcept nogil:
    """Index of a place's cell in a plane."""
    return (place >> 8) * game.size + (place & 255)


cdef inline int beside(const Snake* game, int place, int way) noexcept nogil:
    """The neighbour of a place in a direction, or -1 if a wall is there."""
    cdef int x = (place & 255) + STEP_X[way], y = (place >> 8) + STEP_Y[way], last = game.size - 1
    if 0 <= x <= last and 0 <= y <= last:
        return y * ROW + x
    if not game.wrap:
        return -1
    x = last if x < 0 else 0 if x > last else x
    y = last if y < 0 else 0 if y > last else y
    return y * ROW + x


cdef inline bint deadly(const Snake* game, int place) noexcept nogil:
    """True if the head would die there in the next move: a wall, or the snake but for its tail, which moves away."""
    return place < 0 or (game.seen[BOARD + cell_of(game, place)] and place != game.ring[game.tail])


cdef inline void lay_food(Snake* game, Rng* rng) noexcept nogil:
    """Place food on a random free cell; free cells are numbered row by row."""
    cdef const uint8_t* taken = game.seen + BOARD
    cdef int left = <int>rng_below(rng, game.cells - game.length), cell = 0, free
    cdef uint64_t eight
    memcpy(&eight, taken, 8)
    free = 8 - count_ones(eight)
    while left >= free:
        left -= free
        cell += 8
        memcpy(&eight, taken + cell, 8)
        free = 8 - count_ones(eight)
    while taken[cell] or left:
        left -= not taken[cell]
        cell += 1
    game.food = <uint16_t>(cell // game.size * ROW + cell % game.size)
    game.seen[BOARD + 2 * game.cells + cell] = 1


cdef inline void look(Snake* game) noexcept nogil:
    """Update the first 12 features."""
    cdef int way, right, down, half = game.size >> 1
    for way in range(4):
        game.seen[way] = game.heading == way
        game.seen[BLOCKED + way] = deadly(game, beside(game, game.head, way))
    right = (game.food & 255) - (game.head & 255)
    down = (game.food >> 8) - (game.head >> 8)
    if game.wrap:  # the shorter way round
        right = right - game.size if right > half else right + game.size if right < -half else right
        down = down - game.size if down > half else down + game.size if down < -half else down
    game.seen[FOOD + UP] = down < 0
    game.seen[FOOD + LEFT] = right < 0
    game.seen[FOOD + DOWN] = down > 0
    game.seen[FOOD + RIGHT] = right > 0


cdef inline void enter(Snake* game, int place) noexcept nogil:
    """Move the head to a place, which makes the snake one cell longer."""
    cdef int end = game.tail + game.length
    cdef uint8_t* heads = game.seen + BOARD + game.cells
    heads[cell_of(game, game.head)] = 0
    heads[cell_of(game, place)] = 1
    game.seen[BOARD + cell_of(game, place)] = 1
    game.ring[end if end < game.cells else end - game.cells] = <uint16_t>place
    game.head = <uint16_t>place
    game.length += 1


cdef inline void drop_tail(Snake* game) noexcept nogil:
    game.seen[BOARD + cell_of(game, game.ring[game.tail])] = 0
    game.tail = game.tail + 1 if game.tail + 1 < game.cells else 0
    game.length -= 1


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Snake* game = <Snake*>state
    cdef int size = <int>options[0], x
    game.size, game.wrap = <uint8_t>size, options[1] != 0
    game.cells = <int16_t>(size * size)
    game.limit = <int>options[2] * game.cells
    game.hunger, game.tail, game.length = 0, 0, 0
    game.heading = RIGHT
    game.head = 0
    memset(game.seen, 0, BOARD + 3 * game.cells)
    for x in range(size // 2 + 1 - START_LENGTH, size // 2 + 1):
        enter(game, size // 2 * ROW + x)
    lay_food(game, rng)
    look(game)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Snake* game = <Snake*>state
    cdef float reward = 0.0
    cdef int place
    if action != game.heading ^ 2:  # straight back
        game.heading = <uint8_t>action
    place = beside(game, game.head, game.heading)
    if deadly(game, place):
        over[0] = True
    elif place == game.food:
        game.seen[BOARD + 2 * game.cells + cell_of(game, place)] = 0
        enter(game, place)
        game.hunger = 0
        reward = 1.0
        if game.length == game.cells:
            over[0] = True
        else:
            lay_food(game, rng)
    else:
        drop_tail(game)
        enter(game, place)
        game.hunger += 1
        over[0] = game.hunger == game.limit
    look(game)
    return reward


cdef void observe(const void* state, void* out) noexcept nogil:
    """12 + 3 * size * size uint8 of 0 and 1; the rows of GAME's `features` name them."""
    cdef const Snake* game = <const Snake*>state
    memcpy(out, game.seen, BOARD + 3 * game.cells)


cdef inline int side_of(int size) noexcept nogil:
    """Grey pixels a cell, leaving a margin on all sides of the board."""
    return (SMALL - 2) // size


cdef inline int start_of(int size) noexcept nogil:
    """x and y of the top left cell, grey pixels."""
    return (SMALL - size * side_of(size)) >> 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Field and walls. All edges are even, so they are edges of grey pixels, too."""
    cdef int size = <int>options[0], start = 2 * start_of(size), length = 2 * size * side_of(size)
    canvas_rect(canvas, 0, 0, SIDE, SIDE, EDGE if options[1] != 0 else WALL)
    canvas_rect(canvas, start, start, length, length, FIELD)


cdef inline void paint(Canvas* canvas, int x, int y, int w, int h, int colour) noexcept nogil:
    """Paint w x h grey pixels at (x, y), which are whole: no averaging is needed."""
    cdef int row
    if canvas.rgb != NULL:
        canvas_rect(canvas, 2 * x, 2 * y, 2 * w, 2 * h, colour)
        return
    for row in range(y, y + h):
        if not canvas.touched[row]:
            memcpy(canvas_row(canvas, row), canvas.screen.backdrop_grey + row * SMALL, SMALL)
        memset(canvas.grey + row * SMALL + x, grey_of(colour), w)


cdef inline void strip(Canvas* canvas, int size, int a, int b, int colour) noexcept nogil:
    """Draw the cells from place a to place b, in one row or column, as one piece."""
    cdef int side = side_of(size), start = start_of(size) + 1
    cdef int x = min(a & 255, b & 255), y = min(a >> 8, b >> 8)
    cdef int w = max(a & 255, b & 255) - x, h = max(a >> 8, b >> 8) - y
    paint(canvas, start + x * side, start + y * side, w * side + side - 2, h * side + side - 2, colour)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """Draw the snake from tail to head, each straight part as one piece; parts that only lie side by side are not joined."""
    cdef const Snake* game = <const Snake*>state
    cdef int i = game.tail, last = game.ring[i], first = last, way = 0, place, gap
    cdef int _k
    for _k in range(1, game.length):
        i = i + 1 if i + 1 < game.cells else 0
        place = game.ring[i]
        gap = place - last
        if gap != way:
            strip(canvas, game.size, first, last, BODY)
            way = gap if gap in (1, -1, ROW, -ROW) else 0  # 0: it went round the board
            first = last if way else place
        last = place
    strip(canvas, game.size, first, last, BODY)
    strip(canvas, game.size, last, last, HEAD)
    if game.length < game.cells:
        strip(canvas, game.size, game.food, game.food, APPLE)


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    """True if the snake is a chain of cells of this board, and the observation is the one of its places."""
    cdef const Snake* game = <const Snake*>state
    cdef Snake same
    cdef int size = <int>options[0], k, place, old = -1
    if (game.size != size or game.cells != size * size or game.wrap != (options[1] != 0)
            or game.limit != <int>options[2] * game.cells or not between(game.hunger, 0, game.limit - 1 + over)
            or not between(game.length, START_LENGTH, game.cells - 1 + over) or not between(game.tail, 0, game.cells - 1)
            or game.heading > RIGHT or max(game.food & 255, game.food >> 8) >= size):
        return False
    same = game[0]
    memset(same.seen, 0, sizeof(same.seen))
    for k in range(game.tail, game.tail + game.length):
        place = game.ring[k if k < game.cells else k - game.cells]
        if max(place & 255, place >> 8) >= size or same.seen[BOARD + cell_of(game, place)]:
            return False
        if old >= 0 and place not in (beside(game, old, 0), beside(game, old, 1), beside(game, old, 2), beside(game, old, 3)):
            return False
        same.seen[BOARD + cell_of(game, place)] = 1
        old = place
    same.seen[BOARD + game.cells + cell_of(game, old)] = 1
    if game.length < game.cells:
        if same.seen[BOARD + cell_of(game, game.food)]:
            return False
        same.seen[BOARD + 2 * game.cells + cell_of(game, game.food)] = 1
    look(&same)
    return game.head == old and memcmp(same.seen, game.seen, BOARD + 3 * game.cells) == 0


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Snake), states, io, lo, hi)


GAME = Game(
    name="snake", title="Snake", version=1, summary="Eat, grow, and run into neither walls nor yourself.",
    actions=("UP", "LEFT", "DOWN", "RIGHT"), feature_shape=lambda options: (BOARD + 3 * int(options["size"]) ** 2,),
    feature_dtype="uint8", feature_low=0, feature_high=1, screen=(SIDE, SIDE),
    options={
        "size": Option(10, 4, MAX_SIZE, "cells a side of the board"),
        "wrap": Option(0, 0, 1, "1: no walls; a head that leaves at one side enters at the other"),
        "patience": Option(2, 1, 100, "moves without food until the snake starves, in units of the board's cells"),
    }, fps=12,
    features=(
        Feature("heading", 0, 1, count=4, help="one is 1: up, left, down, right"),
        Feature("deadly", 0, 1, count=4, help="1 if a wall, or the snake but for its tail, is up, left, down, right"),
        Feature("food's direction", 0, 1, count=4, help="1 if the food is farther up, left, down, right than the head; with "
                                                        "`wrap` by the shorter way round"),
        Feature("snake", 0, 1, count=100, help="size x size cells row by row from the top: 1 if the snake covers it"),
        Feature("head", 0, 1, count=100, help="the same cells: 1 at the snake's head"),
        Feature("food", 0, 1, count=100, help="the same cells: 1 at the food"),
    ),
    compared_with="A plain Python board that draws the same random numbers, every step.",
).bind(chunk, backdrop, draw, sizeof(Snake), has_mask=False, valid=valid)

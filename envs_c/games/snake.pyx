"""Snake, on square boards of 4x4 to 20x20 cells.

Board. `size` cells a side, between walls; cell (x, y) counts from the top left, x to the right and y down. The snake is a
chain of cells, each beside the next. It begins 3 long in row size // 2, its head at x = size // 2 and the rest left of it,
heading right. One food lies on a cell that the snake does not cover, each such cell alike likely.

Move. UP, LEFT, DOWN and RIGHT turn the head; the action that would turn it straight back changes nothing. Then the snake
moves one cell the way it heads:
  - onto the food: it grows by one cell, its tail stays, and new food is laid;
  - else its tail leaves its cell, and only then may the head enter a cell, so that it can follow its own tail.
With option `wrap`, who leaves the board at one side comes in at the other; without, the walls stand.

Reward. 1 for each food.

End. The episode ends when the head would enter a wall or the snake, which then stays as it is; when the snake covers the
board; and when it starves: after `patience` * size * size moves in a row without food. (With a patience of 1 a snake that
goes round over all cells is always in time.)
"""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy, memset

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport SMALL, Canvas, canvas_rect, canvas_row, grey_of
from envs_c.game import Option


cdef enum:
    UP, LEFT, DOWN, RIGHT
    MAX_SIZE = 20, MAX_CELLS = MAX_SIZE * MAX_SIZE
    START_LENGTH = 3
    ROW = 256                           # a place is y * ROW + x
    BLOCKED = 4, FOOD = 8, BOARD = 12   # where these begin in the features, after the heading; BOARD: three planes
    SIDE = 2 * SMALL                    # of the screen, pixels
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
    int32_t hunger, limit         # moves since the last food; when the snake starves
    int16_t cells, length         # of the board; of the snake
    int16_t tail                  # its place in `ring`
    uint16_t head, food           # places on the board
    uint8_t size, wrap, heading
    # What the agent sees, kept up to date: heading, blocked, food, then three planes of `cells` bytes: snake, head, food.
    uint8_t[BOARD + 3 * MAX_CELLS] seen
    uint16_t[MAX_CELLS] ring      # the snake's places from `tail` on, to the head; after place `cells` - 1 follows 0


cdef inline int cell_of(const Snake* game, int place) noexcept nogil:
    return (place >> 8) * game.size + (place & 255)


cdef inline int beside(const Snake* game, int place, int way) noexcept nogil:
    """The place next to this one, or -1 where a wall is."""
    cdef int x = (place & 255) + STEP_X[way], y = (place >> 8) + STEP_Y[way], last = game.size - 1
    if 0 <= x <= last and 0 <= y <= last:
        return y * ROW + x
    if not game.wrap:
        return -1
    x = last if x < 0 else 0 if x > last else x
    y = last if y < 0 else 0 if y > last else y
    return y * ROW + x


cdef inline bint deadly(const Snake* game, int place) noexcept nogil:
    """Whether the head dies there on its next move: at a wall and at all of the snake but the tail, which moves away."""
    return place < 0 or (game.seen[BOARD + cell_of(game, place)] and place != game.ring[game.tail])


cdef inline void lay_food(Snake* game, Rng* rng) noexcept nogil:
    """Onto the free cell with a random number, counted row by row."""
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
    """Bring the features up to date that are not planes."""
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
    """The head moves there, and the snake is longer by that."""
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
    """Bytes of 0 and 1: heading, deadly neighbours and where the food is, each as up, left, down, right; then planes of
    size x size: snake, its head, food.

    A neighbour is deadly where the next move would end the episode. Under `wrap` the food is where the shorter way leads.
    """
    cdef const Snake* game = <const Snake*>state
    memcpy(out, game.seen, BOARD + 3 * game.cells)


cdef inline int side_of(int size) noexcept nogil:
    """Grey pixels a cell; some are left on all sides of the board."""
    return (SMALL - 2) // size


cdef inline int start_of(int size) noexcept nogil:
    """x and y of the top left cell, in grey pixels."""
    return (SMALL - size * side_of(size)) >> 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    """Field and walls. All edges are even, so that they are those of grey pixels, too."""
    cdef int size = <int>options[0], start = 2 * start_of(size), length = 2 * size * side_of(size)
    canvas_rect(canvas, 0, 0, SIDE, SIDE, EDGE if options[1] != 0 else WALL)
    canvas_rect(canvas, start, start, length, length, FIELD)


cdef inline void paint(Canvas* canvas, int x, int y, int w, int h, int colour) noexcept nogil:
    """w x h grey pixels at (x, y), in grey as bytes, since all edges are those of grey pixels."""
    cdef int row
    if canvas.rgb != NULL:
        canvas_rect(canvas, 2 * x, 2 * y, 2 * w, 2 * h, colour)
        return
    for row in range(y, y + h):
        if not canvas.touched[row]:
            memcpy(canvas_row(canvas, row), canvas.screen.backdrop_grey + row * SMALL, SMALL)
        memset(canvas.grey + row * SMALL + x, grey_of(colour), w)


cdef inline void strip(Canvas* canvas, int size, int a, int b, int colour) noexcept nogil:
    """All cells from place a to place b, in one row or column, as one piece."""
    cdef int side = side_of(size), start = start_of(size) + 1
    cdef int x = min(a & 255, b & 255), y = min(a >> 8, b >> 8)
    cdef int w = max(a & 255, b & 255) - x, h = max(a >> 8, b >> 8) - y
    paint(canvas, start + x * side, start + y * side, w * side + side - 2, h * side + side - 2, colour)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    """The snake from tail to head, straight parts together; parts that only lie side by side stay apart."""
    cdef const Snake* game = <const Snake*>state
    cdef int i = game.tail, last = game.ring[i], first = last, way = 0, place, gap
    cdef int _k
    for _k in range(1, game.length):
        i = i + 1 if i + 1 < game.cells else 0
        place = game.ring[i]
        gap = place - last
        if gap != way:
            strip(canvas, game.size, first, last, BODY)
            way = gap if gap in (1, -1, ROW, -ROW) else 0  # else it went round the board
            first = last if way else place
        last = place
    strip(canvas, game.size, first, last, BODY)
    strip(canvas, game.size, last, last, HEAD)
    if game.length < game.cells:
        strip(canvas, game.size, game.food, game.food, APPLE)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(Snake), states, io, lo, hi)


GAME = Game(
    name="snake", title="Snake", version=1, summary="Eat, grow, and run into neither walls nor yourself.",
    actions=("UP", "LEFT", "DOWN", "RIGHT"), feature_shape=lambda options: (BOARD + 3 * int(options["size"]) ** 2,),
    feature_dtype="uint8", feature_low=0, feature_high=1, screen=(SIDE, SIDE),
    options={
        "size": Option(10, 4, MAX_SIZE, "cells a side of the board"),
        "wrap": Option(0, 0, 1, "1: no walls, who leaves at one side comes in at the other"),
        "patience": Option(2, 1, 100, "times the board's cells: moves without food until the snake starves"),
    }, fps=12,
).bind(chunk, backdrop, draw, sizeof(Snake))

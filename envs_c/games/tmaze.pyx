"""T-maze: a signal at the start is needed at the end.

After B. Bakker, "Reinforcement learning with long short-term memory", 2001.

Maze. A corridor of `length` cells runs from west to east. At its eastern end is a junction with one arm up and one arm
down. One of the arms, up or down with equal chance, holds the prize. The walker begins in the westernmost cell of the
corridor.

Signal. The observation before the first move shows which arm holds the prize, and no later observation does. Later
observations show only the place in the corridor and whether the walker is in the junction; they do not depend on the prize
or on time. So a policy without memory takes the right arm in half of the episodes at best.

Screen. 168x84 pixels: the corridor and the arms, the walker, and before the first move a lamp at the west end, above the
corridor if the prize is up, below it if the prize is down.

Actions. RIGHT and LEFT move one cell along the corridor and have no effect at its ends. UP and DOWN enter an arm from the
junction and have no effect elsewhere.

Points. The arm with the prize gives 1, the other arm 0. The mean score is thus the share of episodes that were solved: 0.5
at best without a memory.

End. The episode ends in an arm. It is truncated after 200 steps.
"""

from libc.stdint cimport int8_t, uint8_t

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport Canvas, canvas_rect, canvas_swap
from envs_c.valid cimport between
from envs_c.game import Feature, Option


cdef enum:
    UP, RIGHT, LEFT, DOWN
    WIDTH = 168, HEIGHT = 84
    LONGEST = 50               # cells of the corridor
    CELL = 3                   # pixels; the longest maze just fits
    LEFT_X = 6, MIDDLE_Y = 40  # of the first cell
    ARM = 24                   # pixels from the junction to the end of an arm
    LAMP = 8                   # pixels; lit before the first move
    WALL = 0x303848, FLOOR = 0xC8C0B0, WALKER = 0xC03028, PRIZE = 0xF8E060


ctypedef struct TMaze:
    int8_t cell     # 0 .. length; `length` is the junction
    int8_t length
    int8_t prize    # 1 up, -1 down
    uint8_t fresh   # 1 before the first move


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef TMaze* maze = <TMaze*>state
    maze.length = <int8_t>options[0]
    maze.cell = 0
    maze.prize = 1 - 2 * <int8_t>rng_below(rng, 2)
    maze.fresh = 1


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef TMaze* maze = <TMaze*>state
    cdef bint junction = maze.cell == maze.length
    maze.fresh = 0
    if action == RIGHT:
        maze.cell += not junction
    elif action == LEFT:
        maze.cell -= maze.cell > 0
    elif junction:
        over[0] = True
        return (action == UP) == (maze.prize == 1)
    return 0.0


cdef void observe(const void* state, void* out) noexcept nogil:
    """4 float32; the rows of GAME's `features` name them."""
    cdef const TMaze* maze = <const TMaze*>state
    cdef float* features = <float*>out
    features[0] = maze.prize * maze.fresh
    features[1] = maze.cell == 0
    features[2] = maze.cell == maze.length
    features[3] = 2 * maze.cell / <float>maze.length - 1


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    cdef int junction = LEFT_X + CELL * <int>options[0]
    canvas_rect(canvas, 0, 0, WIDTH, HEIGHT, WALL)
    canvas_rect(canvas, LEFT_X, MIDDLE_Y, junction - LEFT_X, CELL, FLOOR)
    canvas_rect(canvas, junction, MIDDLE_Y - ARM, CELL, 2 * ARM + CELL, FLOOR)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const TMaze* maze = <const TMaze*>state
    cdef int x = min(LEFT_X, LEFT_X + CELL * maze.length - LAMP - 1)  # in short mazes left of the arms
    cdef int y = MIDDLE_Y - LAMP - 4 if maze.prize == 1 else MIDDLE_Y + CELL + 4
    canvas_swap(canvas, LEFT_X + CELL * maze.cell, MIDDLE_Y, CELL, CELL, FLOOR, WALKER)
    if maze.fresh:
        canvas_swap(canvas, x, y, LAMP, LAMP, WALL, PRIZE)


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    cdef const TMaze* maze = <const TMaze*>state
    return (maze.length == <int>options[0] and between(maze.cell, 0, maze.length) and maze.prize in (-1, 1)
            and between(maze.fresh, 0, 1))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(TMaze), states, io, lo, hi)


GAME = Game(
    name="tmaze", title="TMaze", version=1, summary="Remember at the end of a corridor the signal at its start.",
    actions=("UP", "RIGHT", "LEFT", "DOWN"), feature_shape=(4,), feature_low=-1, feature_high=1, screen=(WIDTH, HEIGHT),
    time_limit=200, options={"length": Option(10, 1, LONGEST, "cells of the corridor")}, fps=10,
    features=(
        Feature("prize", -1, 1, help="before the first move: 1 if the prize is up, -1 if it is down; then 0"),
        Feature("first cell", 0, 1, help="1 in the westernmost cell"),
        Feature("junction", 0, 1, help="1 in the junction"),
        Feature("place", -1, 1, help="-1 in the westernmost cell, rising evenly to 1 in the junction"),
    ),
    compared_with="A plain walker of the same maze in Python, every step; an LSTM policy solves it, a policy without memory "
                  "does not.",
).bind(chunk, backdrop, draw, sizeof(TMaze), has_mask=False, valid=valid)

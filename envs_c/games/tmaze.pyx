"""T-maze (B. Bakker, "Reinforcement learning with long short-term memory", 2001): what the start shows is needed at the end.

Maze. A corridor of `length` cells from west to east, and a junction at its eastern end with one arm up and one down. One
arm, up or down with equal chance, holds the prize. The walker begins in the westernmost cell of the corridor.

Sight. There, before its first move and never again, the walker sees which arm holds the prize. Later it sees its place
in the corridor and whether it stands in the junction, the same whichever arm holds the prize; nothing that it sees counts
time. So one who remembers nothing takes the right arm half of the time, whatever it learns.

Moves. RIGHT and LEFT go one cell along the corridor, where there is one. UP and DOWN go into an arm from the junction,
and nowhere from elsewhere. In an arm the episode ends, with 1 point for the arm with the prize and none for the other.
Episodes are truncated after 200 steps. The mean score is thus the share of episodes that were solved, 0.5 at best without
a memory.
"""

from libc.stdint cimport int8_t, uint8_t

from envs_c.game cimport Game, Io, run_chunk
from envs_c.rng cimport Rng, rng_below
from envs_c.screen cimport Canvas, canvas_rect, canvas_swap
from envs_c.game import Option


cdef enum:
    UP, RIGHT, LEFT, DOWN
    WIDTH = 168, HEIGHT = 84
    LONGEST = 50               # cells of the corridor
    CELL = 3                   # pixels, so that the longest maze fits
    LEFT_X = 6, MIDDLE_Y = 40  # of the first cell
    ARM = 24                   # pixels from the junction to the end of an arm
    LAMP = 8                   # pixels; it is lit in the arm's direction at the start
    WALL = 0x303848, FLOOR = 0xC8C0B0, WALKER = 0xC03028, PRIZE = 0xF8E060


ctypedef struct TMaze:
    int8_t cell     # 0 .. length, where `length` is the junction
    int8_t length
    int8_t prize    # 1 up, -1 down
    uint8_t fresh   # no move was made yet


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
    """0 the prize's arm, 1 up, -1 down, 0 after the first move; 1 first cell; 2 junction; 3 place, -1 .. 1."""
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
    cdef int y = MIDDLE_Y - LAMP - 4 if maze.prize == 1 else MIDDLE_Y + CELL + 4
    canvas_swap(canvas, LEFT_X + CELL * maze.cell, MIDDLE_Y, CELL, CELL, FLOOR, WALKER)
    if maze.fresh:
        canvas_swap(canvas, LEFT_X, y, LAMP, LAMP, WALL, PRIZE)


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, NULL, sizeof(TMaze), states, io, lo, hi)


GAME = Game(
    name="tmaze", title="TMaze", version=1, summary="Remember at the end of a corridor what was shown at its start.",
    actions=("UP", "RIGHT", "LEFT", "DOWN"), feature_shape=(4,), feature_low=-1, feature_high=1, screen=(WIDTH, HEIGHT),
    time_limit=200, options={"length": Option(10, 1, LONGEST, "cells of the corridor")}, fps=10,
).bind(chunk, backdrop, draw, sizeof(TMaze))

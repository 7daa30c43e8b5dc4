"""A small game for tests of the engine, not built in: it uses every feature of the engine and shows its state plainly.

Rules. A walker stands on a lane of `length` cells and must reach the last one. NOOP stands still, LEFT and RIGHT move one
cell, JUMP moves two to the right and uses one of two jumps. After each move the wind blows the walker one cell left or right,
with probability `wind`. Each frame costs 0.25; a frame that reaches the last cell gives 10 instead and ends the episode.
Illegal, but harmless, are LEFT in the first cell, RIGHT in the last one and JUMP without a jump left. The walker starts in
cell 1 or 2.

Features. [[cell, length, action of the last frame], [frames since reset, jumps left, a random byte]].

Picture. Sky above ground, with one figure whose kind, place and size are options: 0 none, 1 a rectangle by canvas_rect, 2 a
bitmap with bits of w x h pixels, 3 a rectangle by canvas_swap, which must lie on the sky.
"""

from libc.stdint cimport int32_t, uint8_t

from envs_c.game cimport Game, Io, run_chunk
from envs_c.game import Option
from envs_c.rng cimport Rng, rng_below, rng_chance
from envs_c.screen cimport Canvas, canvas_bitmap, canvas_rect, canvas_swap
from envs_c.valid cimport between


cdef enum:
    NOOP, LEFT, RIGHT, JUMP
    WIDTH = 100
    HEIGHT = 90
    GROUND_Y = 75     # two rows of the grey canvas meet there
    SKY = 0x204060
    GROUND = 0xC0A020
    PAINT = 0xF06418


ctypedef struct Toy:
    int32_t cell, length, action, frames, jumps, noise
    int32_t figure, x, y, w, h
    float wind


cdef void reset(void* state, const double* options, Rng* rng) noexcept nogil:
    cdef Toy* toy = <Toy*>state
    toy.length = <int32_t>options[0]
    toy.wind = <float>options[1]
    toy.figure = <int32_t>options[2]
    toy.x, toy.y, toy.w, toy.h = <int32_t>options[3], <int32_t>options[4], <int32_t>options[5], <int32_t>options[6]
    toy.cell = 1 + rng_below(rng, 2)
    toy.action, toy.frames, toy.jumps = NOOP, 0, 2
    toy.noise = rng_below(rng, 256)


cdef float step(void* state, int action, Rng* rng, bint* over) noexcept nogil:
    cdef Toy* toy = <Toy*>state
    toy.frames += 1
    toy.action = action
    if action == LEFT:
        toy.cell -= 1
    elif action == RIGHT:
        toy.cell += 1
    elif action == JUMP and toy.jumps > 0:
        toy.cell += 2
        toy.jumps -= 1
    if rng_chance(rng, toy.wind):
        toy.cell += 2 * <int32_t>rng_below(rng, 2) - 1
    toy.noise = rng_below(rng, 256)
    toy.cell = min(max(toy.cell, 0), toy.length - 1)
    over[0] = toy.cell == toy.length - 1
    return 10.0 if over[0] else -0.25


cdef void observe(const void* state, void* out) noexcept nogil:
    cdef const Toy* toy = <const Toy*>state
    cdef uint8_t* features = <uint8_t*>out
    features[0], features[1], features[2] = <uint8_t>toy.cell, <uint8_t>toy.length, <uint8_t>toy.action
    features[3], features[4], features[5] = <uint8_t>toy.frames, <uint8_t>toy.jumps, <uint8_t>toy.noise


cdef void mask(const void* state, uint8_t* action_mask) noexcept nogil:
    cdef const Toy* toy = <const Toy*>state
    action_mask[NOOP] = 1
    action_mask[LEFT] = toy.cell > 0
    action_mask[RIGHT] = toy.cell < toy.length - 1
    action_mask[JUMP] = toy.jumps > 0


cdef void backdrop(const double* options, Canvas* canvas) noexcept nogil:
    canvas_rect(canvas, 0, 0, WIDTH, GROUND_Y, SKY)
    canvas_rect(canvas, 0, GROUND_Y, WIDTH, HEIGHT - GROUND_Y, GROUND)


cdef void draw(const void* state, Canvas* canvas) noexcept nogil:
    cdef const Toy* toy = <const Toy*>state
    cdef uint8_t[5] rows = [0b00011000, 0b10111101, 0b10000001, 0b11111111, 0b00000000]
    if toy.figure == 1:
        canvas_rect(canvas, toy.x, toy.y, toy.w, toy.h, PAINT)
    elif toy.figure == 2:
        canvas_bitmap(canvas, toy.x, toy.y, rows, 5, toy.w, toy.h, PAINT)
    elif toy.figure == 3:
        canvas_swap(canvas, toy.x, toy.y, toy.w, toy.h, SKY, PAINT)


cdef bint valid(const void* state, const double* options, bint over) noexcept nogil:
    cdef const Toy* toy = <const Toy*>state
    return (toy.length == options[0] and toy.wind == <float>options[1] and toy.figure == options[2] and toy.x == options[3]
            and toy.y == options[4] and toy.w == options[5] and toy.h == options[6]
            and between(toy.cell, 0, toy.length - 2 + over) and between(toy.action, NOOP, JUMP) and toy.frames >= 0
            and between(toy.jumps, 0, 2) and between(toy.noise, 0, 255))


cdef void chunk(char* states, Io* io, int lo, int hi) noexcept nogil:
    run_chunk(reset, step, observe, draw, mask, sizeof(Toy), states, io, lo, hi)


GAME = Game(
    name="toy", title="Toy", version=3, summary="Walk to the end of a windy lane.",
    actions=("NOOP", "LEFT", "RIGHT", "JUMP"), feature_shape=(2, 3), feature_dtype="uint8", screen=(WIDTH, HEIGHT),
    options={
        "length": Option(9, 4, 20, "cells of the lane"),
        "wind": Option(0.25, 0, 1, "probability of a gust in a frame", integer=False),
        "figure": Option(0, 0, 3, "what to draw"),
        "x": Option(10, -400, 400, "pixels from the left"),
        "y": Option(10, -400, 400, "pixels from the top"),
        "w": Option(20, 1, 800, "pixels wide"),
        "h": Option(20, 1, 800, "pixels high"),
    },
).bind(chunk, backdrop, draw, sizeof(Toy), has_mask=True, valid=valid)

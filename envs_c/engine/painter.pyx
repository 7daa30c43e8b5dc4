"""`Painter`: the screen of one game under its options. It paints the backdrop once and draws states in colour."""

import math
from typing import NamedTuple

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

from envs_c.errors import ContractError
from envs_c.engine.resize cimport shrink
from envs_c.io cimport Format
from envs_c.screen cimport SMALL, Canvas, grey_of


class Axis(NamedTuple):
    """One direction of the grey canvas, in units, as in screen.pxd."""

    cell: int          # units of a canvas pixel
    unit: int          # units of a screen pixel
    cells: np.ndarray  # (length + 1,) int16: the canvas pixel of an edge
    parts: np.ndarray  # (length + 1,) int16: units from this pixel's start to the edge


def axis(length: int, small: int) -> Axis:
    """Divide `length` screen pixels into `small` canvas pixels, with the largest common unit."""
    common = math.gcd(length, small)
    cell, unit = length // common, small // common
    edges = np.arange(length + 1) * unit
    return Axis(cell, unit, (edges // cell).astype(np.int16), (edges % cell).astype(np.int16))


def cell_sums(pixels: np.ndarray, way: Axis) -> np.ndarray:
    """The sums of grey * units in one direction, over the units of each pixel of the canvas.

    pixels: (length, ...) int64 of this direction.
    """
    edges = np.arange(len(pixels) * way.unit // way.cell + 1) * way.cell
    whole, part = edges // way.unit, edges % way.unit  # pixels before an edge, and units of the next one
    none = np.zeros_like(pixels[:1])
    before, after = np.concatenate([none, pixels.cumsum(0)]), np.concatenate([pixels, none])
    return np.diff(before[whole] * way.unit + after[whole] * part[:, None], axis=0)


def average(rgb: np.ndarray, x: Axis, y: Axis) -> tuple[np.ndarray, np.ndarray]:
    """Reduce a picture to the grey canvas.

    rgb: (height, width, 3) uint8.
    x, y: its two directions.
    Returns the sums of grey * units, (small, small) float32, and the rounded means, (small, small) uint8.
    """
    red, green, blue = (rgb[..., k].astype(np.int64) for k in range(3))
    grey = (299 * red + 587 * green + 114 * blue + 500) // 1000
    sums = np.ascontiguousarray(cell_sums(cell_sums(grey, y).T, x).T)
    area = x.cell * y.cell
    return sums.astype(np.float32), ((2 * sums + area) // (2 * area)).astype(np.uint8)


cdef void paint_colour(const void* state, const Format* format, uint8_t* rgb) noexcept nogil:
    """Paint the whole screen in colour, which becomes grey if the format has one channel. rgb: (height, width, 3)."""
    cdef Canvas canvas
    canvas.screen = format.screen
    canvas.rgb = rgb
    canvas.in_grey = format.channels == 1
    memcpy(rgb, format.screen.backdrop_rgb, <size_t>3 * format.screen.y.length * format.screen.x.length)
    format.draw(state, &canvas)


cdef void to_grey(uint8_t* pixels, size_t count) noexcept nogil:
    """Replace `count` colour pixels by their greys, one byte each, at the start of the same memory."""
    cdef size_t k
    for k in range(count):
        pixels[k] = <uint8_t>grey_of((pixels[3 * k] << 16) | (pixels[3 * k + 1] << 8) | pixels[3 * k + 2])


cdef void paint(const void* state, Format* format, uint8_t* out) noexcept nogil:
    """Paint a picture of this format. Without memory for it, format.no_memory becomes 1.

    out: (height, width, 3) for colour, (height, width) for grey.
    """
    cdef int height = format.screen.y.length, width = format.screen.x.length
    cdef bint whole = format.height == height and format.width == width
    cdef size_t count = <size_t>height * width, row = <size_t>format.width * format.channels
    cdef char* memory
    cdef uint8_t* rgb
    if whole and format.channels == 3:
        paint_colour(state, format, out)
        return
    memory = <char*>malloc(row * (sizeof(int64_t) + sizeof(int32_t)) + 3 * count)
    if memory == NULL:
        format.no_memory = 1
        return
    rgb = <uint8_t*>memory + row * (sizeof(int64_t) + sizeof(int32_t))
    paint_colour(state, format, rgb)
    if format.channels == 1:
        to_grey(rgb, count)
    if whole:
        memcpy(out, rgb, count)
    else:
        shrink(rgb, height, width, format.channels, format.height, format.width,
               <int64_t*>memory, <int32_t*>(memory + row * sizeof(int64_t)), out)
    free(memory)


cdef class Painter:
    def __init__(self, Game game not None, const double[::1] options):
        """options: the values of the game's options, in their order; at least one element."""
        if game.backdrop == NULL or self.game is not None or options.shape[0] <= len(game.options):
            raise ContractError("a painter must be made once, by the engine, of a game with compiled functions")
        width, height = game.screen
        edges = [axis(length, SMALL) for length in (width, height)]
        rgb = np.zeros((height, width, 3), np.uint8)
        cdef Canvas canvas
        cdef uint8_t[:, :, ::1] pixels = rgb
        self.game = game
        self._set_axes(width, height, edges)
        canvas.screen = &self.screen
        canvas.rgb = &pixels[0, 0, 0]
        with nogil:
            self.game.backdrop(&options[0], &canvas)
        sums, grey = average(rgb, *edges)
        self._set_backdrop(rgb, grey, sums)
        self.keep = (edges, rgb, grey, sums)

    def _set_axes(self, int width, int height, edges):
        cdef int16_t[::1] xc = edges[0].cells, xp = edges[0].parts, yc = edges[1].cells, yp = edges[1].parts
        self.screen.x.length, self.screen.x.cell = width, edges[0].cell
        self.screen.x.cells, self.screen.x.parts = &xc[0], &xp[0]
        self.screen.y.length, self.screen.y.cell = height, edges[1].cell
        self.screen.y.cells, self.screen.y.parts = &yc[0], &yp[0]

    def _set_backdrop(self, uint8_t[:, :, ::1] rgb, uint8_t[:, ::1] grey, float[:, ::1] sums):
        self.screen.backdrop_rgb = &rgb[0, 0, 0]
        self.screen.backdrop_grey = &grey[0, 0]
        self.screen.backdrop_sums = &sums[0, 0]

    cdef picture(self, const void* state, bint grey):
        """The screen of a game's state: (height, width, 3) uint8 in colour, (height, width) in grey."""
        cdef int height = self.screen.y.length, width = self.screen.x.length
        rgb = np.empty((height, width, 3), np.uint8)
        cdef uint8_t[:, :, ::1] pixels = rgb
        cdef Format whole = self.format(height, width, 1 if grey else 3)
        with nogil:
            paint_colour(state, &whole, &pixels[0, 0, 0])
            if grey:
                to_grey(&pixels[0, 0, 0], <size_t>height * width)
        return rgb.ravel()[:height * width].reshape(height, width).copy() if grey else rgb

    cdef Format format(self, int height, int width, int channels):
        """The format of pictures of this size; channels is 3 for colour, 1 for grey."""
        cdef Format format
        format.draw, format.screen = self.game.draw, &self.screen
        format.height, format.width, format.channels, format.no_memory = height, width, channels, False
        return format

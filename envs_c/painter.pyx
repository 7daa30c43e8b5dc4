"""`Painter`: paints a game's backdrop once, averages it for the grey canvas, and draws a state in colour."""

from libc.stdint cimport int16_t, uint8_t
from libc.string cimport memcpy

import numpy as np

from envs_c import checks
from envs_c.screen cimport SMALL, Canvas


cdef class Painter:
    def __init__(self, Game game, const double[::1] options):
        """options: the values of the game's options, in their order; one or more."""
        width, height = game.screen
        edges = [checks.axis(length, SMALL) for length in (width, height)]
        rgb = np.zeros((height, width, 3), np.uint8)
        cdef Canvas canvas
        cdef uint8_t[:, :, ::1] pixels = rgb
        self.game = game
        self._set_axes(width, height, edges)
        canvas.screen = &self.screen
        canvas.rgb = &pixels[0, 0, 0]
        with nogil:
            self.game.backdrop(&options[0], &canvas)
        sums, grey = checks.average(rgb, *edges)
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

    cdef picture(self, const void* state):
        """The screen in colour, (height, width, 3) uint8."""
        width, height = self.game.screen
        rgb = np.empty((height, width, 3), np.uint8)
        cdef uint8_t[:, :, ::1] pixels = rgb
        cdef Canvas canvas
        canvas.screen = &self.screen
        canvas.rgb = &pixels[0, 0, 0]
        memcpy(canvas.rgb, self.screen.backdrop_rgb, rgb.nbytes)
        with nogil:
            self.game.draw(state, &canvas)
        return rgb

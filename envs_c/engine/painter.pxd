"""The class `Painter`; painter.pyx documents it."""

from libc.stdint cimport uint8_t

from envs_c.game cimport Game
from envs_c.io cimport Format
from envs_c.screen cimport Screen


cdef class Painter:
    cdef Game game
    cdef Screen screen  # what all canvases of the game share
    cdef tuple keep     # the arrays behind the pointers of `screen`
    cdef picture(self, const void* state, bint grey)
    cdef Format format(self, int height, int width, int channels)


cdef void paint(const void* state, Format* format, uint8_t* out) noexcept nogil

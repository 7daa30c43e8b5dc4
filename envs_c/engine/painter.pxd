"""The class `Painter`; painter.pyx documents it."""

from envs_c.game cimport Game
from envs_c.screen cimport Screen


cdef class Painter:
    cdef Game game
    cdef Screen screen  # what all canvases of the game share
    cdef tuple keep     # the arrays behind the pointers of `screen`
    cdef picture(self, const void* state)

"""The screen of one game under its options: what all its canvases share, made once, and its picture in colour."""

from envs_c.game cimport Game
from envs_c.screen cimport Screen


cdef class Painter:
    cdef Game game
    cdef Screen screen
    cdef tuple keep  # arrays that `screen` points into
    cdef picture(self, const void* state)

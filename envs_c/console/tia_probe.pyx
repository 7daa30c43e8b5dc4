"""The TIA for Python: for tests and tools only, which compare it with ale-py and its two forms with each other."""

from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcmp

import numpy as np

from envs_c.console.tia cimport WIDTH, Tia, tia_end_frame, tia_init, tia_read
from envs_c.console.tia_plain cimport tia_run_plain
from envs_c.console.tia_rows cimport beam, tia_poke, tia_run


cdef class Chip:
    """A TIA and its picture, (210, 160) uint8 palette indices.

    plain: True for the form pixel by pixel, False for the form by masks.
    """

    cdef Tia tia
    cdef readonly object picture
    cdef readonly bint plain

    def __init__(self, bint plain):
        tia_init(&self.tia)
        self.picture = np.zeros((self.tia.height, WIDTH), np.uint8)
        self.plain = plain

    def run(self, const uint32_t[::1] log, int until, bint draw=True):
        """Replay log, (count,) uint32, and move the beam to clock `until`; draw=False leaves the picture alone."""
        cdef uint8_t[:, ::1] picture = self.picture
        cdef uint8_t* pixels = &picture[0, 0] if draw else NULL
        cdef int count = <int>log.shape[0]
        cdef const uint32_t* writes = &log[0] if count else NULL
        with nogil:
            if self.plain:
                tia_run_plain(&self.tia, writes, count, until, pixels)
            else:
                tia_run(&self.tia, writes, count, until, pixels)

    def run_without_repeats(self, const uint32_t[::1] log, int until):
        """As run, by masks, but leave out the writes that change nothing."""
        cdef uint8_t[:, ::1] picture = self.picture
        cdef Py_ssize_t i
        for i in range(log.shape[0]):
            if self.tia.same[log[i] >> 8 & 63] != log[i] & 255:
                tia_poke(&self.tia, log[i] >> 8 & 63, log[i] & 255, log[i] >> 14, &picture[0, 0])
        beam(&self.tia, until, &picture[0, 0])

    def end_frame(self, int clocks):
        """Begin a frame `clocks` after the start of the last one."""
        tia_end_frame(&self.tia, clocks)

    def read(self, int address):
        """Bits 7 and 6 of collision register 0 .. 7."""
        return tia_read(&self.tia, address)

    def equals(self, Chip other):
        """True if registers, positions, latches and pictures are equal."""
        cdef size_t size = <char*>&self.tia.dirty - <char*>&self.tia
        return memcmp(&self.tia, &other.tia, size) == 0 and np.array_equal(self.picture, other.picture)

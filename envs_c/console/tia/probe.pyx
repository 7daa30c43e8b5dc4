"""The TIA for Python: for tests and tools only, which compare it with ale-py and its two forms with each other."""

from libc.stdint cimport int16_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp

import numpy as np

from envs_c.console.tia.tia cimport WIDTH, Tia, tia_end_frame, tia_init, tia_read
from envs_c.console.tia.lines cimport BLACK, Painter, painter_begin, painter_end
from envs_c.console.tia.paint cimport paint_log
from envs_c.console.tia.plain cimport tia_run_plain
from envs_c.console.tia.rows cimport settle, tia_poke, tia_run


cdef enum:
    UNSEEN = 1  # no palette index: those are even

cdef const uint8_t[::1] INDICES = np.where(np.arange(256) == BLACK, 0, np.arange(256)).astype(np.uint8)


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
        if self.plain:
            tia_run_plain(&self.tia, writes, count, until, pixels)
            return
        if draw:
            self.paint(writes, count, until)
        tia_run(&self.tia, writes, count, until)

    cdef paint(self, const uint32_t* log, int count, int until):
        """Draw what the beam crosses in this part of the frame."""
        cdef Painter* painter = <Painter*>malloc(sizeof(Painter))
        painter_begin(painter, &self.tia, &INDICES[0], UNSEEN)
        paint_log(painter, log, count, until)
        painter_end(painter)
        seen = np.asarray(<uint8_t[:WIDTH * (self.tia.height + 1)]>painter.pixels).reshape(-1, WIDTH)
        seen = seen[np.asarray(<int16_t[:self.tia.height]>painter.kept)]
        np.copyto(self.picture, seen, where=seen != UNSEEN)
        free(painter)

    def run_without_repeats(self, const uint32_t[::1] log, int until):
        """As run, by masks, but leave out the writes that change nothing."""
        cdef Tia after, before = self.tia
        cdef Py_ssize_t i
        cdef uint32_t[::1] left = np.empty_like(log)
        cdef int count = 0
        for i in range(log.shape[0]):
            if self.tia.same[log[i] >> 8 & 63] != log[i] & 255:
                tia_poke(&self.tia, log[i] >> 8 & 63, log[i] & 255, log[i] >> 14)
                left[count] = log[i]
                count += 1
        settle(&self.tia, until)
        after = self.tia
        self.tia = before
        self.paint(&left[0], count, until)
        self.tia = after

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

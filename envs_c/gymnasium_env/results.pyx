"""`Results`: the results of a vector environment's step as Gymnasium has them, each made by one loop in C.

The engine writes float32 rewards and flags into buffers that it keeps. A caller gets new arrays: float64 rewards, bool flags
and, in steps in which an episode ended, the statistics. infos.py has the statistics in NumPy, `episode`, for other callers.
"""

cimport cython
from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport rint
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memchr, memcpy, memset

import numpy as np

FLAG, LENGTH = np.dtype(bool), np.dtype(np.int32)  # NumPy takes a dtype faster than a type


cdef void* memory(array) except NULL:
    """The address of a new contiguous array, which the caller refers to."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)
    PyBuffer_Release(&view)
    return view.buf


cdef class Results:
    """The buffers that a step of N environments reads and writes.

    actions: (N,) int32, for the engine.
    outputs: (3, N) float32, the engine's rewards, terminated and truncated.
    core: the VecEnv, whose statistics of ended episodes are read.
    started: (N,) float64, the time at which each episode began, in seconds.
    """

    cdef int32_t[::1] actions
    cdef const float[:, ::1] outputs
    cdef const uint8_t[::1] ended
    cdef const double[::1] ended_return
    cdef const int32_t[::1] ended_length
    cdef double[::1] started
    cdef int n

    def __init__(self, actions, outputs, core, started):
        self.actions, self.outputs, self.started = actions, outputs, started
        self.ended, self.ended_return, self.ended_length = core.ended, core.ended_return, core.ended_length
        self.n = len(actions)
        if not (self.n == len(self.ended) == len(started) == outputs.shape[1] and len(outputs) == 3):
            raise ValueError("the buffers must be of as many environments as core has")

    def take(self, actions) -> int:
        """Copy actions to the engine's. Returns the first environment whose action no int32 can hold, or -1.

        actions: (N,) integers.
        """
        cdef Py_buffer view
        cdef Py_ssize_t i
        cdef int32_t* taken = &self.actions[0]
        cdef const char* at
        cdef int64_t value, lost = 0
        PyObject_GetBuffer(actions, &view, PyBUF_FORMAT | PyBUF_STRIDES)
        try:
            if view.ndim != 1 or view.shape[0] != self.n:
                raise ValueError("actions must be one integer for each environment")
            if view.itemsize != 8 or view.format[0] not in b"lq" or ((<size_t>view.buf | <size_t>view.strides[0]) & 7):
                return self.take_any(actions)
            at = <const char*>view.buf
            for i in range(self.n):
                value = (<const int64_t*>(at + i * view.strides[0]))[0]
                taken[i] = <int32_t>value
                lost |= value ^ <int32_t>value
        finally:
            PyBuffer_Release(&view)
        return self.take_any(actions) if lost else -1

    cdef int take_any(self, actions) except -2:
        """`take` for integers of any width and order of bytes."""
        taken = np.asarray(self.actions)
        np.copyto(taken, actions, casting="unsafe")
        if actions.dtype == np.int32:
            return -1
        wrong = np.flatnonzero(taken != actions)
        return wrong[0] if wrong.size else -1

    def outcome(self):
        """The last step's rewards, (N,) float64, and its flags terminated and truncated, (N,) bool."""
        rewards, terminated, truncated = np.empty(self.n), np.empty(self.n, FLAG), np.empty(self.n, FLAG)
        cdef double* reward = <double*>memory(rewards)
        cdef uint8_t* is_terminated = <uint8_t*>memory(terminated)
        cdef uint8_t* is_truncated = <uint8_t*>memory(truncated)
        cdef const float* outputs = &self.outputs[0, 0]  # in a variable: bytes that are written could be part of `self`
        cdef Py_ssize_t i, n = self.n
        for i in range(n):
            reward[i] = outputs[i]
        for i in range(n):
            is_terminated[i] = outputs[n + i] != 0
        for i in range(n):
            is_truncated[i] = outputs[2 * n + i] != 0
        return rewards, terminated, truncated

    @cython.cdivision(True)
    def episodes(self, double now):
        """The statistics of the episodes that ended in the last step: (over, {"r", "l", "t"}), zeros in other environments.

        over: (N,) bool, the environments of these episodes. Their next episodes begin at `now`.
        """
        over = np.empty(self.n, FLAG)
        returns, lengths, seconds = np.zeros(self.n), np.empty(self.n, LENGTH), np.zeros(self.n)
        cdef uint8_t* is_over = <uint8_t*>memory(over)
        cdef double* total = <double*>memory(returns)
        cdef int32_t* length = <int32_t*>memory(lengths)
        cdef double* spent = <double*>memory(seconds)
        cdef const uint8_t* ended = &self.ended[0]
        cdef const uint8_t* one = <const uint8_t*>memchr(ended, 1, self.n)
        cdef Py_ssize_t i
        memcpy(is_over, ended, self.n)
        memset(length, 0, self.n * sizeof(int32_t))
        while one != NULL:
            i = one - ended
            total[i], length[i] = self.ended_return[i], self.ended_length[i]
            spent[i] = rint((now - self.started[i]) * 1e6) / 1e6  # as np.round(x, 6)
            self.started[i] = now
            one = <const uint8_t*>memchr(one + 1, 1, self.n - i - 1)
        return over, {"r": returns, "l": lengths, "t": seconds}

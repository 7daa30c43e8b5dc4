"""The class `Batch` for envs_c/asynchronous/workers.pyx; vecenv.pyx documents it."""

from envs_c.engine.busy cimport Mark
from envs_c.engine.engine cimport Engine
from envs_c.game cimport Io, Operation


cdef class Batch:
    cdef readonly Engine env     # the VecEnv
    cdef readonly int lo         # the environments are lo .. hi-1
    cdef readonly int hi
    cdef readonly tuple buffers  # kept alive: `io` points into them
    cdef list held               # the same: NumPy refuses to resize an array with a second reference
    cdef Mark* mark              # held during a call
    cdef Io io

    cdef int enter(self) except -1
    cdef bind_pictures(self, Engine env, shape, picture, final_picture)
    cdef run(self, Operation operation)
    cdef check_actions(self)
    cdef check_running(self)


cdef class VecEnv(Engine):
    cdef check_states(self, const unsigned char[::1] raw)

"""The class `Engine` for envs_c/engine/vecenv.pyx; engine.pyx documents it."""

from envs_c.engine.busy cimport Mark
from envs_c.game cimport Format, Game, Io
from envs_c.engine.painter cimport Painter
from envs_c.engine.team cimport Team


cdef class Engine:
    cdef readonly Game game
    cdef readonly int num_envs
    cdef readonly int first             # the number of environment 0 for seeds
    cdef readonly str view
    cdef readonly str autoreset
    cdef readonly object picture_size   # (height, width) of pictures; None under a view without
    cdef readonly object frame_skip     # an int, or (low, high)
    cdef readonly int noop_max
    cdef readonly int time_limit        # steps; 0: none
    cdef readonly float sticky
    cdef readonly tuple reward_clip     # (low, high)
    cdef readonly bint episodic_life
    cdef readonly bint life_loss_info
    cdef readonly int num_threads
    cdef int chosen_threads             # the same, if the caller has chosen it; else 0
    cdef readonly int chunk_size        # environments; 0: chosen for each call
    cdef readonly dict options
    cdef readonly tuple actions         # names, in order
    cdef readonly object feature_low    # bounds of the features
    cdef readonly object feature_high
    cdef readonly tuple observation_shape
    cdef readonly object observation_dtype
    cdef readonly object picture_shape  # of the pictures beside the features under view "both"; else None
    cdef readonly object ended          # (N,) uint8: 1 if the last step of its batch ended the episode
    cdef readonly object ended_return   # (N,) float64: raw return of the last ended episode
    cdef readonly object ended_length   # (N,) int32: its length in steps
    cdef readonly object lives          # (N,) int32: lives left after the last call; None unless they are counted
    cdef readonly object final_lives    # (N,) int32: lives at the end of the last episode under "same_step"; None as `lives`
    cdef readonly bint closed
    cdef char* states                   # N times `stride` bytes
    cdef readonly size_t stride         # bytes from one environment's state to the next
    cdef int unstarted                  # number of environments without any reset yet
    cdef Io io                          # the settings, shared by all batches
    cdef Painter painter
    cdef Format format
    cdef Team[3] teams                  # for each Operation, which calls have all threads
    cdef Mark mark                      # held by calls that use all environments; the batches' marks follow it
    cdef tuple arguments                # of Engine.__init__, not of a subclass's: (positional, by name)
    cdef tuple memory                   # `io` points to it: ended, ended_return, ended_length, the options' values and 0.0

    cdef check_open(self)
    cdef int enter(self, Mark* mark) except -1
    cdef void apply(self, Io* io, int lo, int hi) noexcept nogil
    cdef int threads(self) noexcept nogil
    cdef check_started(self, int lo, int hi)
    cdef count_unstarted(self)

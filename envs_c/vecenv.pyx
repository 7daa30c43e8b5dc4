"""The engine: the states of N environments of one game, and the only prange of the suite.

`VecEnv` owns the states and the settings; `VecEnv.bind` ties a contiguous range of environments to buffers that the
caller owns (checked once, there) and gives a `Batch`, whose `step()` is then one call with the GIL released. The
Gymnasium face and the bridge both stand on this.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from envs_c import checks
from envs_c.errors import Closed, InvalidArgument, NotReset
from envs_c.game cimport SMALL, Autoreset, Game, Head, Io, chunk_fn, state_stride
from envs_c.painter cimport Painter
from envs_c.rng cimport rng_seed


cdef extern from "stdlib.h" nogil:
    void* aligned_alloc(size_t alignment, size_t size)


STATE_MAGIC = b"envs_c\x00\x01"  # the last byte is the format's version
HEAD_SIZE = sizeof(Head)          # bytes of the engine's own in front of a game's struct


cdef class VecEnv:
    """N environments of one game, without any buffers for what they say.

    What environment i does depends on (seed, first + i, its actions) only, never on threads, chunks or batches.

    Args: as `envs_c.make`, with `game` a `Game`; `chunk_size`, the environments a thread takes at once (0: chosen); and
    `first`, the number of the first environment where these are a part of more that share a seed.
    Raises InvalidArgument for a setting that is out of range.
    """

    def __init__(self, Game game, num_envs=1, *, view="features", frame_skip=None, sticky=0.0, noop_max=0,
                 time_limit=None, reward_clip=None, num_threads=0, autoreset="next_step", seed=None, chunk_size=0,
                 options=None, first=0):
        self.game = game
        self.options = game.check_options(options or {})
        self.actions, feature_shape, self.feature_low, self.feature_high = game.describe(self.options)
        self.num_envs = checks.whole("num_envs", num_envs, 1, 1 << 24)
        self.first = checks.whole("first", first, 0, 1 << 30)
        self.view = checks.choice("view", view, ("features", "pixels"))
        self.autoreset = checks.choice("autoreset", autoreset, ("next_step", "same_step", "disabled"))
        self.frame_skip = checks.whole("frame_skip", game.frame_skip if frame_skip is None else frame_skip, 1, 1000)
        self.noop_max = checks.noop_max(noop_max, game.name, self.actions)
        self.time_limit = checks.time_limit(time_limit, game)
        self.sticky = checks.real("sticky", sticky, 0.0, 1.0)
        self.reward_clip = checks.reward_clip(reward_clip)
        self.num_threads = checks.whole("num_threads", num_threads, 0, 1024) or checks.cores()
        pixels = self.view == "pixels"
        self.observation_shape = (SMALL, SMALL) if pixels else feature_shape
        self.observation_dtype = np.dtype("uint8") if pixels else game.feature_dtype
        self.chunk_size = checks.whole("chunk_size", chunk_size, 0, 1 << 24)
        self._make_io()
        self.stride = state_stride(game.state_size)
        self.states = <char*>aligned_alloc(64, self.num_envs * self.stride)
        if self.states == NULL:
            raise MemoryError(f"no memory for {self.num_envs} environments of {self.stride} bytes")
        memset(self.states, 0, self.num_envs * self.stride)
        self.unstarted = self.num_envs
        if seed is not None and np.ndim(seed):
            self.seed()  # so that every generator is seeded, where `seed` leaves some out, too
        self.seed(seed)

    def __dealloc__(self):
        free(self.states)

    def _make_io(self):
        """The part of Io that every batch shares."""
        self.ended = np.zeros(self.num_envs, np.uint8)
        self.ended_return = np.zeros(self.num_envs, np.float64)
        self.ended_length = np.zeros(self.num_envs, np.int32)
        self.option_values = np.array([*self.options.values(), 0.0], np.float64)  # never empty, so that it has an address
        cdef uint8_t[::1] ended = self.ended
        cdef double[::1] returns = self.ended_return, options = self.option_values
        cdef int32_t[::1] lengths = self.ended_length
        cdef Io* io = &self.io
        memset(io, 0, sizeof(Io))
        io.ended, io.ended_return, io.ended_length = &ended[0], &returns[0], &lengths[0]
        io.options = &options[0]
        self.painter = Painter(self.game, options)
        io.screen = &self.painter.screen
        io.observation_bytes = int(np.prod(self.observation_shape)) * self.observation_dtype.itemsize
        io.num_actions = len(self.actions)
        io.pixels = self.view == "pixels"
        io.frame_skip, io.noop_max, io.time_limit = self.frame_skip, self.noop_max, self.time_limit
        io.sticky = self.sticky
        io.reward_low, io.reward_high = self.reward_clip
        io.autoreset = <Autoreset>("next_step", "same_step", "disabled").index(self.autoreset)

    def close(self):
        """Give back the states. Any later use raises Closed; closing again does nothing."""
        self.closed = True
        free(self.states)
        self.states = NULL

    cdef check_open(self):
        if self.closed:
            raise Closed(f"these {self.game.name} environments were closed; make new ones with envs_c.make")

    def seed(self, seed=None, mask=None):
        """Restart the random generators; takes effect in full at the next reset.

        seed: a whole number (environment i draws from (seed, first + i)); a sequence of N of them, or of None for no change
            (environment i draws from (seed[i], 0), so equal seeds give equal environments); or None for the system's
            entropy.
        mask: (N,) bool, only these environments; or None for all.
        """
        self.check_open()
        cdef int i
        cdef uint64_t key
        values = checks.seeds(seed, self.num_envs, self.first)
        if mask is not None:
            mask = checks.mask("mask", mask, self.num_envs)
        for i in range(self.num_envs):
            if values[i] is not None and (mask is None or mask[i]):
                key, index = values[i]
                rng_seed(&(<Head*>(self.states + i * self.stride)).rng, key, <uint64_t>index)

    def bind(self, int lo, int hi, *, actions, observation, reward, terminated, truncated,
             final_observation=None, action_mask=None, final_action_mask=None):
        """Tie environments lo .. hi-1 (B of them) to buffers; returns a `Batch`.

        Every buffer is a C-contiguous NumPy array that is kept alive by the batch and, but for `actions`, writable:
        actions (B,) int32; observation (B, *observation_shape) of observation_dtype; reward, terminated, truncated (B,)
        float32; action_mask (B, num_actions) uint8, optional; final_observation and final_action_mask alike, the
        first needed under autoreset "same_step". Raises InvalidArgument naming the buffer that is not so.
        """
        self.check_open()
        if not 0 <= lo < hi <= self.num_envs:
            raise InvalidArgument(f"a batch of environments {lo} .. {hi - 1}: it must lie in 0 .. {self.num_envs - 1} "
                                  "and hold one or more")
        from envs_c.batch import Batch  # which knows this module

        return Batch(self, lo, hi, actions, observation, reward, terminated, truncated,
                     final_observation, action_mask, final_action_mask)

    cdef void apply(self, Io* io, int lo, int hi):
        """Run io.operation over environments lo .. hi-1, in parallel when there is more than one chunk of them."""
        cdef chunk_fn chunk = self.game.chunk
        cdef char* states = self.states
        cdef int size = self.chunk_size, count = hi - lo, threads = self.num_threads, chunks, k, start
        if size == 0:  # several chunks a thread, in whole cache lines of output; none too small to be worth a thread
            size = max(8 if io.pixels else 64, ((count + 4 * threads - 1) // (4 * threads) + 15) & ~15)
        chunks = (count + size - 1) // size
        with nogil:
            if threads == 1 or chunks == 1:
                chunk(states, io, lo, hi)
            else:
                for k in prange(chunks, schedule="static", num_threads=threads):
                    start = lo + k * size
                    chunk(states, io, start, min(start + size, hi))

    def render(self, int index=0):
        """The screen of environment `index` in colour: (height, width, 3) uint8."""
        self.check_open()
        if not 0 <= index < self.num_envs:
            raise InvalidArgument(f"environment {index}: it must be in 0 .. {self.num_envs - 1}")
        self.check_started(index, index + 1)
        return self.painter.picture(self.states + index * self.stride + sizeof(Head))

    cdef check_started(self, int lo, int hi):
        cdef int i
        if self.unstarted == 0:
            return
        for i in range(lo, hi):
            if not (<Head*>(self.states + i * self.stride)).started:
                raise NotReset(f"environment {i} of {self.game.name} was never reset; call reset() first")

    cdef count_unstarted(self):
        cdef int i
        self.unstarted = 0
        for i in range(self.num_envs):
            self.unstarted += not (<Head*>(self.states + i * self.stride)).started

    def over(self):
        """(N,) bool: whose episode has ended and was not yet reset."""
        self.check_open()
        return np.array([(<Head*>(self.states + i * self.stride)).over for i in range(self.num_envs)], bool)

    def _signature(self):
        return {"game": self.game.name, "version": self.game.version, "stride": self.stride, "options": self.options}

    def get_state(self, indices=None):
        """The states of all environments, or of those in `indices`, as bytes.

        They hold everything that an environment's future depends on but its settings: rules, random generator, episode.
        """
        self.check_open()
        rows = checks.rows(indices, self.num_envs)
        raw = bytearray(len(rows) * self.stride)
        cdef char[::1] view = raw
        cdef int k
        for k in range(len(rows)):
            memcpy(&view[k * self.stride], self.states + <size_t>rows[k] * self.stride, self.stride)
        return checks.close_state(STATE_MAGIC, {**self._signature(), "count": len(rows)}, bytes(raw))

    def set_state(self, state, indices=None):
        """Put back what `get_state` gave, into all environments or those in `indices`, in that order.

        Raises InvalidState, and changes nothing, where the bytes are damaged or are those of another game, version,
        options or number of environments.
        """
        self.check_open()
        rows = checks.rows(indices, self.num_envs)
        raw = checks.open_state(state, STATE_MAGIC, self._signature(), len(rows), self.stride)
        cdef const unsigned char[::1] view = raw
        cdef int k
        for k in range(len(rows)):
            memcpy(self.states + <size_t>rows[k] * self.stride, &view[k * self.stride], self.stride)
        self.count_unstarted()

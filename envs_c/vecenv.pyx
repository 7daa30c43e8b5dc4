"""The engine: the states of N environments of one game, and the only prange of the suite.

`VecEnv` owns the states and the settings; `VecEnv.bind` ties a contiguous range of environments to buffers that the
caller owns (checked once, there) and gives a `Batch`, whose `step()` is then one call with the GIL released. The
Gymnasium face and the bridge both stand on this.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

import numpy as np

from envs_c import checks
from envs_c.errors import Closed, InvalidArgument, NotReset
from envs_c.game cimport (
    DISABLED, OBSERVE, RESET, SMALL, STEP, Autoreset, Game, Head, Io, Operation, chunk_fn, state_stride,
)
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

    cdef readonly Game game
    cdef readonly int num_envs
    cdef readonly int first
    cdef readonly str view
    cdef readonly str autoreset
    cdef readonly int frame_skip
    cdef readonly int noop_max
    cdef readonly int time_limit
    cdef readonly float sticky
    cdef readonly tuple reward_clip
    cdef readonly int num_threads
    cdef readonly int chunk_size
    cdef readonly dict options
    cdef readonly tuple actions         # names, in order
    cdef readonly object feature_low    # bounds of the features
    cdef readonly object feature_high
    cdef readonly tuple observation_shape
    cdef readonly object observation_dtype
    cdef readonly object ended          # (N,) uint8: 1 where the last step of its batch ended the episode
    cdef readonly object ended_return   # (N,) float64: raw return of the last ended episode
    cdef readonly object ended_length   # (N,) int32: its length in steps
    cdef readonly bint closed
    cdef char* states
    cdef readonly size_t stride         # bytes from one environment's state to the next
    cdef int unstarted                  # environments that were never reset
    cdef Io io                          # what every batch shares
    cdef Painter painter
    cdef object option_values           # (number of options + 1,) float64, that `io` points to

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
        self.seed()  # so that every generator is seeded, where `seed` leaves some out too
        if seed is not None:
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


cdef class Batch:
    """A contiguous range of environments tied to buffers; made by `VecEnv.bind`."""

    cdef readonly VecEnv env
    cdef readonly int lo
    cdef readonly int hi
    cdef readonly tuple buffers
    cdef Io io

    def __init__(self, VecEnv env, int lo, int hi, actions, observation, reward, terminated, truncated,
                 final_observation, action_mask, final_action_mask):
        cdef int count = hi - lo
        shape, dtype = (count, *env.observation_shape), env.observation_dtype
        legal = (count, len(env.actions))
        if env.autoreset == "same_step" and final_observation is None:
            raise InvalidArgument("autoreset 'same_step' writes last observations; hand bind() a final_observation")
        self.env, self.lo, self.hi = env, lo, hi
        self.io = env.io
        self.io.first = lo
        self.io.actions = <const int32_t*><size_t>checks.address("actions", actions, (count,), "int32", False)
        self.io.observation = <void*><size_t>checks.address("observation", observation, shape, dtype)
        self.io.reward = <float*><size_t>checks.address("reward", reward, (count,), "float32")
        self.io.terminated = <float*><size_t>checks.address("terminated", terminated, (count,), "float32")
        self.io.truncated = <float*><size_t>checks.address("truncated", truncated, (count,), "float32")
        if final_observation is not None:
            self.io.final_observation = <void*><size_t>checks.address(
                "final_observation", final_observation, shape, dtype)
        if action_mask is not None:
            self.io.action_mask = <uint8_t*><size_t>checks.address("action_mask", action_mask, legal, "uint8")
        if final_action_mask is not None:
            self.io.final_action_mask = <uint8_t*><size_t>checks.address(
                "final_action_mask", final_action_mask, legal, "uint8")
        self.buffers = (actions, observation, reward, terminated, truncated, final_observation, action_mask,
                        final_action_mask)

    def reset(self, mask=None):
        """Begin new episodes in all environments of the batch, or where `mask`, (B,) bool, is true.

        Writes the observations (and action masks) of all environments that were ever reset, and reward and flags of 0
        where it reset.
        """
        self.env.check_open()
        cdef const uint8_t[::1] chosen
        self.io.reset_mask = NULL
        if mask is not None:
            chosen = checks.mask("mask", mask, self.hi - self.lo).view(np.uint8)
            self.io.reset_mask = &chosen[0]
        self.run(RESET)
        self.io.reset_mask = NULL
        self.env.count_unstarted()

    def step(self, mask=None):
        """Take the actions in the batch's buffer and write what comes of them; returns how many episodes ended.

        mask: (B,) bool, or None for all. Where it is false the environment is held: its state, observation and action mask
        stay as they are, even at an episode's end, its reward and flags are 0. Its action has to be one of the game's, too.

        Raises InvalidArgument for an action that the game does not have, NotReset before the first reset (or, where
        autoreset is disabled, after an end), and Closed. No state has changed then.
        """
        self.env.check_open()
        self.env.check_started(self.lo, self.hi)
        self.check_actions()
        cdef const uint8_t[::1] chosen
        if mask is not None:
            chosen = checks.mask("mask", mask, self.hi - self.lo).view(np.uint8)
            self.io.step_mask = &chosen[0]
        try:
            if self.io.autoreset == DISABLED:
                self.check_running()
            self.run(STEP)
        finally:
            self.io.step_mask = NULL
        cdef int i, ended = 0
        for i in range(self.lo, self.hi):
            ended += self.io.ended[i]
        return ended

    def copy_ended(self, double[::1] returns, int32_t[::1] lengths, int64_t[::1] environments, long at):
        """Write the raw returns, lengths and environments of the episodes that the last step ended, from element `at` on.

        Raises InvalidArgument where there is no room for them.
        """
        cdef long i, k = at, room = min(returns.shape[0], lengths.shape[0], environments.shape[0])
        for i in range(self.lo, self.hi):
            if not self.io.ended[i]:
                continue
            if not 0 <= k < room:
                raise InvalidArgument(f"element {k} of the episodes' arrays is written, but they have {room}; make them longer")
            returns[k], lengths[k], environments[k] = self.io.ended_return[i], self.io.ended_length[i], i
            k += 1

    def _step_unchecked(self):
        """`step` that looks at nothing before; for envs_c.testing, which tries actions that a game does not have."""
        self.run(STEP)

    def observe(self):
        """Write the observations (and action masks) of the states as they are, but for those never reset."""
        self.env.check_open()
        self.run(OBSERVE)

    cdef run(self, Operation operation):
        self.io.operation = operation
        self.env.apply(&self.io, self.lo, self.hi)

    cdef check_actions(self):
        cdef unsigned int limit = self.io.num_actions
        cdef int i, wrong = 0
        for i in range(self.hi - self.lo):
            wrong += <unsigned int>self.io.actions[i] >= limit
        if wrong:
            i = next(i for i in range(self.hi - self.lo) if not 0 <= self.io.actions[i] < self.io.num_actions)
            raise InvalidArgument(checks.wrong_action(self.env.game.name, self.env.actions, self.lo + i, self.io.actions[i]))

    cdef check_running(self):
        cdef int i
        for i in range(self.lo, self.hi):
            if self.io.step_mask != NULL and not self.io.step_mask[i - self.lo]:
                continue
            if (<Head*>(self.env.states + i * self.env.stride)).over:
                raise NotReset(f"environment {i} of {self.env.game.name} is at its episode's end and autoreset is "
                               "disabled; reset it first (options={'reset_mask': ...})")

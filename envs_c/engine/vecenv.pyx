"""The interface to the engine: `VecEnv`, N environments of one game, and `Batch`, some of them with their buffers.

A `VecEnv` owns the states and the settings. `VecEnv.bind` connects a contiguous range of environments to buffers of the
caller, checks these buffers once and returns a `Batch`. `Batch.step()` is then one call with the GIL released. The
Gymnasium interface and the bridge are built on these two classes.
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

import numpy as np

from envs_c.engine import checks
from envs_c.engine.engine cimport Engine
from envs_c.errors import CannotCopy, InvalidArgument, InvalidState, NotReset
from envs_c.engine.busy cimport add_mark, drop_mark, leave
from envs_c.game cimport DISABLED, OBSERVE, RESET, STEP, Head, Operation, valid_fn
from envs_c.engine.aligned cimport free_aligned, new_aligned
from envs_c.engine.restore cimport can_exist
from envs_c.engine.state import close_state, open_state
from envs_c.views import listed

BUFFERS = ("actions", "observation", "reward", "terminated", "truncated", "final_observation", "action_mask",
           "final_action_mask", "picture", "final_picture")  # in the order of Batch.buffers
HEAD_SIZE = sizeof(Head)  # bytes of the engine's own data in front of a game's struct


@cython.no_gc_clear  # __dealloc__ needs `env`
cdef class Batch:
    """A contiguous range of B environments, with their buffers. Made by `VecEnv.bind`."""

    def __init__(self, Engine env not None, lo, hi, actions, observation, reward, terminated, truncated,
                 final_observation, action_mask, final_action_mask, picture=None, final_picture=None):
        env.check_open()
        if self.mark != NULL:
            raise InvalidArgument("__init__ must be called once, not again on this batch: bind a new one")
        lo, hi = (checks.integer(name, value, -(1 << 31), (1 << 31) - 1) for name, value in (("lo", lo), ("hi", hi)))
        if not 0 <= lo < hi <= env.num_envs:
            raise InvalidArgument(f"a batch must be one environment or more of 0 .. {env.num_envs - 1}, not {lo} .. {hi - 1}")
        cdef int count = hi - lo
        shape, dtype, of_actions = (count, *env.observation_shape), env.observation_dtype, (count, len(env.actions))
        if env.autoreset == "same_step" and final_observation is None:
            raise InvalidArgument("final_observation must be a buffer under autoreset 'same_step', not None: the last "
                                  "observations of episodes are written there")
        self.io = env.io
        self.io.first = lo
        self.io.actions = <const int32_t*><size_t>checks.address("actions", actions, (count,), "int32", False)
        self.io.observation = <void*><size_t>checks.address("observation", observation, shape, dtype)
        self.io.reward = <float*><size_t>checks.address("reward", reward, (count,), "float32")
        self.io.terminated = <float*><size_t>checks.address("terminated", terminated, (count,), "float32")
        self.io.truncated = <float*><size_t>checks.address("truncated", truncated, (count,), "float32")
        if final_observation is not None:
            self.io.final_observation = <void*><size_t>checks.address("final_observation", final_observation, shape, dtype)
        if action_mask is not None:
            self.io.action_mask = <uint8_t*><size_t>checks.address("action_mask", action_mask, of_actions, "uint8")
        if final_action_mask is not None:
            self.io.final_action_mask = <uint8_t*><size_t>checks.address(
                "final_action_mask", final_action_mask, of_actions, "uint8")
        if env.picture_shape is not None:
            self.bind_pictures(env, (count, *env.picture_shape), picture, final_picture)
        elif picture is not None or final_picture is not None:
            raise InvalidArgument(f"picture and final_picture must be None under view {env.view!r}: they are for view "
                                  f"{listed(lambda view: view.beside)}")
        self.buffers = (actions, observation, reward, terminated, truncated, final_observation, action_mask,
                        final_action_mask, picture, final_picture)
        self.held = list(self.buffers)
        checks.apart(dict(zip(BUFFERS, self.buffers)))
        self.env, self.lo, self.hi = env, lo, hi
        self.mark = add_mark(&env.mark.next, lo, hi)
        if self.mark == NULL:
            raise MemoryError("no memory for a batch")

    cdef bind_pictures(self, Engine env, shape, picture, final_picture):
        """Connect the buffers of pictures beside the features. shape: theirs."""
        self.io.picture = <uint8_t*><size_t>checks.address("picture", picture, shape, "uint8")
        if final_picture is not None or env.autoreset == "same_step":
            self.io.final_picture = <uint8_t*><size_t>checks.address("final_picture", final_picture, shape, "uint8")

    def __dealloc__(self):
        if self.mark != NULL:
            drop_mark(self.mark)

    def __reduce__(self):
        raise CannotCopy("a batch cannot be pickled or copied, for its buffers are its caller's: copy its VecEnv and bind that")

    cdef int enter(self) except -1:
        """Hold the batch's environments for one call; `leave` ends it. Raises Busy or Closed."""
        if self.mark == NULL:
            raise InvalidArgument("a batch must be made by VecEnv.bind, not by __new__ only: bind one")
        return self.env.enter(self.mark)

    def reset(self, mask=None):
        """Begin new episodes.

        mask: (B,) bool, the environments to reset; None is all of them.

        Writes the observations and action masks of all environments, except those without any reset yet. Reward and flags
        become 0 in the environments that it resets.
        """
        cdef const uint8_t[::1] chosen
        if mask is not None:
            chosen = checks.mask("mask", mask, self.hi - self.lo).view(np.uint8)
        self.enter()
        if mask is not None:
            self.io.reset_mask = &chosen[0]
        try:
            self.run(RESET)
        finally:
            self.io.reset_mask = NULL
            if self.env.unstarted:
                self.env.count_unstarted()
            leave(self.mark)

    def step(self, mask=None):
        """Take the actions of the `actions` buffer and write all outputs. Returns the number of ended episodes.

        mask: (B,) bool, the environments to step; None is all of them. The others keep their state, observation and action
            mask, even at an episode's end; their reward and flags become 0. Their actions are checked too.

        Raises InvalidArgument if the game does not have one of the actions, NotReset before the first reset (and after an
        end under autoreset "disabled"), Closed after `close`, Busy while another thread uses one of the environments. In these
        cases no state has changed.
        """
        cdef const uint8_t[::1] chosen
        cdef int i, ended = 0
        if mask is not None:
            chosen = checks.mask("mask", mask, self.hi - self.lo).view(np.uint8)
        self.enter()
        try:
            self.env.check_started(self.lo, self.hi)
            self.check_actions()
            if mask is not None:
                self.io.step_mask = &chosen[0]
            if self.io.autoreset == DISABLED:
                self.check_running()
            self.run(STEP)
            for i in range(self.lo, self.hi):
                ended += self.io.ended[i]
        finally:
            self.io.step_mask = NULL
            leave(self.mark)
        return ended

    def copy_ended(self, double[::1] returns, int32_t[::1] lengths, int64_t[::1] environments, long at):
        """Write the episodes ended by the last step: their raw returns, their lengths and their environments.

        at: the element of the three arrays to begin with.
        Raises InvalidArgument if the arrays are too short; TypeError, ValueError, BufferError or OverflowError for other types.
        """
        cdef long i, k = at, room = min(returns.shape[0], lengths.shape[0], environments.shape[0])
        for i in range(self.lo, self.hi):
            if not self.io.ended[i]:
                continue
            if not 0 <= k < room:
                raise InvalidArgument(f"the arrays of ended episodes must have more than {k} elements, not {room}")
            returns[k], lengths[k], environments[k] = self.io.ended_return[i], self.io.ended_length[i], i
            k += 1

    def _step_unchecked(self):
        """`step` without any check, for envs_c.testing, which tries unknown actions."""
        self.enter()
        try:
            self.run(STEP)
        finally:
            leave(self.mark)

    def observe(self):
        """Write the observations and action masks of the present states, except of environments without any reset yet."""
        self.enter()
        try:
            self.run(OBSERVE)
        finally:
            leave(self.mark)

    cdef run(self, Operation operation):
        self.io.operation = operation
        with nogil:
            self.env.apply(&self.io, self.lo, self.hi)
        if self.io.format != NULL and self.io.format.no_memory:
            self.io.format.no_memory = False
            raise MemoryError("no memory to paint pictures of this size: the states were stepped, but not all are observed")

    cdef check_actions(self):
        cdef int i, wrong = 0
        for i in range(self.hi - self.lo):
            wrong += <unsigned int>self.io.actions[i] >= <unsigned int>self.io.num_actions
        if wrong:
            i = next(i for i in range(self.hi - self.lo) if not 0 <= self.io.actions[i] < self.io.num_actions)
            raise InvalidArgument(checks.wrong_action(self.env.game.name, self.env.actions, self.lo + i, self.io.actions[i]))

    cdef check_running(self):
        """Raise NotReset if one of the environments to step is at its episode's end."""
        cdef int i
        for i in range(self.lo, self.hi):
            if self.io.step_mask != NULL and not self.io.step_mask[i - self.lo]:
                continue
            if (<Head*>(self.env.states + i * self.env.stride)).over:
                raise NotReset(f"environment {i} of {self.env.game.name} is at its episode's end and autoreset is "
                               "disabled; reset it first (options={'reset_mask': ...})")


cdef class VecEnv(Engine):
    """N environments of one game, without buffers for their outputs.

    The outputs of environment i depend only on (seed, first + i) and on its actions, never on threads, chunks or batches.

    game: a `Game`.
    chunk_size: environments in one chunk of work for a thread, and all threads take part; 0 chooses a size for each call, and
        how many threads take part is measured.
    first: the number of environment 0, if these environments are a part of more that share a seed.
    count_lives: True if each call writes the lives left into the array `lives`, which is None in a game without lives.
    The other arguments are those of `envs_c.make`. Raises InvalidArgument for a setting that is out of range.
    """

    def bind(self, lo, hi, *, actions, observation, reward, terminated, truncated,
             final_observation=None, action_mask=None, final_action_mask=None, picture=None, final_picture=None):
        """Connect environments lo .. hi-1 (B of them) to buffers. Returns a `Batch`, which keeps the buffers alive.

        actions: (B,) int32; it may be read-only, unlike the others.
        observation: (B, *observation_shape) of observation_dtype.
        reward, terminated, truncated: (B,) float32; the flags are 0.0 or 1.0.
        final_observation: as observation; required under autoreset "same_step".
        action_mask: (B, num_actions) uint8, optional. A game without illegal moves (`has_mask`) does not write it.
        final_action_mask: the same for final_observation.
        picture: (B, *picture_shape) uint8; required under a view with a picture beside the features ("both").
        final_picture: the same for final_observation; required under such a view with autoreset "same_step".

        Every buffer is an aligned, C-contiguous NumPy array; no two share memory. Raises InvalidArgument, which names the
        wrong buffer.
        """
        return Batch(self, lo, hi, actions, observation, reward, terminated, truncated,
                     final_observation, action_mask, final_action_mask, picture, final_picture)

    def render(self, index=0, grey=False):
        """The screen of environment `index`: (height, width, 3) uint8 in colour, or (height, width) in grey."""
        self.check_open()
        cdef int i = checks.integer("the environment's index", index, 0, self.num_envs - 1)
        self.enter(&self.mark)
        try:
            self.check_started(i, i + 1)
            return self.painter.picture(self.states + i * self.stride + sizeof(Head), checks.boolean("grey", grey))
        finally:
            leave(&self.mark)

    def _signature(self):
        return {"game": self.game.name, "version": self.game.version, "stride": self.stride, "options": self.options}

    def get_state(self, indices=None):
        """A snapshot of all environments, or of those in `indices`, as bytes.

        With the settings, it determines the future of each environment: it holds the game's struct, the random generator,
        and the return and length of the present episode.
        """
        self.check_open()
        rows = checks.rows(indices, self.num_envs)
        raw = bytearray(len(rows) * self.stride)
        cdef char[::1] view = raw
        cdef int k
        self.enter(&self.mark)
        for k in range(len(rows)):
            memcpy(&view[k * self.stride], self.states + <size_t>rows[k] * self.stride, self.stride)
        leave(&self.mark)
        return close_state(self._signature(), len(rows), bytes(raw))

    cdef check_states(self, const unsigned char[::1] raw):
        """Raise InvalidState if one of the environments in a snapshot's memory is in a state that cannot exist."""
        cdef size_t k = 0, stride = self.stride, size = self.game.state_size, count = raw.shape[0] // stride
        cdef valid_fn valid = self.game.valid
        cdef char* state = <char*>new_aligned(64, stride)  # an aligned copy of one environment
        if state == NULL:
            raise MemoryError(f"no memory for {stride} bytes")
        with nogil:  # a `valid` that does not return stops no other thread, such as the watchdog of `check`
            while k < count:
                memcpy(state, &raw[k * stride], stride)
                if not can_exist(state, size, &self.io, valid):
                    break
                k += 1
        free_aligned(state)
        if k < count:
            raise InvalidState(f"environment {k} of this state is in none that {self.game.name} could have produced: use bytes "
                               "that get_state returned")

    def set_state(self, state, indices=None):
        """Restore a snapshot of `get_state` into all environments, or into those in `indices`, in their order.

        Raises InvalidState, and changes nothing, if the bytes are damaged, belong to another game, version, set of
        options or number of environments, or hold a state that the game cannot have produced.
        """
        self.check_open()
        rows = checks.rows(indices, self.num_envs)
        raw = open_state(state, self._signature(), len(rows), self.game.check_options({}))
        cdef const unsigned char[::1] view = raw
        cdef int k
        self.check_states(view)
        self.enter(&self.mark)
        for k in range(len(rows)):
            memcpy(self.states + <size_t>rows[k] * self.stride, &view[k * self.stride], self.stride)
        self.count_unstarted()
        leave(&self.mark)

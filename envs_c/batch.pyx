"""A batch: environments tied to the buffers that they read actions from and write to."""

from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

from envs_c import checks
from envs_c.errors import InvalidArgument, NotReset
from envs_c.game cimport DISABLED, OBSERVE, RESET, STEP, Head, Io, Operation
from envs_c.vecenv cimport VecEnv


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
        if self.env.unstarted:
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

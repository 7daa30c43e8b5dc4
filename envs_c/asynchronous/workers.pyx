"""`Workers`: threads that step single environments of a batch, while Python does something else.

The outputs of environment i go to row i of the batch's buffers. They stay there until the caller has received them and sends
i again, so no other copy is needed. An environment is stepped by the same function of the game as in a synchronous call, by
one thread at a time; so its results are the same, whatever the order of arrival.
"""

cimport cython
from libc.stdint cimport int32_t, uint8_t

import numpy as np

from envs_c.engine import checks
from envs_c.errors import Busy, Closed, InvalidArgument, NotReset, OutOfTurn
from envs_c.asynchronous.crew cimport Crew, crew_enter, crew_free, crew_give, crew_new, crew_take
from envs_c.engine.busy cimport generation, leave
from envs_c.engine.vecenv cimport Batch
from envs_c.game cimport DISABLED, RESET, STEP, Head, Io, chunk_fn


ctypedef struct Job:
    chunk_fn chunk
    char* states
    uint8_t* begins  # (N,) 1: begin an episode; 0: step
    Io step
    Io reset


cdef void do_one(void* job, int i) noexcept nogil:
    cdef Job* j = <Job*>job
    j.chunk(j.states, &j.reset if j.begins[i] else &j.step, i, i + 1)


@cython.no_gc_clear  # __dealloc__ ends the threads, which use the batch's buffers
cdef class Workers:
    """Threads for the environments of one batch.

    An environment is in flight from `step` or `reset` until `receive` returns it. While one is, the batch counts as in use:
    other calls on these environments raise Busy.

    batch: a `Batch` of all N environments of a VecEnv.
    num_threads: the number of threads.
    """

    cdef readonly Batch batch
    cdef readonly int in_flight       # number of environments
    cdef Crew* crew
    cdef Job job
    cdef int process                  # the generation of the process that sent what is in flight
    cdef uint8_t[::1] flying          # (N,) 1: in flight
    cdef uint8_t[::1] begins          # (N,) `job` points to it
    cdef object name

    def __init__(self, Batch batch not None, num_threads):
        if self.crew != NULL or batch.mark == NULL or batch.hi - batch.lo != batch.env.num_envs:
            raise InvalidArgument("workers must be made once, of a batch of all environments")
        batch.env.check_open()
        count, threads = batch.env.num_envs, checks.integer("num_threads", num_threads, 1, 1024)
        self.name = f"these {batch.env.game.name} environments"
        self.flying, self.begins = np.zeros((2, count), np.uint8)
        self.batch = batch
        self.job.chunk, self.job.states, self.job.begins = batch.env.game.chunk, batch.env.states, &self.begins[0]
        self.job.step = self.job.reset = batch.io
        self.job.step.operation, self.job.reset.operation = STEP, RESET
        self.crew = crew_new(threads, count, do_one, &self.job)
        if self.crew == NULL:
            raise MemoryError("no memory for threads")

    def __dealloc__(self):
        crew_free(self.crew, generation)

    def close(self):
        """End the threads. Steps that have begun are finished, the others are dropped."""
        crew_free(self.crew, generation)
        self.crew = NULL
        if self.in_flight:
            self.in_flight = 0
            leave(self.batch.mark)

    def step(self, const int32_t[::1] ids, const int32_t[::1] actions):
        """Send environments to be stepped.

        ids: their numbers.
        actions: the action of each.

        Raises InvalidArgument for an unknown action or number, or an environment that is in flight or named twice; NotReset
        before an environment's first reset, and after an episode's end under autoreset "disabled". Then nothing is sent.
        """
        cdef int k, i
        cdef Batch batch = self.batch
        cdef Head* head
        self.check_process()
        self.check_ids(ids)
        if actions.shape[0] != ids.shape[0]:
            raise InvalidArgument(f"actions must be one for each of {ids.shape[0]} environments, not {actions.shape[0]}")
        for k in range(actions.shape[0]):
            if not 0 <= actions[k] < batch.io.num_actions:
                raise InvalidArgument(checks.wrong_action(batch.env.game.name, batch.env.actions, ids[k], actions[k]))
        self.enter(ids)
        for k in range(ids.shape[0]):
            i = ids[k]
            head = <Head*>(batch.env.states + i * batch.env.stride)
            if not head.started or (head.over and batch.io.autoreset == DISABLED):
                reason = "is at its episode's end and autoreset is disabled" if head.started else "was never reset"
                self.take_back(ids, ids.shape[0])
                if self.in_flight == 0:
                    leave(batch.mark)
                raise NotReset(f"environment {i} of {batch.env.game.name} {reason}: call async_reset([{i}]) first")
        for k in range(ids.shape[0]):
            (<int32_t*>batch.io.actions)[ids[k]] = actions[k]
        self.give(ids, False)

    def reset(self, const int32_t[::1] ids):
        """Send environments to begin episodes. Raises InvalidArgument as `step` does."""
        self.check_process()
        self.check_ids(ids)
        self.enter(ids)
        self.give(ids, True)

    def receive(self, int count):
        """The numbers of the `count` environments that were done first, (count,) int32; the GIL is released while it waits.

        Raises OutOfTurn if fewer are in flight.
        """
        cdef int k
        self.check_process()
        if self.in_flight < count or count == 0:
            raise OutOfTurn(f"recv needs {count} environments in flight, but {self.in_flight} are: call async_reset() or "
                            "send(actions, env_id) first")
        ids = np.empty(count, np.int32)
        cdef int32_t[::1] view = ids
        with nogil:
            crew_take(self.crew, <int*>&view[0], count)
        for k in range(count):
            self.flying[view[k]] = 0
        self.in_flight -= count
        if self.in_flight == 0:
            leave(self.batch.mark)
            if self.batch.env.unstarted:
                self.batch.env.count_unstarted()
        if self.job.step.format != NULL and self.job.step.format.no_memory:
            self.job.step.format.no_memory = False
            raise MemoryError("no memory to paint pictures of this size: the states were stepped, but not all are observed")
        return ids

    cdef check_process(self):
        """Raise Closed after `close`, and Busy in a child process that was forked while environments were in flight."""
        if self.crew == NULL:
            raise Closed(f"{self.name} were closed; make new ones with envs_c.make_async")
        if self.in_flight and self.process != generation:
            raise Busy(f"{self.name} were in flight when this process was forked: make new ones here, or fork after recv has "
                       "returned all")
        crew_enter(self.crew, generation)

    cdef check_ids(self, const int32_t[::1] ids):
        """Raise InvalidArgument if there are none, or for a number that no environment has."""
        cdef int k
        if ids.shape[0] == 0:
            raise InvalidArgument("env_id must name one environment or more, not none")
        for k in range(ids.shape[0]):
            if not 0 <= ids[k] < self.batch.hi:
                raise InvalidArgument(f"env_id must be integers from 0 to {self.batch.hi - 1}, not {ids[k]}")

    cdef enter(self, const int32_t[::1] ids):
        """Count these environments as in flight, or raise an error and leave all as it was."""
        cdef int k
        for k in range(ids.shape[0]):
            if self.flying[ids[k]]:
                self.take_back(ids, k)
                reason = ("is in flight: recv() must return it first" if self.flying[ids[k]] else "is named twice")
                raise InvalidArgument(f"env_id must name environments that are not in flight, each once, but {ids[k]} {reason}")
            self.flying[ids[k]] = 1
        if self.in_flight == 0:
            try:
                self.batch.enter()
            except BaseException:
                self.take_back(ids, ids.shape[0])
                raise

    cdef take_back(self, const int32_t[::1] ids, int count):
        cdef int k
        for k in range(count):
            self.flying[ids[k]] = 0

    cdef give(self, const int32_t[::1] ids, bint begins):
        cdef int k
        for k in range(ids.shape[0]):
            self.begins[ids[k]] = begins
        self.in_flight += ids.shape[0]
        self.process = generation
        with nogil:
            crew_give(self.crew, <const int*>&ids[0], <int>ids.shape[0])

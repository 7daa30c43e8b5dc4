"""The engine: the memory and the settings of N environments of one game, and the loop over them, shared among threads.

`VecEnv` (vecenv.pyx) is the public class. Its base class `Engine` is a module of its own, because `Batch` needs
the engine, and `VecEnv.bind` needs `Batch`.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

import os

import numpy as np

from envs_c.engine import arguments, checks, openmp
from envs_c.engine.busy import busy_message
from envs_c.engine.state import restored
from envs_c.errors import Busy, Closed, ContractError, InvalidArgument, NotReset
from envs_c.engine.aligned cimport free_aligned, new_aligned
from envs_c.engine.busy cimport Mark, enter as try_to_enter, generation, leave
from envs_c.engine.team cimport (
    TEAM_MOST, Call, Team, omp_get_max_threads, order_after, order_before, team_begin, team_end, team_is_used,
    team_leave_process)
from envs_c.game cimport ENDS, FLAGGED, GOES_ON, SMALL, Autoreset, Head, Io, chunk_fn, run_rows, state_stride
from envs_c.io cimport draw_fn, mask_fn, observe_fn, reset_fn, step_fn
from envs_c.machine import cores
from envs_c.engine.painter cimport Painter, paint
from envs_c.rng cimport rng_seed
from envs_c.views import VIEWS


cdef bint LOST = openmp.LOST


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=lambda: team_leave_process())


ctypedef struct Job:
    # One call of a game's loop. Its chunk k is the environments lo + k * size .. lo + (k + 1) * size - 1, up to hi - 1.
    chunk_fn chunk
    char* states
    Io* io
    int lo
    int hi
    int size
    char begun  # points of order_before
    char done


cdef void do_chunk(Job* j, int k) noexcept nogil:
    order_after(&j.begun)  # before the first look at the job
    cdef int start = j.lo + k * j.size
    j.chunk(j.states, j.io, start, min(start + j.size, j.hi))
    order_before(&j.done)


cdef void do_chunks(Job* job, int chunks, int threads) noexcept nogil:
    """Do all chunks with this number of threads. A thread has the same ones in each call, so they stay in its core's cache."""
    cdef int k
    team_is_used()
    order_before(&job.begun)
    for k in prange(chunks, num_threads=threads, schedule="static"):
        do_chunk(job, k)
    order_after(&job.done)


cdef void special_rows(reset_fn reset, step_fn step, observe_fn observe, draw_fn draw, mask_fn mask, size_t size, char* states,
                       Io* io, int lo, int hi) noexcept nogil:
    run_rows(reset, step, observe, draw, mask, size, states, io, lo, hi, False)


cdef class Engine:
    """The states of N environments, and the loop over them. `VecEnv` documents the arguments."""

    def __init__(self, *args, **settings):
        Engine._begin(self, *args, **settings)
        self.arguments = args, settings
    _again = __init__  # a subclass may have its own

    def _begin(self, game=None, num_envs=1, *more, view="features", picture_size=None, frame_skip=None, sticky=0.0,
               noop_max=0, time_limit=None, reward_clip=None, episodic_life=False, life_loss_info=False, num_threads=0,
               autoreset="next_step", seed=None, chunk_size=0, options=None, first=0, count_lives=False, **unknown):
        if self.states != NULL or self.closed:
            raise InvalidArgument(f"__init__ must be called once on these {self.game.name} environments: make new ones")
        self.game = arguments.game_of(game, more, unknown)
        if self.game.chunk == NULL:
            raise ContractError(f"game {game.name!r} must have compiled functions, not only a description: end its file with "
                                "GAME = Game(...).bind(chunk, ...)")
        self.options = game.check_options(checks.mapping("options", options))
        self.actions, feature_shape, self.feature_low, self.feature_high = game.describe(self.options)
        self.num_envs = checks.integer("num_envs", num_envs, 1, 1 << 24)
        self.first = checks.integer("first", first, 0, 1 << 30)
        self.view = checks.view(view, game)
        shown = VIEWS[self.view]
        self.picture_size = checks.picture_size(picture_size, shown, game.screen, SMALL)
        self.autoreset = checks.choice("autoreset", autoreset, ("next_step", "same_step", "disabled"))
        self.frame_skip = checks.frame_skip(game.frame_skip if frame_skip is None else frame_skip)
        self.noop_max = checks.noop_max(noop_max, game.name, self.actions)
        self.time_limit = checks.time_limit(time_limit, game)
        self.sticky = checks.number("sticky", sticky, 0.0, 1.0)
        self.reward_clip = checks.reward_clip(reward_clip)
        self.episodic_life = checks.life_setting("episodic_life", episodic_life, game)
        self.life_loss_info = checks.life_setting("life_loss_info", life_loss_info, game)
        self.chosen_threads = checks.integer("num_threads", num_threads, 0, 1024)
        self.num_threads = self.chosen_threads or cores()
        self.observation_shape = shown.main.shape(feature_shape, self.picture_size)
        self.observation_dtype = np.dtype(shown.main.dtype or game.feature_dtype)
        self.picture_shape = None if shown.beside is None else shown.beside.shape(feature_shape, self.picture_size)
        self.chunk_size = checks.integer("chunk_size", chunk_size, 0, 1 << 24)
        self.stride = state_stride(game.state_size)
        memory = checks.Memory(f"{self.num_envs:,} environments of {game.name}", {
            "states": self.num_envs * self.stride,
            "observations": self.num_envs * int(np.prod(self.observation_shape)) * self.observation_dtype.itemsize,
            "pictures": 0 if self.picture_shape is None else self.num_envs * int(np.prod(self.picture_shape))})
        self._make_io()
        if checks.boolean("count_lives", count_lives) and game.has_lives:
            self._count_lives()
        if (self.io.life_loss != GOES_ON or self.io.frame_skip_span > 1 or self.io.paint != NULL
                or self.picture_shape is not None or self.lives is not None and self.autoreset == "same_step"):
            self.io.special = special_rows
        self.states = <char*>new_aligned(64, self.num_envs * self.stride)
        if self.states == NULL:
            raise memory.error("the system gives no more")
        memset(self.states, 0, self.num_envs * self.stride)
        self.unstarted = self.mark.hi = self.num_envs
        if checks.is_sequence(seed):
            self.seed()  # a sequence of seeds may hold None: those generators keep this random seed
        self.seed(seed)

    def __dealloc__(self):
        cdef Mark* mark
        while self.mark.next != NULL:
            mark = self.mark.next
            self.mark.next = mark.next
            free(mark)
        free_aligned(self.states)

    def __reduce__(self):
        """A copy or a pickle is an engine of its own: made from the same arguments, then restored from a snapshot."""
        if not self.closed:
            self.check_open()
        args, settings = self.arguments
        state = None if self.closed else self.get_state()
        return restored, (type(self), args, {**settings, "options": self.options}, state), getattr(self, "__dict__", None)

    def _make_io(self):
        """Fill the part of Io shared by all batches."""
        self.memory = (np.zeros(self.num_envs, np.uint8), np.zeros(self.num_envs), np.zeros(self.num_envs, np.int32),
                       np.array([*self.options.values(), 0.0], np.float64))  # never empty: it must have an address
        self.ended, self.ended_return, self.ended_length = (array.view() for array in self.memory[:3])  # cannot be resized
        cdef uint8_t[::1] ended = self.ended
        cdef double[::1] returns = self.ended_return, options = self.memory[3]
        cdef int32_t[::1] lengths = self.ended_length
        cdef Io* io = &self.io
        memset(io, 0, sizeof(Io))
        io.ended, io.ended_return, io.ended_length, io.options = &ended[0], &returns[0], &lengths[0], &options[0]
        self.painter = Painter(self.game, options)
        io.screen = &self.painter.screen
        shown = VIEWS[self.view]
        if shown.picture is not None and (shown.picture.channels != 1 or self.picture_size != (SMALL, SMALL)):
            height, width = self.picture_size
            self.format = self.painter.format(height, width, shown.picture.channels)
            io.format, io.paint = &self.format, paint
        io.observation_bytes = int(np.prod(self.observation_shape)) * self.observation_dtype.itemsize
        io.picture_bytes = 0 if self.picture_shape is None else int(np.prod(self.picture_shape))
        io.num_actions = len(self.actions)
        io.pixels = shown.main.channels > 0
        low, high = self.frame_skip if isinstance(self.frame_skip, tuple) else (self.frame_skip, self.frame_skip + 1)
        io.frame_skip, io.frame_skip_span, io.noop_max, io.time_limit = low, high - low, self.noop_max, self.time_limit
        io.sticky = self.sticky
        io.reward_low, io.reward_high = self.reward_clip
        io.autoreset = <Autoreset>("next_step", "same_step", "disabled").index(self.autoreset)
        io.life_loss = ENDS if self.episodic_life else FLAGGED if self.life_loss_info else GOES_ON
        io.count_lives = self.game.lives

    def _count_lives(self):
        """Let each call write the lives left into `lives`."""
        self.lives, self.final_lives = np.zeros((2, self.num_envs), np.int32)
        cdef int32_t[::1] lives = self.lives, final_lives = self.final_lives
        self.io.lives, self.io.final_lives = &lives[0], &final_lives[0]

    def close(self):
        """Free the states. Any later use raises Closed; a second close does nothing.

        Raises Busy, and frees nothing, while another thread uses the environments.
        """
        if self.states != NULL:
            self.enter(&self.mark)
            self.closed = True
            free_aligned(self.states)
            self.states = NULL
            leave(&self.mark)

    cdef check_open(self):
        if self.closed:
            raise Closed(f"these {self.game.name} environments were closed; make new ones with envs_c.make")
        if self.states == NULL:
            raise InvalidArgument("the environments must be initialised, not made by __new__ only: make them with envs_c.make")

    cdef int enter(self, Mark* mark) except -1:
        """Hold `mark` for one call; `leave` ends it.

        Raises Busy if another thread uses its environments, Closed after `close`.
        """
        if not try_to_enter(mark, &self.mark):
            raise Busy(busy_message(f"these {self.game.name} environments"))
        if self.states == NULL:
            leave(mark)
            self.check_open()
        return 0

    def seed(self, seed=None, mask=None, anew=False):
        """Seed the random generators. The present episode continues; later ones depend on the seed.

        seed: one of
            an integer: environment i draws from (seed, first + i);
            a sequence of N integers: environment i draws from (seed[i], 0), so equal seeds give equal environments. An
                entry None leaves the generator unchanged;
            None: a seed from the operating system.
        mask: (N,) bool, the environments to seed; None is all of them.
        anew: True also forgets all of their episodes, such as a cartridge's RAM, as before the first reset, which must be next.
        """
        self.check_open()
        cdef int i
        cdef uint64_t key
        anew, values = checks.boolean("anew", anew), checks.seeds(seed, self.num_envs, self.first)
        if mask is not None:
            mask = checks.mask("mask", mask, self.num_envs)
        self.enter(&self.mark)
        try:
            for i, value in enumerate(values):
                if value is not None and (mask is None or mask[i]):
                    key, index = value
                    if anew:
                        memset(self.states + i * self.stride, 0, self.stride)
                    rng_seed(&(<Head*>(self.states + i * self.stride)).rng, key, <uint64_t>index)
            self.count_unstarted()
        finally:
            leave(&self.mark)

    def over(self):
        """(N,) bool: True if the environment's episode has ended and it was not reset since."""
        cdef int i
        over = np.empty(self.num_envs, bool)
        self.enter(&self.mark)
        for i in range(self.num_envs):
            over[i] = (<Head*>(self.states + i * self.stride)).over
        leave(&self.mark)
        return over

    cdef void apply(self, Io* io, int lo, int hi) noexcept nogil:
        """Run io.operation on environments lo .. hi-1, in chunks that the threads share.

        team.h decides whether the call has all threads or one, unless the caller of VecEnv chose the size of a chunk: then all.
        """
        cdef int size = self.chunk_size, count = hi - lo, threads = self.threads(), chunks
        cdef Job job
        cdef Call call
        cdef Team* team = &self.teams[<int>io.operation]
        if size == 0:  # about 8 chunks a thread, whole cache lines of output, none too small to be worth a thread
            size = max(8 if self.picture_size is not None else 64, ((count + 8 * threads - 1) // (8 * threads) + 15) & ~15)
        chunks = (count + size - 1) // size
        job.chunk, job.states, job.io, job.lo, job.hi, job.size = self.game.chunk, self.states, io, lo, hi, size
        if threads == 1 or chunks == 1:
            job.chunk(job.states, io, lo, hi)
        elif self.chunk_size > 0:
            do_chunks(&job, chunks, threads)
        else:
            if team_begin(team, &call, count):
                do_chunks(&job, chunks, threads)
            else:
                job.chunk(job.states, io, lo, hi)
            team_end(team, &call)

    cdef int threads(self) noexcept nogil:
        """The threads that a call may have."""
        cdef int other
        if generation > 1 or LOST:  # a child process: a team of its parent does not exist here, and OpenMP would wait for it
            return 1
        if self.chosen_threads:
            return min(self.num_threads, TEAM_MOST)
        other = omp_get_max_threads()  # torch's, for example: a team of another size would end and start threads each time
        return min(other if 1 < other < self.num_threads else self.num_threads, TEAM_MOST)

    cdef check_started(self, int lo, int hi):
        """Raise NotReset if one of the environments lo .. hi-1 was never reset."""
        cdef int i
        if self.unstarted == 0:
            return
        for i in range(lo, hi):
            if not (<Head*>(self.states + i * self.stride)).started:
                raise NotReset(f"environment {i} of {self.game.name} was never reset; call reset() first")

    cdef count_unstarted(self):
        cdef int i, count = 0
        for i in range(self.num_envs):
            count += not (<Head*>(self.states + i * self.stride)).started
        self.unstarted = count  # at once: without the GIL, calls of other batches read it at the same time

"""`Turns`: steps several batches in turn without the GIL, and calls C functions of the caller between their steps.

A turn of a batch waits for its actions, steps its environments, and begins what chooses the next actions: the caller's
functions, such as those of CUDA's driver. So a whole rollout of a policy on a GPU is one call.
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from envs_c.engine import checks
from envs_c.engine.arguments import addresses
from envs_c.engine.busy cimport enter, leave
from envs_c.engine.vecenv cimport Batch
from envs_c.errors import InvalidArgument
from envs_c.game cimport NEXT_STEP, STEP


cdef extern from "team.h" nogil:
    int64_t team_now()


ctypedef int (*begin_fn)(void* what, void* where) noexcept nogil
ctypedef int (*wait_fn)(void* what) noexcept nogil

cdef enum:
    MOST = 64       # batches
    REFUSED = -1    # of step_now: Batch.step must do it, and raises an error
    NO_MEMORY = -2  # of step_now: to paint pictures

STAGES = "wait", "step", "launch", "record"  # of a turn

cdef enum Stage:
    DONE = -1
    WAIT
    PLAY
    LAUNCH
    RECORD


ctypedef struct Calls:
    # A batch, which `Turns.batches` keeps, and what its turns call.
    void* batch
    void* graph
    void* stream
    void* event


ctypedef struct Place:
    # Where a run is.
    int turn
    int batch
    int code
    double waited   # seconds of all turns so far
    double stepped


cdef int step_now(Batch batch) noexcept nogil:
    """`Batch.step` of all its environments. Returns the number of ended episodes; or REFUSED, and has done nothing."""
    cdef unsigned int limit = batch.io.num_actions
    cdef int i, ended = 0, wrong = 0
    if batch.env.states == NULL or batch.env.unstarted or batch.io.autoreset != NEXT_STEP:
        return REFUSED
    if not enter(batch.mark, &batch.env.mark):
        return REFUSED
    for i in range(batch.hi - batch.lo):
        wrong += <unsigned int>batch.io.actions[i] >= limit
    if not wrong:
        batch.io.operation = STEP
        batch.env.apply(&batch.io, batch.lo, batch.hi)
        for i in range(batch.lo, batch.hi):
            ended += batch.io.ended[i]
        if batch.io.format != NULL and batch.io.format.no_memory:
            ended = NO_MEMORY
    leave(batch.mark)
    return REFUSED if wrong else ended


cdef class Turns:
    """The turns of some batches of environments under autoreset "next_step".

    batches: the batches, in the order of their turns; at most 64.
    calls: for each batch the addresses (graph, stream, event).
    functions: addresses of `int launch(graph, stream)`, `int record(event, stream)` and `int wait(event)`. They need no GIL,
        and return 0 if all is well.

    Attributes:
    waited, stepped: seconds of the last `run` in `wait` and in the environments' steps.

    Raises InvalidArgument if the arguments are others.
    """

    cdef readonly tuple batches
    cdef readonly double waited
    cdef readonly double stepped
    cdef Calls[MOST] calls
    cdef int size
    cdef begin_fn launch
    cdef begin_fn record
    cdef wait_fn wait
    cdef tuple columns             # of the episodes ended in `run`: the three arrays below
    cdef double[::1] returns
    cdef int32_t[::1] lengths
    cdef int64_t[::1] environments
    cdef long room
    cdef long ended

    def __init__(self, batches, calls, functions):
        for name, value in (("batches", batches), ("calls", calls)):
            if not isinstance(value, (list, tuple)):
                raise InvalidArgument(f"{name} must be a list or tuple, not {checks.shown(value)}")
        self.batches = tuple(batches)
        if not 1 <= len(self.batches) <= MOST or len(calls) != len(self.batches):
            raise InvalidArgument(f"batches must be 1 to {MOST}, each with its calls, not {len(self.batches)} with "
                                  f"{len(calls)}")
        for k, batch in enumerate(self.batches):
            graph, stream, event = addresses(f"calls[{k}]", calls[k])
            if not isinstance(batch, Batch) or (<Batch>batch).mark == NULL:
                raise InvalidArgument("batches must be what VecEnv.bind returns")
            self.calls[k] = Calls(<void*>batch, <void*><size_t>graph, <void*><size_t>stream, <void*><size_t>event)
        self.size = len(self.batches)
        launch, record, wait = addresses("functions", functions, 1)
        self.launch, self.record = <begin_fn><size_t>launch, <begin_fn><size_t>record
        self.wait = <wait_fn><size_t>wait
        self.make_room(sum(batch.hi - batch.lo for batch in self.batches))

    cdef make_room(self, long room):
        """Have memory for this many ended episodes, and keep those that are there."""
        columns = np.empty(room), np.empty(room, np.int32), np.empty(room, np.int64)
        for new, old in zip(columns, self.columns or (), strict=False):
            new[: self.ended] = old[: self.ended]
        self.returns, self.lengths, self.environments = self.columns = columns
        self.room = room

    def run(self, count, pending):
        """Do `count` turns of each batch: wait, step, launch, record.

        pending: for each batch, whether it was launched and its actions are not yet played; otherwise its first turn neither
            waits nor steps.

        Returns None, or what ended it: (turns done, batch, stage, code), with a stage of STAGES and the function's result.
        After the stage "step" `batches[batch].step()` raises the error, or does the step. Raises MemoryError, between two
        turns, without memory for more ended episodes.
        """
        cdef int turns = checks.integer("count", count, 0, 1 << 30), stage
        cdef bint[MOST] waits
        cdef Place place
        if len(pending) != len(self.batches):
            raise InvalidArgument(f"pending must be {len(self.batches)} flags, not {len(pending)}")
        for k, flag in enumerate(pending):
            waits[k] = flag
        place.waited = place.stepped = 0.0
        try:
            with nogil:
                stage = self.go_on(turns, waits, &place)
        finally:
            self.waited, self.stepped = place.waited, place.stepped
        if stage == DONE:
            return None
        return place.turn, place.batch, STAGES[stage], place.code

    cdef int go_on(self, int turns, bint* waits, Place* place) except? -2 nogil:
        """`run`. Returns a stage, and fills `place`, or DONE."""
        cdef int64_t begin, ready
        cdef int ended
        for place.turn in range(turns):
            for place.batch in range(self.size):
                if waits[place.batch]:
                    self.have_room(<Batch>self.calls[place.batch].batch)
                    begin = team_now()
                    place.code = self.wait(self.calls[place.batch].event)
                    if place.code:
                        return WAIT
                    ready = team_now()
                    ended = step_now(<Batch>self.calls[place.batch].batch)
                    if ended < 0:
                        return PLAY
                    if ended:
                        self.note(<Batch>self.calls[place.batch].batch)
                    place.waited += 1e-9 * (ready - begin)
                    place.stepped += 1e-9 * (team_now() - ready)
                place.code = self.launch(self.calls[place.batch].graph, self.calls[place.batch].stream)
                if place.code:
                    return LAUNCH
                place.code = self.record(self.calls[place.batch].event, self.calls[place.batch].stream)
                if place.code:
                    return RECORD
                waits[place.batch] = True
        return DONE

    cdef int have_room(self, Batch batch) except -1 nogil:
        """Have memory for an end of each of the batch's episodes, before a step that could not be undone."""
        cdef long most = self.ended + batch.hi - batch.lo
        if most > self.room:
            with gil:
                self.make_room(2 * most)
        return 0

    cdef void note(self, Batch batch) noexcept nogil:
        """Note the episodes that ended in a step."""
        cdef int i
        for i in range(batch.lo, batch.hi):
            if batch.io.ended[i]:
                self.returns[self.ended] = batch.io.ended_return[i]
                self.lengths[self.ended] = batch.io.ended_length[i]
                self.environments[self.ended] = i
                self.ended = self.ended + 1  # += needs the GIL in a debug build

    def take_ended(self):
        """The raw returns, the lengths and the environments of the episodes ended since the last call, oldest first."""
        ended, self.ended = self.ended, 0
        return tuple(column[:ended].copy() for column in self.columns)

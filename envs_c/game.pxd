"""The contract between a game and the engine.

A game is plain data and a handful of functions. Its state is a C struct without pointers, so that a snapshot, a fork or
a checkpoint of an environment is a memcpy. The functions:

    void  reset(void* state, const double* options, Rng* rng)   a new episode; options in the order of Game(options=...)
    float step(void* state, int action, Rng* rng, bint* over)   one frame; returns its raw reward, sets `over` at an end
    void  observe(const void* state, void* out)                 the feature vector, float32 or uint8
    void  backdrop(const double* options, Canvas* canvas)       what never moves; painted once, in colour
    void  draw(const void* state, Canvas* canvas)               what moves, onto a canvas that holds the backdrop
    void  mask(const void* state, uint8_t* legal)               optional: 1 a legal action, 0 an illegal one

All are `noexcept nogil`, draw random numbers from `rng` only and touch nothing but what they are handed. Frame skip,
sticky actions, no-op starts, time limits, autoreset, reward clipping, flags, episode statistics, seeding, snapshots and
threads are the engine's. At its end a game's file calls `run_chunk` with its own functions, which are constants there,
so that the compiler inlines the rules into the loop; see any file in `games/`.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from envs_c.rng cimport Rng, rng_below, rng_chance
from envs_c.screen cimport SMALL, Canvas, Screen, canvas_finish


ctypedef void (*reset_fn)(void* state, const double* options, Rng* rng) noexcept nogil
ctypedef float (*step_fn)(void* state, int action, Rng* rng, bint* over) noexcept nogil
ctypedef void (*observe_fn)(const void* state, void* out) noexcept nogil
ctypedef void (*backdrop_fn)(const double* options, Canvas* canvas) noexcept nogil
ctypedef void (*draw_fn)(const void* state, Canvas* canvas) noexcept nogil
ctypedef void (*mask_fn)(const void* state, uint8_t* legal) noexcept nogil


cdef enum Operation:
    STEP       # act; where io.step_mask says so, if it is not NULL
    RESET      # begin new episodes where io.reset_mask says so (everywhere if it is NULL)
    OBSERVE    # write observations and masks of all that were ever reset, change nothing


cdef enum Autoreset:
    NEXT_STEP  # a step after the end resets, ignores the action and gives reward 0 and false flags
    SAME_STEP  # the step that ends also resets; the last observation goes to io.final_observation
    DISABLED   # an ended environment must be reset by hand


ctypedef struct Head:
    # What the engine keeps of an environment, in front of the game's own struct.
    Rng rng
    double episode_return   # raw, of the running episode
    int32_t episode_length  # steps
    int32_t last_action
    uint8_t started         # has been reset at least once
    uint8_t over            # the episode ended and was not yet reset


ctypedef struct Io:
    # One batch: where a step reads and writes, and the settings that it obeys. Row 0 of the buffers belongs to
    # environment `first`; the episode arrays are the engine's own and start at environment 0.
    Operation operation
    int first
    const int32_t* actions      # (B,)
    void* observation           # (B, observation_bytes)
    float* reward               # (B,) clipped
    float* terminated           # (B,) 0.0 or 1.0
    float* truncated            # (B,) 0.0 or 1.0
    void* final_observation     # (B, observation_bytes), written at an end under SAME_STEP, or NULL
    uint8_t* action_mask        # (B, num_actions), or NULL
    uint8_t* final_action_mask  # (B, num_actions), or NULL
    const uint8_t* reset_mask   # (B,) for RESET, or NULL
    const uint8_t* step_mask    # (B,) for STEP, or NULL: where it is 0, the environment is held
    uint8_t* ended              # (N,) 1 where this step ended an episode
    double* ended_return        # (N,) raw return of the last ended episode
    int32_t* ended_length       # (N,) its length in steps
    const double* options       # the game's
    const Screen* screen
    size_t observation_bytes
    int num_actions
    bint pixels
    int frame_skip
    int noop_max
    int time_limit              # steps; 0: none
    float sticky
    float reward_low
    float reward_high
    Autoreset autoreset


ctypedef void (*chunk_fn)(char* states, Io* io, int lo, int hi) noexcept nogil


cdef inline size_t state_stride(size_t size) noexcept nogil:
    """Bytes from one environment to the next: head and game, padded to whole cache lines."""
    return (sizeof(Head) + size + 63) & ~<size_t>63


cdef inline void begin_episode(reset_fn reset, step_fn step, Head* head, void* game, Io* io) noexcept nogil:
    """Reset, then between 1 and noop_max frames of NOOP if asked for; an episode that ends in them begins anew, without."""
    cdef bint over = False
    cdef int _frame
    reset(game, io.options, &head.rng)
    if io.noop_max > 0:
        for _frame in range(1 + <int>rng_below(&head.rng, io.noop_max)):
            step(game, 0, &head.rng, &over)
            if over:
                reset(game, io.options, &head.rng)
                break
    head.episode_return = 0.0
    head.episode_length = 0
    head.last_action = 0
    head.started = 1
    head.over = 0


cdef inline float act(step_fn step, Head* head, void* game, int action, Io* io, bint* over) noexcept nogil:
    """One step of frame_skip frames, each of them sticky with probability io.sticky; the raw reward."""
    cdef float reward = 0.0
    cdef int _frame
    for _frame in range(io.frame_skip):
        if io.sticky <= 0.0 or not rng_chance(&head.rng, io.sticky):
            head.last_action = action
        reward += step(game, head.last_action, &head.rng, over)
        if over[0]:
            break
    head.episode_return += reward
    head.episode_length += 1
    return reward


cdef inline void see(observe_fn observe, draw_fn draw, mask_fn mask, const void* game, Io* io,
                     char* out, uint8_t* legal) noexcept nogil:
    """Write one environment's observation (features or pixels) and action mask."""
    cdef Canvas canvas
    cdef float[SMALL * SMALL] sums
    cdef uint8_t[SMALL] touched
    if io.pixels:
        canvas.screen = io.screen
        canvas.rgb = NULL
        canvas.sums = sums
        canvas.touched = touched
        canvas.grey = <uint8_t*>out
        memset(touched, 0, SMALL)
        draw(game, &canvas)
        canvas_finish(&canvas)
    else:
        observe(game, out)
    if mask != NULL and legal != NULL:
        mask(game, legal)


cdef inline void run_chunk(reset_fn reset, step_fn step, observe_fn observe, draw_fn draw, mask_fn mask,
                           size_t size, char* states, Io* io, int lo, int hi) noexcept nogil:
    """Apply io.operation to environments lo .. hi-1. `size` is that of the game's struct."""
    cdef size_t stride = state_stride(size)
    cdef Head* head
    cdef void* game
    cdef char* out
    cdef uint8_t* legal = NULL
    cdef int i, row
    cdef bint over, late
    cdef float reward
    for i in range(lo, hi):
        head = <Head*>(states + i * stride)
        game = states + i * stride + sizeof(Head)
        row = i - io.first
        out = <char*>io.observation + row * io.observation_bytes
        if io.action_mask != NULL:
            legal = io.action_mask + row * io.num_actions
        if io.operation == STEP:
            io.ended[i] = 0
            if io.step_mask != NULL and not io.step_mask[row]:
                io.reward[row] = io.terminated[row] = io.truncated[row] = 0.0
                continue
            if head.over and io.autoreset == NEXT_STEP:
                begin_episode(reset, step, head, game, io)
                io.reward[row] = io.terminated[row] = io.truncated[row] = 0.0
            else:
                over = False
                reward = act(step, head, game, io.actions[row], io, &over)
                late = io.time_limit > 0 and head.episode_length >= io.time_limit
                reward = reward if reward < io.reward_high else io.reward_high
                io.reward[row] = reward if reward > io.reward_low else io.reward_low
                io.terminated[row] = over
                io.truncated[row] = late
                if over or late:
                    io.ended[i] = 1
                    io.ended_return[i] = head.episode_return
                    io.ended_length[i] = head.episode_length
                    head.over = 1
                    if io.autoreset == SAME_STEP:
                        see(observe, draw, mask, game, io, <char*>io.final_observation + row * io.observation_bytes,
                            NULL if io.final_action_mask == NULL else io.final_action_mask + row * io.num_actions)
                        begin_episode(reset, step, head, game, io)
        else:
            if io.operation == RESET and (io.reset_mask == NULL or io.reset_mask[row]):
                begin_episode(reset, step, head, game, io)
                io.reward[row] = io.terminated[row] = io.truncated[row] = 0.0
            if not head.started:
                continue
        see(observe, draw, mask, game, io, out, legal)


cdef class Game:
    """A game's description and its compiled functions; made once, at the end of the game's file."""
    cdef readonly str name            # as on the command line
    cdef readonly str title           # as in the Gymnasium id Arcade/TITLE-v0
    cdef readonly str summary         # one line
    cdef readonly int version         # raised when the state's layout or the rules change
    cdef readonly tuple actions       # names, in order; this and the next three: under the default options
    cdef readonly tuple feature_shape
    cdef readonly object feature_dtype
    cdef readonly object feature_low
    cdef readonly object feature_high
    cdef readonly tuple described     # the same as they were given, functions of the options among them
    cdef readonly tuple screen        # (width, height) in pixels
    cdef readonly int frame_skip      # the default
    cdef readonly int fps             # frames a second at which people like to see it
    cdef readonly object time_limit   # the default, in steps, or None
    cdef readonly dict options        # name -> Option
    cdef readonly object two_players  # TwoPlayers, or None
    cdef readonly tuple features      # Feature rows under the default options; () if the vector is not described
    cdef readonly str compared_with   # what the tests compare the game with
    cdef readonly size_t state_size   # bytes of the game's struct
    cdef readonly bint has_mask
    cdef chunk_fn chunk
    cdef backdrop_fn backdrop
    cdef draw_fn draw

    cdef Game bind(self, chunk_fn chunk, backdrop_fn backdrop, draw_fn draw, size_t state_size, bint has_mask=*)

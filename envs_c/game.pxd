"""The contract between a game and the engine.

A game is a C struct and six or seven functions. The struct is the state of one environment. It has no pointers:
the engine saves, forks and restores an environment with a memcpy.

    void  reset(void* state, const double* options, Rng* rng)
        Begin an episode: write the whole struct. The options come in the order of Game(options=...).
    float step(void* state, int action, Rng* rng, bint* over)
        Advance one frame. Returns the raw reward; sets over[0] to True if the episode terminates.
    void  observe(const void* state, void* out)
        Write the feature vector, float32 or uint8.
    void  backdrop(const double* options, Canvas* canvas)
        Paint everything that never moves. Called once, with a colour canvas.
    void  draw(const void* state, Canvas* canvas)
        Paint everything that moves, over the backdrop.
    void  mask(const void* state, uint8_t* legal)
        Optional: write 1 for each legal action and 0 for each illegal one.
    bint  valid(const void* state, const double* options, bint over)
        True if a game with these options can have written this struct; `over` is True if its episode has ended, so that
        the struct may be one after the last frame. `set_state` asks it about every struct, which may hold any bytes at
        all, and refuses the others. A struct that passes must be safe in every other function: each index, count and
        kind in its range, each float finite and in the range of its conversions to int, and so on after any number of
        steps. valid.pxd has functions for this. Without `valid`, which `check` asks for, `set_state` takes any struct.

All functions are `noexcept nogil`. They take random numbers from `rng` only, and read and write nothing but their arguments.
The engine adds the rest: frame skip, sticky actions, no-op starts, time limits, autoreset, reward clipping, flags, episode
statistics, seeding, snapshots and threads.

At its end a game's file defines `chunk`, one call of `run_chunk` with its own functions. They are constants there, so the
compiler inlines the rules into the loop over environments. `GAME = Game(...).bind(chunk, ...)` completes the file;
games/cartpole.pyx is a short example. `python -m envs_c check FILE` tests a game against this contract.
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
ctypedef bint (*valid_fn)(const void* state, const double* options, bint over) noexcept nogil


cdef enum Operation:
    STEP       # step the environments selected by io.step_mask, or all if it is NULL
    RESET      # begin new episodes in those selected by io.reset_mask, or in all if it is NULL
    OBSERVE    # write observations and action masks, except before the first reset; no state changes


cdef enum Autoreset:
    NEXT_STEP  # the step after an episode's end resets: it ignores the action, its reward and flags are 0
    SAME_STEP  # the step that ends an episode also resets; the last observation is in io.final_observation
    DISABLED   # the caller resets


ctypedef struct Head:
    # The engine's own data of one environment, in front of the game's struct.
    Rng rng
    double episode_return   # sum of raw rewards since the episode's start
    int32_t episode_length  # steps since the episode's start
    int32_t last_action     # of the last frame, for sticky actions
    uint8_t started         # 1 if it was reset at least once
    uint8_t over            # 1 if the episode has ended and it was not reset since


ctypedef struct Io:
    # The buffers of one batch of B environments, and the settings. Row 0 of the (B, ...) buffers belongs to environment
    # `first`; the (N,) arrays are the engine's own and begin with environment 0.
    Operation operation
    int first
    const int32_t* actions      # (B,)
    void* observation           # (B, observation_bytes)
    float* reward               # (B,) after clipping
    float* terminated           # (B,) 0.0 or 1.0
    float* truncated            # (B,) 0.0 or 1.0
    void* final_observation     # (B, observation_bytes), written at an episode's end under SAME_STEP; else NULL
    uint8_t* action_mask        # (B, num_actions), or NULL
    uint8_t* final_action_mask  # (B, num_actions), or NULL
    const uint8_t* reset_mask   # (B,) for RESET: 1 resets; NULL is 1 everywhere
    const uint8_t* step_mask    # (B,) for STEP: 1 steps, 0 holds the environment; NULL is 1 everywhere
    uint8_t* ended              # (N,) 1 if this step ended an episode
    double* ended_return        # (N,) raw return of the last ended episode
    int32_t* ended_length       # (N,) its length in steps
    const double* options       # values of the game's options, in their order
    const Screen* screen
    size_t observation_bytes
    int num_actions
    bint pixels                 # observations are the grey picture; else features
    int frame_skip
    int noop_max
    int time_limit              # steps; 0: none
    float sticky                # probability
    float reward_low            # bounds of clipped rewards
    float reward_high
    Autoreset autoreset


ctypedef void (*chunk_fn)(char* states, Io* io, int lo, int hi) noexcept nogil


cdef inline size_t state_stride(size_t size) noexcept nogil:
    """Bytes from one environment to the next: head and game, padded to a multiple of 64, a cache line.

    size: bytes of the game's struct.
    """
    return (sizeof(Head) + size + 63) & ~<size_t>63


cdef inline void begin_episode(reset_fn reset, step_fn step, Head* head, void* game, Io* io) noexcept nogil:
    """Reset, then take 1 .. noop_max frames of NOOP if noop_max > 0. If the episode ends in them, reset again without them."""
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
    """One step: up to frame_skip frames, each sticky with probability io.sticky. Returns the sum of the raw rewards."""
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
    """Write one environment's observation (features or pixels) and its action mask.

    out: observation_bytes bytes.
    legal: num_actions bytes, or NULL.
    """
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
    """Apply io.operation to environments lo .. hi-1.

    reset, step, observe, draw, mask: the game's functions; mask is NULL if all actions are always legal.
    size: bytes of the game's struct.
    states: the states of all environments, beginning with environment 0.
    """
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
            if head.over and io.autoreset != DISABLED:  # under SAME_STEP only after set_state
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
    """A game's description and its compiled functions. Each game's file makes one, at its end."""
    cdef readonly str name            # a lower-case identifier, for the command line
    cdef readonly str title           # for the Gymnasium id Arcade/TITLE-v0
    cdef readonly str summary         # one sentence
    cdef readonly int version         # increased if the struct or the rules change
    cdef readonly tuple actions       # names, in order; this and the next four: under the default options
    cdef readonly tuple feature_shape
    cdef readonly object feature_low  # a number, or an array of feature_shape
    cdef readonly object feature_high
    cdef readonly tuple features      # Feature rows in the order of the vector; () if it is not described
    cdef readonly tuple described     # actions, feature_shape, feature_low, feature_high as given: values or functions
    cdef readonly object feature_dtype
    cdef readonly tuple screen        # (width, height) in pixels
    cdef readonly int frame_skip      # the default
    cdef readonly int fps             # frames per second of a film
    cdef readonly object time_limit   # the default, in steps, or None
    cdef readonly dict options        # name -> Option
    cdef readonly object two_players  # TwoPlayers, or None
    cdef readonly str compared_with   # the reference for the game's tests
    cdef readonly size_t state_size   # bytes of the game's struct
    cdef readonly bint has_mask       # the game has a `mask` function
    cdef readonly bint has_valid      # the game has a `valid` function
    cdef chunk_fn chunk
    cdef backdrop_fn backdrop
    cdef draw_fn draw
    cdef valid_fn valid               # or NULL

    cdef Game bind(self, chunk_fn chunk, backdrop_fn backdrop, draw_fn draw, size_t state_size, bint has_mask=*,
                   valid_fn valid=*)

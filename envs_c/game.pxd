"""The contract between a game and the engine.

A game is a C struct and six to nine functions. The struct is the state of one environment. It has no pointers:
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
    void  mask(const void* state, uint8_t* action_mask)
        Optional: write 1 for each legal action and 0 for each illegal one.
    int   lives(const void* state)
        Optional: the lives left, the current one included; 0 after the last. `bind` takes it. Callers then get the lives of
        each environment, and may choose that an episode ends with a life.
    void  prepare()
        Optional: set the C variables of the file that the other functions read, such as tables. `bind` takes it. The engine
        calls it once, before all others. A browser has no other way to set them, for it does not import the file.
    bint  valid(const void* state, const double* options, bint over)
        True if a game with these options can have written this struct; `over` is True if its episode has ended, so that
        the struct may be one after the last frame. `set_state` asks it about every struct, which may hold any bytes at
        all, and refuses the others. A struct that passes must be safe in every other function: each index, count and
        kind in its range, each float finite and in the range of its conversions to int, and so on after any number of
        steps. valid.pxd has functions for this. Without `valid`, which `check` asks for, `set_state` takes any struct.

All functions are `noexcept nogil`. They take random numbers from `rng` only, and read and write nothing but their arguments;
tables are written by `prepare` only.
The engine adds the rest: frame skip, sticky actions, no-op starts, time limits, autoreset, reward clipping, flags, episode
statistics, seeding, snapshots and threads.

At its end a game's file defines `chunk`, one call of `run_chunk` with its own functions. They are constants there, so the
compiler inlines the rules into the loop over environments. `GAME = Game(...).bind(chunk, ...)` completes the file;
games/cartpole.pyx is a short example. `python -m envs_c check FILE` tests a game against this contract.
"""

from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from envs_c.io cimport (
    DISABLED, ENDS, FLAGGED, GOES_ON, NEXT_STEP, OBSERVE, RESET, SAME_STEP, STEP, Autoreset, Format, Head, Io, LifeLoss,
    Operation, backdrop_fn, chunk_fn, draw_fn, lives_fn, mask_fn, observe_fn, paint_fn, prepare_fn, reset_fn, step_fn, valid_fn)
from envs_c.rng cimport Rng, rng_below, rng_chance
from envs_c.screen cimport SMALL, Canvas, Screen, canvas_finish


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


cdef inline bint lost_life(const void* game, const Io* io, int before) noexcept nogil:
    """True if fewer lives than `before` are left, but at least one."""
    cdef int lives = io.count_lives(game)
    return 0 < lives < before


cdef inline float act(step_fn step, Head* head, void* game, int action, Io* io, bint plain, int lives,
                      bint* over) noexcept nogil:
    """One step: up to frame_skip frames, each sticky with probability io.sticky. Returns the sum of the raw rewards.

    plain: as for `run_rows`.
    lives: those before the step, read only if a lost life ends the episode.
    """
    cdef float reward = 0.0
    cdef int _frame, frames = io.frame_skip
    if not plain and io.frame_skip_span > 1:
        frames += rng_below(&head.rng, io.frame_skip_span)
    for _frame in range(frames):
        if io.sticky <= 0.0 or not rng_chance(&head.rng, io.sticky):
            head.last_action = action
        reward += step(game, head.last_action, &head.rng, over)
        if not plain and io.life_loss == ENDS and lost_life(game, io, lives):
            over[0] = True
        if over[0]:
            break
    head.episode_return += reward
    head.episode_length += 1
    return reward


cdef inline uint8_t* picture_of(const Io* io, bint plain, void* observation, uint8_t* pictures, int row) noexcept nogil:
    """The picture of a row: in the observations or, under features and pictures, beside them; NULL if there is none."""
    if io.pixels:
        return <uint8_t*>observation + row * io.observation_bytes
    return pictures + row * io.picture_bytes if not plain and pictures != NULL else NULL


cdef inline void see(observe_fn observe, draw_fn draw, mask_fn mask, const void* game, Io* io, bint plain,
                     void* out, uint8_t* picture, uint8_t* action_mask) noexcept nogil:
    """Write one environment's observation and its action mask.

    plain: as for `run_rows`.
    out: the features, unless io.pixels.
    picture: the picture, or NULL.
    action_mask: num_actions bytes, or NULL.
    """
    cdef Canvas canvas
    cdef float[SMALL * SMALL] sums
    cdef uint8_t[SMALL] touched
    if not io.pixels:
        observe(game, out)
    if not plain and picture != NULL and io.paint != NULL:
        io.paint(game, io.format, picture)
    elif picture != NULL:
        canvas.screen = io.screen
        canvas.rgb = NULL
        canvas.sums = sums
        canvas.touched = touched
        canvas.grey = picture
        memset(touched, 0, SMALL)
        draw(game, &canvas)
        canvas_finish(&canvas)
    if mask != NULL and action_mask != NULL:
        mask(game, action_mask)


cdef inline void run_chunk(reset_fn reset, step_fn step, observe_fn observe, draw_fn draw, mask_fn mask,
                           size_t size, char* states, Io* io, int lo, int hi) noexcept nogil:
    """Apply io.operation to environments lo .. hi-1.

    reset, step, observe, draw, mask: the game's functions; mask is NULL if all actions are always legal.
    size: bytes of the game's struct.
    states: the states of all environments, beginning with environment 0.
    """
    if io.special != NULL:
        io.special(reset, step, observe, draw, mask, size, states, io, lo, hi)
    else:
        run_rows(reset, step, observe, draw, mask, size, states, io, lo, hi, True)
    if io.lives != NULL:
        write_lives(state_stride(size), states, io, lo, hi)


cdef inline void write_lives(size_t stride, const char* states, Io* io, int lo, int hi) noexcept nogil:
    """Write the lives left of environments lo .. hi-1 to io.lives, except before the first reset."""
    cdef int i
    for i in range(lo, hi):
        if (<const Head*>(states + i * stride)).started:
            io.lives[i] = io.count_lives(states + i * stride + sizeof(Head))


cdef inline void run_rows(reset_fn reset, step_fn step, observe_fn observe, draw_fn draw, mask_fn mask,
                          size_t size, char* states, Io* io, int lo, int hi, bint plain) noexcept nogil:
    """Apply io.operation, in one of two forms, each compiled by itself.

    plain: a constant. True is the form of a game's own loop, into which the compiler inlines the rules. It leaves out what
    few settings need: the end of an episode with a life, random frame skips, pictures beside features or in another format.
    False is io.special, one loop for all games (engine.pyx), which calls the game's functions by pointer.
    """
    cdef size_t stride = state_stride(size)
    cdef Head* head
    cdef void* game
    cdef uint8_t* action_mask = NULL
    cdef int i, row, lives = 0
    cdef bint over, late
    cdef float reward
    for i in range(lo, hi):
        head = <Head*>(states + i * stride)
        game = states + i * stride + sizeof(Head)
        row = i - io.first
        if io.action_mask != NULL:
            action_mask = io.action_mask + <size_t>row * io.num_actions
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
                if not plain and io.life_loss != GOES_ON:
                    lives = io.count_lives(game)
                reward = act(step, head, game, io.actions[row], io, plain, lives, &over)
                late = io.time_limit > 0 and head.episode_length >= io.time_limit
                reward = reward if reward < io.reward_high else io.reward_high
                io.reward[row] = reward if reward > io.reward_low else io.reward_low
                io.terminated[row] = over or (not plain and io.life_loss == FLAGGED and lost_life(game, io, lives))
                io.truncated[row] = late
                if over or late:
                    io.ended[i] = 1
                    io.ended_return[i] = head.episode_return
                    io.ended_length[i] = head.episode_length
                    head.over = 1
                    if io.autoreset == SAME_STEP:
                        if not plain and io.final_lives != NULL:
                            io.final_lives[i] = io.count_lives(game)
                        see(observe, draw, mask, game, io, plain, <char*>io.final_observation + row * io.observation_bytes,
                            picture_of(io, plain, io.final_observation, io.final_picture, row),
                            NULL if io.final_action_mask == NULL else io.final_action_mask + <size_t>row * io.num_actions)
                        begin_episode(reset, step, head, game, io)
        else:
            if io.operation == RESET and (io.reset_mask == NULL or io.reset_mask[row]):
                begin_episode(reset, step, head, game, io)
                io.reward[row] = io.terminated[row] = io.truncated[row] = 0.0
            if not head.started:
                continue
        see(observe, draw, mask, game, io, plain, <char*>io.observation + row * io.observation_bytes,
            picture_of(io, plain, io.observation, io.picture, row), action_mask)


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
    cdef readonly bint has_lives      # the game has a `lives` function
    cdef chunk_fn chunk
    cdef backdrop_fn backdrop
    cdef draw_fn draw
    cdef valid_fn valid               # or NULL
    cdef lives_fn lives               # or NULL

    cdef Game bind(self, chunk_fn chunk, backdrop_fn backdrop, draw_fn draw, size_t state_size, bint has_mask=*,
                   valid_fn valid=*, lives_fn lives=*, prepare_fn prepare=*)

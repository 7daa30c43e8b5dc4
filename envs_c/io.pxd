"""The data that the engine and a game's loop share: the settings, the buffers, and the types of a game's functions."""

from libc.stdint cimport int32_t, uint8_t

from envs_c.rng cimport Rng
from envs_c.screen cimport Canvas, Screen


ctypedef void (*reset_fn)(void* state, const double* options, Rng* rng) noexcept nogil
ctypedef float (*step_fn)(void* state, int action, Rng* rng, bint* over) noexcept nogil
ctypedef void (*observe_fn)(const void* state, void* out) noexcept nogil
ctypedef void (*backdrop_fn)(const double* options, Canvas* canvas) noexcept nogil
ctypedef void (*draw_fn)(const void* state, Canvas* canvas) noexcept nogil
ctypedef void (*mask_fn)(const void* state, uint8_t* action_mask) noexcept nogil
ctypedef int (*lives_fn)(const void* state) noexcept nogil
ctypedef void (*prepare_fn)() noexcept nogil
ctypedef bint (*valid_fn)(const void* state, const double* options, bint over) noexcept nogil


cdef enum Operation:
    STEP       # step the environments selected by io.step_mask, or all if it is NULL
    RESET      # begin new episodes in those selected by io.reset_mask, or in all if it is NULL
    OBSERVE    # write observations and action masks, except before the first reset; no state changes


cdef enum Autoreset:
    NEXT_STEP  # the step after an episode's end resets: it ignores the action, its reward and flags are 0
    SAME_STEP  # the step that ends an episode also resets; the last observation is in io.final_observation
    DISABLED   # the caller resets


cdef enum LifeLoss:  # what happens if a life is lost and others are left
    GOES_ON    # nothing
    FLAGGED    # `terminated` is 1 for this step, and the episode goes on
    ENDS       # the episode ends, at once even inside the frames of a step


ctypedef struct Format:
    # The pictures of a view, unless they are grey and SMALL x SMALL. envs_c/engine/painter.pyx paints them.
    draw_fn draw
    const Screen* screen
    int height
    int width
    int channels    # 3: colour, 1: grey
    bint no_memory  # set to 1 if a picture was not painted for want of memory


ctypedef void (*paint_fn)(const void* state, Format* format, uint8_t* out) noexcept nogil


ctypedef struct Io


ctypedef void (*rows_fn)(reset_fn reset, step_fn step, observe_fn observe, draw_fn draw, mask_fn mask, size_t size,
                         char* states, Io* io, int lo, int hi) noexcept nogil


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
    uint8_t* picture            # (B, picture_bytes) if features and pictures are observed together; else NULL
    uint8_t* final_picture      # the same, for final_observation
    const uint8_t* reset_mask   # (B,) for RESET: 1 resets; NULL is 1 everywhere
    const uint8_t* step_mask    # (B,) for STEP: 1 steps, 0 holds the environment; NULL is 1 everywhere
    uint8_t* ended              # (N,) 1 if this step ended an episode
    double* ended_return        # (N,) raw return of the last ended episode
    int32_t* ended_length       # (N,) its length in steps
    int32_t* lives              # (N,) lives left, or NULL
    int32_t* final_lives        # (N,) those at the end of the last episode under SAME_STEP, or NULL
    lives_fn count_lives        # the game's function, or NULL if no lives are counted
    const double* options       # values of the game's options, in their order
    const Screen* screen
    Format* format
    paint_fn paint              # of pictures in this format; NULL for grey ones of SMALL x SMALL
    rows_fn special             # the loop over environments for settings that need it; NULL for the game's own
    size_t observation_bytes
    size_t picture_bytes
    int num_actions
    bint pixels                 # observations are the picture; else features
    int frame_skip              # frames of a step
    int frame_skip_span         # above 1: a step has frame_skip .. frame_skip + frame_skip_span - 1 frames, a random number
    int noop_max
    int time_limit              # steps; 0: none
    float sticky                # probability
    float reward_low            # bounds of clipped rewards
    float reward_high
    Autoreset autoreset
    LifeLoss life_loss


ctypedef void (*chunk_fn)(char* states, Io* io, int lo, int hi) noexcept nogil

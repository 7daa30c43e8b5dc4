/* A game as CUDA kernels: `reset`, `step` and `observe`, a thread for each environment; `draw`, a block for each picture; and
 * `prepare` for tables and the backdrop.
 *
 * A thread that would draw a picture keeps a copy of the game's struct instead. `draw`, the next kernel of the stream, paints it:
 * one thread calls the game's function on a canvas in shared memory, and the block's threads together turn the sums into bytes.
 *
 * device.py compiles it, with the C that Cython emits for the game, to PTX. The states
 * have the bytes of the CPU's engine (envs_c/engine/state.py), so snapshots go from one to the other.
 *
 * DEVICE_PIXELS: 1 for grey pictures as observations, 0 for features. DEVICE_SMALL: their rows and columns.
 */

#include <stddef.h>
#include <stdint.h>

#define DEVICE_PICTURE (DEVICE_SMALL * DEVICE_SMALL)
#define DEVICE_STRIDE ((sizeof(BARE_Head) + sizeof(BARE_state) + 63) & ~(size_t)63)

#ifdef __NVPTX__
#define __global__ __attribute__((nvptx_kernel))
#define DEVICE_THREAD ((long long)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define DEVICE_THREADS ((long long)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
#define BLOCK_THREAD (int)__nvvm_read_ptx_sreg_tid_x()
#define BLOCK_THREADS (int)__nvvm_read_ptx_sreg_ntid_x()
#define DEVICE_BLOCK (long long)__nvvm_read_ptx_sreg_ctaid_x()
#define DEVICE_BLOCKS (long long)__nvvm_read_ptx_sreg_nctaid_x()
#define block_barrier() __nvvm_bar_sync(0)
#define SHARED static __attribute__((address_space(3)))

/* The one function of the C library that games call and clang does not write out itself. */
int memcmp(const void *one, const void *other, size_t count) {
    const unsigned char *a = one, *b = other;
    for (size_t k = 0; k < count; k++)
        if (a[k] != b[k]) return a[k] - b[k];
    return 0;
}
#else /* for the CPU, in tests: a call of a kernel is all of its threads */
#define __global__
#define DEVICE_THREAD 0
#define DEVICE_THREADS 1
#define BLOCK_THREAD 0
#define BLOCK_THREADS 1
#define DEVICE_BLOCK 0
#define DEVICE_BLOCKS 1
#define block_barrier()
#define SHARED static
#endif

/* One copy each of the game's functions, which run_rows calls in several places. All else is inlined. */
#define DEVICE_ONCE static __attribute__((noinline))
DEVICE_ONCE void device_reset(void *state, const double *options, BARE_Rng *rng) { BARE_reset(state, options, rng); }
DEVICE_ONCE float device_step(void *state, int action, BARE_Rng *rng, int *over) { return BARE_step(state, action, rng, over); }
DEVICE_ONCE void device_observe(const void *state, void *out) { BARE_observe((void *)state, out); }
DEVICE_ONCE void device_draw(const void *state, BARE_Canvas *canvas) { BARE_draw((void *)state, canvas); }

#ifdef BARE_cartridges /* the console, whose pictures may show two frames: a copy's first byte is 2 then */
#include "device_cartridge.h"
#define DEVICE_MARK(kept) (kept)->mark
DEVICE_ONCE void device_draw_two(const void *state, BARE_Canvas *canvas) { BARE_draw_two((void *)state, canvas); }
static inline void device_draw_copy(const char *copy, BARE_Canvas *canvas) {
    if (copy[0] == 2) device_draw_two(copy + sizeof(BARE_Head), canvas);
    else device_draw(copy + sizeof(BARE_Head), canvas);
}
/* As draw_starts of envs_c/console/console.pyx: the first picture of an episode shows one frame. */
static inline void device_starts(const char *state, char *copy) {
    const BARE_Head *head = (const BARE_Head *)state;
    if (copy[0] == 2 && head->started && head->episode_length == 0) copy[0] = 1;
}
#else
#define DEVICE_MARK(kept) 1
#define device_draw_copy(copy, canvas) device_draw((copy) + sizeof(BARE_Head), canvas)
#define device_starts(state, copy)
#endif

/* The copies of an environment's struct that `draw` paints: for its observation, and for that before a reset in the same step.
   A copy lies as in `states`. In place of the engine's own data it has a first byte of 1, or 2 for a picture of two frames,
   until it is painted. */
typedef struct {
    char *now, *final;
    const void *final_picture;
    int mark;
} Kept;

static void device_keep(const void *state, const Kept *kept, const void *picture) {
    char *copy = picture == kept->final_picture ? kept->final : kept->now;
    __builtin_memcpy(copy + sizeof(BARE_Head), state, sizeof(BARE_state));
    copy[0] = DEVICE_MARK(kept);
}

/* The arguments of all kernels but `draw` and `prepare`; the outputs have a row for each of `count` environments, as Io of
   envs_c/io.pxd describes them.
   selected: of `reset`, 1 begins a new episode; of `step`, 0 holds the environment; NULL for all.
   totals: (2, count), the number of ended episodes and the sum of their lengths.
   recent_return, recent_length: (recent, count), of an environment's ended episode k in row k modulo `recent`.
   kept: (1, count) Kept.now, or (2, count) with Kept.final; NULL for features. */
#define DEVICE_ARGUMENTS \
    char *states, const int32_t *actions, const uint8_t *selected, char *observation, float *reward, float *terminated, \
    float *truncated, uint8_t *action_mask, char *final_observation, uint8_t *final_action_mask, uint8_t *ended, \
    double *ended_return, int32_t *ended_length, int32_t *lives, int32_t *final_lives, long long *totals, \
    double *recent_return, int32_t *recent_length, \
    const double *options, char *kept, \
    long long observation_bytes, long long num_actions, long long frame_skip, long long frame_skip_span, long long noop_max, \
    long long time_limit, long long autoreset, long long life_loss, float sticky, float reward_low, float reward_high, \
    long long recent, long long count

static inline void device_screen(BARE_Screen *screen, const int16_t *edges) {
    const int longest = (BARE_WIDTH > BARE_HEIGHT ? BARE_WIDTH : BARE_HEIGHT) + 1;
    screen->x.length = BARE_WIDTH;
    screen->x.cell = BARE_CELL_X;
    screen->x.cells = (int16_t *)edges;
    screen->x.parts = (int16_t *)edges + longest;
    screen->y.length = BARE_HEIGHT;
    screen->y.cell = BARE_CELL_Y;
    screen->y.cells = (int16_t *)edges + 2 * longest;
    screen->y.parts = (int16_t *)edges + 3 * longest;
}

#define DEVICE_KERNEL(name, what, step_rows, reset_rows) \
    __global__ void name(DEVICE_ARGUMENTS) { \
        for (long long i = DEVICE_THREAD; i < count; i += DEVICE_THREADS) { \
            BARE_Io io; \
            __builtin_memset(&io, 0, sizeof io); \
            Kept copies = {kept + i * DEVICE_STRIDE, kept + (count + i) * DEVICE_STRIDE, \
                           final_observation + i * observation_bytes, frame_skip > 1 || frame_skip_span > 1 ? 2 : 1}; \
            if (DEVICE_PIXELS) { \
                io.paint = (void *)device_keep; \
                io.format = (void *)&copies; \
            } \
            io.operation = what; \
            io.actions = actions; \
            io.step_mask = step_rows; \
            io.reset_mask = reset_rows; \
            io.observation = observation; \
            io.reward = reward; \
            io.terminated = terminated; \
            io.truncated = truncated; \
            io.action_mask = action_mask; \
            io.final_observation = final_observation; \
            io.final_action_mask = final_action_mask; \
            io.ended = ended; \
            io.ended_return = ended_return; \
            io.ended_length = ended_length; \
            io.lives = lives; \
            io.final_lives = final_lives; \
            io.count_lives = BARE_COUNT_LIVES; \
            io.options = options; \
            io.observation_bytes = observation_bytes; \
            io.num_actions = (int)num_actions; \
            io.pixels = DEVICE_PIXELS; \
            io.frame_skip = (int)frame_skip; \
            io.frame_skip_span = (int)frame_skip_span; \
            io.noop_max = (int)noop_max; \
            io.time_limit = (int)time_limit; \
            io.sticky = sticky; \
            io.reward_low = reward_low; \
            io.reward_high = reward_high; \
            io.autoreset = autoreset; \
            io.life_loss = life_loss; \
            ended[i] = 0; \
            BARE_rows(device_reset, device_step, (void *)device_observe, (void *)device_draw, BARE_mask, sizeof(BARE_state), \
                      states, &io, (int)i, (int)i + 1, 0); \
            if (DEVICE_PIXELS && noop_max > 0) device_starts(states + i * DEVICE_STRIDE, copies.now); \
            if (lives) BARE_write_lives(DEVICE_STRIDE, states, &io, (int)i, (int)i + 1); \
            if (ended[i]) { \
                long long row = totals[i] % recent * count + i; \
                recent_return[row] = ended_return[i]; \
                recent_length[row] = ended_length[i]; \
                totals[i] += 1; \
                totals[count + i] += ended_length[i]; \
            } \
        } \
    }

DEVICE_KERNEL(reset, BARE_RESET, NULL, selected)
DEVICE_KERNEL(step, BARE_STEP, selected, NULL)
DEVICE_KERNEL(observe, BARE_OBSERVE, NULL, NULL)

#if DEVICE_PIXELS
/* For a block: writes the picture of a kept struct, and marks it as painted. */
static inline void device_paint(char *copy, uint8_t *out, const BARE_Screen *screen) {
    SHARED float sums[DEVICE_PICTURE];
    SHARED uint8_t grey[DEVICE_PICTURE], touched[DEVICE_SMALL];
    const float area = screen->x.cell * screen->y.cell, inverse = 1.0f / area, half = 0.5f * area + 0.25f;
    for (int row = BLOCK_THREAD; row < DEVICE_SMALL; row += BLOCK_THREADS) touched[row] = 0;
    block_barrier();
    if (BLOCK_THREAD == 0) {
        BARE_Canvas canvas = {screen, NULL, (float *)sums, (uint8_t *)touched, (uint8_t *)grey};
        device_draw_copy(copy, &canvas);
        copy[0] = 0;
    }
    block_barrier();
    for (int k = BLOCK_THREAD; k < DEVICE_PICTURE; k += BLOCK_THREADS) { /* canvas_finish of envs_c/screen.pxd */
        const int kind = touched[k / DEVICE_SMALL];
        int value = kind == 0 ? screen->backdrop_grey[k] : kind == 2 ? grey[k] : (int)((sums[k] + half) * inverse);
        value = value > 0 ? value : 0;
        out[k] = value < 255 ? value : 255;
    }
    block_barrier();
}

/* backdrop_grey, backdrop_sums: (84, 84); edges: (4, longest side + 1), the cells and parts of both axes (envs_c/screen.pxd). */
__global__ void draw(char *kept, uint8_t *observation, uint8_t *final_observation, const uint8_t *backdrop_grey,
                     const float *backdrop_sums, const int16_t *edges, long long count) {
    BARE_Screen screen;
    device_screen(&screen, edges);
    screen.backdrop_grey = (uint8_t *)backdrop_grey;
    screen.backdrop_sums = (float *)backdrop_sums;
    for (long long i = DEVICE_BLOCK; i < (final_observation ? 2 * count : count); i += DEVICE_BLOCKS) {
        char *copy = kept + i * DEVICE_STRIDE;
        uint8_t *out = i < count ? observation + i * DEVICE_PICTURE : final_observation + (i - count) * DEVICE_PICTURE;
        const int wanted = copy[0];
        block_barrier(); /* before a thread of the block marks it as painted */
        if (wanted) device_paint(copy, out, &screen);
    }
}
#endif

/* For one thread: fills the game's tables; with pictures, paints the backdrop, (BARE_HEIGHT, BARE_WIDTH, 3) bytes. */
__global__ void prepare(const double *options, uint8_t *rgb, const int16_t *edges) {
#ifdef BARE_prepare
    BARE_prepare();
#endif
#if DEVICE_PIXELS
    BARE_Screen screen;
    BARE_Canvas canvas;
    __builtin_memset(&canvas, 0, sizeof canvas);
    device_screen(&screen, edges);
    canvas.screen = &screen;
    canvas.rgb = rgb;
    BARE_backdrop(options, &canvas);
#endif
}

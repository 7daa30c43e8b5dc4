/* A game as CUDA kernels, a thread for each environment: `reset`, `step`, `observe`, and for tables and pictures `prepare`.
 *
 * device.py compiles it, with the C that Cython emits for the game, to PTX. The states
 * have the bytes of the CPU's engine (envs_c/engine/state.py), so snapshots go from one to the other.
 *
 * DEVICE_PIXELS: 1 for grey pictures as observations, 0 for features.
 */

#include <stddef.h>
#include <stdint.h>

#define DEVICE_STRIDE ((sizeof(BARE_Head) + sizeof(BARE_state) + 63) & ~(size_t)63)

#ifdef __NVPTX__
#define __global__ __attribute__((nvptx_kernel))
#define DEVICE_THREAD ((long long)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define DEVICE_THREADS ((long long)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())

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
#endif

/* One copy each of the game's functions, which run_rows calls in several places. All else is inlined. */
#define DEVICE_ONCE static __attribute__((noinline))
DEVICE_ONCE void device_reset(void *state, const double *options, BARE_Rng *rng) { BARE_reset(state, options, rng); }
DEVICE_ONCE float device_step(void *state, int action, BARE_Rng *rng, int *over) { return BARE_step(state, action, rng, over); }
DEVICE_ONCE void device_observe(const void *state, void *out) { BARE_observe((void *)state, out); }
DEVICE_ONCE void device_draw(const void *state, BARE_Canvas *canvas) { BARE_draw((void *)state, canvas); }

/* The arguments of all kernels; the outputs have a row for each of `count` environments, as Io of envs_c/io.pxd describes them.
   selected: of `reset`, 1 begins a new episode; of `step`, 0 holds the environment; NULL for all.
   totals: (2, count), the number of ended episodes and the sum of their lengths.
   backdrop_grey, backdrop_sums: (84, 84); edges: (4, longest side + 1), the cells and parts of both axes (envs_c/screen.pxd). */
#define DEVICE_ARGUMENTS \
    char *states, const int32_t *actions, const uint8_t *selected, char *observation, float *reward, float *terminated, \
    float *truncated, uint8_t *action_mask, char *final_observation, uint8_t *final_action_mask, uint8_t *ended, \
    double *ended_return, int32_t *ended_length, int32_t *lives, int32_t *final_lives, long long *totals, \
    const double *options, const uint8_t *backdrop_grey, const float *backdrop_sums, const int16_t *edges, \
    long long observation_bytes, long long num_actions, long long frame_skip, long long frame_skip_span, long long noop_max, \
    long long time_limit, long long autoreset, long long life_loss, float sticky, float reward_low, float reward_high, \
    long long count

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
            BARE_Screen screen; \
            BARE_Io io; \
            __builtin_memset(&io, 0, sizeof io); \
            device_screen(&screen, edges); \
            screen.backdrop_grey = (uint8_t *)backdrop_grey; \
            screen.backdrop_sums = (float *)backdrop_sums; \
            io.screen = &screen; \
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
            if (lives) BARE_write_lives(DEVICE_STRIDE, states, &io, (int)i, (int)i + 1); \
            if (ended[i]) { \
                totals[i] += 1; \
                totals[count + i] += ended_length[i]; \
            } \
        } \
    }

DEVICE_KERNEL(reset, BARE_RESET, NULL, selected)
DEVICE_KERNEL(step, BARE_STEP, selected, NULL)
DEVICE_KERNEL(observe, BARE_OBSERVE, NULL, NULL)

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

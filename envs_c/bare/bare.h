/* A game without Python: memory for COUNT environments, and four functions. README.md beside this file describes them.
 *
 * Include it after NAME.h, which emit.py writes. Everything is static, so a program holds one game and one set of
 * environments. No allocation, no input and output, no thread: it needs functions of
 * string.h (memcmp, memcpy, memmove, memset) and, in asteroids, sqrtf.
 */

#ifndef BARE_H
#define BARE_H

#include <stdint.h>
#include <string.h>

#ifndef BARE_COUNT
#define BARE_COUNT 1 /* environments */
#endif
#define BARE_SMALL 84 /* rows and columns of the grey picture */
#define BARE_STATE_BYTES ((sizeof(BARE_Head) + sizeof(BARE_state) + 63) & ~(size_t)63)
#define BARE_FEATURES_BYTES (BARE_MOST_FEATURES * BARE_FEATURE_BYTES)
#define BARE_OBSERVATION_BYTES \
    (BARE_FEATURES_BYTES > BARE_SMALL * BARE_SMALL ? BARE_FEATURES_BYTES : BARE_SMALL * BARE_SMALL)

/* The outputs of the last call, a row for each environment. */
static struct {
    unsigned char observation[BARE_COUNT * BARE_OBSERVATION_BYTES] __attribute__((aligned(64)));
    float reward[BARE_COUNT], terminated[BARE_COUNT], truncated[BARE_COUNT];
    int32_t lives[BARE_COUNT];                           /* zeros if the game has no lives */
    uint8_t action_mask[BARE_COUNT * BARE_MOST_ACTIONS]; /* bare_actions bytes each; zeros if the game has no mask */
    uint8_t ended[BARE_COUNT];                           /* 1 if the last step ended an episode; its return and length: */
    double ended_return[BARE_COUNT];
    int32_t ended_length[BARE_COUNT];
} bare;

static char bare_states[BARE_COUNT * BARE_STATE_BYTES] __attribute__((aligned(64)));
static uint8_t bare_rgb[3 * BARE_WIDTH * BARE_HEIGHT], bare_backdrop_rgb[3 * BARE_WIDTH * BARE_HEIGHT];
static uint8_t bare_grey[BARE_SMALL * BARE_SMALL];
static float bare_sums[BARE_SMALL * BARE_SMALL];
static int16_t bare_edges[4][(BARE_WIDTH > BARE_HEIGHT ? BARE_WIDTH : BARE_HEIGHT) + 1];
/* Change these before bare_setup. */
static double bare_options[] = BARE_OPTIONS; /* the game's options in their order */
static int bare_count = BARE_COUNT;          /* environments in use, BARE_COUNT at most */
static int bare_actions = BARE_ACTIONS;      /* actions and features under these options, if they change them */
static int bare_features = BARE_FEATURES;

static BARE_Screen bare_screen;
static BARE_Io bare_io;

static inline uint64_t bare_mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* rng_seed of envs_c/rng.pxd. */
static inline void bare_seed(BARE_Rng *rng, uint64_t seed, uint64_t index) {
    uint64_t key = bare_mix(seed + 0x9E3779B97F4A7C15u);
    rng->stream = (bare_mix(key ^ index) << 1) | 1;
    rng->state = bare_mix(key + rng->stream) * 6364136223846793005u + rng->stream;
}

/* `axis` of envs_c/engine/painter.pyx. Returns the units of a screen pixel. */
static inline int bare_axis(int length, int16_t *cells, int16_t *parts, int *cell) {
    int a = length, b = BARE_SMALL;
    while (b) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    *cell = length / a;
    for (int e = 0; e <= length; e++) {
        cells[e] = (int16_t)(e * (BARE_SMALL / a) / *cell);
        parts[e] = (int16_t)(e * (BARE_SMALL / a) % *cell);
    }
    return BARE_SMALL / a;
}

/* `average` of painter.pyx, of the backdrop. */
static inline void bare_average(int unit_x, int unit_y) {
    int cell_x = bare_screen.x.cell, cell_y = bare_screen.y.cell, area = cell_x * cell_y;
    for (int row = 0; row < BARE_SMALL; row++) {
        for (int column = 0; column < BARE_SMALL; column++) {
            int64_t sum = 0;
            for (int y = row * cell_y; y < (row + 1) * cell_y; y++) {
                for (int x = column * cell_x; x < (column + 1) * cell_x; x++) {
                    const uint8_t *pixel = bare_backdrop_rgb + 3 * (y / unit_y * BARE_WIDTH + x / unit_x);
                    sum += (299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2] + 500) / 1000;
                }
            }
            bare_sums[row * BARE_SMALL + column] = (float)sum;
            bare_grey[row * BARE_SMALL + column] = (uint8_t)((2 * sum + area) / (2 * area));
        }
    }
}

/* Seed environment i; its episode goes on. */
static inline void bare_seed_one(int i, uint64_t seed, uint64_t index) {
    bare_seed(&((BARE_Head *)(bare_states + i * BARE_STATE_BYTES))->rng, seed, index);
}

/* Set up bare_count environments; environment i draws its random numbers from (seed, i). pixels: 1 for grey pictures as
   observations, 0 for features. */
static inline void bare_setup(uint64_t seed, int pixels) {
    BARE_Canvas canvas;
    int unit_x, unit_y;
#ifdef BARE_prepare
    static int prepared;
    if (!prepared) BARE_prepare();
    prepared = 1;
#endif
    memset(bare_backdrop_rgb, 0, sizeof bare_backdrop_rgb);
    memset(&bare_io, 0, sizeof bare_io);
    memset(&canvas, 0, sizeof canvas);
    bare_screen.x.length = BARE_WIDTH;
    bare_screen.y.length = BARE_HEIGHT;
    unit_x = bare_axis(BARE_WIDTH, bare_screen.x.cells = bare_edges[0], bare_screen.x.parts = bare_edges[1], &bare_screen.x.cell);
    unit_y = bare_axis(BARE_HEIGHT, bare_screen.y.cells = bare_edges[2], bare_screen.y.parts = bare_edges[3], &bare_screen.y.cell);
    canvas.screen = &bare_screen;
    canvas.rgb = bare_backdrop_rgb;
    BARE_backdrop(bare_options, &canvas);
    bare_average(unit_x, unit_y);
    bare_screen.backdrop_rgb = bare_backdrop_rgb;
    bare_screen.backdrop_grey = bare_grey;
    bare_screen.backdrop_sums = bare_sums;
    bare_io.observation = bare.observation;
    bare_io.reward = bare.reward;
    bare_io.terminated = bare.terminated;
    bare_io.truncated = bare.truncated;
    bare_io.action_mask = bare.action_mask;
#ifdef BARE_lives
    bare_io.lives = bare.lives;
    bare_io.count_lives = BARE_lives;
#endif
    bare_io.ended = bare.ended;
    bare_io.ended_return = bare.ended_return;
    bare_io.ended_length = bare.ended_length;
    bare_io.options = bare_options;
    bare_io.screen = &bare_screen;
    bare_io.observation_bytes = pixels ? BARE_SMALL * BARE_SMALL : (size_t)bare_features * BARE_FEATURE_BYTES;
    bare_io.num_actions = bare_actions;
    bare_io.pixels = pixels;
    bare_io.frame_skip = BARE_FRAME_SKIP;
    bare_io.time_limit = BARE_TIME_LIMIT;
    bare_io.reward_low = -__builtin_inff();
    bare_io.reward_high = __builtin_inff();
    bare_io.autoreset = BARE_NEXT_STEP;
    memset(bare_states, 0, sizeof bare_states);
    for (int i = 0; i < bare_count; i++) bare_seed_one(i, seed, (uint64_t)i);
}

/* Begin new episodes in all environments. */
static inline void bare_reset(void) {
    bare_io.operation = BARE_RESET;
    BARE_chunk(bare_states, &bare_io, 0, bare_count);
}

/* Step all environments. actions: bare_count numbers from 0 to bare_actions - 1. The step after an episode's end begins a new
   one: it ignores the action, and its reward and flags are 0. */
static inline void bare_step(const int32_t *actions) {
    bare_io.operation = BARE_STEP;
    bare_io.actions = actions;
    BARE_chunk(bare_states, &bare_io, 0, bare_count);
}

/* The screen of environment i: BARE_HEIGHT rows of BARE_WIDTH pixels of red, green and blue. The next call writes over it. */
static inline const uint8_t *bare_draw(int i) {
    BARE_Canvas canvas;
    memset(&canvas, 0, sizeof canvas);
    canvas.screen = &bare_screen;
    canvas.rgb = bare_rgb;
    memcpy(bare_rgb, bare_backdrop_rgb, sizeof bare_rgb);
    BARE_draw(bare_states + i * BARE_STATE_BYTES + sizeof(BARE_Head), &canvas);
    return bare_rgb;
}

#endif

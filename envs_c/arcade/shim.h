/* A game's exports to JavaScript, on top of envs_c/bare/bare.h. page/engine.js calls them.
 *
 * Everything lies in static memory for BARE_COUNT environments; `address` says where. No imports.
 */

/* The functions of the C library that compilers call by themselves. Loops over bytes become WebAssembly's own instructions. */
void *memcpy(void *to, const void *from, size_t count) {
    for (size_t k = 0; k < count; k++) ((char *)to)[k] = ((const char *)from)[k];
    return to;
}

void *memmove(void *to, const void *from, size_t count) { return __builtin_memmove(to, from, count); }

void *memset(void *to, int value, size_t count) {
    for (size_t k = 0; k < count; k++) ((char *)to)[k] = (char)value;
    return to;
}

int memcmp(const void *one, const void *other, size_t count) {
    const unsigned char *a = one, *b = other;
    for (size_t k = 0; k < count; k++)
        if (a[k] != b[k]) return a[k] - b[k];
    return 0;
}

#define EXPORT(name) __attribute__((export_name(#name)))
#ifndef ARCADE_OPTIONS
#define ARCADE_OPTIONS bare_options /* those that the page sets */
#endif

static int32_t arcade_actions[BARE_COUNT];
static char arcade_state[BARE_STATE_BYTES] __attribute__((aligned(64)));            /* of `save` and `restore` */
static unsigned char arcade_view[BARE_OBSERVATION_BYTES] __attribute__((aligned(64))); /* of `look` */
static uint8_t arcade_rgba[4 * BARE_WIDTH * BARE_HEIGHT];
static uint8_t arcade_chosen[BARE_COUNT];

/* The head and the struct of environment i. */
static BARE_Head *arcade_head(int i) { return (BARE_Head *)(bare_states + i * BARE_STATE_BYTES); }

/* Where data lies, by its number in `PLACES` of engine.js. */
EXPORT(address) const void *arcade_address(int place) {
    const void *places[] = {
        bare.observation, bare.reward, bare.terminated, bare.truncated, bare.action_mask, bare.lives, bare.ended,
        bare.ended_return, bare.ended_length, arcade_actions, ARCADE_OPTIONS, arcade_state, arcade_view, arcade_rgba,
    };
    return places[place];
}

EXPORT(state_bytes) int arcade_state_bytes(void) { return BARE_STATE_BYTES; }

/* Set up `count` environments, which must be reset next. seed: environment i draws from (seed, i).
 * actions, features: their numbers under the options, which lie at their address. */
EXPORT(setup) void arcade_setup(int count, uint64_t seed, int pixels, int actions, int features, int frame_skip, float sticky,
                                int noop_max, int time_limit) {
    memset(&bare, 0, sizeof bare);
    bare_count = count;
    bare_actions = actions;
    bare_features = features;
    bare_setup(seed, pixels);
    bare_io.frame_skip = frame_skip;
    bare_io.sticky = sticky;
    bare_io.noop_max = noop_max;
    bare_io.time_limit = time_limit;
}

EXPORT(seed) void arcade_seed(int i, uint64_t seed, uint64_t index) { bare_seed_one(i, seed, index); }

/* Begin a new episode in environment i, or in all if i is -1. */
EXPORT(reset) void arcade_reset(int i) {
    memset(bare.ended, 0, sizeof bare.ended);
    memset(arcade_chosen, 0, sizeof arcade_chosen);
    if (i >= 0) arcade_chosen[i] = 1;
    bare_io.reset_mask = i < 0 ? NULL : arcade_chosen;
    bare_reset();
    bare_io.reset_mask = NULL;
}

EXPORT(step) void arcade_step(void) { bare_step(arcade_actions); }

/* Write the features of environment i, or its grey picture, beside the observations. In a cartridge the picture is that of a
 * step of several frames, the brighter pixels of the last two, also if each step has one frame. */
EXPORT(look) void arcade_look(int i, int pixels) {
    BARE_Io io = bare_io;
    io.operation = BARE_OBSERVE;
    io.first = i;
    io.pixels = pixels;
    io.frame_skip = 2;
    io.observation = arcade_view;
    io.action_mask = NULL;
    io.lives = NULL;
    io.observation_bytes = BARE_OBSERVATION_BYTES;
    BARE_chunk(bare_states, &io, i, i + 1);
}

/* Draw environment i as red, green, blue and alpha. */
EXPORT(draw) void arcade_draw(int i) {
    const uint8_t *rgb = bare_draw(i);
    for (int k = 0; k < BARE_WIDTH * BARE_HEIGHT; k++) {
        arcade_rgba[4 * k] = rgb[3 * k];
        arcade_rgba[4 * k + 1] = rgb[3 * k + 1];
        arcade_rgba[4 * k + 2] = rgb[3 * k + 2];
        arcade_rgba[4 * k + 3] = 255;
    }
}

EXPORT(score) double arcade_score(int i) { return arcade_head(i)->episode_return; }
EXPORT(length) int arcade_length(int i) { return arcade_head(i)->episode_length; }
EXPORT(over) int arcade_over(int i) { return arcade_head(i)->over; }

EXPORT(save) void arcade_save(int i) { memcpy(arcade_state, bare_states + i * BARE_STATE_BYTES, BARE_STATE_BYTES); }

/* As `can_exist` of envs_c/engine/restore.pxd, of a state after a reset. */
static int arcade_exists(const BARE_Head *head) {
    if (head->rng.stream % 2 == 0 || head->started != 1 || head->over > 1) return 0;
    if (!(head->episode_return >= -__DBL_MAX__ && head->episode_return <= __DBL_MAX__)) return 0;
    if (head->episode_length < 0 || head->episode_length > 2000000000) return 0;
    if (head->last_action < 0 || head->last_action >= bare_actions) return 0;
#ifdef BARE_valid
    return BARE_valid(arcade_state + sizeof(BARE_Head), bare_options, head->over);
#else
    return 1;
#endif
}

/* Restore the saved state into environment i, and observe it. Returns 0, and changes nothing, if it cannot exist. */
EXPORT(restore) int arcade_restore(int i) {
    BARE_Io io = bare_io;
    if (!arcade_exists((const BARE_Head *)arcade_state)) return 0;
    memcpy(bare_states + i * BARE_STATE_BYTES, arcade_state, BARE_STATE_BYTES);
    bare.reward[i] = bare.terminated[i] = bare.truncated[i] = 0.0f;
    bare.ended[i] = 0;
    io.operation = BARE_OBSERVE;
    BARE_chunk(bare_states, &io, i, i + 1);
    return 1;
}

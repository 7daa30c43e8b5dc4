/* Work that torch would do with many small operations, in one kernel each: storing a step of a rollout, and choosing and storing
 * actions. fused.py launches them.
 */
#include "threads.h"

/* Store a step of a rollout for some environments, in row clock[0] of the storage. A team of threads has an observation of n
 * numbers; rows of `frames` are `width` numbers apart. The outputs with an s at the end of their names, `frames` and `masks`
 * have a row for each step and a column for each of `environments`; they begin at the first environment of this batch.
 * over: IN the flags before this step, OUT those of this step. inputs: the observations once more, in such rows; or NULL.
 * clock: t, step, and OUT the same again for `sample_step`, which changes the first two. */
template <class In, class Out>
ROW void store_step(const In *observation, const float *reward, const float *terminated, const float *truncated,
                    const uint8_t *mask, int64 *clock, float *over, Out *frames, float *starts, float *rewards,
                    float *terminateds, float *truncateds, uint8_t *masks, float *keep, float *keep_next, Out *inputs,
                    int64 rows, int64 n, int64 width, int64 environments, int64 actions) {
    int64 t = clock[0];
    Place at = place(n);
    for (int64 row = at.row; row < rows; row += at.rows) {
        int64 stored = t * environments + row;
        for (int64 unit = at.unit; unit < n; unit += at.units) {
            float x = number(observation[row * n + unit]);
            put(frames + stored * width + unit, x);
            if (inputs) put(inputs + row * width + unit, x);
        }
        for (int64 action = at.unit; mask && action < actions; action += at.units)
            masks[stored * actions + action] = mask[row * actions + action];
        if (at.unit) continue;
        float before = over[row], now = terminated[row] > truncated[row] ? terminated[row] : truncated[row];
        starts[stored] = before;
        rewards[stored] = reward[row];
        terminateds[stored] = terminated[row];
        truncateds[stored] = truncated[row];
        keep[row] = 1.0f - before;
        keep_next[row] = 1.0f - now;
        over[row] = now;
    }
    if (share().first == 0) {
        clock[2] = clock[0];
        clock[3] = clock[1];
    }
}

#define STORE(NAME, IN, OUT)                                                                                              \
    extern "C" __global__ void __launch_bounds__(128, 8) store_step_##NAME(                                               \
        const IN *observation, const float *reward, const float *terminated, const float *truncated, const uint8_t *mask, \
        int64 *clock, float *over, OUT *frames, float *starts, float *rewards, float *terminateds, float *truncateds,     \
        uint8_t *masks, float *keep, float *keep_next, OUT *inputs, int64 rows, int64 n, int64 width,                     \
        int64 environments, int64 actions) {                                                                              \
        store_step(observation, reward, terminated, truncated, mask, clock, over, frames, starts, rewards, terminateds,   \
                   truncateds, masks, keep, keep_next, inputs, rows, n, width, environments, actions);                    \
    }

STORE(u8_u8, uint8_t, uint8_t)
STORE(f32_f32, float, float)
STORE(f32_bf16, float, bf16)

/* `sample` of rows.cu, at step clock[3], which also stores actions, log-probabilities and values in row clock[2] of the storage.
 * clock: OUT t and step of the next step. */
extern "C" __global__ void sample_step(const float *logits, const uint8_t *legal, int64 actions, uint64_t seed, int64 first,
                                       int64 *clock, int32_t *action, int32_t *stored, float *log_probs, float *values,
                                       int64 environments, int64 rows) {
    int64 t = clock[2], step = clock[3];
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        const float *row = logits + k * (actions + 1);
        int64 at = t * environments + k;
        action[k] = row_sample(row, legal ? legal + k * actions : nullptr, (int)actions,
                               row_random(seed, (uint32_t)(first + k), (uint64_t)step), log_probs + at);
        stored[at] = action[k];
        values[at] = row[actions];
    }
    if (mine.first == 0) {
        clock[0] = t + 1;
        clock[1] = step + 1;
    }
}

/* A rollout: storing a step, choosing and storing actions, stacks of frames, advantages. */
#include "distributions.h"
#include "threads.h"

/* Store a step of a rollout for some environments, in row clock[0] of the storage. A team of threads has an observation of n
 * numbers; rows of `frames` are `width` numbers apart. The outputs with an s at the end of their names, `frames` and
 * `action_masks` have a row for each step and a column for each of `environments`; they begin at the first environment of this
 * batch.
 * over: IN the flags before this step, OUT those of this step. inputs: the observations once more, in such rows; or NULL.
 * clock: t, step, and OUT the same again for `sample_step`, which changes the first two. */
template <class In, class Out>
ROW void store_step(const In *observation, const float *reward, const float *terminated, const float *truncated,
                    const uint8_t *action_mask, int64 *clock, float *over, Out *frames, float *starts, float *rewards,
                    float *terminateds, float *truncateds, uint8_t *action_masks, float *keep, float *keep_next, Out *inputs,
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
        for (int64 action = at.unit; action_mask && action < actions; action += at.units)
            action_masks[stored * actions + action] = action_mask[row * actions + action];
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
        const IN *observation, const float *reward, const float *terminated, const float *truncated,                      \
        const uint8_t *action_mask, int64 *clock, float *over, OUT *frames, float *starts, float *rewards,                \
        float *terminateds, float *truncateds, uint8_t *action_masks, float *keep, float *keep_next, OUT *inputs,         \
        int64 rows, int64 n, int64 width, int64 environments, int64 actions) {                                            \
        store_step(observation, reward, terminated, truncated, action_mask, clock, over, frames, starts, rewards,         \
                   terminateds, truncateds, action_masks, keep, keep_next, inputs, rows, n, width, environments,          \
                   actions);                                                                                              \
    }

STORE(u8_u8, uint8_t, uint8_t)
STORE(f32_f32, float, float)
STORE(f32_bf16, float, bf16)

/* `sample` of actions/cuda.cu, at step clock[3], which also stores actions, log-probabilities and values in row clock[2] of
 * the storage.
 * clock: OUT t and step of the next step. */
extern "C" __global__ void sample_step(const float *logits, const uint8_t *action_mask, int64 actions, uint64_t seed,
                                       int64 first, int64 *clock, int64 hold, const float *held, int32_t *action,
                                       int32_t *stored, float *log_probs, float *values, int64 environments, int64 rows) {
    int64 t = clock[2], step = clock[3];
    uint64_t kept = (uint64_t)step / (uint64_t)hold;
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        const float *row = logits + k * (actions + 1);
        int64 at = t * environments + k;
        action[k] = row_sample(row, action_mask ? action_mask + k * actions : nullptr, (int)actions,
                               row_random(seed, (uint32_t)(first + k), (uint64_t)step, kept, row_may_hold(hold, held, k)),
                               log_probs + at);
        stored[at] = action[k];
        values[at] = row[actions];
    }
    if (mine.first == 0) {
        clock[0] = t + 1;
        clock[1] = step + 1;
    }
}

/* Stacks of `count` frames for the steps from t on. A team of threads has a frame of n pixels. */
template <class In, class Out>
ROW void stack_frames(const In *frames, int64 stride, const float *start, int64 start_stride, const int64 *t_memory, int64 t,
                      float scale, Out *out, int64 steps, int64 batch, int64 count, int64 n) {
    if (t_memory) t = *t_memory;
    Place at = place(n);
    for (int64 plane = at.row; plane < steps * batch * count; plane += at.rows) {
        int64 k = plane % count, b = plane / count % batch, newest = t + plane / count / batch + count - 1;
        int64 back = count - 1 - k;
        const In *frame = frames + (newest - back) * stride + b * n;
        bool same_episode = row_same_episode(start + newest * start_stride + b, start_stride, back);
        for (int64 p = at.unit; p < n; p += at.units)
            put(out + plane * n + p, same_episode ? number(frame[p]) * scale : 0.0f);
    }
}

#define STACK(NAME, IN, OUT)                                                                                              \
    extern "C" __global__ void stack_frames_##NAME(                                                                       \
        const IN *frames, int64 stride, const float *start, int64 start_stride, const int64 *t_memory, int64 t,           \
        float scale, OUT *out, int64 steps, int64 batch, int64 count, int64 n) {                                          \
        stack_frames(frames, stride, start, start_stride, t_memory, t, scale, out, steps, batch, count, n);               \
    }

STACK(u8_f32, uint8_t, float)
STACK(u8_bf16, uint8_t, bf16)
STACK(f32_f32, float, float)
STACK(f32_bf16, float, bf16)
STACK(bf16_f32, bf16, float)
STACK(bf16_bf16, bf16, bf16)

extern "C" __global__ void advantages(const float *reward, const float *terminated, const float *truncated,
                                      const float *valid, const float *value, const float *ratio, float *advantage,
                                      int64 steps, int64 batch, float gamma, float lambda, float rho_clip, float c_clip) {
    Share mine = share();
    for (int64 k = mine.first; k < batch; k += mine.stride)
        row_advantages(reward + k, terminated + k, truncated + k, valid + k, value + k, ratio ? ratio + k : nullptr,
                       advantage + k, (int)steps, batch, gamma, lambda, rho_clip, c_clip);
}

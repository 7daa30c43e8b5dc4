/* Work that torch would do with many small operations, in one kernel each: storing a step of a rollout, choosing and storing
 * actions, and the parts of a minibatch's update outside the policy. fused.py launches them.
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

/* The sequences of a minibatch, those numbered in row position[0] of `order`: `steps` rows of frames and of starts, and the
 * memory before the first step. A team of threads has a frame of n units of memory. h_size, c_size: units of 2 bytes. */
template <class Unit>
ROW void select_sequences(const Unit *frames, const float *starts, const uint16_t *h, const uint16_t *c, const int64 *order,
                          const int64 *position, Unit *frames_out, float *starts_out, uint16_t *h_out, uint16_t *c_out,
                          int64 steps, int64 environments, int64 sequences, int64 n, int64 h_size, int64 c_size) {
    const int64 *numbers = order + position[0] * sequences;
    Place at = place(n);
    for (int64 row = at.row; row < steps * sequences; row += at.rows) {
        int64 from = row / sequences * environments + numbers[row % sequences];
        for (int64 unit = at.unit; unit < n; unit += at.units) frames_out[row * n + unit] = frames[from * n + unit];
        if (at.unit == 0) starts_out[row] = starts[from];
    }
    Share mine = share();
    for (int64 k = mine.first; k < sequences * h_size; k += mine.stride)
        h_out[k] = h[numbers[k / h_size] * h_size + k % h_size];
    for (int64 k = mine.first; k < sequences * c_size; k += mine.stride)
        c_out[k] = c[numbers[k / c_size] * c_size + k % c_size];
}

struct alignas(16) Bytes16 {
    uint32_t word[4];
};

#define SELECT(NAME, UNIT)                                                                                                \
    extern "C" __global__ void select_sequences_##NAME(                                                                   \
        const UNIT *frames, const float *starts, const uint16_t *h, const uint16_t *c, const int64 *order,                \
        const int64 *position, UNIT *frames_out, float *starts_out, uint16_t *h_out, uint16_t *c_out, int64 steps,        \
        int64 environments, int64 sequences, int64 n, int64 h_size, int64 c_size) {                                       \
        select_sequences(frames, starts, h, c, order, position, frames_out, starts_out, h_out, c_out, steps,              \
                         environments, sequences, n, h_size, c_size);                                                     \
    }

SELECT(1, uint8_t)
SELECT(4, uint32_t)
SELECT(16, Bytes16)

/* The loss of PPO for each step of a minibatch, and its gradient by the policy's outputs. The rows of `out` are the steps of the
 * sequences numbered in row position[0] of `order`, time first: `actions` logits, then the value. The other inputs have a row
 * for each step and a column for each of `environments`; statistics has a row (count, mean, variance) for each row of `order`.
 * weight: of each sequence; or NULL.
 * dout: OUT like `out`. parts: OUT 5 rows, each step's share of the policy's loss, the value's loss, the entropy, the estimate of
 * the divergence, and the part of clipped ratios. ratios: OUT of these sequences; or NULL. */
extern "C" __global__ void __launch_bounds__(128, 8) ppo_loss(
    const float *out, const uint8_t *mask, const int32_t *action, const float *log_prob, const float *value,
    const float *advantage, const float *terminated, const float *truncated, const float *statistics, const float *weight,
    const float *entropy_coef, const int64 *order, const int64 *position, float *dout, float *parts, float *ratios,
    int64 steps, int64 environments, int64 sequences, int64 actions, float clip, float value_clip, float value_coef,
    float scale) {
    const int64 *numbers = order + position[0] * sequences;
    const float *statistic = statistics + position[0] * 3;
    float count = statistic[0], mean = statistic[1], deviation = ROW_SQRT(statistic[2]) + 1e-8f;
    int64 rows = steps * sequences;
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        int64 at = k / sequences * environments + numbers[k % sequences];
        const float *row = out + k * (actions + 1);
        const uint8_t *legal = mask ? mask + at * actions : nullptr;
        float valid = 1.0f - (terminated[at] > truncated[at] ? terminated[at] : truncated[at]), share_of = valid / count;
        float heavy = weight ? weight[k % sequences] : 1.0f, new_log_prob, entropy;
        row_categorical(row, legal, (int)actions, action[at], &new_log_prob, &entropy);

        float log_ratio = new_log_prob - log_prob[at], ratio = row_exp(log_ratio);
        float gain = (advantage[at] - mean) * valid / deviation * heavy;
        float clipped = ratio < 1.0f - clip ? 1.0f - clip : ratio > 1.0f + clip ? 1.0f + clip : ratio;
        bool inside = clipped == ratio, lower = ratio * gain < clipped * gain;
        float dlog_prob = inside || lower ? -gain * ratio * share_of : 0.0f;

        float old = value[at], target = old + advantage[at], error = row[actions] - target, change = row[actions] - old;
        float square = error * error, dvalue = 2.0f * error;
        if (value_clip > 0.0f) {
            float limited = change < -value_clip ? -value_clip : change > value_clip ? value_clip : change;
            float other = old + limited - target, slope = limited == change ? 2.0f * other : 0.0f;
            dvalue = other * other > square ? slope : other * other == square ? 0.5f * (dvalue + slope) : dvalue;
            square = other * other > square ? other * other : square;
        }
        dout[k * (actions + 1) + actions] = 0.5f * value_coef * dvalue * heavy * share_of * scale;
        row_categorical_backward(row, legal, (int)actions, action[at], dlog_prob * scale, -*entropy_coef * share_of * scale,
                                 dout + k * (actions + 1));

        float surrogate = lower ? ratio * gain : clipped * gain, distance = ratio > 1.0f ? ratio - 1.0f : 1.0f - ratio;
        parts[k] = -surrogate * share_of;
        parts[k + rows] = 0.5f * square * heavy * share_of;
        parts[k + 2 * rows] = entropy * share_of;
        parts[k + 3 * rows] = (ratio - 1.0f - log_ratio) * share_of;
        parts[k + 4 * rows] = distance > clip ? share_of : 0.0f;
        if (ratios) ratios[at] = ratio;  // a sequence that was drawn twice has the same ratio both times
    }
}

/* The end of a minibatch: scale the gradients so that their norm is at most `most`, write the diagnostics to row position[1] of
 * `history`, and go on to the next minibatch of `batches` and the next row.
 * sums: `count` diagnostics. norm: of the gradients, the last diagnostic; or NULL if the gradients stay as they are. */
extern "C" __global__ void end_minibatch(const float *sums, const float *norm, float *gradients, float *history,
                                         int64 *position, int64 count, int64 size, int64 batches, float most) {
    Share mine = share();
    if (norm) {
        float factor = most / (*norm + 1e-6f);
        factor = factor > 1.0f ? 1.0f : factor;
        for (int64 k = mine.first; k < size; k += mine.stride) gradients[k] *= factor;
    }
    if (mine.first) return;
    float *row = history + position[1] * (count + 1);
    for (int64 k = 0; k < count; k++) row[k] = sums[k];
    if (norm) row[count] = *norm;
    position[0] = (position[0] + 1) % batches;
    position[1] += 1;
}

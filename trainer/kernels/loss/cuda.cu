/* The work of a minibatch outside the policy, in one kernel each: taking its sequences out of the rollout, its loss with the
 * gradient, and its end. cuda.py launches them.
 */
#include "distributions.h"
#include "threads.h"

#include "row.h"

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
 * dout: OUT like `out`. parts: OUT 5 rows, each step's parts of LossGradient. ratios: OUT of these sequences; or NULL. */
extern "C" __global__ void __launch_bounds__(128, 8) ppo_loss(
    const float *out, const uint8_t *action_mask, const int32_t *action, const float *log_prob, const float *value,
    const float *advantage, const float *value_error, const float *terminated, const float *truncated,
    const float *statistics, const float *weight, const float *entropy_coef, const int64 *order, const int64 *position,
    float *dout, float *parts, float *ratios, int64 steps, int64 environments, int64 sequences, int64 actions, float clip,
    float value_clip, float value_coef, float scale) {
    const int64 *numbers = order + position[0] * sequences;
    const float *statistic = statistics + position[0] * 3;
    const LossSettings settings = {clip, value_clip, value_coef, *entropy_coef, scale,
                                   statistic[0], statistic[1], ROW_SQRT(statistic[2]) + 1e-8f};
    int64 rows = steps * sequences;
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        int64 at = k / sequences * environments + numbers[k % sequences];
        const float *row = out + k * (actions + 1);
        const uint8_t *possible = action_mask ? action_mask + at * actions : nullptr;
        float over = terminated[at] > truncated[at] ? terminated[at] : truncated[at], new_log_prob, entropy;
        row_categorical(row, possible, (int)actions, action[at], &new_log_prob, &entropy);
        const LossStep old = {log_prob[at],       value[at],   advantage[at],
                              value_error[at],    1.0f - over, weight ? weight[k % sequences] : 1.0f};
        const LossGradient g = row_loss(&settings, old, new_log_prob, entropy, row[actions]);
        row_categorical_backward(row, possible, (int)actions, action[at], g.dlog_prob, g.dentropy, dout + k * (actions + 1));
        dout[k * (actions + 1) + actions] = g.dvalue;
        for (int part = 0; part < LOSS_PARTS; part++) parts[k + part * rows] = g.parts[part];
        if (ratios) ratios[at] = g.ratio;  // a sequence that was drawn twice has the same ratio both times
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

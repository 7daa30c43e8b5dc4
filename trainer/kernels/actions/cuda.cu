/* Sampling actions, and their log-probabilities and entropies with gradients: a thread has a row. */
#include "distributions.h"
#include "threads.h"

/* hold, held: steps for which one in ROW_HELD_SHARE environments keeps its random numbers, if its flag is not 0; NULL: all may.
 * step_memory: address of the step if a captured graph counts it; NULL: the number `step`.
 * value: OUT the column after the logits; or NULL. */
extern "C" __global__ void sample(const float *logits, int64 width, const uint8_t *action_mask, int64 actions, uint64_t seed,
                                  int64 first, const int64 *step_memory, int64 step, int64 hold, const float *held,
                                  int32_t *action, float *log_prob, float *value, int64 rows) {
    if (step_memory) step = *step_memory;
    uint64_t kept = (uint64_t)step / (uint64_t)hold;
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        const float *row = logits + k * width;
        action[k] = row_sample(row, action_mask ? action_mask + k * actions : nullptr, (int)actions,
                               row_random(seed, (uint32_t)(first + k), (uint64_t)step, kept, row_may_hold(hold, held, k)),
                               log_prob + k);
        if (value) value[k] = row[actions];
    }
}

extern "C" __global__ void categorical(const float *logits, int64 stride, const uint8_t *action_mask, int64 actions,
                                       const int32_t *action, float *log_prob, float *entropy, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_categorical(logits + k * stride, action_mask ? action_mask + k * actions : nullptr, (int)actions, action[k],
                        log_prob + k,
                        entropy + k);
}

extern "C" __global__ void categorical_backward(const float *logits, int64 stride, const uint8_t *action_mask, int64 actions,
                                                const int32_t *action, const float *dlog_prob, const float *dentropy,
                                                float *dlogits, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_categorical_backward(logits + k * stride, action_mask ? action_mask + k * actions : nullptr, (int)actions, action[k],
                                 dlog_prob[k], dentropy[k], dlogits + k * actions);
}

/* mean: the first n columns of `width`. The other arguments are those of `sample`. */
extern "C" __global__ void gaussian_sample(const float *mean, int64 width, const float *log_deviation, int64 n, uint64_t seed,
                                           int64 first, const int64 *step_memory, int64 step, int64 hold, const float *held,
                                           float *action, float *log_prob, float *value, int64 rows) {
    if (step_memory) step = *step_memory;
    uint64_t kept = (uint64_t)step / (uint64_t)hold;
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        const float *row = mean + k * width;
        row_gaussian_sample(row, log_deviation, (int)n, seed, (uint32_t)(first + k), (uint64_t)step, kept,
                            row_may_hold(hold, held, k), action + k * n, log_prob + k);
        if (value) value[k] = row[n];
    }
}

extern "C" __global__ void gaussian(const float *mean, int64 stride, const float *log_deviation, int64 n, const float *action,
                                    float *log_prob, float *entropy, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_gaussian(mean + k * stride, log_deviation, action + k * n, (int)n, log_prob + k, entropy + k);
}

extern "C" __global__ void gaussian_backward(const float *mean, int64 stride, const float *log_deviation, int64 n,
                                             const float *action, const float *dlog_prob, const float *dentropy, float *dmean,
                                             float *dlog_deviation, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_gaussian_backward(mean + k * stride, log_deviation, action + k * n, (int)n, dlog_prob[k], dentropy[k],
                              dmean + k * n, dlog_deviation + k * n);
}

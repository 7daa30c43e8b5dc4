/* The loss of PPO and its gradient for a minibatch: the ppo_loss of cuda/fused.cu, and the statistics of the advantages. */
#ifndef INSERTCOIN_CPU_LOSS_H
#define INSERTCOIN_CPU_LOSS_H

#include "rows.h"

/* T steps of S of N environments with A actions. */
typedef struct {
    long steps, environments, sequences, actions;
    const int64_t *numbers;         /* (S,): the environment of each sequence */
    const float *out;               /* (T, S, A + 1): logits and values */
    const uint8_t *mask;            /* (T, N, A), or NULL */
    const int32_t *action;          /* (T, N) as the following five */
    const float *log_prob, *value, *advantage, *terminated, *truncated;
    const float *weight;            /* (S,), or NULL */
    float entropy_coef, clip, value_clip, value_coef, scale;
    double count, mean, deviation;  /* of the advantages of valid steps */
    float *dout;                    /* (T, S, A + 1): OUT the gradient */
    float *ratios;                  /* (T, N): OUT, or NULL */
} Loss;

static inline int loss_valid(const Loss *s, long at) { return s->terminated[at] == 0.0f && s->truncated[at] == 0.0f; }

/* The valid steps of step t, and the sums of their advantages' differences from s->mean, and of the squares: to `sums`. */
static void loss_statistics(const Loss *s, long t, double *sums) {
    sums[0] = sums[1] = sums[2] = 0.0;
    for (long k = 0; k < s->sequences; k++) {
        const long at = t * s->environments + s->numbers[k];
        const double difference = s->advantage[at] - s->mean;
        if (!loss_valid(s, at)) continue;
        sums[0] += 1.0;
        sums[1] += difference;
        sums[2] += difference * difference;
    }
}

/* The gradient of step t. sums: the parts of losses and diagnostics. */
static void loss_step(const Loss *s, long t, double *sums) {
    const long actions = s->actions;
    const float mean = (float)s->mean, deviation = (float)s->deviation + 1e-8f;
    for (long part = 0; part < 5; part++) sums[part] = 0.0;
    for (long k = 0; k < s->sequences; k++) {
        const long at = t * s->environments + s->numbers[k];
        const float *row = s->out + (t * s->sequences + k) * (actions + 1);
        float *drow = s->dout + (t * s->sequences + k) * (actions + 1), new_log_prob, entropy;
        const uint8_t *legal = s->mask ? s->mask + at * actions : 0;
        const float valid = loss_valid(s, at), share = valid / (float)s->count, heavy = s->weight ? s->weight[k] : 1.0f;
        row_categorical(row, legal, (int)actions, s->action[at], &new_log_prob, &entropy);

        const float log_ratio = new_log_prob - s->log_prob[at], ratio = row_exp(log_ratio);
        const float gain = (s->advantage[at] - mean) * valid / deviation * heavy;
        const float clipped = ratio < 1.0f - s->clip ? 1.0f - s->clip : ratio > 1.0f + s->clip ? 1.0f + s->clip : ratio;
        const int lower = ratio * gain < clipped * gain;
        const float dlog_prob = clipped == ratio || lower ? -gain * ratio * share : 0.0f;

        const float old = s->value[at], target = old + s->advantage[at], error = row[actions] - target;
        const float change = row[actions] - old;
        float square = error * error, dvalue = 2.0f * error;
        if (s->value_clip > 0.0f) { /* where both errors are equal, each has half of the gradient, as in torch.maximum */
            const float limited = change < -s->value_clip ? -s->value_clip : change > s->value_clip ? s->value_clip : change;
            const float other = old + limited - target, slope = limited == change ? 2.0f * other : 0.0f;
            dvalue = other * other > square ? slope : other * other == square ? 0.5f * (dvalue + slope) : dvalue;
            square = other * other > square ? other * other : square;
        }
        drow[actions] = 0.5f * s->value_coef * dvalue * heavy * share * s->scale;
        row_categorical_backward(row, legal, (int)actions, s->action[at], dlog_prob * s->scale,
                                 -s->entropy_coef * share * s->scale, drow);

        const float distance = ratio > 1.0f ? ratio - 1.0f : 1.0f - ratio;
        sums[0] -= (lower ? ratio * gain : clipped * gain) * share;
        sums[1] += 0.5f * square * heavy * share;
        sums[2] += entropy * share;
        sums[3] += (ratio - 1.0f - log_ratio) * share;
        sums[4] += distance > s->clip ? share : 0.0f;
        if (s->ratios) s->ratios[at] = ratio; /* a sequence that was drawn twice has the same ratio both times */
    }
}

#endif

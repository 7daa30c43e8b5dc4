/* The loss of PPO and its gradient for a minibatch on the CPU, by the arithmetic of row.h; and the advantages' statistics. */
#ifndef INSERTCOIN_LOSS_CPU_H
#define INSERTCOIN_LOSS_CPU_H

#include "row.h"

/* T steps of S of N environments with A actions. */
typedef struct {
    long steps, environments, sequences, actions;
    const int64_t *numbers;         /* (S,): the environment of each sequence */
    const float *out;               /* (T, S, A + 1): logits and values */
    const uint8_t *action_mask;     /* (T, N, A), or NULL */
    const int32_t *action;          /* (T, N) as the following six */
    const float *log_prob, *value, *advantage, *value_error, *terminated, *truncated;
    const float *weight;            /* (S,), or NULL */
    LossSettings settings;
    float *dout;                    /* (T, S, A + 1): OUT the gradient */
    float *ratios;                  /* (T, N): OUT, or NULL */
} Loss;

static inline int loss_valid(const Loss *s, long at) { return s->terminated[at] == 0.0f && s->truncated[at] == 0.0f; }

/* The valid steps of step t, and the sums of their advantages' differences from `mean`, and of the squares: to `sums`. */
static void loss_statistics(const Loss *s, long t, double mean, double *sums) {
    sums[0] = sums[1] = sums[2] = 0.0;
    for (long k = 0; k < s->sequences; k++) {
        const long at = t * s->environments + s->numbers[k];
        const double difference = s->advantage[at] - mean;
        if (!loss_valid(s, at)) continue;
        sums[0] += 1.0;
        sums[1] += difference;
        sums[2] += difference * difference;
    }
}

/* Some sequences of one step: LOSS_WIDE or fewer. By action, loops go over the sequences, so that they vectorize. */
enum { LOSS_WIDE = 32 };

typedef struct {
    long count, at[LOSS_WIDE];                          /* sequences, and their places in tensors (T, N) */
    const float *out;                                   /* (count, A + 1) */
    const uint8_t *action_mask;                         /* of the step's sequences: at[k] * A bytes further; or NULL */
    float possible[LOSS_WIDE];                           /* of the present action: 1 or 0 */
    float most[LOSS_WIDE], total[LOSS_WIDE], weighted[LOSS_WIDE];   /* see row_weights */
    float dlog_prob[LOSS_WIDE], dentropy[LOSS_WIDE];
} LossRows;

static inline void loss_possible(LossRows *r, long actions, long a) {
    for (long k = 0; k < r->count; k++)
        r->possible[k] = !r->action_mask || r->action_mask[r->at[k] * actions + a] ? 1.0f : 0.0f;
}

/* row_weights of all rows. */
static void loss_weights(LossRows *r, long actions) {
    for (long k = 0; k < r->count; k++) r->most[k] = -3.0e38f, r->total[k] = r->weighted[k] = 0.0f;
    for (long a = 0; a < actions; a++) {
        loss_possible(r, actions, a);
        for (long k = 0; k < r->count; k++) {
            const float logit = r->out[k * (actions + 1) + a];
            r->most[k] = r->possible[k] != 0.0f && logit > r->most[k] ? logit : r->most[k];
        }
    }
    for (long a = 0; a < actions; a++) {
        loss_possible(r, actions, a);
        for (long k = 0; k < r->count; k++) {
            const float x = r->out[k * (actions + 1) + a] - r->most[k], w = row_exp(x);
            r->total[k] += r->possible[k] != 0.0f ? w : 0.0f;
            r->weighted[k] += r->possible[k] != 0.0f ? w * x : 0.0f;
        }
    }
}

/* row_categorical_backward of all rows, to dout (count, A + 1). */
static void loss_logits_backward(LossRows *r, long actions, const int32_t *action, float *dout) {
    for (long a = 0; a < actions; a++) {
        loss_possible(r, actions, a);
        for (long k = 0; k < r->count; k++) {
            const float x = r->out[k * (actions + 1) + a] - r->most[k], p = row_exp(x) / r->total[k];
            const float gradient = r->dlog_prob[k] * ((a == action[r->at[k]] ? 1.0f : 0.0f) - p)
                                   - r->dentropy[k] * p * (x - r->weighted[k] / r->total[k]);
            dout[k * (actions + 1) + a] = r->possible[k] != 0.0f ? gradient : 0.0f;
        }
    }
}

/* The loss of row k of sequence `sequence`, its gradient by the value, and those by log-probability and entropy to r. */
static inline void loss_row(const Loss *s, LossRows *r, long k, long sequence, float *dvalue, double *sums) {
    const long actions = s->actions, at = r->at[k], action = s->action[at];
    const float total = r->total[k], log_total = ROW_LOG(total), *row = r->out + k * (actions + 1);
    const int known = action >= 0 && action < actions && (!r->action_mask || r->action_mask[at * actions + action]);
    const float chosen = known ? row[action] - r->most[k] : ROW_LOG(0.0f);
    const float weight = s->weight ? s->weight[sequence] : 1.0f;
    const LossStep old = {s->log_prob[at], s->value[at], s->advantage[at], s->value_error[at], loss_valid(s, at), weight};
    const LossGradient g = row_loss(&s->settings, old, total == 0.0f ? 0.0f : chosen - log_total,
                                    total == 0.0f ? 0.0f : log_total - r->weighted[k] / total, row[actions]);
    r->dlog_prob[k] = g.dlog_prob;
    r->dentropy[k] = g.dentropy;
    *dvalue = g.dvalue;
    for (long part = 0; part < LOSS_PARTS; part++) sums[part] += g.parts[part];
    if (s->ratios) s->ratios[at] = g.ratio; /* a sequence that was drawn twice has the same ratio both times */
}

/* The gradient of step t. sums: the parts of losses and diagnostics. */
static void loss_step(const Loss *s, long t, double *sums) {
    const long width = s->actions + 1;
    for (long part = 0; part < LOSS_PARTS; part++) sums[part] = 0.0;
    for (long first = 0; first < s->sequences; first += LOSS_WIDE) {
        LossRows r;
        float *dout = s->dout + (t * s->sequences + first) * width;
        r.count = s->sequences - first < LOSS_WIDE ? s->sequences - first : LOSS_WIDE;
        r.out = s->out + (t * s->sequences + first) * width;
        r.action_mask = s->action_mask;
        for (long k = 0; k < r.count; k++) r.at[k] = t * s->environments + s->numbers[first + k];
        loss_weights(&r, s->actions);
        for (long k = 0; k < r.count; k++) loss_row(s, &r, k, first + k, dout + k * width + s->actions, sums);
        loss_logits_backward(&r, s->actions, s->action, dout);
    }
}

#endif

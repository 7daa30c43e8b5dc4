/* The loss of PPO for one step of a minibatch, and its gradient: plain C that cpu.h and cuda.cu compile. reference.py has the same
 * in plain torch, with the paper's equations.
 */
#ifndef INSERTCOIN_LOSS_ROW_H
#define INSERTCOIN_LOSS_ROW_H

#include "rows.h"

enum { LOSS_PARTS = 5 };

/* What all steps of a minibatch have in common. deviation: of the advantages, and a little more than 0. */
typedef struct {
    float clip, value_clip, value_coef, entropy_coef, scale; /* scale: factor of the gradient */
    float count, mean, deviation;                            /* valid steps, and their advantages */
} LossSettings;

/* What the rollout has stored of a step, and the weight of its sequence. value_error: the value's target minus the value. valid: 1,
 * or 0 if the environment only reset. */
typedef struct {
    float log_prob, value, advantage, value_error, valid, weight;
} LossStep;

/* The gradients by the action's log-probability, by the entropy and by the value; the new probability of the action over the
 * rollout's; and the step's share of the policy's loss, the value's loss, the entropy, the estimate of the divergence, and the part
 * of clipped ratios. */
typedef struct {
    float dlog_prob, dentropy, dvalue, ratio, parts[LOSS_PARTS];
} LossGradient;

/* log_prob, entropy, value: of the present policy. */
ROW LossGradient row_loss(const LossSettings *s, LossStep old, float log_prob, float entropy, float value) {
    LossGradient r;
    const float share = old.valid / s->count, log_ratio = log_prob - old.log_prob, ratio = row_exp(log_ratio);
    const float gain = (old.advantage - s->mean) * old.valid / s->deviation * old.weight;
    const float clipped = ratio < 1.0f - s->clip ? 1.0f - s->clip : ratio > 1.0f + s->clip ? 1.0f + s->clip : ratio;
    const int lower = ratio * gain < clipped * gain;
    r.ratio = ratio;
    r.dlog_prob = (clipped == ratio || lower ? -gain * ratio * share : 0.0f) * s->scale;
    r.dentropy = -s->entropy_coef * share * s->scale;

    const float target = old.value + old.value_error, error = value - target, change = value - old.value;
    float square = error * error, dvalue = 2.0f * error;
    if (s->value_clip > 0.0f) { /* where both errors are equal, each has half of the gradient, as in torch.maximum */
        const float limited = change < -s->value_clip ? -s->value_clip : change > s->value_clip ? s->value_clip : change;
        const float other = old.value + limited - target, slope = limited == change ? 2.0f * other : 0.0f;
        dvalue = other * other > square ? slope : other * other == square ? 0.5f * (dvalue + slope) : dvalue;
        square = other * other > square ? other * other : square;
    }
    r.dvalue = 0.5f * s->value_coef * dvalue * old.weight * share * s->scale;

    const float distance = ratio > 1.0f ? ratio - 1.0f : 1.0f - ratio;
    r.parts[0] = -(lower ? ratio * gain : clipped * gain) * share;
    r.parts[1] = 0.5f * square * old.weight * share;
    r.parts[2] = entropy * share;
    r.parts[3] = (ratio - 1.0f - log_ratio) * share;
    r.parts[4] = distance > s->clip ? share : 0.0f;
    return r;
}

#endif

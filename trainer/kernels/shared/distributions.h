/* Random numbers, and the distributions of actions of one row, in the C of rows.h. */
#ifndef INSERTCOIN_DISTRIBUTIONS_H
#define INSERTCOIN_DISTRIBUTIONS_H

#include "rows.h"

/* The first two words of Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011): 32 random bits
 * each that depend only on (seed, environment, step, index). */
ROW void row_random_pair(uint64_t seed, uint32_t environment, uint64_t step, uint32_t index, uint32_t *word0, uint32_t *word1) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t c0 = environment, c1 = (uint32_t)step, c2 = (uint32_t)(step >> 32), c3 = index;
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    *word0 = c0;
    *word1 = c1;
}

#define ROW_HELD_SHARE 4 /* as in reference.py of the actions, and the next one too */
#define ROW_HELD_SEED 0xD1B54A32D192ED03u

/* If `may`, one in ROW_HELD_SHARE environments takes the random numbers of step `kept` in place of `step`, with a seed of their
 * own. kept: step / hold, so that they stay for `hold` steps. A macro: pointers to the three would need a GPU's local memory. */
#define ROW_HOLD(seed, environment, step, kept, may)     \
    if ((may) && (environment) % ROW_HELD_SHARE == 0) {  \
        (seed) += ROW_HELD_SEED;                         \
        (environment) /= ROW_HELD_SHARE;                 \
        (step) = (kept);                                 \
    }

/* 1 if the environment of row k may hold its random numbers for `hold` steps. held: not 0 for those that may; NULL: all may. */
ROW int row_may_hold(uint64_t hold, const float *held, long long k) {
    return hold > 1 && (!held || held[k] != 0.0f);
}

/* The first word of index 0, held as by ROW_HOLD. */
ROW uint32_t row_random(uint64_t seed, uint32_t environment, uint64_t step, uint64_t kept, int may) {
    uint32_t word0, word1;
    ROW_HOLD(seed, environment, step, kept, may)
    row_random_pair(seed, environment, step, 0, &word0, &word1);
    return word0;
}

/* A number of the standard normal distribution from two words of random bits (Box and Muller, 1958). */
ROW float row_normal(uint32_t word0, uint32_t word1) {
    float u = (float)((word0 >> 8) + 1) * (1.0f / 16777216.0f), v = (float)(word1 >> 8) * (1.0f / 16777216.0f);
    return ROW_SQRT(-2.0f * ROW_LOG(u)) * ROW_COS_TURNS(v);
}

/* The sums over legal actions of w = e^x (returned, 0 if no action is legal) and of w x (weighted);
 * x = logit - highest. */
ROW float row_weights(const float *logits, const uint8_t *action_mask, int actions, float *highest, float *weighted) {
    float most = -3.0e38f, total = 0.0f, products = 0.0f;
    for (int a = 0; a < actions; a++)
        if ((!action_mask || action_mask[a]) && logits[a] > most) most = logits[a];
    for (int a = 0; a < actions; a++) {
        if (action_mask && !action_mask[a]) continue;
        float x = logits[a] - most, w = row_exp(x);
        total += w;
        products += w * x;
    }
    *highest = most;
    *weighted = products;
    return total;
}

/* Draw an action from softmax(logits) over the legal actions, by inverting its distribution function at `random`. Writes the
 * action's log-probability. If no action is legal: action 0 and log-probability 0. */
ROW int row_sample(const float *logits, const uint8_t *action_mask, int actions, uint32_t random, float *log_prob) {
    float highest, weighted, passed = 0.0f;
    float total = row_weights(logits, action_mask, actions, &highest, &weighted);
    float point = (float)(random >> 8) * (1.0f / 16777216.0f);
    int chosen = 0;
    for (int a = 0; a < actions; a++) {
        if (action_mask && !action_mask[a]) continue;
        chosen = a; /* the last legal one if rounding keeps the sum below the point */
        passed += row_exp(logits[a] - highest);
        if (passed > point * total) break;
    }
    *log_prob = total == 0.0f ? 0.0f : logits[chosen] - highest - ROW_LOG(total);
    return chosen;
}

/* The log-probability of an action under softmax(logits), -infinity if it is illegal; and the entropy of the distribution in
 * nats, log(sum w) - sum(w x) / sum w. Both are 0 if no action is legal. */
ROW void row_categorical(const float *logits, const uint8_t *action_mask, int actions, int action, float *log_prob, float *entropy) {
    float highest, weighted, chosen = ROW_LOG(0.0f);
    float total = row_weights(logits, action_mask, actions, &highest, &weighted), log_total = ROW_LOG(total);
    for (int a = 0; a < actions; a++) /* never reads logits[action] of an action that does not exist */
        if (a == action && (!action_mask || action_mask[a])) chosen = logits[a] - highest;
    *log_prob = total == 0.0f ? 0.0f : chosen - log_total;
    *entropy = total == 0.0f ? 0.0f : log_total - weighted / total;
}

/* The gradient of row_categorical. With p = softmax(logits) and H the entropy, d log p[action] / d logit[a] = [a == action] -
 * p[a], and dH / d logit[a] = -p[a] (log p[a] + H), with log p[a] + H = x[a] - sum(w x) / sum w. Illegal actions get 0. */
ROW void row_categorical_backward(const float *logits, const uint8_t *action_mask, int actions, int action, float dlog_prob,
                                  float dentropy, float *dlogits) {
    float highest, weighted;
    float total = row_weights(logits, action_mask, actions, &highest, &weighted), mean = weighted / total;
    for (int a = 0; a < actions; a++) {
        float x = logits[a] - highest, p = row_exp(x) / total;
        float gradient = dlog_prob * ((a == action ? 1.0f : 0.0f) - p) - dentropy * p * (x - mean);
        dlogits[a] = !action_mask || action_mask[a] ? gradient : 0.0f;
    }
}

/* The log-probability of an action (n numbers) under a normal distribution with independent dimensions, and its entropy in nats.
 * The deviation in each dimension is e^log_deviation. */
ROW void row_gaussian(const float *mean, const float *log_deviation, const float *action, int n, float *log_prob,
                      float *entropy) {
    float sum = 0.0f, widths = 0.0f;
    for (int d = 0; d < n; d++) {
        float z = (action[d] - mean[d]) * row_exp(-log_deviation[d]), width = log_deviation[d] + 0.918938533204672742f;
        sum -= 0.5f * z * z + width; /* 0.9189... = log(2 pi) / 2 */
        widths += width + 0.5f;
    }
    *log_prob = sum;
    *entropy = widths;
}

/* The gradient of row_gaussian: with z = (action - mean) / deviation, d log p / d mean = z / deviation and
 * d log p / d log_deviation = z^2 - 1. The entropy depends on log_deviation only, with derivative 1. */
ROW void row_gaussian_backward(const float *mean, const float *log_deviation, const float *action, int n, float dlog_prob,
                               float dentropy, float *dmean, float *dlog_deviation) {
    for (int d = 0; d < n; d++) {
        float inverse = row_exp(-log_deviation[d]), z = (action[d] - mean[d]) * inverse;
        dmean[d] = dlog_prob * z * inverse;
        dlog_deviation[d] = dlog_prob * (z * z - 1.0f) + dentropy;
    }
}

/* Draw an action (n numbers) from this distribution; dimension d uses the random bits of index d, held as by ROW_HOLD. Writes
 * its log-probability. */
ROW void row_gaussian_sample(const float *mean, const float *log_deviation, int n, uint64_t seed, uint32_t environment,
                             uint64_t step, uint64_t kept, int may, float *action, float *log_prob) {
    float entropy;
    ROW_HOLD(seed, environment, step, kept, may)
    for (int d = 0; d < n; d++) {
        uint32_t word0, word1;
        row_random_pair(seed, environment, step, (uint32_t)d, &word0, &word1);
        action[d] = mean[d] + row_exp(log_deviation[d]) * row_normal(word0, word1);
    }
    row_gaussian(mean, log_deviation, action, n, log_prob, &entropy);
}

#endif

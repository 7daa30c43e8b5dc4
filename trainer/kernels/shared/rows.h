/* The arithmetic of one row, written once: plain C that compiles as C, as C++ and as CUDA.
 *
 * The files cpu.pyx give each OpenMP thread some rows; the files cuda.cu give each row or unit its own thread. The files
 * reference.py have the same in plain torch. Matrices are row-major; a row of gates is i | f | g | o, each of n units. An
 * `action_mask` has one byte for each action, 0 if it is illegal, and is NULL if all actions are legal.
 */
#ifndef INSERTCOIN_ROWS_H
#define INSERTCOIN_ROWS_H

#include <stdint.h>

#ifdef __CUDACC__
#define ROW static __device__ __forceinline__
#define ROW_LOG logf
#define ROW_SQRT sqrtf
#define ROW_COS_TURNS(v) cospif(2.0f * (v))
#else
#define ROW static inline __attribute__((always_inline))
#define ROW_LOG __builtin_logf
#define ROW_SQRT __builtin_sqrtf
#define ROW_COS_TURNS(v) __builtin_cosf(6.28318530717958648f * (v))
#endif

typedef uint16_t bf16; /* the upper half of a float32 */

ROW float row_from_bf16(bf16 value) {
    union { uint32_t bits; float number; } u;
    u.bits = (uint32_t)value << 16;
    return u.number;
}

ROW bf16 row_to_bf16(float value) { /* to nearest, ties to even; NaN stays NaN */
    union { float number; uint32_t bits; } u;
    u.number = value;
    uint32_t rounded = (u.bits + 0x7FFFu + ((u.bits >> 16) & 1u)) >> 16;
    return (bf16)(value != value ? (u.bits >> 16) | 0x40u : rounded);
}

/* x, but at least -87 and at most 88; NaN stays NaN. From conditions gcc makes paths of their own for the limits. Without masked
 * instructions, loops then compute all of these, some with denormal numbers: an LSTM's forward pass takes 1.25 times as long. */
ROW float row_within(float x) {
#if defined(__GNUC__) && !defined(__clang__) && !defined(__AVX512F__)
    union { float number; uint32_t bits; } u;
    const uint32_t over = -(uint32_t)(x > 88.0f), under = -(uint32_t)(x < -87.0f);
    u.number = x;
    u.bits = (u.bits & ~(over | under)) | (0x42B00000u & over) | (0xC2AE0000u & under);
    return u.number;
#else
    x = x > 88.0f ? 88.0f : x;
    return x < -87.0f ? -87.0f : x;
#endif
}

/* e^x to 2 ulp over the range of float32: 2^n times a polynomial on |r| <= ln(2)/2 (expf of Cephes). It calls no libm function,
 * so loops over it vectorize, and its bits depend only on whether the compiler contracts products with sums. */
ROW float row_exp(float x) {
    union { uint32_t bits; float number; } scale;
    x = row_within(x);
    float n = x * 1.44269504088896341f + 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    n -= 12582912.0f;
    float r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    scale.bits = (uint32_t)((int32_t)n + 127) << 23;
    return (p * r * r + r + 1.0f) * scale.number;
}

ROW float row_sigmoid(float x) { return 1.0f / (1.0f + row_exp(-x)); }

ROW float row_tanh(float x) { return 2.0f / (1.0f + row_exp(-2.0f * x)) - 1.0f; }

/* One unit of an LSTM (Hochreiter and Schmidhuber, 1997, with forget gates).
 * i, f, g, o: IN pre-activations, OUT activated gates, for the backward pass. c, h: OUT the new state. */
ROW void row_lstm_unit(float *i, float *f, float *g, float *o, float c_prev, float *c, float *h) {
    *i = row_sigmoid(*i);
    *f = row_sigmoid(*f);
    *g = row_tanh(*g);
    *o = row_sigmoid(*o);
    *c = *f * c_prev + *i * *g;
    *h = *o * row_tanh(*c);
}

/* The gradient of row_lstm_unit. i, f, g, o: IN activated gates, OUT dL/d(pre-activations). t: tanh(c).
 * dc: IN dL/dc, OUT dL/dc_prev. */
ROW void row_lstm_unit_gradient(float *i, float *f, float *g, float *o, float c_prev, float t, float dh, float *dc) {
    float d = *dc + dh * *o * (1.0f - t * t);
    float di = d * *g * *i * (1.0f - *i);
    float df = d * c_prev * *f * (1.0f - *f);
    float dg = d * *i * (1.0f - *g * *g);
    *o = dh * t * *o * (1.0f - *o);
    *dc = d * *f;
    *i = di;
    *f = df;
    *g = dg;
}

/* row_lstm_unit_gradient from the cell state c. */
ROW void row_lstm_unit_backward(float *i, float *f, float *g, float *o, float c_prev, float c, float dh, float *dc) {
    row_lstm_unit_gradient(i, f, g, o, c_prev, row_tanh(c), dh, dc);
}

/* One unit of a minimal gated recurrent unit (Feng et al., 2024, arXiv:2410.01201). z, u: pre-activations. before: the state
 * before this step, 0 at the start of an episode. Returns the new state. */
ROW float row_mingru_unit(float z, float u, float before) {
    float gate = row_sigmoid(z), candidate = u > 0.0f ? u + 0.5f : row_sigmoid(u);
    return (1.0f - gate) * before + gate * candidate;
}

/* The gradient of row_mingru_unit. z, u: IN pre-activations, OUT dL/dz and dL/du. d: dL/d(new state). Returns dL/d(before). */
ROW float row_mingru_unit_backward(float *z, float *u, float before, float d) {
    float gate = row_sigmoid(*z), low = row_sigmoid(*u), candidate = *u > 0.0f ? *u + 0.5f : low;
    *u = d * gate * (*u > 0.0f ? 1.0f : low * (1.0f - low));
    *z = d * (candidate - before) * gate * (1.0f - gate);
    return d * (1.0f - gate);
}

/* A highway (Srivastava et al., 2015, arXiv:1505.00387) around a unit with state h and input x. p: pre-activation. */
ROW float row_highway(float p, float x, float h) {
    float gate = row_sigmoid(p);
    return gate * h + (1.0f - gate) * x;
}

/* The gradient of row_highway. p: IN pre-activation, OUT dL/dp. d: IN dL/d(output), OUT dL/dx. Returns dL/dh. */
ROW float row_highway_backward(float *p, float x, float h, float *d) {
    float gate = row_sigmoid(*p), dh = *d * gate;
    *p = dh * (h - x) * (1.0f - gate);
    *d *= 1.0f - gate;
    return dh;
}

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

/* One in ROW_HELD_SHARE environments that `may` has held numbers: those of the step `kept`, the quotient of the step and the
 * steps that it holds them, with a seed of their own. A macro, since pointers to the three would need a GPU's local memory. */
#define ROW_HOLD(seed, environment, step, kept, may)     \
    if ((may) && (environment) % ROW_HELD_SHARE == 0) {  \
        (seed) += ROW_HELD_SEED;                         \
        (environment) /= ROW_HELD_SHARE;                 \
        (step) = (kept);                                 \
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

/* Generalized advantage estimation (Schulman et al., 2015) of one environment, backwards over T steps at a distance of
 * `stride`. The transition of step t has the value v[t], a reward and flags; v[T] is the bootstrap. A terminated episode has
 * no future; a truncated one bootstraps with the value of its last observation; both end the recursion. Steps in which the
 * environment only reset (valid == 0) get 0. `ratio` is the present policy's probability of each action over that of the
 * policy which acted; its clipped values are the weights of V-trace (Espeholt et al., 2018). NULL: all are 1. */
ROW void row_advantages(const float *reward, const float *terminated, const float *truncated, const float *valid,
                        const float *value, const float *ratio, float *advantage, int steps, long stride, float gamma,
                        float lambda, float rho_clip, float c_clip) {
    float running = 0.0f;
    for (int t = steps - 1; t >= 0; t--) {
        long k = t * stride;
        float alive = 1.0f - terminated[k], trace = 1.0f;
        float delta = reward[k] + gamma * value[k + stride] * alive - value[k];
        if (ratio) {
            delta *= ratio[k] > rho_clip ? rho_clip : ratio[k];
            trace = ratio[k] > c_clip ? c_clip : ratio[k];
        }
        running = delta + gamma * lambda * alive * (1.0f - truncated[k]) * trace * running;
        running *= valid[k];
        advantage[k] = running;
    }
}

/* 1 if the frame `back` frames before the newest one belongs to the same episode: no frame after it starts an episode.
 * start: the flag of the newest frame; earlier flags are at distances of `stride` before it. */
ROW int row_same_episode(const float *start, long stride, int back) {
    for (int k = 0; k < back; k++)
        if (start[-k * stride] != 0.0f) return 0;
    return 1;
}

#endif

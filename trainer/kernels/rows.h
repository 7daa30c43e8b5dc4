/* The arithmetic of one row, written once: plain C that compiles as C and as CUDA.
 *
 * cpu.pyx gives each OpenMP thread some rows; a CUDA kernel gives each row or unit a thread. reference.py is the slow,
 * plain twin of all of it. Matrices are row-major; a row of gates is i | f | g | o, each of `size` units.
 */
#ifndef INSERTCOIN_ROWS_H
#define INSERTCOIN_ROWS_H

#include <stdint.h>

#ifdef __CUDACC__
#define ROW static __device__ __forceinline__
#else
#define ROW static inline __attribute__((always_inline))
#endif

typedef uint16_t bf16; /* the upper half of a float32 */

ROW float row_from_bf16(bf16 value) {
    union { uint32_t bits; float number; } u;
    u.bits = (uint32_t)value << 16;
    return u.number;
}

ROW bf16 row_to_bf16(float value) { /* to nearest, ties to even; a NaN stays one */
    union { float number; uint32_t bits; } u;
    u.number = value;
    uint32_t rounded = (u.bits + 0x7FFFu + ((u.bits >> 16) & 1u)) >> 16;
    return (bf16)(value != value ? (u.bits >> 16) | 0x40u : rounded);
}

/* e^x to 2 ulp over float32's range: 2^n times a polynomial on |r| <= ln(2)/2 (Cephes' expf). No libm call, so that loops
 * over it vectorize and every compiler gives the same bits. */
ROW float row_exp(float x) {
    union { uint32_t bits; float number; } scale;
    x = x > 88.0f ? 88.0f : x;
    x = x < -87.0f ? -87.0f : x;
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

/* One unit of an LSTM (Hochreiter and Schmidhuber, 1997, with forget gates), from pre-activations to its new state. The
 * gates are handed back activated, as the backward pass wants them. */
ROW void row_lstm_unit(float *i, float *f, float *g, float *o, float c_prev, float *c, float *h) {
    *i = row_sigmoid(*i);
    *f = row_sigmoid(*f);
    *g = row_tanh(*g);
    *o = row_sigmoid(*o);
    *c = *f * c_prev + *i * *g;
    *h = *o * row_tanh(*c);
}

/* Its backward pass: from activated gates, states and dL/dh, dL/dc to dL/d(pre-activations), in place, and dL/dc_prev. */
ROW void row_lstm_unit_backward(float *i, float *f, float *g, float *o, float c_prev, float c, float dh, float *dc) {
    float t = row_tanh(c);
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

/* The first word of Philox 4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011): 32 random bits that
 * depend on (seed, environment, step) and on nothing else. */
ROW uint32_t row_random(uint64_t seed, uint32_t environment, uint64_t step) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    uint32_t c0 = environment, c1 = (uint32_t)step, c2 = (uint32_t)(step >> 32), c3 = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * c0, b = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(b >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c0;
}

/* Draw an action from softmax(logits) by inverting its distribution at `random`; illegal ones (legal[a] == 0; legal may be
 * NULL) have no probability. Writes the action's log-probability. */
ROW int row_sample(const float *logits, const uint8_t *legal, int actions, uint32_t random, float *log_prob) {
    float highest = -3.0e38f, total = 0.0f, passed = 0.0f;
    float point = (float)(random >> 8) * (1.0f / 16777216.0f);
    int a, chosen = 0;
    for (a = 0; a < actions; a++)
        if ((!legal || legal[a]) && logits[a] > highest) highest = logits[a];
    for (a = 0; a < actions; a++)
        if (!legal || legal[a]) total += row_exp(logits[a] - highest);
    for (a = 0; a < actions; a++) {
        if (legal && !legal[a]) continue;
        chosen = a; /* the last legal one, should rounding leave the sum under the point */
        passed += row_exp(logits[a] - highest);
        if (passed > point * total) break;
    }
    *log_prob = logits[chosen] - highest - (float)__builtin_logf(total);
    return chosen;
}

/* Generalized advantage estimation (Schulman et al., 2015) of one environment, backwards over T steps that lie `stride`
 * apart. Step t's transition has the value v[t], its reward and flags; v[T] is the bootstrap. A terminated end has no
 * future; a truncated one bootstraps with the value of the observation it was cut at; both cut the recursion. Steps in
 * which the environment only reset (valid == 0) get no advantage. */
ROW void row_advantages(const float *reward, const float *terminated, const float *truncated, const float *valid,
                        const float *value, float *advantage, int steps, long stride, float gamma, float lambda) {
    float running = 0.0f;
    for (int t = steps - 1; t >= 0; t--) {
        long k = t * stride;
        float alive = 1.0f - terminated[k];
        float delta = reward[k] + gamma * value[k + stride] * alive - value[k];
        running = delta + gamma * lambda * alive * (1.0f - truncated[k]) * running;
        running *= valid[k];
        advantage[k] = running;
    }
}

#endif

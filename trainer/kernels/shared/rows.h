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

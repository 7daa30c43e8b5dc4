/* All time steps of minimal gated recurrent units for some rows on the CPU, one copy for each dtype, with the arithmetic of
 * rows.h.
 *
 * A pass does all rows of a step before the next step: their gates are contiguous, and the states between two steps stay in the
 * first cache. Each loop is over the units of a row, so that a vector register holds the states of its units. An output of one
 * step can use the memory of its input (states that of state, hidden that of x). The pragmas promise this to the compiler.
 */
#ifndef INSERTCOIN_MINGRU_CPU_H
#define INSERTCOIN_MINGRU_CPU_H

#include "rows.h"

#define SAME(x) (x)

typedef struct {
    long steps, batch, units;
    long state_apart, apart;    /* distances of the rows of `state` and `states` */
    const void *product;        /* (T, B, 2n), or (T, B, 3n) with x */
    const float *bias, *keep;   /* (2n) or (3n); (T, B) */
    const float *state, *x;     /* (B, n); (T, B, n), or NULL without a highway */
    float *states, *hidden;     /* (T, B, n); OUT in the forward pass, `states` IN in the backward pass */
    const float *dout;          /* (T, B, n) */
    void *dproduct;             /* OUT as product */
    float *dx;                  /* OUT (T, B, n), or NULL */
} Units;

#define MINGRU_ROWS(NAME, TYPE, LOAD, STORE)                                                                             \
    ROW void NAME##_step(const TYPE *gates, const float *bias, float keep, const float *before, float *after, long n) {  \
        _Pragma("GCC ivdep") for (long u = 0; u < n; u++)                                                                \
            after[u] = row_mingru_unit(LOAD(gates[u]) + bias[u], LOAD(gates[u + n]) + bias[u + n], before[u] * keep);    \
    }                                                                                                                    \
    ROW void NAME##_highway(const TYPE *gates, const float *bias, const float *x, const float *h, float *out, long n) {  \
        _Pragma("GCC ivdep") for (long u = 0; u < n; u++)                                                                \
            out[u] = row_highway(LOAD(gates[u]) + bias[u], x[u], h[u]);                                                  \
    }                                                                                                                    \
    static void NAME##_forward(const Units *s, long first, long rows) {                                                  \
        long n = s->units, width = s->x ? 3 * n : 2 * n;                                                                 \
        for (long t = 0; t < s->steps; t++)                                                                              \
            for (long b = first; b < first + rows; b++) {                                                                \
                long k = t * s->batch + b;                                                                               \
                const TYPE *gates = (const TYPE *)s->product + k * width;                                                \
                float *after = s->states + k * s->apart;                                                                 \
                const float *before = t ? after - s->batch * s->apart : s->state + b * s->state_apart;                   \
                NAME##_step(gates, s->bias, s->keep[k], before, after, n);                                               \
                if (s->x) NAME##_highway(gates + 2 * n, s->bias + 2 * n, s->x + k * n, after, s->hidden + k * n, n);     \
            }                                                                                                            \
    }                                                                                                                    \
    /* carry: IN dL/dh from the next step, OUT for the step before. d: dL/dh from the layer above. */                    \
    ROW void NAME##_step_backward(const TYPE *gates, const float *bias, float keep, const float *before, const float *d, \
                                  float *carry, TYPE *dgates, long n) {                                                  \
        _Pragma("GCC ivdep") for (long u = 0; u < n; u++) {                                                              \
            float z = LOAD(gates[u]) + bias[u], input = LOAD(gates[u + n]) + bias[u + n];                                \
            carry[u] = row_mingru_unit_backward(&z, &input, before[u] * keep, d[u] + carry[u]) * keep;                   \
            dgates[u] = STORE(z);                                                                                        \
            dgates[u + n] = STORE(input);                                                                                \
        }                                                                                                                \
    }                                                                                                                    \
    /* dh: OUT dL/dh. */                                                                                                 \
    ROW void NAME##_highway_backward(const TYPE *gates, const float *bias, const float *x, const float *h,               \
                                     const float *dout, TYPE *dgates, float *dx, float *dh, long n) {                    \
        _Pragma("GCC ivdep") for (long u = 0; u < n; u++) {                                                              \
            float p = LOAD(gates[u]) + bias[u], d = dout[u];                                                             \
            dh[u] = row_highway_backward(&p, x[u], h[u], &d);                                                            \
            dx[u] = d;                                                                                                   \
            dgates[u] = STORE(p);                                                                                        \
        }                                                                                                                \
    }                                                                                                                    \
    /* space: rows + 1 times n numbers. */                                                                               \
    static void NAME##_backward(const Units *s, long first, long rows, float *space) {                                   \
        long n = s->units, width = s->x ? 3 * n : 2 * n;                                                                 \
        float *dh = space + rows * n;                                                                                    \
        for (long k = 0; k < rows * n; k++) space[k] = 0.0f;                                                             \
        for (long t = s->steps - 1; t >= 0; t--)                                                                         \
            for (long b = first; b < first + rows; b++) {                                                                \
                long k = t * s->batch + b;                                                                               \
                const TYPE *gates = (const TYPE *)s->product + k * width;                                                \
                TYPE *dgates = (TYPE *)s->dproduct + k * width;                                                          \
                const float *d = s->dout + k * n, *h = s->states + k * n;                                                \
                const float *before = t ? h - s->batch * n : s->state + b * s->state_apart;                              \
                if (s->x) {                                                                                              \
                    NAME##_highway_backward(gates + 2 * n, s->bias + 2 * n, s->x + k * n, h, d, dgates + 2 * n,          \
                                            s->dx + k * n, dh, n);                                                       \
                    d = dh;                                                                                              \
                }                                                                                                        \
                NAME##_step_backward(gates, s->bias, s->keep[k], before, d, space + (b - first) * n, dgates, n);         \
            }                                                                                                            \
    }

MINGRU_ROWS(mingru_f32, float, SAME, SAME)
MINGRU_ROWS(mingru_bf16, bf16, row_from_bf16, row_to_bf16)

#endif

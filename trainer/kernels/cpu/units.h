/* Loops over the units or pixels of a row on the CPU, one copy for each dtype, with the arithmetic of rows.h.
 *
 * An output of an LSTM's pass can use the memory of its input (gates that of gx, the gradient that of the gates): each element
 * is read before it is written, and no other element of the row depends on it. The pragmas promise this to the compiler. In
 * the products, gates are `apart` numbers from each other; activated gates are n apart. A forward pass does the first `count`
 * units.
 */
#ifndef INSERTCOIN_CPU_UNITS_H
#define INSERTCOIN_CPU_UNITS_H

#include <string.h>

#include "rows.h"

#define SAME(x) (x)

#define LSTM_ROWS(NAME, TYPE, LOAD, STORE)                                                                               \
    ROW void NAME##_forward(const TYPE *gx, const TYPE *gh, long apart, const float *bias, const float *c_prev,          \
                            float keep, float keep_next, TYPE *gates, float *c, TYPE *h, TYPE *h_next, long n,           \
                            long count) {                                                                                \
        _Pragma("GCC ivdep") for (long u = 0; u < count; u++) {                                                          \
            float i = LOAD(gx[u]) + LOAD(gh[u]) + bias[u];                                                               \
            float f = LOAD(gx[u + apart]) + LOAD(gh[u + apart]) + bias[u + n];                                           \
            float g = LOAD(gx[u + 2 * apart]) + LOAD(gh[u + 2 * apart]) + bias[u + 2 * n];                               \
            float o = LOAD(gx[u + 3 * apart]) + LOAD(gh[u + 3 * apart]) + bias[u + 3 * n];                               \
            float cell, hidden;                                                                                          \
            row_lstm_unit(&i, &f, &g, &o, c_prev[u] * keep, &cell, &hidden);                                             \
            c[u] = cell;                                                                                                 \
            h[u] = STORE(hidden);                                                                                        \
            h_next[u] = STORE(hidden * keep_next);                                                                       \
            gates[u] = STORE(i);                                                                                         \
            gates[u + n] = STORE(f);                                                                                     \
            gates[u + 2 * n] = STORE(g);                                                                                 \
            gates[u + 3 * n] = STORE(o);                                                                                 \
        }                                                                                                                \
    }                                                                                                                    \
    ROW void NAME##_backward(const TYPE *gates, const float *c_prev, float keep, const float *c, const TYPE *dh,         \
                             const TYPE *dh_next, float keep_next, const float *dc, TYPE *dgates, float *dc_prev,        \
                             long n) {                                                                                   \
        _Pragma("GCC ivdep") for (long u = 0; u < n; u++) {                                                              \
            float i = LOAD(gates[u]), f = LOAD(gates[u + n]), g = LOAD(gates[u + 2 * n]), o = LOAD(gates[u + 3 * n]);    \
            float d = dc[u] * keep_next;                                                                                 \
            row_lstm_unit_backward(&i, &f, &g, &o, c_prev[u] * keep, c[u],                                               \
                                   LOAD(dh[u]) + LOAD(dh_next[u]) * keep_next, &d);                                      \
            dc_prev[u] = d;                                                                                              \
            dgates[u] = STORE(i);                                                                                        \
            dgates[u + n] = STORE(f);                                                                                    \
            dgates[u + 2 * n] = STORE(g);                                                                                \
            dgates[u + 3 * n] = STORE(o);                                                                                \
        }                                                                                                                \
    }

LSTM_ROWS(lstm_f32, float, SAME, SAME)
LSTM_ROWS(lstm_bf16, bf16, row_from_bf16, row_to_bf16)

/* A stack of `count` frames of n pixels, oldest first, times `scale`; zeros for frames of an earlier episode. The newest frame
 * is at `newest`, earlier ones at distances of `stride` before it. */
#define STACK_ROWS(NAME, IN, OUT, LOAD, STORE)                                                                           \
    static void NAME(const void *newest, long stride, const float *start, long start_stride, int count, float scale,     \
                     void *out, long n) {                                                                                \
        for (int back = 0; back < count; back++) {                                                                       \
            const IN *restrict frame = (const IN *)newest - back * stride;                                               \
            OUT *restrict plane = (OUT *)out + (count - 1 - back) * n;                                                   \
            if (row_same_episode(start, start_stride, back))                                                             \
                for (long p = 0; p < n; p++) plane[p] = STORE(LOAD(frame[p]) * scale);                                   \
            else                                                                                                         \
                memset(plane, 0, n * sizeof(OUT));                                                                       \
        }                                                                                                                \
    }

STACK_ROWS(stack_u8_f32, uint8_t, float, (float), SAME)
STACK_ROWS(stack_u8_u8, uint8_t, uint8_t, (float), (uint8_t))
STACK_ROWS(stack_u8_bf16, uint8_t, bf16, (float), row_to_bf16)
STACK_ROWS(stack_f32_f32, float, float, SAME, SAME)
STACK_ROWS(stack_f32_bf16, float, bf16, SAME, row_to_bf16)
STACK_ROWS(stack_bf16_f32, bf16, float, row_from_bf16, SAME)
STACK_ROWS(stack_bf16_bf16, bf16, bf16, row_from_bf16, row_to_bf16)

#endif

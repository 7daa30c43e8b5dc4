/* Loops over one row's units for the CPU, for float32 and bfloat16 alike; the arithmetic is rows.h's.
 *
 * `gates` may be the same memory as `gx`, and `dc` is read and written in place: an element is read before it is written
 * and no other element of the row depends on it, which is what the pragmas promise the compiler.
 */
#ifndef INSERTCOIN_CPU_ROWS_H
#define INSERTCOIN_CPU_ROWS_H

#include "rows.h"

#define SAME(x) (x)

#define LSTM_ROWS(NAME, TYPE, LOAD, STORE)                                                                              \
    static void NAME##_forward(const TYPE *gx, const TYPE *gh, const float *bias, const float *c_prev, float keep,       \
                               float keep_next, TYPE *gates, float *c, TYPE *h, TYPE *h_next, long n) {                   \
        _Pragma("GCC ivdep") for (long u = 0; u < n; u++) {                                                               \
            float i = LOAD(gx[u]) + LOAD(gh[u]) + bias[u];                                                               \
            float f = LOAD(gx[u + n]) + LOAD(gh[u + n]) + bias[u + n];                                                   \
            float g = LOAD(gx[u + 2 * n]) + LOAD(gh[u + 2 * n]) + bias[u + 2 * n];                                       \
            float o = LOAD(gx[u + 3 * n]) + LOAD(gh[u + 3 * n]) + bias[u + 3 * n];                                       \
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
    static void NAME##_backward(TYPE *gates, const float *c_prev, float keep, const float *c, const TYPE *dh,            \
                                const TYPE *dh_next, float keep_next, float *dc, long n) {                                \
        _Pragma("GCC ivdep") for (long u = 0; u < n; u++) {                                                               \
            float i = LOAD(gates[u]), f = LOAD(gates[u + n]), g = LOAD(gates[u + 2 * n]), o = LOAD(gates[u + 3 * n]);    \
            float d = dc[u] * keep_next;                                                                                 \
            row_lstm_unit_backward(&i, &f, &g, &o, c_prev[u] * keep, c[u],                                               \
                                   LOAD(dh[u]) + LOAD(dh_next[u]) * keep_next, &d);                                      \
            dc[u] = d;                                                                                                   \
            gates[u] = STORE(i);                                                                                         \
            gates[u + n] = STORE(f);                                                                                     \
            gates[u + 2 * n] = STORE(g);                                                                                 \
            gates[u + 3 * n] = STORE(o);                                                                                 \
        }                                                                                                                \
    }

LSTM_ROWS(lstm_f32, float, SAME, SAME)
LSTM_ROWS(lstm_bf16, bf16, row_from_bf16, row_to_bf16)

#endif

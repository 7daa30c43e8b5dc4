/* One time step of an LSTM after its matrix products, and its gradient: a thread has a unit of a row. Threads do not depend on each other, so an output can use the memory of an input. */
#include "threads.h"

/* h: OUT in the dtype T, or the same numbers in float32. */
template <class T, class H>
ROW void lstm_forward(const T *gx, const T *gh, const float *bias, const float *c_prev, const float *keep,
                      const float *keep_next, T *gates, float *c, H *h, T *h_next, int64 rows, int64 n) {
    Place at = place(n);
    for (int64 row = at.row; row < rows; row += at.rows) {
        for (int64 unit = at.unit; unit < n; unit += at.units) {
            int64 k = row * 4 * n + unit, u = row * n + unit;
            float i = number(gx[k]) + number(gh[k]) + bias[unit];
            float f = number(gx[k + n]) + number(gh[k + n]) + bias[unit + n];
            float g = number(gx[k + 2 * n]) + number(gh[k + 2 * n]) + bias[unit + 2 * n];
            float o = number(gx[k + 3 * n]) + number(gh[k + 3 * n]) + bias[unit + 3 * n];
            float cell, hidden;
            row_lstm_unit(&i, &f, &g, &o, c_prev[u] * keep[row], &cell, &hidden);
            c[u] = cell;
            T rounded;
            put(&rounded, hidden);
            put(h + u, number(rounded));
            put(h_next + u, hidden * keep_next[row]);
            put(gates + k, i);
            put(gates + k + n, f);
            put(gates + k + 2 * n, g);
            put(gates + k + 3 * n, o);
        }
    }
}

template <class T>
ROW void lstm_backward(const T *gates, const float *c_prev, const float *keep, const float *c, const T *dh, const T *dh_next,
                       const float *keep_next, const float *dc, T *dgates, float *dc_prev, int64 rows, int64 n) {
    Place at = place(n);
    for (int64 row = at.row; row < rows; row += at.rows) {
        for (int64 unit = at.unit; unit < n; unit += at.units) {
            int64 k = row * 4 * n + unit, u = row * n + unit;
            float i = number(gates[k]), f = number(gates[k + n]), g = number(gates[k + 2 * n]), o = number(gates[k + 3 * n]);
            float d = dc[u] * keep_next[row];
            row_lstm_unit_backward(&i, &f, &g, &o, c_prev[u] * keep[row], c[u],
                                   number(dh[u]) + number(dh_next[u]) * keep_next[row], &d);
            dc_prev[u] = d;
            put(dgates + k, i);
            put(dgates + k + n, f);
            put(dgates + k + 2 * n, g);
            put(dgates + k + 3 * n, o);
        }
    }
}

#define LSTM(NAME, T)                                                                                                     \
    extern "C" __global__ void lstm_forward_##NAME(                                                                       \
        const T *gx, const T *gh, const float *bias, const float *c_prev, const float *keep, const float *keep_next,      \
        T *gates, float *c, T *h, T *h_next, int64 rows, int64 n) {                                                       \
        lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next, rows, n);                                \
    }                                                                                                                     \
    extern "C" __global__ void lstm_backward_##NAME(                                                                      \
        const T *gates, const float *c_prev, const float *keep, const float *c, const T *dh, const T *dh_next,            \
        const float *keep_next, const float *dc, T *dgates, float *dc_prev, int64 rows, int64 n) {                        \
        lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc, dgates, dc_prev, rows, n);                      \
    }

LSTM(f32, float)
LSTM(bf16, bf16)

extern "C" __global__ void lstm_forward_bf16_f32(
    const bf16 *gx, const bf16 *gh, const float *bias, const float *c_prev, const float *keep, const float *keep_next,
    bf16 *gates, float *c, float *h, bf16 *h_next, int64 rows, int64 n) {
    lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next, rows, n);
}

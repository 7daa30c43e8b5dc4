/* Minimal gated recurrent units, all time steps, and their gradient. */
#include "threads.h"

/* All time steps of minimal gated recurrent units: a thread has one unit of a row, and keeps its state in a register.
 * before, apart: distances of the rows of `state` and `states`. x, hidden: of a highway, which has a third gate; or NULL. */
template <class T>
ROW void mingru(const T *product, const float *bias, const float *keep, const float *state, const float *x, float *states,
                float *hidden, int64 before, int64 apart, int64 steps, int64 batch, int64 n) {
    Place at = place(n);
    int64 width = x ? 3 * n : 2 * n;
    for (int64 row = at.row; row < batch; row += at.rows) {
        for (int64 unit = at.unit; unit < n; unit += at.units) {
            float h = state[row * before + unit];
            for (int64 step = row; step < steps * batch; step += batch) {
                const T *gates = product + step * width + unit;
                h = row_mingru_unit(number(gates[0]) + bias[unit], number(gates[n]) + bias[unit + n], h * keep[step]);
                states[step * apart + unit] = h;
                if (x)
                    hidden[step * n + unit] = row_highway(number(gates[2 * n]) + bias[unit + 2 * n], x[step * n + unit], h);
            }
        }
    }
}

template <class T>
ROW void mingru_backward(const T *product, const float *bias, const float *keep, const float *state, const float *states,
                         const float *x, const float *dout, T *dproduct, float *dx, int64 apart, int64 steps, int64 batch,
                         int64 n) {
    Place at = place(n);
    int64 width = x ? 3 * n : 2 * n;
    for (int64 row = at.row; row < batch; row += at.rows) {
        for (int64 unit = at.unit; unit < n; unit += at.units) {
            float carry = 0.0f;
            for (int64 step = (steps - 1) * batch + row; step >= 0; step -= batch) {
                int64 k = step * width + unit, u = step * n + unit;
                float d = dout[u];
                if (x) {
                    float p = number(product[k + 2 * n]) + bias[unit + 2 * n];
                    float dh = row_highway_backward(&p, x[u], states[u], &d);
                    dx[u] = d;
                    put(dproduct + k + 2 * n, p);
                    d = dh;
                }
                float before = (step < batch ? state[row * apart + unit] : states[u - batch * n]) * keep[step];
                float gate = number(product[k]) + bias[unit], input = number(product[k + n]) + bias[unit + n];
                carry = row_mingru_unit_backward(&gate, &input, before, d + carry) * keep[step];
                put(dproduct + k, gate);
                put(dproduct + k + n, input);
            }
        }
    }
}

#define MINGRU(NAME, T)                                                                                                   \
    extern "C" __global__ void mingru_##NAME(                                                                             \
        const T *product, const float *bias, const float *keep, const float *state, const float *x, float *states,        \
        float *hidden, int64 before, int64 apart, int64 steps, int64 batch, int64 n) {                                    \
        mingru(product, bias, keep, state, x, states, hidden, before, apart, steps, batch, n);                            \
    }                                                                                                                     \
    extern "C" __global__ void mingru_backward_##NAME(                                                                    \
        const T *product, const float *bias, const float *keep, const float *state, const float *states, const float *x,  \
        const float *dout, T *dproduct, float *dx, int64 apart, int64 steps, int64 batch, int64 n) {                      \
        mingru_backward(product, bias, keep, state, states, x, dout, dproduct, dx, apart, steps, batch, n);               \
    }

MINGRU(f32, float)
MINGRU(bf16, bf16)

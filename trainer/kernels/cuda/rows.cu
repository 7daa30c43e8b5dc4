/* The kernels on a GPU: one thread for each row or unit, with the arithmetic of rows.h. bridge/nvrtc.py compiles this file and
 * has the rules for writing kernels; cuda.py launches them. Threads do not depend on each other, so an output of an LSTM's pass
 * can use the memory of its input.
 */
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

/* Stacks of `count` frames for the steps from t on. A team of threads has a frame of n pixels. */
template <class In, class Out>
ROW void stack_frames(const In *frames, int64 stride, const float *start, int64 start_stride, const int64 *t_memory, int64 t,
                      float scale, Out *out, int64 steps, int64 batch, int64 count, int64 n) {
    if (t_memory) t = *t_memory;
    Place at = place(n);
    for (int64 plane = at.row; plane < steps * batch * count; plane += at.rows) {
        int64 k = plane % count, b = plane / count % batch, newest = t + plane / count / batch + count - 1;
        int64 back = count - 1 - k;
        const In *frame = frames + (newest - back) * stride + b * n;
        bool same_episode = row_same_episode(start + newest * start_stride + b, start_stride, back);
        for (int64 p = at.unit; p < n; p += at.units)
            put(out + plane * n + p, same_episode ? number(frame[p]) * scale : 0.0f);
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

#define STACK(NAME, IN, OUT)                                                                                              \
    extern "C" __global__ void stack_frames_##NAME(                                                                       \
        const IN *frames, int64 stride, const float *start, int64 start_stride, const int64 *t_memory, int64 t,           \
        float scale, OUT *out, int64 steps, int64 batch, int64 count, int64 n) {                                          \
        stack_frames(frames, stride, start, start_stride, t_memory, t, scale, out, steps, batch, count, n);               \
    }

STACK(u8_f32, uint8_t, float)
STACK(u8_bf16, uint8_t, bf16)
STACK(f32_f32, float, float)
STACK(f32_bf16, float, bf16)
STACK(bf16_f32, bf16, float)
STACK(bf16_bf16, bf16, bf16)

/* step_memory: address of the step if a captured graph counts it; NULL: the number `step`.
 * value: OUT the column after the logits; or NULL. */
extern "C" __global__ void sample(const float *logits, int64 width, const uint8_t *legal, int64 actions, uint64_t seed,
                                  int64 first, const int64 *step_memory, int64 step, int32_t *action, float *log_prob,
                                  float *value, int64 rows) {
    if (step_memory) step = *step_memory;
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        const float *row = logits + k * width;
        action[k] = row_sample(row, legal ? legal + k * actions : nullptr, (int)actions,
                               row_random(seed, (uint32_t)(first + k), (uint64_t)step), log_prob + k);
        if (value) value[k] = row[actions];
    }
}

extern "C" __global__ void categorical(const float *logits, int64 stride, const uint8_t *legal, int64 actions,
                                       const int32_t *action, float *log_prob, float *entropy, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_categorical(logits + k * stride, legal ? legal + k * actions : nullptr, (int)actions, action[k], log_prob + k,
                        entropy + k);
}

extern "C" __global__ void categorical_backward(const float *logits, int64 stride, const uint8_t *legal, int64 actions,
                                                const int32_t *action, const float *dlog_prob, const float *dentropy,
                                                float *dlogits, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_categorical_backward(logits + k * stride, legal ? legal + k * actions : nullptr, (int)actions, action[k],
                                 dlog_prob[k], dentropy[k], dlogits + k * actions);
}

/* mean: the first n columns of `width`. The other arguments are those of `sample`. */
extern "C" __global__ void gaussian_sample(const float *mean, int64 width, const float *log_deviation, int64 n, uint64_t seed,
                                           int64 first, const int64 *step_memory, int64 step, float *action, float *log_prob,
                                           float *value, int64 rows) {
    if (step_memory) step = *step_memory;
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride) {
        const float *row = mean + k * width;
        row_gaussian_sample(row, log_deviation, (int)n, seed, (uint32_t)(first + k), (uint64_t)step, action + k * n,
                            log_prob + k);
        if (value) value[k] = row[n];
    }
}

extern "C" __global__ void gaussian(const float *mean, int64 stride, const float *log_deviation, int64 n, const float *action,
                                    float *log_prob, float *entropy, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_gaussian(mean + k * stride, log_deviation, action + k * n, (int)n, log_prob + k, entropy + k);
}

extern "C" __global__ void gaussian_backward(const float *mean, int64 stride, const float *log_deviation, int64 n,
                                             const float *action, const float *dlog_prob, const float *dentropy, float *dmean,
                                             float *dlog_deviation, int64 rows) {
    Share mine = share();
    for (int64 k = mine.first; k < rows; k += mine.stride)
        row_gaussian_backward(mean + k * stride, log_deviation, action + k * n, (int)n, dlog_prob[k], dentropy[k],
                              dmean + k * n, dlog_deviation + k * n);
}

extern "C" __global__ void advantages(const float *reward, const float *terminated, const float *truncated,
                                      const float *valid, const float *value, const float *ratio, float *advantage,
                                      int64 steps, int64 batch, float gamma, float lambda, float rho_clip, float c_clip) {
    Share mine = share();
    for (int64 k = mine.first; k < batch; k += mine.stride)
        row_advantages(reward + k, terminated + k, truncated + k, valid + k, value + k, ratio ? ratio + k : nullptr,
                       advantage + k, (int)steps, batch, gamma, lambda, rho_clip, c_clip);
}

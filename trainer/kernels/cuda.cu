/* The kernels on a GPU: a thread a row or a unit, over rows.h. bridge/nvrtc.py compiles this file and says how kernels are
 * written; cuda.py launches them. No thread needs another: what an LSTM's pass writes may be the memory of what it reads.
 */
#include "rows.h"

typedef long long whole;

/* Numbers of any of the dtypes, from memory and back. */
ROW float number(float x) { return x; }
ROW float number(bf16 x) { return row_from_bf16(x); }
ROW float number(uint8_t x) { return (float)x; }
ROW void put(float *at, float x) { *at = x; }
ROW void put(bf16 *at, float x) { *at = row_to_bf16(x); }

/* A thread's share of `rows` rows, one thread a row: this and every `stride`-th after it. */
struct Share {
    whole first, stride;
};

ROW Share share() {
    return {(whole)blockIdx.x * blockDim.x + threadIdx.x, (whole)gridDim.x * blockDim.x};
}

/* A thread's place where a team of threads has a row of n units, side by side, so that neighbours read neighbours: rows
 * `row`, `row + rows`, ...; and of each the units `unit`, `unit + units`, ... */
struct Place {
    whole row, rows, unit, units;
};

ROW Place place(whole n) {
    whole team = n < blockDim.x ? n : blockDim.x;
    whole thread = (whole)blockIdx.x * blockDim.x + threadIdx.x, teams = (whole)gridDim.x * blockDim.x / team;
    bool spare = thread / team >= teams; /* of a last team that is not whole: no row is its */
    return {spare ? 1LL << 62 : thread / team, teams, thread % team, team};
}

template <class T>
ROW void lstm_forward(const T *gx, const T *gh, const float *bias, const float *c_prev, const float *keep,
                      const float *keep_next, T *gates, float *c, T *h, T *h_next, whole rows, whole n) {
    Place at = place(n);
    for (whole row = at.row; row < rows; row += at.rows) {
        for (whole unit = at.unit; unit < n; unit += at.units) {
            whole k = row * 4 * n + unit, u = row * n + unit;
            float i = number(gx[k]) + number(gh[k]) + bias[unit];
            float f = number(gx[k + n]) + number(gh[k + n]) + bias[unit + n];
            float g = number(gx[k + 2 * n]) + number(gh[k + 2 * n]) + bias[unit + 2 * n];
            float o = number(gx[k + 3 * n]) + number(gh[k + 3 * n]) + bias[unit + 3 * n];
            float cell, hidden;
            row_lstm_unit(&i, &f, &g, &o, c_prev[u] * keep[row], &cell, &hidden);
            c[u] = cell;
            put(h + u, hidden);
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
                       const float *keep_next, const float *dc, T *dgates, float *dc_prev, whole rows, whole n) {
    Place at = place(n);
    for (whole row = at.row; row < rows; row += at.rows) {
        for (whole unit = at.unit; unit < n; unit += at.units) {
            whole k = row * 4 * n + unit, u = row * n + unit;
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

/* Steps from t on, of stacks of `count` frames; a team of threads has a frame of n pixels. */
template <class In, class Out>
ROW void stack_frames(const In *frames, whole stride, const float *start, whole start_stride, const whole *t_memory, whole t,
                      float scale, Out *out, whole steps, whole batch, whole count, whole n) {
    if (t_memory) t = *t_memory;
    Place at = place(n);
    for (whole plane = at.row; plane < steps * batch * count; plane += at.rows) {
        whole k = plane % count, b = plane / count % batch, newest = t + plane / count / batch + count - 1;
        whole back = count - 1 - k;
        const In *frame = frames + (newest - back) * stride + b * n;
        bool seen = row_same_episode(start + newest * start_stride + b, start_stride, back);
        for (whole p = at.unit; p < n; p += at.units) put(out + plane * n + p, seen ? number(frame[p]) * scale : 0.0f);
    }
}

#define LSTM(NAME, T)                                                                                                     \
    extern "C" __global__ void lstm_forward_##NAME(                                                                       \
        const T *gx, const T *gh, const float *bias, const float *c_prev, const float *keep, const float *keep_next,      \
        T *gates, float *c, T *h, T *h_next, whole rows, whole n) {                                                       \
        lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next, rows, n);                                \
    }                                                                                                                     \
    extern "C" __global__ void lstm_backward_##NAME(                                                                      \
        const T *gates, const float *c_prev, const float *keep, const float *c, const T *dh, const T *dh_next,            \
        const float *keep_next, const float *dc, T *dgates, float *dc_prev, whole rows, whole n) {                        \
        lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc, dgates, dc_prev, rows, n);                      \
    }

LSTM(f32, float)
LSTM(bf16, bf16)

#define STACK(NAME, IN, OUT)                                                                                              \
    extern "C" __global__ void stack_frames_##NAME(                                                                       \
        const IN *frames, whole stride, const float *start, whole start_stride, const whole *t_memory, whole t,           \
        float scale, OUT *out, whole steps, whole batch, whole count, whole n) {                                          \
        stack_frames(frames, stride, start, start_stride, t_memory, t, scale, out, steps, batch, count, n);               \
    }

STACK(u8_f32, uint8_t, float)
STACK(u8_bf16, uint8_t, bf16)
STACK(f32_f32, float, float)
STACK(f32_bf16, float, bf16)
STACK(bf16_f32, bf16, float)
STACK(bf16_bf16, bf16, bf16)

/* step: in memory where a captured graph counts it, else the number. value: NULL, or where the column after the logits goes. */
extern "C" __global__ void sample(const float *logits, whole width, const uint8_t *legal, whole actions, uint64_t seed,
                                  whole first, const whole *step_memory, whole step, int32_t *action, float *log_prob,
                                  float *value, whole rows) {
    if (step_memory) step = *step_memory;
    Share mine = share();
    for (whole k = mine.first; k < rows; k += mine.stride) {
        const float *row = logits + k * width;
        action[k] = row_sample(row, legal ? legal + k * actions : nullptr, (int)actions,
                               row_random(seed, (uint32_t)(first + k), (uint64_t)step), log_prob + k);
        if (value) value[k] = row[actions];
    }
}

extern "C" __global__ void categorical(const float *logits, whole stride, const uint8_t *legal, whole actions,
                                       const int32_t *action, float *log_prob, float *entropy, whole rows) {
    Share mine = share();
    for (whole k = mine.first; k < rows; k += mine.stride)
        row_categorical(logits + k * stride, legal ? legal + k * actions : nullptr, (int)actions, action[k], log_prob + k,
                        entropy + k);
}

extern "C" __global__ void categorical_backward(const float *logits, whole stride, const uint8_t *legal, whole actions,
                                                const int32_t *action, const float *dlog_prob, const float *dentropy,
                                                float *dlogits, whole rows) {
    Share mine = share();
    for (whole k = mine.first; k < rows; k += mine.stride)
        row_categorical_backward(logits + k * stride, legal ? legal + k * actions : nullptr, (int)actions, action[k],
                                 dlog_prob[k], dentropy[k], dlogits + k * actions);
}

extern "C" __global__ void advantages(const float *reward, const float *terminated, const float *truncated,
                                      const float *valid, const float *value, const float *ratio, float *advantage,
                                      whole steps, whole batch, float gamma, float lambda, float rho_clip, float c_clip) {
    Share mine = share();
    for (whole k = mine.first; k < batch; k += mine.stride)
        row_advantages(reward + k, terminated + k, truncated + k, valid + k, value + k, ratio ? ratio + k : nullptr,
                       advantage + k, (int)steps, batch, gamma, lambda, rho_clip, c_clip);
}

/* Whole sequences of an LSTM on the CPU. One thread does all steps of a group of environments, products and gates, without
 * waiting for other threads. The gradient does the same backwards; then the gradient of the weights is one product over all
 * steps and environments.
 *
 * The arithmetic is that of single steps: the products of x and of h, each rounded to the dtype, then the loops below. There are
 * two differences: the order of the sums in a product, and the bfloat16 gradient of h, which stays float32 between steps.
 */
#ifndef INSERTCOIN_LSTM_CPU_H
#define INSERTCOIN_LSTM_CPU_H

#include "products.h"
#include "rows.h"

#define SAME(x) (x)

/* Loops over the units of a row, one copy for each dtype, with the arithmetic of rows.h.
 *
 * An output of an LSTM's pass can use the memory of its input (gates that of gx, the gradient that of the gates): each element
 * is read before it is written, and no other element of the row depends on it. The pragmas promise this to the compiler. In
 * the products, gates are `apart` numbers from each other; activated gates are n apart. A forward pass does the first `count`
 * units.
 */
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

#define DEPTH 128 /* words of a long product's depth in one pass: both sides then stay in the cache of the thread */
#define GROUP (4 * TILE) /* environments that a thread does together */
#define PAD 15    /* words after a row of the left-hand side: cache lines a power of two apart would evict each other */

/* T steps of B environments with E inputs and n units; void stands for float32 or bfloat16. */
typedef struct {
    long steps, batch, inputs, units;
    const void *x;        /* (T, B, E) */
    const word *weight_x; /* packed: by pack_gates for the forward pass, by pack_columns for the backward pass */
    const word *weight_h;
    const float *bias;    /* (4n,) */
    const float *keep;    /* (T + 1, B) */
    void *gates;          /* (T, B, 4n): activated, then the gradient of the pre-activations */
    void *recurrent;      /* (T + 1, B, n): h * keep, the input of the recurrent product */
    float *cells;         /* (T + 1, B, n) */
    void *hidden;         /* (T, B, n); forward only. The following ones: backward only */
    const void *dhidden;  /* (T, B, n) */
    void *dx;             /* (T, B, E), or NULL */
    float *dweights;      /* (E + n + 1, 4n): gradients of weight_x transposed, weight_h transposed, bias */
} Sequence;

/* Working memory of a thread, in floats: for the backward pass, and for the gradient of the weights. */
static long space_backward(long n) { return (2 * GROUP + 5) * n; }
static long space_weights(long inputs, long n) { return DEPTH * (inputs + n + 1 + PAD + WIDE); }

/* The address of element k of an array. */
ROW void *at(const int half, const void *array, long k) {
    return (char *)array + k * (half ? sizeof(bf16) : sizeof(float));
}

ROW void tile(const int half, long rows, const word *a, long a_row, long a_depth, const word *panel, long depth, int more,
              float *out, long out_row, long out_lanes) {
    if (half)
        tile_bf16(rows, a, a_row, a_depth, panel, depth, more, out, out_row, out_lanes);
    else
        tile_f32(rows, a, a_row, a_depth, panel, depth, more, out, out_row, out_lanes);
}

/* `count` units of a row in step t, from unit u on. sums: their products, i, f, g, o of x, then those of h, LANES apart. */
ROW void units_forward(const int half, const Sequence *s, long t, long row, long u, long count, float *sums) {
    long n = s->units, p = (t * s->batch + row) * n + u, next = p + s->batch * n, gates = 4 * p - 3 * u;
    float keep = s->keep[t * s->batch + row], keep_next = s->keep[(t + 1) * s->batch + row];
    if (!half) {
        lstm_f32_forward(sums, sums + WIDE, LANES, s->bias + u, s->cells + p, keep, keep_next, (float *)s->gates + gates,
                         s->cells + next, (float *)s->hidden + p, (float *)s->recurrent + next, n, count);
        return;
    }
    float activated[4 * LANES], h[LANES], h_next[LANES], bias[4 * LANES];
    for (long gate = 0; gate < 4; gate++) memcpy(bias + gate * LANES, s->bias + gate * n + u, count * sizeof(float));
    round_row(sums, 2 * WIDE);
    lstm_f32_forward(sums, sums + WIDE, LANES, bias, s->cells + p, keep, keep_next, activated, s->cells + next, h, h_next,
                     LANES, count);
    for (long gate = 0; gate < 4; gate++) narrow(activated + gate * LANES, (bf16 *)s->gates + gates + gate * n, count);
    narrow(h, (bf16 *)s->hidden + p, count);
    narrow(h_next, (bf16 *)s->recurrent + next, count);
}

/* All steps of `rows` environments, at most GROUP, from `row` on. The loop over rows, a tile at a time, is inside that over
 * units, so that the weights of LANES units stay in the nearest cache. */
ROW void forward(const int half, const Sequence *s, long row, long rows) {
    const long n = s->units, x_words = s->inputs >> half, h_words = n >> half;
    float sums[TILE * 2 * WIDE];
    for (long t = 0; t < s->steps; t++)
        for (long u = 0; u < n; u += LANES)
            for (long first = row; first < row + rows; first += TILE) {
                const long count = row + rows - first < TILE ? row + rows - first : TILE;
                const word *x = at(half, s->x, (t * s->batch + first) * s->inputs);
                const word *h = at(half, s->recurrent, (t * s->batch + first) * n);
                tile(half, count, x, x_words, 1, s->weight_x + u * 4 * x_words, x_words, 0, sums, 2 * WIDE, LANES);
                tile(half, count, h, h_words, 1, s->weight_h + u * 4 * h_words, h_words, 0, sums + WIDE, 2 * WIDE, LANES);
                for (long r = 0; r < count; r++)
                    if (n - u >= LANES)
                        units_forward(half, s, t, first + r, u, LANES, sums + r * 2 * WIDE);
                    else
                        units_forward(half, s, t, first + r, u, n - u, sums + r * 2 * WIDE);
            }
}

/* a (rows, depth words) times packed weights, to out (rows, columns), bfloat16 if out_half, else float32. */
ROW void product(const int half, long rows, const void *a, long depth, const word *packed, long columns, const int out_half,
                 void *out) {
    float sums[GROUP * WIDE];
    for (long c = 0; c < columns; c += WIDE) {
        long width = columns - c < WIDE ? columns - c : WIDE;
        for (long k = 0; k < depth; k += DEPTH)
            for (long r = 0; r < rows; r += TILE)
                tile(half, rows - r < TILE ? rows - r : TILE, (const word *)a + r * depth + k, depth, 1,
                     packed + c * depth + k * WIDE, depth - k < DEPTH ? depth - k : DEPTH, k > 0, sums + r * WIDE, WIDE, LANES);
        for (long r = 0; r < rows; r++)
            if (out_half)
                narrow(sums + r * WIDE, (bf16 *)out + r * columns + c, width);
            else
                memcpy((float *)out + r * columns + c, sums + r * WIDE, width * sizeof(float));
    }
}

/* The gradient of a row in step t. spare: working memory for 5n floats. */
ROW void row_backward(const int half, const Sequence *s, long t, long row, const float *dh_next, float *dc, float *spare) {
    long n = s->units, p = (t * s->batch + row) * n;
    float keep = s->keep[t * s->batch + row], keep_next = s->keep[(t + 1) * s->batch + row];
    float *gates = half ? spare : (float *)s->gates + 4 * p, *dh = half ? spare + 4 * n : (float *)s->dhidden + p;
    if (half) {
        widen((bf16 *)s->gates + 4 * p, gates, 4 * n);
        widen((bf16 *)s->dhidden + p, dh, n);
    }
    lstm_f32_backward(gates, s->cells + p, keep, s->cells + p + s->batch * n, dh, dh_next, keep_next, dc, gates, dc, n);
    if (half) narrow(gates, (bf16 *)s->gates + 4 * p, 4 * n);
}

/* The gradient of `forward`, without that of the weights. */
ROW void backward(const int half, const Sequence *s, long row, long rows, float *space) {
    const long n = s->units, depth = 4 * n >> half;
    float *dh = space, *dc = dh + GROUP * n, *spare = dc + GROUP * n;
    memset(space, 0, 2 * GROUP * n * sizeof(float));
    for (long t = s->steps - 1; t >= 0; t--) {
        const void *dgates = at(half, s->gates, (t * s->batch + row) * 4 * n);
        for (long r = 0; r < rows; r++) row_backward(half, s, t, row + r, dh + r * n, dc + r * n, spare);
        if (s->dx)
            product(half, rows, dgates, depth, s->weight_x, s->inputs, half, at(half, s->dx, (t * s->batch + row) * s->inputs));
        product(half, rows, dgates, depth, s->weight_h, n, 0, dh);
    }
}

/* The gradient of the weights: (x, h, 1) of all steps and environments, transposed, times the gradient of the gates. This call
 * computes the panels lo to hi - 1 of its columns, and the rows first to last - 1. */
ROW void weights(const int half, const Sequence *s, long lo, long hi, long first, long last, float *space) {
    const long n = s->units, all = s->steps * s->batch, width = s->inputs + n + 1, stride = width + PAD;
    const long block = DEPTH << half, end = hi * WIDE < 4 * n ? hi * WIDE : 4 * n;
    word *left = (word *)space, *panel = left + DEPTH * stride;
    float sums[TILE * WIDE];
    for (long row = 0; row < all; row += block) {
        long rows = all - row < block ? all - row : block, depth = (rows + half) >> half;
        pack_rows(half, at(half, s->x, row * s->inputs), s->inputs, rows, s->inputs, s->inputs, left, stride);
        pack_rows(half, at(half, s->recurrent, row * n), n, rows, n, n, left + s->inputs, stride);
        for (long k = 0; k < depth; k++) left[k * stride + width - 1] = half ? 0x3F803F80u : 0x3F800000u; /* ones */
        for (long c = lo * WIDE; c < end; c += WIDE) {
            long columns = end - c < WIDE ? end - c : WIDE;
            pack_rows(half, at(half, s->gates, row * 4 * n + c), 4 * n, rows, columns, WIDE, panel, WIDE);
            for (long i = first; i < last; i += TILE) {
                long count = last - i < TILE ? last - i : TILE;
                tile(half, count, left + i, 1, stride, panel, depth, 0, sums, WIDE, LANES);
                for (long r = 0; r < count; r++) {
                    float *out = s->dweights + (i + r) * 4 * n + c;
                    for (long k = 0; k < columns; k++) out[k] = (row ? out[k] : 0.0f) + sums[r * WIDE + k];
                }
            }
        }
    }
}

static void sequence_forward(int half, const Sequence *s, long row, long rows) {
    if (half)
        forward(1, s, row, rows);
    else
        forward(0, s, row, rows);
}

static void sequence_backward(int half, const Sequence *s, long row, long rows, float *space) {
    if (half)
        backward(1, s, row, rows, space);
    else
        backward(0, s, row, rows, space);
}

static void sequence_weights(int half, const Sequence *s, long lo, long hi, long first, long last, float *space) {
    if (half)
        weights(1, s, lo, hi, first, last, space);
    else
        weights(0, s, lo, hi, first, last, space);
}

#endif

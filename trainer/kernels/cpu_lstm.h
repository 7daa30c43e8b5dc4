/* Whole sequences of an LSTM on the CPU. A thread takes a tile of environments through all steps, products and gates together,
 * and waits for no other; the gradient likewise, backwards; then the weights' gradient is one more product over all of it.
 *
 * The arithmetic is that of single steps: the products of x and of h, each rounded to the dtype, then cpu_rows.h. Only the
 * order in which a product sums is its own, and that bfloat16's gradient of h stays float32 from step to step.
 */
#ifndef INSERTCOIN_CPU_LSTM_H
#define INSERTCOIN_CPU_LSTM_H

#include "cpu_products.h"
#include "cpu_rows.h"

#define DEPTH 128 /* words of the depth that the weights' gradient takes at a time: both sides stay in a thread's cache */
#define PAD 15    /* words after a row of its left-hand side: lines a power of two apart would push each other out */

/* T steps of B environments with E inputs and n units; void is float32 or bfloat16. */
typedef struct {
    long steps, batch, inputs, units;
    const void *x;        /* (T, B, E) */
    const word *weight_x; /* packed: by pack_gates for the forward pass, by pack_columns for the backward pass */
    const word *weight_h;
    const float *bias;    /* (4n,) */
    const float *keep;    /* (T + 1, B) */
    void *gates;          /* (T, B, 4n): activated, then the gradient of the pre-activations */
    void *recurrent;      /* (T + 1, B, n): what a step's recurrent product reads, h * keep */
    float *cells;         /* (T + 1, B, n) */
    void *hidden;         /* (T, B, n), forward only; the rest backward only */
    const void *dhidden;  /* (T, B, n) */
    void *dx;             /* (T, B, E), or NULL */
    float *dweights;      /* (E + n + 1, 4n): of weight_x transposed, weight_h transposed and the bias */
} Sequence;

/* Floats that a thread needs to work in: forward, backward, and for the weights' gradient. */
static long space_forward(long n) { return TILE * 8 * (n + LANES) + 5 * n; }
static long space_backward(long n) { return (2 * TILE + 5) * n; }
static long space_weights(long inputs, long n) { return DEPTH * (inputs + n + 1 + PAD + WIDE); }

/* Where element k of an array is. */
ROW void *at(const int half, const void *array, long k) {
    return (char *)array + k * (half ? sizeof(bf16) : sizeof(float));
}

ROW void tile(const int half, long rows, const void *a, long a_row, long a_depth, const word *panel, long depth, float *out,
              long out_row, long out_lanes) {
    if (half)
        tile_bf16(rows, (const word *)a, a_row, a_depth, panel, depth, out, out_row, out_lanes);
    else
        tile_f32(rows, (const word *)a, a_row, a_depth, panel, depth, out, out_row, out_lanes);
}

/* Step t of a row, from its products: sums is (8, apart), first x's i, f, g, o, then h's; spare has room for 5n. */
ROW void row_forward(const int half, const Sequence *s, long t, long row, float *sums, long apart, float *spare) {
    long n = s->units, p = (t * s->batch + row) * n, next = p + s->batch * n;
    float keep = s->keep[t * s->batch + row], keep_next = s->keep[(t + 1) * s->batch + row];
    float *products_h = sums + 4 * apart, *c_prev = s->cells + p, *c = s->cells + next;
    if (!half) {
        lstm_f32_forward(sums, products_h, apart, s->bias, c_prev, keep, keep_next, (float *)s->gates + 4 * p, c,
                         (float *)s->hidden + p, (float *)s->recurrent + next, n);
        return;
    }
    float *gates = spare, *h = spare + 4 * n, *h_next = products_h; /* a unit of which is read before it is written */
    round_row(sums, 8 * apart);
    lstm_f32_forward(sums, products_h, apart, s->bias, c_prev, keep, keep_next, gates, c, h, h_next, n);
    narrow(gates, (bf16 *)s->gates + 4 * p, 4 * n);
    narrow(h, (bf16 *)s->hidden + p, n);
    narrow(h_next, (bf16 *)s->recurrent + next, n);
}

/* `rows` environments from `row` on, up to TILE, through all steps. */
ROW void forward(const int half, const Sequence *s, long row, long rows, float *space) {
    const long n = s->units, x_words = s->inputs >> half, h_words = n >> half, apart = (n + LANES - 1) / LANES * LANES;
    for (long t = 0; t < s->steps; t++) {
        const void *x = at(half, s->x, (t * s->batch + row) * s->inputs);
        const void *h = at(half, s->recurrent, (t * s->batch + row) * n);
        for (long u = 0; u < n; u += LANES) {
            tile(half, rows, x, x_words, 1, s->weight_x + u * 4 * x_words, x_words, space + u, 8 * apart, apart);
            tile(half, rows, h, h_words, 1, s->weight_h + u * 4 * h_words, h_words, space + 4 * apart + u, 8 * apart, apart);
        }
        for (long r = 0; r < rows; r++)
            row_forward(half, s, t, row + r, space + r * 8 * apart, apart, space + rows * 8 * apart);
    }
}

/* a (rows, depth words) times packed weights, to out (rows, columns) as float32 or bfloat16 (out_half). */
ROW void product(const int half, long rows, const void *a, long depth, const word *packed, long columns, const int out_half,
                 void *out) {
    float sums[TILE * WIDE];
    for (long c = 0; c < columns; c += WIDE) {
        long width = columns - c < WIDE ? columns - c : WIDE;
        tile(half, rows, a, depth, 1, packed + c * depth, depth, sums, WIDE, LANES);
        for (long r = 0; r < rows; r++)
            if (out_half)
                narrow(sums + r * WIDE, (bf16 *)out + r * columns + c, width);
            else
                memcpy((float *)out + r * columns + c, sums + r * WIDE, width * sizeof(float));
    }
}

/* The gradient of a row's step t; spare has room for 5n. */
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

/* The gradient of `forward`, but for the weights'. */
ROW void backward(const int half, const Sequence *s, long row, long rows, float *space) {
    const long n = s->units, depth = 4 * n >> half;
    float *dh = space, *dc = dh + TILE * n, *spare = dc + TILE * n;
    memset(space, 0, 2 * TILE * n * sizeof(float));
    for (long t = s->steps - 1; t >= 0; t--) {
        const void *dgates = at(half, s->gates, (t * s->batch + row) * 4 * n);
        for (long r = 0; r < rows; r++) row_backward(half, s, t, row + r, dh + r * n, dc + r * n, spare);
        if (s->dx)
            product(half, rows, dgates, depth, s->weight_x, s->inputs, half, at(half, s->dx, (t * s->batch + row) * s->inputs));
        product(half, rows, dgates, depth, s->weight_h, n, 0, dh);
    }
}

/* The weights' gradient, the transposed (x, h, 1) of all steps and environments times the gradient of the gates: panels lo to
 * hi - 1 of its columns, rows first to last - 1. */
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
                tile(half, count, left + i, 1, stride, panel, depth, sums, WIDE, LANES);
                for (long r = 0; r < count; r++) {
                    float *out = s->dweights + (i + r) * 4 * n + c;
                    for (long k = 0; k < columns; k++) out[k] = (row ? out[k] : 0.0f) + sums[r * WIDE + k];
                }
            }
        }
    }
}

static void sequence_forward(int half, const Sequence *s, long row, long rows, float *space) {
    if (half)
        forward(1, s, row, rows, space);
    else
        forward(0, s, row, rows, space);
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

/* A policy's last layer in float32, on hidden states in bfloat16: few outputs, so the rows are read once, without tiles. */
#ifndef INSERTCOIN_TILED_HEADS_H
#define INSERTCOIN_TILED_HEADS_H

#include "tiles.h"

#define CHUNK 1024 /* rows whose gradients of the weights are added up in one sum, whatever the number of threads */

/* B rows of n hidden states, n a multiple of SIDE, with O outputs. */
typedef struct {
    long rows, units, outputs;
    const bf16 *hidden;  /* (B, n) */
    const float *weight; /* (O, n) */
    const float *bias;   /* (O,) */
    float *out;          /* (B, O); forward: OUT; backward: IN, the gradient */
    bf16 *dhidden;       /* (B, n): OUT; backward only */
} TiledHeads;

#ifdef HAVE_TILES

TILES static void tiled_heads(const TiledHeads *s, long first, long last) {
    const long n = s->units;
    for (long row = first; row < last; row++)
        for (long o = 0; o < s->outputs; o++) {
            __m512 sum = _mm512_setzero_ps();
            for (long u = 0; u < n; u += SIDE)
                sum = _mm512_fmadd_ps(tiled_widen(s->hidden + row * n + u), _mm512_loadu_ps(s->weight + o * n + u), sum);
            s->out[row * s->outputs + o] = _mm512_reduce_add_ps(sum) + s->bias[o];
        }
}

/* Add the gradient of `count` outputs' weights to dweight (count, n): of rows first to last - 1, for outputs o and following. */
TILES_INLINE void tiled_heads_weights(const TiledHeads *s, long first, long last, long o, const int count, float *dweight) {
    const long n = s->units;
    for (long u = 0; u < n; u += SIDE) {
        __m512 sums[4];
        for (int k = 0; k < count; k++) sums[k] = _mm512_setzero_ps();
        for (long row = first; row < last; row++) {
            const __m512 h = tiled_widen(s->hidden + row * n + u);
            for (int k = 0; k < count; k++)
                sums[k] = _mm512_fmadd_ps(h, _mm512_set1_ps(s->out[row * s->outputs + o + k]), sums[k]);
        }
        for (int k = 0; k < count; k++) {
            float *to = dweight + k * n + u;
            _mm512_storeu_ps(to, _mm512_add_ps(_mm512_loadu_ps(to), sums[k]));
        }
    }
}

/* The gradient of rows first to last - 1: of the hidden states; of the weights and the bias, (O * (n + 1),), in `sums`. */
TILES static void tiled_heads_backward(const TiledHeads *s, long first, long last, float *sums) {
    const long n = s->units, outputs = s->outputs, few = 64; /* rows that stay in the nearest cache */
    memset(sums, 0, outputs * (n + 1) * sizeof(float));
    for (long row = first; row < last; row++) {
        const float *d = s->out + row * outputs;
        for (long u = 0; u < n; u += SIDE) {
            __m512 sum = _mm512_setzero_ps();
            for (long o = 0; o < outputs; o++)
                sum = _mm512_fmadd_ps(_mm512_set1_ps(d[o]), _mm512_loadu_ps(s->weight + o * n + u), sum);
            tiled_narrow(s->dhidden + row * n + u, sum);
        }
        for (long o = 0; o < outputs; o++) sums[outputs * n + o] += d[o];
    }
    for (long row = first; row < last; row += few) {
        const long end = row + few < last ? row + few : last;
        long o = 0;
        for (; o + 4 <= outputs; o += 4) tiled_heads_weights(s, row, end, o, 4, sums + o * n);
        if (outputs - o == 3) tiled_heads_weights(s, row, end, o, 3, sums + o * n);
        if (outputs - o == 2) tiled_heads_weights(s, row, end, o, 2, sums + o * n);
        if (outputs - o == 1) tiled_heads_weights(s, row, end, o, 1, sums + o * n);
    }
}

#else
static void tiled_heads(const TiledHeads *s, long first, long last) {}
static void tiled_heads_backward(const TiledHeads *s, long first, long last, float *sums) {}
#endif
#endif

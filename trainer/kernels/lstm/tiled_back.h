/* The backward pass of tiled.h: the gradients of the inputs and of the weights. */
#ifndef INSERTCOIN_TILED_LSTM_BACK_H
#define INSERTCOIN_TILED_LSTM_BACK_H

#include "tiled.h"

#ifdef HAVE_TILES

/* The gradient by x and h in step t, from m->dgates. */
TILES_INLINE void tiled_inputs(Tiles *tiles, const TiledSequence *s, const TiledSpace *m, long t, long row, long rows) {
    const long n = s->units, inputs = s->inputs, depth = 4 * n / DEEP;
    for (long k = s->dx ? 0 : inputs; k < inputs + n; k += DEEP) {
        tiles_zero(tiles);
        const bf16 *weights = s->weights_back + k * depth * 2 * SIDE;
        if (rows > SIDE)
            tiles_add(tiles, m->dgates, m->dgates + SIDE * 4 * n, 4 * n, DEEP, weights, depth);
        else
            tiles_add_one(tiles, m->dgates, 4 * n, DEEP, weights, depth);
        if (k >= inputs) {
            tiles_leave(tiles, m->dh + k - inputs, n, SIDE, SIDE * n);
            continue;
        }
        tiles_leave(tiles, m->dx, BLOCK, SIDE, SIDE * BLOCK);
        bf16 *dx = s->dx + (t * s->batch + row) * inputs + k;
        for (const float *sums = m->dx; sums < m->dx + rows * BLOCK; sums += BLOCK, dx += inputs)
            _mm512_storeu_si512(dx, (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(sums + SIDE), _mm512_loadu_ps(sums)));
    }
}

/* Add the product of m->left and m->right, `depth` tiles deep, to the gradient of the weights: (4n / BLOCK, (E + n) / BLOCK)
 * parts of four tiles, then that of the bias (4n,). more: there is something to add to. */
TILES_INLINE void tiled_weights(Tiles *tiles, const TiledSequence *s, const TiledSpace *m, long depth, int more, float *out) {
    const long columns = 4 * s->units, rows = s->inputs + s->units;
    const __m512bh ones = (__m512bh)_mm512_set1_epi32(0x3F803F80);
    float *bias = out + rows * columns;
    tiles_begin(tiles, BLOCK);
    for (long c = 0; c < columns; c += BLOCK) {
        const bf16 *b = m->right + c * DEEP_ENOUGH * DEEP, *a = m->left;
        for (long r = 0; r < rows; r += BLOCK, out += BLOCK * BLOCK, a += DEEP_ENOUGH * 2 * NUMBERS) {
            for (long k = 0; k < BLOCK * BLOCK; k += SIDE) __builtin_prefetch(out + BLOCK * BLOCK + k, 1);
            if (more)
                tiles_take(tiles, out, SIDE, SIDE * SIDE, 2 * SIDE * SIDE);
            else
                tiles_zero(tiles);
            tiles_add(tiles, a, a + NUMBERS, DEEP, 2 * NUMBERS, b, depth);
            tiles_leave(tiles, out, SIDE, SIDE * SIDE, 2 * SIDE * SIDE);
        }
        for (long half = 0; half < 2; half++) {
            __m512 sums[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
            if (more) sums[0] = _mm512_loadu_ps(bias + c + half * SIDE);
            for (long k = 0; k < depth; k++)
                for (long p = 0; p < SIDE; p++) {
                    const __m512i pair = _mm512_loadu_si512(b + (2 * k + half) * NUMBERS + p * DEEP);
                    sums[p % 4] = _mm512_dpbf16_ps(sums[p % 4], (__m512bh)pair, ones);
                }
            sums[0] = _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]));
            _mm512_storeu_ps(bias + c + half * SIDE, sums[0]);
        }
    }
}

/* Pack the inputs of step t, x and h, to m->left; both: those of step t + 1 before them, if there are at most SIDE rows. */
TILES_INLINE void tiled_left(const TiledSequence *s, const TiledSpace *m, long t, long row, long rows, long slot, int both) {
    const long n = s->units, inputs = s->inputs;
    const bf16 *x = s->x + (t * s->batch + row) * inputs, *h = m->h[t & 1];
    for (long k = 0; k < inputs + n; k += DEEP) {
        bf16 *to = m->left + (k / DEEP * DEEP_ENOUGH + slot) * 2 * NUMBERS;
        const long width = k < inputs ? inputs : n;
        const bf16 *from = k < inputs ? x + k : h + k - inputs;
        if (both)
            tiled_pack_both(k < inputs ? from + s->batch * inputs : m->h[~t & 1] + k - inputs, rows, from, rows, width, to);
        else
            tiled_pack_transposed(from, width, rows, to);
    }
}

/* The gradient of tiled_forward for `rows` environments. out: that of the weights, as tiled_weights writes it, added to its numbers
 * if `more`. Two steps of at most SIDE rows share the tiles of the gradient of the weights. */
TILES static void tiled_backward(const TiledSequence *s, long row, long rows, int more, float *out, char *memory) {
    const long n = s->units, steps = s->steps;
    Tiles tiles;
    TiledSpace space;
    const TiledSpace *m = &space;
    tiled_space(s->inputs, n, memory, &space);
    tiled_begin(&tiles, s, m, rows);
    memset(m->dh, 0, BLOCK * n * sizeof(float));
    memset(m->dc, 0, BLOCK * n * sizeof(float));
    memset(m->right, 0, 4 * n * DEEP * DEEP_ENOUGH * sizeof(bf16)); /* rows without an environment stay zero */
    for (long t = steps - 1, slot = 0; t >= 0; t--) {
        const int both = rows <= SIDE && (steps - t) % 2 == 0, wait = rows <= SIDE && !both && t;
        tiled_recurrent(s, m, t, row, rows);
        if (!wait) tiled_left(s, m, t, row, rows, slot, both);
        tiled_gates(1, &tiles, s, m, t, row, rows, slot, both ? SIDE : 0);
        tiled_inputs(&tiles, s, m, t, row, rows);
        if (wait) continue;
        if (rows <= SIDE && !both) /* a step without a second one: the tiles hold that of an earlier pair */
            for (long tile = 0; tile < 4 * n / SIDE; tile++)
                memset(m->right + (((tile / 2) * DEEP_ENOUGH + slot) * 2 + tile % 2) * NUMBERS + NUMBERS / 2, 0, NUMBERS);
        if (++slot < DEEP_ENOUGH && t) continue;
        tiled_weights(&tiles, s, m, slot, more, out);
        more = 1, slot = 0;
        tiles_begin(&tiles, rows);
    }
    tiles_end();
}

#else
static void tiled_backward(const TiledSequence *s, long row, long rows, int more, float *out, char *memory) {}
#endif
#endif

/* A layer with ReLU in bfloat16: x (B, K) times the weights (E, K) transposed, plus a bias. Sums are float32; K is padded to tiles
 * with zeros in a thread's memory. */
#ifndef INSERTCOIN_TILED_DENSE_H
#define INSERTCOIN_TILED_DENSE_H

#include "tiles.h"

#define DENSE_SLOTS 8 /* blocks of rows in one pass over the gradient of the weights */

/* B rows of K inputs and E outputs, E a multiple of BLOCK. */
typedef struct {
    long rows, inputs, outputs;
    const bf16 *x;      /* (B, K) */
    const bf16 *packed; /* the weights by tiled_dense_pack; forward only */
    const float *bias;  /* (E,); forward only */
    bf16 *out;          /* (B, E): OUT; backward: IN */
    const bf16 *dout;   /* (B, E); backward only */
} TiledDense;

/* The working memory of a thread. */
typedef struct {
    float *sums;       /* (BLOCK, BLOCK) */
    bf16 *x, *d;       /* (BLOCK, K padded), (BLOCK, E): rows of a block */
    bf16 *left, *right; /* (E / DEEP, DENSE_SLOTS, 2 tiles): d transposed; (K / DEEP, DENSE_SLOTS, 2 tiles): x packed */
} TiledDenseSpace;

static long tiled_padded(long inputs) { return (inputs + DEEP - 1) / DEEP * DEEP; }

/* Numbers of a part of the gradient: of the weights (E, K padded), then of the bias (E,). */
static long tiled_dense_gradient(long inputs, long outputs) { return (tiled_padded(inputs) + 1) * outputs; }

/* Bytes of the memory of an TiledDenseSpace; its parts are set to the memory from `at` on, unless `space` is NULL. */
static long tiled_dense_space(long inputs, long outputs, char *at, TiledDenseSpace *space) {
    const long row = BLOCK * sizeof(bf16), tiles = DENSE_SLOTS * row, padded = tiled_padded(inputs);
    const long sizes[] = {BLOCK * BLOCK * sizeof(float), padded * row, outputs * row, outputs * tiles, padded * tiles};
    void *parts[5];
    long total = 0;
    for (int k = 0; k < 5; total += sizes[k++]) parts[k] = at ? at + total : at;
    if (space) *space = (TiledDenseSpace){parts[0], parts[1], parts[2], parts[3], parts[4]};
    return total;
}

#ifdef HAVE_TILES

/* Which of 32 columns from `from` on there are. */
TILES_INLINE __mmask32 tiled_columns(long from, long columns) {
    return columns - from >= DEEP ? 0xFFFFFFFFu : (1u << (columns - from)) - 1;
}

/* Pack the weights of outputs 16u to 16u + 15, (E, K) float32, rounded to bfloat16. */
TILES static void tiled_dense_pack(const float *weight, long inputs, long u, bf16 *to) {
    const long depth = tiled_padded(inputs) / DEEP;
    for (long k = 0; k < depth; k++) {
        const __mmask32 some = tiled_columns(k * DEEP, inputs);
        __m512i words[SIDE];
        for (int unit = 0; unit < SIDE; unit++) {
            const float *from = weight + (u * SIDE + unit) * inputs + k * DEEP;
            const __m512 low = _mm512_maskz_loadu_ps((__mmask16)some, from);
            const __m512 high = _mm512_maskz_loadu_ps((__mmask16)(some >> SIDE), from + SIDE);
            words[unit] = (__m512i)_mm512_cvtne2ps_pbh(high, low);
        }
        tiled_transpose(words);
        bf16 *tile = to + (u / 2 * depth + k) * 2 * NUMBERS + u % 2 * NUMBERS;
        for (int p = 0; p < SIDE; p++) _mm512_storeu_si512(tile + p * DEEP, words[p]);
    }
}

/* Copy `rows` rows of x from `row` on, padded; the others of the block are zeros. */
TILES_INLINE void tiled_dense_rows(const TiledDense *s, const TiledDenseSpace *m, long row, long rows) {
    const long padded = tiled_padded(s->inputs);
    for (long r = 0; r < BLOCK; r++)
        for (long k = 0; k < padded; k += DEEP) {
            const __mmask32 some = r < rows ? tiled_columns(k, s->inputs) : 0;
            _mm512_storeu_si512(m->x + r * padded + k, _mm512_maskz_loadu_epi16(some, s->x + (row + r) * s->inputs + k));
        }
}

/* The outputs of rows first to last - 1. */
TILES static void tiled_dense(const TiledDense *s, long first, long last, char *memory) {
    const long padded = tiled_padded(s->inputs), depth = padded / DEEP, outputs = s->outputs;
    const __m512 zero = _mm512_setzero_ps();
    Tiles t;
    TiledDenseSpace space;
    const TiledDenseSpace *m = &space;
    tiled_dense_space(s->inputs, outputs, memory, &space);
    tiles_begin(&t, BLOCK);
    for (long row = first; row < last; row += BLOCK) {
        const long rows = last - row < BLOCK ? last - row : BLOCK;
        tiled_dense_rows(s, m, row, rows);
        for (long c = 0; c < outputs; c += BLOCK) {
            const __m512 low = _mm512_loadu_ps(s->bias + c), high = _mm512_loadu_ps(s->bias + c + SIDE);
            tiles_zero(&t);
            tiles_add(&t, m->x, m->x + SIDE * padded, padded, DEEP, s->packed + c * padded, depth);
            tiles_leave(&t, m->sums, BLOCK, SIDE, SIDE * BLOCK);
            for (long r = 0; r < rows; r++) { /* NaN stays NaN: the maximum is its second operand then */
                const __m512 one = _mm512_max_ps(zero, _mm512_add_ps(_mm512_loadu_ps(m->sums + r * BLOCK), low));
                const __m512 two = _mm512_max_ps(zero, _mm512_add_ps(_mm512_loadu_ps(m->sums + r * BLOCK + SIDE), high));
                _mm512_storeu_si512(s->out + (row + r) * outputs + c, (__m512i)_mm512_cvtne2ps_pbh(two, one));
            }
        }
    }
    tiles_end();
}

/* The gradient of the sums of `rows` rows from `row` on, to m->d: zero where the output is. Adds it to that of the bias. */
TILES_INLINE void tiled_dense_mask(const TiledDense *s, const TiledDenseSpace *m, long row, long rows, float *bias) {
    const long outputs = s->outputs;
    for (long c = 0; c < outputs; c += BLOCK) {
        __m512 low = _mm512_loadu_ps(bias + c), high = _mm512_loadu_ps(bias + c + SIDE);
        for (long r = 0; r < BLOCK; r++) {
            bf16 *to = m->d + r * outputs + c;
            if (r >= rows) {
                _mm512_storeu_si512(to, _mm512_setzero_si512());
                continue;
            }
            const long at = (row + r) * outputs + c;
            const __m512i out = _mm512_loadu_si512(s->out + at); /* no number is negative */
            _mm512_storeu_si512(to, _mm512_maskz_loadu_epi16(_mm512_test_epi16_mask(out, out), s->dout + at));
            low = _mm512_add_ps(low, tiled_widen(to));
            high = _mm512_add_ps(high, tiled_widen(to + SIDE));
        }
        _mm512_storeu_ps(bias + c, low);
        _mm512_storeu_ps(bias + c + SIDE, high);
    }
}

/* The gradient of the weights and the bias, summed over rows first to last - 1: see tiled_dense_gradient. */
TILES static void tiled_dense_backward(const TiledDense *s, long first, long last, float *sums, char *memory) {
    const long padded = tiled_padded(s->inputs), outputs = s->outputs;
    Tiles t;
    TiledDenseSpace space;
    const TiledDenseSpace *m = &space;
    tiled_dense_space(s->inputs, outputs, memory, &space);
    memset(sums, 0, tiled_dense_gradient(s->inputs, outputs) * sizeof(float));
    tiles_begin(&t, BLOCK);
    for (long row = first, slot = 0; row < last; row += BLOCK) {
        const long rows = last - row < BLOCK ? last - row : BLOCK;
        tiled_dense_rows(s, m, row, rows);
        tiled_dense_mask(s, m, row, rows, sums + outputs * padded);
        for (long k = 0; k < padded; k += DEEP)
            tiled_pack(m->x + k, padded, BLOCK, m->right + (k / DEEP * DENSE_SLOTS + slot) * 2 * NUMBERS);
        for (long c = 0; c < outputs; c += BLOCK)
            tiled_pack_transposed(m->d + c, outputs, BLOCK, m->left + (c / BLOCK * DENSE_SLOTS + slot) * 2 * NUMBERS);
        if (++slot < DENSE_SLOTS && row + BLOCK < last) continue;
        for (long c = 0; c < outputs; c += BLOCK)
            for (long k = 0; k < padded; k += DEEP) {
                const bf16 *left = m->left + c * DENSE_SLOTS * DEEP;
                tiles_take(&t, sums + c * padded + k, padded, SIDE, SIDE * padded);
                tiles_add(&t, left, left + NUMBERS, DEEP, 2 * NUMBERS, m->right + k * DENSE_SLOTS * DEEP, slot);
                tiles_leave(&t, sums + c * padded + k, padded, SIDE, SIDE * padded);
            }
        slot = 0;
    }
    tiles_end();
}

/* Output o of the sum of `parts` results of tiled_dense_backward: dweight (E, K), dbias (E,). */
TILES static void tiled_dense_sum(const TiledDense *s, const float *from, long parts, long o, float *dweight, float *dbias) {
    const long inputs = s->inputs, padded = tiled_padded(inputs), size = tiled_dense_gradient(inputs, s->outputs);
    for (long k = 0; k < inputs; k += SIDE) {
        const __mmask16 some = (__mmask16)tiled_columns(k, inputs);
        __m512 sum = _mm512_loadu_ps(from + o * padded + k);
        for (long part = 1; part < parts; part++)
            sum = _mm512_add_ps(sum, _mm512_loadu_ps(from + part * size + o * padded + k));
        _mm512_mask_storeu_ps(dweight + o * inputs + k, some, sum);
    }
    dbias[o] = 0.0f;
    for (long part = 0; part < parts; part++) dbias[o] += from[part * size + s->outputs * padded + o];
}

#else
static void tiled_dense_pack(const float *weight, long inputs, long u, bf16 *to) {}
static void tiled_dense(const TiledDense *s, long first, long last, char *memory) {}
static void tiled_dense_backward(const TiledDense *s, long first, long last, float *sums, char *memory) {}
static void tiled_dense_sum(const TiledDense *s, const float *from, long parts, long o, float *dweight, float *dbias) {}
#endif
#endif

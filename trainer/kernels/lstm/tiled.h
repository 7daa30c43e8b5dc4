/* Whole sequences of an LSTM in bfloat16, in tiles.
 *
 * A thread does all steps of a group of environments. The sums of the products stay float32, and are activated as they come
 * from the tiles: while AMX multiplies for some units, the thread activates those before. AMX is faster than memory: then only
 * hidden and cell states are stored, and the backward pass computes the gates again; with vectors it reads them. It adds to the
 * gradient of the weights what it has in its caches. Rows of the next step are prefetched, since the processor does not foresee
 * their addresses.
 */
#ifndef INSERTCOIN_TILED_LSTM_H
#define INSERTCOIN_TILED_LSTM_H

#include "pack.h"

#define DEEP_ENOUGH 8 /* tiles of depth in one pass over the gradient of the weights: all then stays in the second cache */

/* T steps of B environments with E inputs and n units, both multiples of DEEP. */
typedef struct {
    long steps, batch, inputs, units;
    const bf16 *x;             /* (T, B, E) */
    const bf16 *weights;       /* packed by tiled_pack_forward */
    const bf16 *weights_back;  /* packed by tiled_pack_backward; backward only */
    const float *bias;         /* (4n,) */
    const float *keep;         /* (T, B) */
    const float *keep_next;    /* (T, B): that of the next step */
    const bf16 *h;             /* (B, n): the hidden states before step 0; with keep 0 they are not read */
    bf16 *h_last;              /* (B, n): OUT those after the last step times keep_next; or NULL. It can be h */
    const float *cells;        /* (T, B, n): the cell states before each step */
    float *cells_next;         /* (T, B, n): OUT those after it. For one step it can be `cells` */
    bf16 *hidden;              /* (T, B, n): OUT */
    const bf16 *dhidden;       /* (T, B, n); backward only, as dx */
    bf16 *dx;                  /* (T, B, E): OUT, or NULL */
    bf16 *gates;               /* (T, B, n / SIDE, 4, SIDE): activated; forward: OUT; NULL: the backward pass computes them again */
} TiledSequence;

/* The working memory of a thread. */
typedef struct {
    float *sums;   /* (2, 4, BLOCK, SIDE): products of the gates of SIDE units, by turns */
    float *bias;   /* (n / SIDE, 4, SIDE): the biases, times -LOG2E or -2 LOG2E */
    bf16 *h[2];    /* (BLOCK, n): inputs of the recurrent product, by turns */
    float *dh;     /* (BLOCK, n); backward only, as the following ones */
    float *dc;     /* (BLOCK, n) */
    float *dx;     /* (BLOCK, BLOCK): a part of dx */
    bf16 *dgates;  /* (BLOCK, 4n) */
    bf16 *left;    /* ((E + n) / DEEP, DEEP_ENOUGH, 2 tiles): (x, h) transposed */
    bf16 *right;   /* (4n / DEEP, DEEP_ENOUGH, 2 tiles): dgates packed */
} TiledSpace;

/* Bytes of the memory of an TiledSpace. The parts of *space, unless it is NULL, are set to the memory from `at` on. */
static long tiled_space(long inputs, long n, char *at, TiledSpace *space) {
    const long rows = BLOCK * n * sizeof(bf16), tiles = DEEP_ENOUGH * DEEP * sizeof(bf16);
    const long sizes[] = {2 * 4 * BLOCK * SIDE * sizeof(float), 4 * n * sizeof(float), rows, rows, 2 * rows, 2 * rows,
                          BLOCK * BLOCK * sizeof(float), 4 * rows, (inputs + n) * tiles, 4 * n * tiles};
    void *parts[10];
    long total = 0;
    for (int k = 0; k < 10; total += sizes[k++]) parts[k] = at ? at + total : at;
    if (space)
        *space = (TiledSpace){parts[0], parts[1], {parts[2], parts[3]}, parts[4], parts[5], parts[6], parts[7], parts[8],
                            parts[9]};
    return total;
}

#ifdef HAVE_TILES

/* The gates of SIDE units in a group's rows. They are activated while the tiles multiply for other units. */
typedef struct {
    const float *sums, *bias; /* (4, BLOCK, SIDE) and (4, SIDE) */
    long row, unit;           /* row: t B + the first row of the group */
    long rows, done;          /* `done` of `rows` rows are activated */
    long slot, first;         /* of the packed gradient, and its row for row 0; backward only */
    bf16 *h_next;             /* (BLOCK, n), forward only */
} TiledUnits;

/* i, f, g, o of row r, activated, from the sums; back: or from memory, if they are kept. */
TILES_INLINE void tiled_activate(const int back, const TiledSequence *s, const TiledUnits *w, long r, __m512 gate[4]) {
    const long at = ((w->row + r) * s->units + w->unit) * 4; /* of the gates in memory */
    if (back && s->gates) {
        for (long k = 0; k < 4; k++) gate[k] = tiled_widen(s->gates + at + k * SIDE);
        return;
    }
    const float *sums = w->sums + r * SIDE, *bias = w->bias;
    const __m512 once = _mm512_set1_ps(-LOG2E), twice = _mm512_set1_ps(-2 * LOG2E);
    for (long k = 0; k < 4; k++) {
        const __m512 sum = _mm512_loadu_ps(sums + k * BLOCK * SIDE);
        const __m512 z = _mm512_fmadd_ps(sum, k == 2 ? twice : once, _mm512_loadu_ps(bias + k * SIDE));
        gate[k] = k == 2 ? tiled_tanh(z) : tiled_sigmoid(z);
    }
    if (s->gates)
        for (long k = 0; k < 4; k += 2)
            _mm512_storeu_si512(s->gates + at + k * SIDE, (__m512i)_mm512_cvtne2ps_pbh(gate[k + 1], gate[k]));
}

/* kept: row r's cell state before the step times keep; c: that after it; t: tanh(c). */
TILES_INLINE void tiled_cell(const TiledSequence *s, const TiledUnits *w, long r, const __m512 gate[4], __m512 *kept, __m512 *c,
                           __m512 *t) {
    *kept = _mm512_mul_ps(_mm512_loadu_ps(s->cells + (w->row + r) * s->units + w->unit), _mm512_set1_ps(s->keep[w->row + r]));
    *c = _mm512_fmadd_ps(gate[1], *kept, _mm512_mul_ps(gate[0], gate[2]));
    *t = tiled_tanh(_mm512_mul_ps(*c, _mm512_set1_ps(-2 * LOG2E)));
}

TILES_INLINE void tiled_row_forward(const TiledSequence *s, const TiledUnits *w, long r) {
    const long row = w->row + r, n = s->units, at = row * n + w->unit, next = at + s->batch * n;
    __m512 gate[4], kept, c, t;
    tiled_activate(0, s, w, r, gate);
    tiled_cell(s, w, r, gate, &kept, &c, &t);
    const __m512 h = _mm512_mul_ps(gate[3], t);
    _mm512_storeu_ps(s->cells_next + at, c);
    tiled_narrow(s->hidden + at, h);
    tiled_narrow(w->h_next + r * n + w->unit, _mm512_mul_ps(h, _mm512_set1_ps(s->keep_next[row])));
    __builtin_prefetch(s->cells_next + next, 1);
    if (w->unit & SIDE)
        __builtin_prefetch(s->hidden + next, 1);
    else
        __builtin_prefetch(s->x + (row + s->batch) * s->inputs + w->unit);
}

/* The gradient of row r by the pre-activations, to d; by the cell state, to m->dc. */
TILES_INLINE void tiled_row_backward(const TiledSequence *s, const TiledSpace *m, const TiledUnits *w, long r, __m512 d[4]) {
    const long row = w->row + r, n = s->units, in = r * n + w->unit, at = row * n + w->unit, next = at - s->batch * n;
    const __m512 one = _mm512_set1_ps(1.0f), keep_next = _mm512_set1_ps(s->keep_next[row]);
    __m512 gate[4], kept, c, t;
    tiled_activate(1, s, w, r, gate);
    tiled_cell(s, w, r, gate, &kept, &c, &t);
    const __m512 dh = _mm512_fmadd_ps(_mm512_loadu_ps(m->dh + in), keep_next, tiled_widen(s->dhidden + at));
    const __m512 dt = _mm512_mul_ps(dh, gate[3]), carried = _mm512_mul_ps(_mm512_loadu_ps(m->dc + in), keep_next);
    const __m512 dc = _mm512_fmadd_ps(dt, _mm512_fnmadd_ps(t, t, one), carried);
    const __m512 di = _mm512_mul_ps(dc, gate[0]), df = _mm512_mul_ps(dc, gate[1]);
    d[0] = _mm512_mul_ps(_mm512_mul_ps(di, gate[2]), _mm512_sub_ps(one, gate[0]));
    d[1] = _mm512_mul_ps(_mm512_mul_ps(df, kept), _mm512_sub_ps(one, gate[1]));
    d[2] = _mm512_mul_ps(di, _mm512_fnmadd_ps(gate[2], gate[2], one));
    d[3] = _mm512_mul_ps(_mm512_mul_ps(dt, t), _mm512_sub_ps(one, gate[3]));
    _mm512_storeu_ps(m->dc + in, df);
    __builtin_prefetch(s->cells + next);
    if (w->unit & SIDE) {
        __builtin_prefetch(s->dhidden + next);
        __builtin_prefetch(s->hidden + next - s->batch * n);
    } else {
        __builtin_prefetch(s->x + (row - s->batch) * s->inputs + w->unit);
        if (s->dx) __builtin_prefetch(s->dx + row * s->inputs + w->unit, 1);
    }
}

/* Rows r and r + 1: their gradient to m->dgates, as the products with the weights read it, and packed to m->right. */
TILES_INLINE void tiled_rows_backward(const TiledSequence *s, const TiledSpace *m, const TiledUnits *w, long r) {
    const __m512i pairs = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5,
                                           20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512 zero = _mm512_setzero_ps();
    const long n = s->units;
    __m512 even[4], odd[4] = {zero, zero, zero, zero};
    tiled_row_backward(s, m, w, r, even);
    if (r + 1 < w->rows) tiled_row_backward(s, m, w, r + 1, odd);
    for (long gate = 0; gate < 4; gate++) {
        const __m512i d = (__m512i)_mm512_cvtne2ps_pbh(odd[gate], even[gate]);
        const long column = gate * n + w->unit, tile = (column / DEEP * DEEP_ENOUGH + w->slot) * 2 + column / SIDE % 2;
        _mm256_storeu_si256((__m256i *)(m->dgates + r * 4 * n + column), _mm512_castsi512_si256(d));
        _mm256_storeu_si256((__m256i *)(m->dgates + (r + 1) * 4 * n + column), _mm512_extracti64x4_epi64(d, 1));
        _mm512_storeu_si512(m->right + tile * NUMBERS + (w->first + r) / 2 * DEEP, _mm512_permutexvar_epi16(pairs, d));
    }
}

/* Activate up to `count` more rows, an even number. */
TILES_INLINE void tiled_some(const int back, const TiledSequence *s, const TiledSpace *m, TiledUnits *w, long count) {
    for (const long end = w->done + count; w->done < end && w->done < w->rows; w->done += 2)
        if (back)
            tiled_rows_backward(s, m, w, w->done);
        else {
            tiled_row_forward(s, w, w->done);
            if (w->done + 1 < w->rows) tiled_row_forward(s, w, w->done + 1);
        }
}

/* Products and activation of step t for `rows` environments from `row` on. slot, first: of the packed gradient. */
TILES_INLINE void tiled_gates(const int back, Tiles *tiles, const TiledSequence *s, const TiledSpace *m, long t, long row,
                              long rows, long slot, long first) {
    const long n = s->units, inputs = s->inputs, depth = (inputs + n) / DEEP;
    const long some = (BLOCK / 2 + 2 * depth - 1) / (2 * depth) * 2; /* rows to activate beside one tile of depth */
    const bf16 *x = s->x + (t * s->batch + row) * inputs, *h = m->h[t & 1], *weights = s->weights;
    TiledUnits units = {0};
    for (long u = 0; u < n; u += SIDE) {
        float *sums = m->sums + u / SIDE % 2 * 4 * BLOCK * SIDE;
        for (long half = 0; half < 2 && !(back && s->gates); half++) { /* gates i and f, then g and o */
            tiles_zero(tiles);
            for (long k = 0, deep; k < inputs + n; k += deep * DEEP, weights += deep * 2 * NUMBERS) {
                const long width = k < inputs ? inputs : n;
                const bf16 *from = k < inputs ? x + k : h + k - inputs;
                deep = tiles_unit == AMX ? 1 : width / DEEP;
                if (rows > SIDE)
                    tiles_add(tiles, from, from + SIDE * width, width, DEEP, weights, deep);
                else
                    tiles_add_one(tiles, from, width, DEEP, weights, deep);
                tiled_some(back, s, m, &units, deep * some);
            }
            tiles_leave(tiles, sums + half * 2 * BLOCK * SIDE, SIDE, BLOCK * SIDE, SIDE * SIDE);
        }
        tiled_some(back, s, m, &units, BLOCK);
        units = (TiledUnits){sums, m->bias + 4 * u, t * s->batch + row, u, rows, 0, slot, first, m->h[~t & 1]};
    }
    tiled_some(back, s, m, &units, BLOCK);
}

/* Scale the biases, and configure the tiles for `rows` environments. */
TILES_INLINE void tiled_begin(Tiles *tiles, const TiledSequence *s, const TiledSpace *m, long rows) {
    for (long u = 0; u < s->units; u += SIDE)
        for (long gate = 0; gate < 4; gate++)
            for (long k = 0; k < SIDE; k++)
                m->bias[4 * u + gate * SIDE + k] = s->bias[gate * s->units + u + k] * (gate == 2 ? -2 * LOG2E : -LOG2E);
    tiles_begin(tiles, rows);
}

/* The input of the recurrent product in step t, to m->h: zero where an episode starts. */
TILES_INLINE void tiled_recurrent(const TiledSequence *s, const TiledSpace *m, long t, long row, long rows) {
    const long n = s->units;
    const bf16 *from = (t ? s->hidden + (t - 1) * s->batch * n : s->h) + row * n;
    for (long r = 0; r < rows; r++)
        if (s->keep[t * s->batch + row + r] == 0.0f)
            memset(m->h[t & 1] + r * n, 0, n * sizeof(bf16));
        else
            memcpy(m->h[t & 1] + r * n, from + r * n, n * sizeof(bf16));
}

/* All steps of `rows` environments, at most BLOCK, from `row` on. memory: that of an TiledSpace. */
TILES static void tiled_forward(const TiledSequence *s, long row, long rows, char *memory) {
    Tiles tiles;
    TiledSpace space;
    const TiledSpace *m = &space;
    tiled_space(s->inputs, s->units, memory, &space);
    tiled_begin(&tiles, s, m, rows);
    tiled_recurrent(s, m, 0, row, rows);
    for (long t = 0; t < s->steps; t++) tiled_gates(0, &tiles, s, m, t, row, rows, 0, 0);
    tiles_end();
    if (s->h_last) memcpy(s->h_last + row * s->units, m->h[s->steps & 1], rows * s->units * sizeof(bf16));
}

#else
static void tiled_forward(const TiledSequence *s, long row, long rows, char *memory) {}
#endif
#endif

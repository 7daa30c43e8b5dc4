/* The gradient of the convolutions of tiled.h. The outputs of the first two were kept by the forward pass, or are computed again:
 * with AMX that takes less time than to keep them in memory. */
#ifndef INSERTCOIN_TILED_PICTURES_BACK_H
#define INSERTCOIN_TILED_PICTURES_BACK_H

#include "tiled.h"

#define TILES_OF_SECOND 8 /* of depth: 2 rows of 2 points with 64 channels */
#define TILES_OF_THIRD 9  /* 3 rows of 3 points with 32 channels */

/* Numbers of a sum of gradients: of the weights of the three convolutions, then of the biases. A part of the weights has the
 * outputs as rows and 32 inputs as columns; the parts of the first convolution come in pairs, of its kernel's two rows. */
static long tiled_pictures_gradient(long planes) {
    return planes * 2 * FIRST * DEEP + (TILES_OF_SECOND + TILES_OF_THIRD) * CHANNELS * DEEP + FIRST + 2 * CHANNELS;
}

#ifdef HAVE_TILES

/* Write 16 numbers of a gradient where the output is above 0, else zeros, and add them to a bias's gradient. */
TILES_INLINE void mask_gradient(bf16 *to, __m512 gradient, const bf16 *output, __m512 *bias) {
    const __mmask16 above = _mm512_cmp_ps_mask(tiled_widen(output), _mm512_setzero_ps(), _CMP_GT_OQ);
    const __m512 masked = _mm512_maskz_mov_ps(above, gradient);
    *bias = _mm512_add_ps(*bias, masked);
    tiled_narrow(to, masked);
}

TILES_INLINE void add_to(float *sum, __m512 more) { _mm512_storeu_ps(sum, _mm512_add_ps(_mm512_loadu_ps(sum), more)); }

/* Add the gradient of the weights for 32 outputs: d is the outputs' gradient (points, CHANNELS), `in` the inputs. */
TILES_INLINE void weights_32(Tiles *t, const PictureSpace *m, const bf16 *d, const bf16 *in, long channels, long W,
                             long points, long rows, long depth, float *sums) {
    const long blocks = (points + BLOCK - 1) / BLOCK;
    for (long k = 0; k < blocks; k++)
        tiled_pack_transposed(d + k * BLOCK * CHANNELS, CHANNELS, BLOCK, m->left + k * 2 * NUMBERS);
    for (long row = 0; row < rows; row++)
        for (long part = 0; part < depth; part++, sums += CHANNELS * DEEP) {
            for (long k = 0; k < blocks; k++)
                tiled_pack(in + (k * BLOCK + row * W) * channels + part * DEEP, channels, BLOCK, m->right + k * 2 * NUMBERS);
            tiles_take(t, sums, DEEP, SIDE, SIDE * DEEP);
            tiles_add(t, m->left, m->left + NUMBERS, DEEP, 2 * NUMBERS, m->right, blocks);
            tiles_leave(t, sums, DEEP, SIDE, SIDE * DEEP);
        }
}

/* The same for the 16 outputs of the first convolution: two rows of its kernel at once. */
TILES_INLINE void weights_16(Tiles *t, const PictureSpace *m, const bf16 *d, const bf16 *in, long channels, long W,
                             long points, long depth, float *sums) {
    const long blocks = (points + BLOCK - 1) / BLOCK;
    for (long k = 0; k < blocks; k++)
        tiled_pack_transposed(d + k * BLOCK * FIRST, FIRST, BLOCK, m->left + k * 2 * NUMBERS); /* the second tile is not used */
    for (long part = 0; part < depth; part++, in += DEEP, sums += 2 * FIRST * DEEP) {
        tiles_take(t, sums, DEEP, SIDE, SIDE * DEEP);
        for (long k = 0; k < blocks; k++) {
            tiled_pack(in + k * BLOCK * channels, channels, BLOCK, m->right);
            tiled_pack(in + (k * BLOCK + W) * channels, channels, BLOCK, m->right + 2 * NUMBERS);
            tiles_add_wide(t, m->left + k * 2 * NUMBERS, m->right);
        }
        tiles_leave(t, sums, DEEP, SIDE, SIDE * DEEP);
    }
}

/* The gradient of the third convolution's output, from that of the features. */
TILES_INLINE void gradient_of_third(const TiledPictures *s, const Geometry *g, const PictureSpace *m, long b, float *bias) {
    const long first = b * g->rows[2] * g->columns[2] * CHANNELS;
    const bf16 *features = s->features + first, *dfeatures = s->dfeatures + first;
    __m512 low = _mm512_setzero_ps(), high = low;
    for (long y = 0; y < g->rows[2]; y++)
        for (long x = 0; x < g->columns[2]; x++, features += CHANNELS, dfeatures += CHANNELS) {
            bf16 *to = m->d[2] + (y * g->W[2] + x) * CHANNELS;
            mask_gradient(to, tiled_widen(dfeatures), features, &low);
            mask_gradient(to + SIDE, tiled_widen(dfeatures + SIDE), features + SIDE, &high);
        }
    add_to(bias, low);
    add_to(bias + SIDE, high);
}

/* The gradient of the second convolution's output: each point has a part in 3 x 3 outputs of the third. */
TILES_INLINE void gradient_of_second(Tiles *t, const TiledPictures *s, const Geometry *g, const PictureSpace *m, float *bias) {
    __m512 low = _mm512_setzero_ps(), high = low;
    const long points = g->rows[1] * g->W[1];
    long x = 0;
    for (long p = 0; p < points; p += BLOCK) {
        convolve_32(t, points - p, m->d[2] + (p - 2 * g->W[2] - 2) * CHANNELS, CHANNELS, g->W[2], 3, 3, s->back[2], m->sums);
        for (long k = 0; k < BLOCK && p + k < points; k++) {
            const bf16 *output = m->in[2] + (p + k) * CHANNELS;
            bf16 *to = m->d[1] + (p + k) * CHANNELS;
            if (x < g->columns[1]) {
                mask_gradient(to, _mm512_loadu_ps(m->sums + k * BLOCK), output, &low);
                mask_gradient(to + SIDE, _mm512_loadu_ps(m->sums + k * BLOCK + SIDE), output + SIDE, &high);
            }
            if (++x == g->W[1]) x = 0;
        }
    }
    add_to(bias, low);
    add_to(bias + SIDE, high);
}

/* The gradient of the first convolution's output: each point of the second one's input has four, and a part in 2 x 2 outputs. */
TILES_INLINE void gradient_of_first(Tiles *t, const TiledPictures *s, const Geometry *g, const PictureSpace *m, float *bias) {
    const long points = g->rows[0] / 2 * g->W[1];
    __m512 sum = _mm512_setzero_ps();
    for (long half = 0; half < 2; half++) {
        const bf16 *weights = s->back[1] + half * 2 * 2 * 2 * NUMBERS;
        long y = half, x = 0;
        for (long p = 0; p < points; p += BLOCK) {
            convolve_32(t, points - p, m->d[1] + (p - g->W[1] - 1) * CHANNELS, CHANNELS, g->W[1], 2, 2, weights, m->sums);
            for (long k = 0; k < BLOCK && p + k < points; k++) {
                const bf16 *output = m->in[1] + place_of(g, y, x);
                bf16 *to = m->d[0] + (y * g->W[0] + x) * FIRST;
                mask_gradient(to, _mm512_loadu_ps(m->sums + k * BLOCK), output, &sum);
                mask_gradient(to + FIRST, _mm512_loadu_ps(m->sums + k * BLOCK + SIDE), output + FIRST, &sum);
                if ((x += 2) == g->columns[0]) x = 0, y += 2;
            }
        }
    }
    add_to(bias, sum);
}

/* The gradients of the weights and biases, summed over pictures `first` to `last` - 1, to `sums`, as tiled_pictures_gradient
 * says. */
TILES static void tiled_pictures_backward(const TiledPictures *s, long first, long last, float *sums, char *memory) {
    const Geometry g = geometry(s);
    float *second = sums + s->planes * 2 * FIRST * DEEP, *third = second + TILES_OF_SECOND * CHANNELS * DEEP;
    float *bias = third + TILES_OF_THIRD * CHANNELS * DEEP;
    PictureSpace m;
    Tiles t;
    memset(memory, 0, picture_space(s, memory, &m));
    memset(sums, 0, tiled_pictures_gradient(s->planes) * sizeof(float));
    tiles_begin(&t, BLOCK);
    for (long b = first; b < last; b++) {
        use_kept(s, &g, &m, b);
        read_picture(s, b, m.in[0]);
        if (!s->kept) early_layers(&t, s, &g, &m);
        gradient_of_third(s, &g, &m, b, bias + FIRST + CHANNELS);
        gradient_of_second(&t, s, &g, &m, bias + FIRST);
        gradient_of_first(&t, s, &g, &m, bias);
        weights_32(&t, &m, m.d[2], m.in[2], CHANNELS, g.W[2], g.rows[2] * g.W[2], 3, 3, third);
        weights_32(&t, &m, m.d[1], m.in[1], 4 * FIRST, g.W[1], g.rows[1] * g.W[1], 2, 4, second);
        weights_16(&t, &m, m.d[0], m.in[0], 16 * s->planes, g.W[0], g.rows[0] * g.W[0], s->planes, sums);
    }
    tiles_end();
}

#else
static void tiled_pictures_backward(const TiledPictures *s, long first, long last, float *sums, char *memory) {}
#endif
#endif

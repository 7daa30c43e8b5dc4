/* Three convolutions over pictures of bytes, in tiles: 8 x 8 pixels by strides of 4 to 16 channels, 4 x 4 by
 * strides of 2 to 32, 3 x 3 to 32, each with ReLU.
 *
 * A thread takes one picture after another through all three, and all numbers of a picture stay in its caches. Pictures are read
 * as bytes: a byte is exact in bfloat16, and the weights of the first convolution have the scale of the bytes.
 *
 * Each convolution becomes one with strides of 1. The first one's input has a point for each 4 x 4 pixels, whose 16 pixels of
 * each plane are the point's channels, and its kernel is 2 x 2 points; the second one's input has a point for each 2 x 2 outputs of
 * the first. Points are numbered row by row, and channels are stored last. So the inputs of an output that lie in one row are one
 * run of memory, and those of the next output begin one point later: a tile is loaded from the points themselves. Outputs beyond
 * the right edge are computed as well, and not used.
 */
#ifndef INSERTCOIN_TILED_PICTURES_H
#define INSERTCOIN_TILED_PICTURES_H

#include "points.h"
#include "tiles.h"

#define GROUP_POINTS 64              /* points are computed in groups of 32 or 64 */

/* B pictures of some planes. `width` and `height` are 8k + 4 pixels, at least 36. */
typedef struct {
    long planes, height, width;
    const uint8_t *pictures;         /* (B, planes, height, width) */
    const bf16 *weights[3];          /* of each convolution: (inputs, outputs), packed in right-hand tiles */
    const bf16 *back[3];             /* of the gradients of the second and third one's inputs; backward only */
    const float *bias;               /* (FIRST + 2 CHANNELS,) */
    bf16 *features;                  /* (B, rows, columns, CHANNELS): OUT; backward: IN */
    bf16 *kept;                      /* (B, kept_numbers), OUT; backward: IN. NULL: computed again */
    const bf16 *dfeatures;           /* the gradient; backward only */
} TiledPictures;

static Geometry geometry(const TiledPictures *s) { return geometry_of(s->height, s->width); }

/* A thread's memory. Zeros at its beginning, and what follows a buffer's points stays zero or finite: it is multiplied by zeros. */
typedef struct {
    float *sums;      /* (GROUP_POINTS, SIDE) or (BLOCK, BLOCK) */
    bf16 *in[3];      /* points of each convolution's input, with 16 planes, 4 FIRST and CHANNELS channels */
    bf16 *d[3];       /* the gradient of each one's output, in points of its input's rows; backward only, as the following */
    bf16 *left;       /* the gradient's left-hand tiles */
    bf16 *right;      /* the input's right-hand tiles */
} PictureSpace;

/* Points of a buffer with room for whole groups, and for the points of a kernel around them. */
static long room(long points, long W) { return (points + 2 * GROUP_POINTS + 3 * W + 3) / GROUP_POINTS * GROUP_POINTS; }

/* Points of the input of convolution k, 1 or 2, which the products of whole blocks read. */
static long kept_points(const Geometry *g, long k) {
    const long points = k == 1 ? g->rows[1] * g->W[1] : (g->rows[2] + 2) * g->W[2];
    return (points + BLOCK - 1) / BLOCK * BLOCK + k * (g->W[k] + 1);
}

/* Numbers of a picture that the forward pass keeps for the backward pass: the inputs of the second and third convolution. */
static long kept_numbers(const TiledPictures *s) {
    const Geometry g = geometry(s);
    return kept_points(&g, 1) * 4 * FIRST + kept_points(&g, 2) * CHANNELS;
}

/* Bytes of a thread's memory; with `space`, sets its addresses from `at` on. */
static long picture_space(const TiledPictures *s, char *at, PictureSpace *space) {
    const Geometry g = geometry(s);
    long sizes[9], used = 0;
    const long channels[3] = {16 * s->planes, 4 * FIRST, CHANNELS}, outputs[3] = {FIRST, CHANNELS, CHANNELS};
    sizes[0] = GROUP_POINTS * SIDE * sizeof(float);
    for (int k = 0; k < 3; k++) {
        const long points = room((g.rows[k] + 2) * g.W[k], g.W[k]);
        sizes[1 + k] = points * channels[k] * sizeof(bf16);
        sizes[4 + k] = points * outputs[k] * sizeof(bf16);
    }
    sizes[7] = sizes[8] = room((g.rows[0] + 2) * g.W[0], g.W[0]) / BLOCK * 4 * NUMBERS * sizeof(bf16);
    char *addresses[9];
    for (int k = 0; k < 9; k++) {
        addresses[k] = at + used;
        used += (sizes[k] + 63) / 64 * 64;
    }
    if (space) {
        space->sums = (float *)addresses[0];
        for (int k = 0; k < 3; k++) {
            space->in[k] = (bf16 *)addresses[1 + k];
            /* the gradient of an input reads up to 2 rows and 2 points before the first */
            space->d[k] = (bf16 *)addresses[4 + k] + (2 * g.W[k] + 2) * outputs[k];
        }
        space->left = (bf16 *)addresses[7];
        space->right = (bf16 *)addresses[8];
    }
    return used;
}

#ifdef HAVE_TILES

/* Bytes as bfloat16s, without rounding. */
TILES_INLINE void store_bytes(bf16 *to, __m128i bytes) {
    const __m512 reals = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
    _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(reals), 16)));
}

/* The points of picture b: (row, column, plane, 4, 4). */
TILES_INLINE void read_picture(const TiledPictures *s, long b, bf16 *to) {
    const long wide = s->width / 4, channels = 16 * s->planes;
    for (long plane = 0; plane < s->planes; plane++) {
        const uint8_t *from = s->pictures + (b * s->planes + plane) * s->height * s->width;
        for (long row = 0; row < s->height / 4; row++, from += 4 * s->width)
            for (long next = 0; next < wide; next += 4) {
                const long column = next < wide - 4 ? next : wide - 4; /* the last four points overlap those before */
                __m128i r[4], low[2], high[2];
                for (int k = 0; k < 4; k++) r[k] = _mm_loadu_si128((const __m128i *)(from + k * s->width + 4 * column));
                for (int k = 0; k < 2; k++) {
                    low[k] = _mm_unpacklo_epi32(r[2 * k], r[2 * k + 1]);
                    high[k] = _mm_unpackhi_epi32(r[2 * k], r[2 * k + 1]);
                }
                bf16 *point = to + (row * wide + column) * channels + 16 * plane;
                store_bytes(point, _mm_unpacklo_epi64(low[0], low[1]));
                store_bytes(point + channels, _mm_unpackhi_epi64(low[0], low[1]));
                store_bytes(point + 2 * channels, _mm_unpacklo_epi64(high[0], high[1]));
                store_bytes(point + 3 * channels, _mm_unpackhi_epi64(high[0], high[1]));
            }
    }
}

/* The products of 32 points for 32 outputs, to sums (BLOCK, BLOCK): `rows` rows of the kernel with `depth` tiles each. `points`:
 * how many points are left; if fewer than 32, the other sums may be old. */
TILES_INLINE void convolve_32(Tiles *t, long points, const bf16 *in, long channels, long W, long rows, long depth,
                              const bf16 *weights, float *sums) {
    tiles_limit(t, points);
    tiles_zero(t);
    for (long row = 0; row < rows; row++, in += W * channels, weights += depth * 2 * NUMBERS)
        tiles_add(t, in, in + SIDE * channels, channels, DEEP, weights, depth);
    tiles_leave(t, sums, BLOCK, SIDE, SIDE * BLOCK);
    tiles_limit(t, BLOCK);
}

/* The products of 64 points for 16 outputs, to sums (GROUP_POINTS, SIDE): two rows of the kernel with `depth` tiles each. */
TILES_INLINE void convolve_64(Tiles *t, const bf16 *in, long channels, long W, long depth, const bf16 *weights, float *sums) {
    tiles_zero(t);
    for (long row = 0; row < 2; row++, in += W * channels, weights += depth * NUMBERS)
        tiles_add_tall(t, in, channels, weights, depth);
    tiles_leave(t, sums, SIDE, SIDE * SIDE, 2 * SIDE * SIDE);
}

/* ReLU of 16 sums and their biases. NaN stays NaN: the maximum is its second operand then. */
TILES_INLINE void activate(bf16 *to, const float *sums, const float *bias) {
    tiled_narrow(to, _mm512_max_ps(_mm512_setzero_ps(), _mm512_add_ps(_mm512_loadu_ps(sums), _mm512_loadu_ps(bias))));
}

/* Let the inputs of the second and third convolution of picture b lie where they are kept, if they are. */
TILES_INLINE void use_kept(const TiledPictures *s, const Geometry *g, PictureSpace *m, long b) {
    if (!s->kept) return;
    m->in[1] = s->kept + b * kept_numbers(s);
    m->in[2] = m->in[1] + kept_points(g, 1) * 4 * FIRST;
}

/* Zero the points of kept inputs that no output lies in; products read them. */
TILES_INLINE void clear_kept(const Geometry *g, const PictureSpace *m) {
    const long first = g->rows[0] / 2 * g->W[1], second = g->rows[1] * g->W[2];
    memset(m->in[1] + first * 4 * FIRST, 0, (kept_points(g, 1) - first) * 4 * FIRST * sizeof(bf16));
    memset(m->in[2] + second * CHANNELS, 0, (kept_points(g, 2) - second) * CHANNELS * sizeof(bf16));
}

/* The first two convolutions of the picture whose points are in m->in[0]. */
TILES_INLINE void early_layers(Tiles *t, const TiledPictures *s, const Geometry *g, const PictureSpace *m) {
    const long points = g->rows[1] * g->W[1];
    long y = 0, x = 0;
    for (long p = 0; p < g->rows[0] * g->W[0]; p += GROUP_POINTS) {
        convolve_64(t, m->in[0] + p * 16 * s->planes, 16 * s->planes, g->W[0], s->planes, s->weights[0], m->sums);
        for (long k = 0; k < GROUP_POINTS && y < g->rows[0]; k++) {
            if (x < g->columns[0]) activate(m->in[1] + place_of(g, y, x), m->sums + k * SIDE, s->bias);
            if (++x == g->W[0]) x = 0, y++;
        }
    }
    for (long p = 0; p < points; p += BLOCK) {
        convolve_32(t, points - p, m->in[1] + p * 4 * FIRST, 4 * FIRST, g->W[1], 2, 4, s->weights[1], m->sums);
        for (long k = 0; k < BLOCK && p + k < points; k++) {
            bf16 *to = m->in[2] + (p + k) * CHANNELS;
            activate(to, m->sums + k * BLOCK, s->bias + FIRST);
            activate(to + SIDE, m->sums + k * BLOCK + SIDE, s->bias + FIRST + SIDE);
        }
    }
}

/* The features of pictures `first` to `last` - 1. */
TILES static void tiled_pictures(const TiledPictures *s, long first, long last, char *memory) {
    const Geometry g = geometry(s);
    PictureSpace m;
    Tiles t;
    memset(memory, 0, picture_space(s, memory, &m));
    tiles_begin(&t, BLOCK);
    const long points = g.rows[2] * g.W[2];
    for (long b = first; b < last; b++) {
        use_kept(s, &g, &m, b);
        if (s->kept) clear_kept(&g, &m);
        read_picture(s, b, m.in[0]);
        early_layers(&t, s, &g, &m);
        bf16 *to = s->features + b * g.rows[2] * g.columns[2] * CHANNELS;
        long x = 0;
        for (long p = 0; p < points; p += BLOCK) {
            convolve_32(&t, points - p, m.in[2] + p * CHANNELS, CHANNELS, g.W[2], 3, 3, s->weights[2], m.sums);
            for (long k = 0; k < BLOCK && p + k < points; k++) {
                if (x < g.columns[2]) {
                    activate(to, m.sums + k * BLOCK, s->bias + FIRST + CHANNELS);
                    activate(to + SIDE, m.sums + k * BLOCK + SIDE, s->bias + FIRST + CHANNELS + SIDE);
                    to += CHANNELS;
                }
                if (++x == g.W[2]) x = 0;
            }
        }
    }
    tiles_end();
}

#else
static void tiled_pictures(const TiledPictures *s, long first, long last, char *memory) {}
#endif
#endif

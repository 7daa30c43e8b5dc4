/* Three convolutions over pictures of bytes in float32, and their gradient, on any CPU: the layers and the points of tiled.h,
 * without its packed tiles.
 *
 * A thread takes one picture after another through all layers, and all numbers of a picture stay in its caches. Every product is
 * one of 16 columns and ROWS rows, which are points, or the inputs of a weight's gradient: its sums stay in registers. They follow
 * the order of the depth, so a picture's features do not depend on the other pictures.
 */
#ifndef INSERTCOIN_PICTURES_H
#define INSERTCOIN_PICTURES_H

#include "lanes.h"
#include "points.h"

#define COLUMNS 16                   /* of a product */
#define PARTS (COLUMNS / LANES)      /* registers of a row's sums */
#define RUN_POINTS 48                /* points of a weight's gradient at a time: their numbers stay in the first cache */
#if LANES == 16
#define ROWS 16
#elif LANES == 8
#define ROWS 6
#else
#define ROWS 4
#endif

/* B pictures of some planes. `width` and `height` are 8k + 4 pixels, at least 36. */
typedef struct {
    long planes, height, width;
    const uint8_t *pictures;         /* (B, planes, height, width) */
    const float *weights[3];         /* of each convolution: (outputs / COLUMNS, inputs, COLUMNS) */
    const float *back[3];            /* of the gradients of the second and third one's inputs; backward only */
    const float *bias;               /* (FIRST + 2 CHANNELS,) */
    float *features;                 /* (B, rows, columns, CHANNELS): OUT; backward: IN */
    float *kept;                     /* (B, kept_numbers), OUT; backward: IN. NULL: computed again */
    const float *dfeatures;          /* the gradient; backward only */
} Pictures;

static Geometry geometry(const Pictures *s) { return geometry_of(s->height, s->width); }

/* Channels of the input and of the output of convolution k. */
ROW long inputs(const Pictures *s, long k) { return k == 0 ? 16 * s->planes : k == 1 ? 4 * FIRST : CHANNELS; }
ROW long outputs(long k) { return k == 0 ? FIRST : CHANNELS; }

/* A thread's memory. Numbers that no output lies in stay zero or finite: they are multiplied by zeros, or not used. */
typedef struct {
    float *in[3]; /* points of each convolution's input */
    float *d[3];  /* the gradient of each one's output, in points of its input's rows */
    float *sums;  /* of a layer's products */
} PictureSpace;

/* Points of the input of convolution k that products read, those of whole groups included. */
static long points_of(const Geometry *g, long k) { return (g->rows[k] + 3) * g->W[k] + ROWS + 3; }

/* Numbers of a picture that the forward pass keeps for the backward pass: the inputs of the second and third convolution. */
static long kept_numbers(const Pictures *s) {
    const Geometry g = geometry(s);
    return points_of(&g, 1) * inputs(s, 1) + points_of(&g, 2) * inputs(s, 2);
}

/* Bytes of a thread's memory; with `space`, sets its addresses from `at` on. */
static long picture_space(const Pictures *s, char *at, PictureSpace *space) {
    const Geometry g = geometry(s);
    long used = 0;
    for (int k = 0; k < 3; k++) {
        const long points = points_of(&g, k);
        if (space) {
            space->in[k] = (float *)at + used;
            /* the gradient of an input reads up to 2 rows and 2 points before the first */
            space->d[k] = (float *)at + used + points * inputs(s, k) + (2 * g.W[k] + 2) * outputs(k);
        }
        used += points * inputs(s, k) + (points + 2 * g.W[k] + 2) * outputs(k);
    }
    if (space) space->sums = (float *)at + used;
    for (int k = 0; k < 3; k++) used += points_of(&g, k) * (k == 1 ? 4 * FIRST : outputs(k));
    return used * sizeof(float);
}

/* out[r][c] = or += sum over k of a[r a_row + k a_step] b[k b_row + c], for `rows` rows, a constant, and 16 columns. */
ROW void multiply(const int rows, const float *a, long a_row, long a_step, const float *b, long b_row, long depth, int more,
                  float *out, long out_row) {
    reals sums[ROWS][PARTS];
    _Pragma("GCC unroll 16") for (int r = 0; r < rows; r++)
        _Pragma("GCC unroll 4") for (int c = 0; c < PARTS; c++)
            sums[r][c] = more ? *(const reals *)(out + r * out_row + c * LANES) : (reals){0};
    for (long k = 0; k < depth; k++, a += a_step, b += b_row)
        _Pragma("GCC unroll 16") for (int r = 0; r < rows; r++)
            _Pragma("GCC unroll 4") for (int c = 0; c < PARTS; c++)
                sums[r][c] += *(const reals *)(b + c * LANES) * a[r * a_row];
    _Pragma("GCC unroll 16") for (int r = 0; r < rows; r++)
        _Pragma("GCC unroll 4") for (int c = 0; c < PARTS; c++)
            *(reals *)(out + r * out_row + c * LANES) = sums[r][c];
}

static __attribute__((noinline)) void multiply_points(const float *a, long channels, const float *b, long depth, int more,
                                                      float *out, long columns) {
    multiply(ROWS, a, channels, 1, b, COLUMNS, depth, more, out, columns);
}

static __attribute__((noinline)) void multiply_inputs(const float *a, long channels, const float *b, long depth, float *out,
                                                      long columns) {
    multiply(ROWS, a, 1, channels, b, columns, depth, 1, out, columns);
}

static __attribute__((noinline)) void multiply_two_inputs(const float *a, long channels, const float *b, long depth, float *out,
                                                          long columns) {
    multiply(2, a, 1, channels, b, columns, depth, 1, out, columns);
}

/* The products of `points` points for `columns` outputs, to sums: `rows` rows of a kernel of `wide` points each. */
static void convolve(long points, const float *in, long channels, long W, long rows, long wide, const float *weights,
                     long columns, float *sums) {
    const long depth = wide * channels;
    for (long c = 0; c < columns; c += COLUMNS)
        for (long p = 0; p < points; p += ROWS)
            for (long row = 0; row < rows; row++)
                multiply_points(in + (p + row * W) * channels, channels, weights + (c * rows + row * COLUMNS) * depth, depth,
                                row > 0, sums + p * columns + c, columns);
}

/* Add the gradient of such a kernel to sums (rows * wide * channels, columns). d: the outputs' gradient, (points, columns). */
static void add_gradient(long points, const float *in, long channels, long W, long rows, long wide, const float *d,
                         long columns, float *sums) {
    const long depth = wide * channels;
    for (long p = 0; p < points; p += RUN_POINTS) {
        const long count = points - p < RUN_POINTS ? points - p : RUN_POINTS;
        for (long row = 0; row < rows; row++)
            for (long c = 0; c < columns; c += COLUMNS) {
                const float *a = in + (p + row * W) * channels, *b = d + p * columns + c;
                float *to = sums + row * depth * columns + c;
                long k = 0;
                for (; k + ROWS <= depth; k += ROWS) multiply_inputs(a + k, channels, b, count, to + k * columns, columns);
                for (; k < depth; k += 2) multiply_two_inputs(a + k, channels, b, count, to + k * columns, columns);
            }
    }
}

/* The points of picture b: (row, column, plane, 4, 4). */
static void read_picture(const Pictures *s, long b, float *restrict to) {
    const long wide = s->width / 4, channels = 16 * s->planes;
    for (long plane = 0; plane < s->planes; plane++) {
        const uint8_t *from = s->pictures + (b * s->planes + plane) * s->height * s->width;
        for (long y = 0; y < s->height; y++, from += s->width)
            for (long x = 0; x < wide; x++)
                for (long k = 0; k < 4; k++)
                    to[(y / 4 * wide + x) * channels + 16 * plane + y % 4 * 4 + k] = (float)from[4 * x + k];
    }
}

/* ReLU of n sums and their biases. NaN stays NaN. */
ROW void activate(float *to, const float *sums, const float *bias, const int n) {
    for (int k = 0; k < n; k += LANES) {
        const reals sum = *(const reals *)(sums + k) + *(const reals *)(bias + k);
        *(reals *)(to + k) = (reals)((masks)sum & ~(sum < 0.0f));
    }
}

/* Write n numbers of a gradient where the output is above 0, else zeros, and add them to a bias's gradient. */
ROW void mask_gradient(float *to, const float *gradient, const float *output, float *bias, const int n) {
    for (int k = 0; k < n; k += LANES) {
        const reals masked = (reals)(*(const masks *)(gradient + k) & (*(const reals *)(output + k) > 0.0f));
        *(reals *)(to + k) = masked;
        *(reals *)(bias + k) += masked;
    }
}

/* Let the inputs of the second and third convolution of picture b lie where they are kept, if they are. `clear`: zero the points
 * that no output lies in. */
static void use_kept(const Pictures *s, const Geometry *g, PictureSpace *m, long b, int clear) {
    if (!s->kept) return;
    const long first = points_of(g, 1) * inputs(s, 1), numbers = kept_numbers(s);
    m->in[1] = s->kept + b * numbers;
    m->in[2] = m->in[1] + first;
    if (!clear) return;
    const long used = g->rows[0] / 2 * g->W[1] * inputs(s, 1), more = g->rows[1] * g->W[2] * inputs(s, 2);
    memset(m->in[1] + used, 0, (first - used) * sizeof(float));
    memset(m->in[2] + more, 0, (numbers - first - more) * sizeof(float));
}

/* The first two convolutions of the picture whose points are in m->in[0]. */
static void early_layers(const Pictures *s, const Geometry *g, const PictureSpace *m) {
    convolve(g->rows[0] * g->W[0], m->in[0], inputs(s, 0), g->W[0], 2, 2, s->weights[0], FIRST, m->sums);
    for (long y = 0; y < g->rows[0]; y++)
        for (long x = 0; x < g->columns[0]; x++)
            activate(m->in[1] + place_of(g, y, x), m->sums + (y * g->W[0] + x) * FIRST, s->bias, FIRST);
    const long points = g->rows[1] * g->W[1];
    convolve(points, m->in[1], inputs(s, 1), g->W[1], 2, 2, s->weights[1], CHANNELS, m->sums);
    for (long p = 0; p < points; p++)
        activate(m->in[2] + p * CHANNELS, m->sums + p * CHANNELS, s->bias + FIRST, CHANNELS);
}

/* The features of pictures `first` to `last` - 1. */
static void pictures_forward(const Pictures *s, long first, long last, char *memory) {
    const Geometry g = geometry(s);
    PictureSpace m;
    memset(memory, 0, picture_space(s, memory, &m));
    for (long b = first; b < last; b++) {
        use_kept(s, &g, &m, b, 1);
        read_picture(s, b, m.in[0]);
        early_layers(s, &g, &m);
        convolve(g.rows[2] * g.W[2], m.in[2], CHANNELS, g.W[2], 3, 3, s->weights[2], CHANNELS, m.sums);
        float *to = s->features + b * g.rows[2] * g.columns[2] * CHANNELS;
        for (long y = 0; y < g.rows[2]; y++)
            for (long x = 0; x < g.columns[2]; x++, to += CHANNELS)
                activate(to, m.sums + (y * g.W[2] + x) * CHANNELS, s->bias + FIRST + CHANNELS, CHANNELS);
    }
}

/* Numbers of a sum of gradients: of the weights (inputs, outputs) of the three convolutions, then of the biases. */
static long pictures_gradient(long planes) {
    return 4 * 16 * planes * FIRST + 4 * 4 * FIRST * CHANNELS + 9 * CHANNELS * CHANNELS + FIRST + 2 * CHANNELS;
}

/* The gradients of the three convolutions' outputs, from that of the features of picture b, to m->d. */
static void gradients_of_outputs(const Pictures *s, const Geometry *g, const PictureSpace *m, long b, float *bias) {
    const long first = b * g->rows[2] * g->columns[2] * CHANNELS;
    const float *features = s->features + first, *dfeatures = s->dfeatures + first;
    for (long y = 0; y < g->rows[2]; y++)
        for (long x = 0; x < g->columns[2]; x++, features += CHANNELS, dfeatures += CHANNELS)
            mask_gradient(m->d[2] + (y * g->W[2] + x) * CHANNELS, dfeatures, features, bias + FIRST + CHANNELS, CHANNELS);
    /* each output of the second has a part in 3 x 3 of the third */
    convolve(g->rows[1] * g->W[1], m->d[2] - (2 * g->W[2] + 2) * CHANNELS, CHANNELS, g->W[2], 3, 3, s->back[2], CHANNELS, m->sums);
    for (long y = 0; y < g->rows[1]; y++)
        for (long x = 0; x < g->columns[1]; x++) {
            const long at = (y * g->W[1] + x) * CHANNELS;
            mask_gradient(m->d[1] + at, m->sums + at, m->in[2] + at, bias + FIRST, CHANNELS);
        }
    /* each point of the second one's input has four outputs of the first, and a part in 2 x 2 of the second */
    convolve(g->rows[0] / 2 * g->W[1], m->d[1] - (g->W[1] + 1) * CHANNELS, CHANNELS, g->W[1], 2, 2, s->back[1], 4 * FIRST, m->sums);
    for (long y = 0; y < g->rows[0]; y++)
        for (long x = 0; x < g->columns[0]; x++) {
            const long at = place_of(g, y, x);
            mask_gradient(m->d[0] + (y * g->W[0] + x) * FIRST, m->sums + at, m->in[1] + at, bias, FIRST);
        }
}

/* The gradients of the weights and biases, summed over pictures `first` to `last` - 1, to `sums`, as pictures_gradient says. */
static void pictures_backward(const Pictures *s, long first, long last, float *sums, char *memory) {
    const Geometry g = geometry(s);
    float *second = sums + 4 * 16 * s->planes * FIRST, *third = second + 4 * 4 * FIRST * CHANNELS;
    PictureSpace m;
    memset(memory, 0, picture_space(s, memory, &m));
    memset(sums, 0, pictures_gradient(s->planes) * sizeof(float));
    for (long b = first; b < last; b++) {
        use_kept(s, &g, &m, b, 0);
        read_picture(s, b, m.in[0]);
        if (!s->kept) early_layers(s, &g, &m);
        gradients_of_outputs(s, &g, &m, b, third + 9 * CHANNELS * CHANNELS);
        add_gradient(g.rows[2] * g.W[2], m.in[2], CHANNELS, g.W[2], 3, 3, m.d[2], CHANNELS, third);
        add_gradient(g.rows[1] * g.W[1], m.in[1], 4 * FIRST, g.W[1], 2, 2, m.d[1], CHANNELS, second);
        add_gradient(g.rows[0] * g.W[0], m.in[0], 16 * s->planes, g.W[0], 2, 2, m.d[0], FIRST, sums);
    }
}

#endif

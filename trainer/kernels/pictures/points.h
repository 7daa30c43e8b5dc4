/* The points of the convolutions over pictures, which both versions number alike: see tiled.h. */
#ifndef INSERTCOIN_POINTS_H
#define INSERTCOIN_POINTS_H

#include "rows.h"

#define FIRST 16    /* channels of the first convolution */
#define CHANNELS 32 /* of the second and the third */

/* Sizes in points: of each convolution's input, W columns a row; of its output, rows and columns. */
typedef struct {
    long W[3], rows[3], columns[3];
} Geometry;

/* Those of pictures of 8k + 4 pixels a side. */
static Geometry geometry_of(long height, long width) {
    const long high = height / 4, wide = width / 4; /* both odd */
    Geometry g = {{wide, wide / 2, wide / 2}, {high - 1, high / 2 - 1, high / 2 - 3}, {wide - 1, wide / 2 - 1, wide / 2 - 3}};
    return g;
}

/* Where the second convolution reads the first one's output (y, x): numbers from the first point on. */
ROW long place_of(const Geometry *g, long y, long x) {
    return ((y / 2 * g->W[1] + x / 2) * 4 + (y % 2 * 2 + x % 2)) * FIRST;
}

#endif

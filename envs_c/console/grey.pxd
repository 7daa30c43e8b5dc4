"""Small grey pictures, equal byte for byte to those of `ale_py.AtariVectorEnv`: OpenCV's INTER_AREA in float32.

A pixel of the small picture covers `scale` pixels of the screen in each direction. Its value is the mean of the grey below,
in which a partly covered pixel counts by its part. Parts smaller than a thousandth are left out. The weights are divided in
float64 and kept as float32. All sums are float32, in order: first the columns of each row from left to right, then the rows
from top to bottom. The result is rounded to the nearest integer, halves to the even one.

A picture of two frames has in each pixel of the screen the brighter of the two.
"""

from libc.math cimport ceil, floor
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcmp, memcpy

from envs_c.screen cimport SMALL, Canvas, canvas_row


cdef enum:
    COLUMNS = 160
    MOST = 4              # screen pixels below a small pixel, in one direction
    PADDED = COLUMNS + MOST


ctypedef struct Axis:
    # One direction: small pixel k is the sum of weight[j][k] * screen pixel first[k] + j.
    int[SMALL] first
    float[MOST][SMALL] weight


cdef inline void make_axis(Axis* axis, int length) noexcept nogil:
    """The weights for `length` screen pixels."""
    cdef double scale = <double>length / SMALL, low, high, cell
    cdef int k, j, start, stop, pixel
    for k in range(SMALL):
        low = k * scale
        high = low + scale
        cell = min(scale, length - low)
        stop = min(<int>floor(high), length - 1)
        start = min(<int>ceil(low), stop)
        for j in range(MOST):
            axis.weight[j][k] = 0.0
        pixel = axis.first[k] = start - 1 if start - low > 1e-3 else start
        if pixel < start:
            axis.weight[0][k] = <float>((start - low) / cell)
        for j in range(start, stop):
            axis.weight[j - pixel][k] = <float>(1.0 / cell)
        if high - stop > 1e-3:
            axis.weight[stop - pixel][k] = <float>(min(min(high - stop, 1.0), cell) / cell)


cdef inline void narrow_row(const float* screen, const Axis* x, float* out) noexcept nogil:
    """One row of the screen as SMALL columns. screen: (PADDED,), out: (SMALL,)."""
    cdef int k
    cdef const float* at
    for k in range(SMALL):
        at = screen + x.first[k]
        out[k] = at[0] * x.weight[0][k] + at[1] * x.weight[1][k] + at[2] * x.weight[2][k]


cdef inline void brighter_row(const uint8_t* row, const float* greys, const uint8_t* other, const float* other_greys,
                              float* out) noexcept nogil:
    """The greys of one row, or the brighter ones of two. row, other: (COLUMNS,) colours; other may be NULL."""
    cdef int k
    cdef float grey
    for k in range(COLUMNS):
        out[k] = greys[row[k]]
    if other != NULL:
        for k in range(COLUMNS):
            grey = other_greys[other[k]]
            out[k] = grey if grey > out[k] else out[k]


cdef inline void small_rows(const float* narrow, const int* kept, const Axis* y, Canvas* canvas) noexcept nogil:
    """All rows of the small picture. narrow: rows of SMALL; kept: the one of each row of the screen."""
    cdef float[SMALL] sums
    cdef float weight
    cdef const float* row
    cdef uint8_t* out
    cdef uint32_t[SMALL] bits
    cdef int k, line, j
    for line in range(SMALL):
        row = narrow + kept[y.first[line]] * SMALL
        for k in range(SMALL):
            sums[k] = y.weight[0][line] * row[k]
        for j in range(1, MOST):
            weight = y.weight[j][line]
            if weight == 0.0:
                break
            row = narrow + kept[y.first[line] + j] * SMALL
            for k in range(SMALL):
                sums[k] += weight * row[k]
        for k in range(SMALL):
            sums[k] += 12582912.0  # 3 << 22: leaves the nearest integer in the low bits
        memcpy(bits, sums, sizeof(sums))
        out = canvas_row(canvas, line)
        for k in range(SMALL):
            out[k] = <uint8_t>bits[k]


cdef inline void shrink_frames(const uint8_t* frame, const float* greys, const uint8_t* other, const float* other_greys,
                               int height, const Axis* x, const Axis* y, float* narrow, int* kept,
                               Canvas* canvas) noexcept nogil:
    """Write the small picture of one frame, or of the brighter pixels of two, to a grey canvas.

    frame, other: (height, COLUMNS) colours of the last frame and of the one before; other may be NULL.
    greys, other_greys: (256,) the greys of the colours.
    narrow, kept: (height, SMALL) and (height,), working memory.
    """
    cdef float[PADDED] row
    cdef int line, count = 0
    cdef const uint8_t* mine
    cdef const uint8_t* theirs = NULL
    for line in range(COLUMNS, PADDED):
        row[line] = 0.0
    for line in range(height):
        mine = frame + line * COLUMNS
        if other != NULL:
            theirs = other + line * COLUMNS
        if line > 0 and memcmp(mine, mine - COLUMNS, COLUMNS) == 0 and (
                theirs == NULL or memcmp(theirs, theirs - COLUMNS, COLUMNS) == 0):
            kept[line] = count - 1
            continue
        if theirs != NULL and greys == other_greys and memcmp(mine, theirs, COLUMNS) == 0:
            theirs = NULL
        brighter_row(mine, greys, theirs, other_greys, row)
        narrow_row(row, x, narrow + count * SMALL)
        kept[line] = count
        count += 1
    small_rows(narrow, kept, y, canvas)

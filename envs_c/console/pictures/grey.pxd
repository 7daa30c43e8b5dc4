"""Small grey pictures, equal byte for byte to those of `ale_py.AtariVectorEnv`: OpenCV's INTER_AREA in float32.

A pixel of the small picture covers `scale` pixels of the screen in each direction. Its value is the mean of the grey below,
in which a partly covered pixel counts by its part. Parts smaller than a thousandth are left out. The weights are divided in
float64 and kept as float32. All sums are float32, in order: first the columns of each row from left to right, then the rows
from top to bottom. The result is rounded to the nearest integer, halves to the even one.

A picture of two frames has in each pixel of the screen the brighter of the two.
"""

from libc.math cimport ceil, floor
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy, memset

from envs_c.console.tia.lines cimport Painter
from envs_c.screen cimport SMALL, Canvas, canvas_row


cdef enum:
    COLUMNS = 160
    MOST = 4              # screen pixels below a small pixel, in one direction


cdef extern from *:
    """
    /* The brighter pixels of two rows of the screen as 84 columns: column k is the sum of weight[84 * j + k] times the pixel
       first[k] + j, j = 0, 1, 2, in float32 and in this order. take: as in Axis. The rows can be read to 16 bytes after the
       first pixel of a column. */
    #if defined(__SSSE3__)
    #include <immintrin.h>
    #define CONSOLE_PART(k) _mm_max_epu8(_mm_loadu_si128((const __m128i *)(row + first[k])), \
        _mm_loadu_si128((const __m128i *)(other + first[k])))
    #define CONSOLE_TAP(j) _mm_mul_ps(_mm_loadu_ps(weight + 84 * (j) + k), _mm_cvtepi32_ps(_mm_shuffle_epi8(pixels, \
        _mm_loadu_si128((const __m128i *)(take + 336 * (j) + 4 * k)))))
    #define CONSOLE_TAPS(j) _mm512_mul_ps(_mm512_loadu_ps(weight + 84 * (j) + k), _mm512_cvtepi32_ps( \
        _mm512_shuffle_epi8(pixels, _mm512_loadu_si512(take + 336 * (j) + 4 * k))))
    static inline void grey_narrow(const uint8_t *row, const uint8_t *other, const int *first, const float *weight,
                                   const uint8_t *take, float *out) {
        int k = 0;
    #if defined(__AVX512BW__) && defined(__AVX512DQ__)
        for (; k + 16 <= 84; k += 16) {
            __m512i pixels = _mm512_castsi128_si512(CONSOLE_PART(k));
            pixels = _mm512_inserti64x2(pixels, CONSOLE_PART(k + 4), 1);
            pixels = _mm512_inserti64x2(pixels, CONSOLE_PART(k + 8), 2);
            pixels = _mm512_inserti64x2(pixels, CONSOLE_PART(k + 12), 3);
            _mm512_storeu_ps(out + k, _mm512_add_ps(_mm512_add_ps(CONSOLE_TAPS(0), CONSOLE_TAPS(1)), CONSOLE_TAPS(2)));
        }
    #endif
        for (; k < 84; k += 4) {
            __m128i pixels = CONSOLE_PART(k);
            _mm_storeu_ps(out + k, _mm_add_ps(_mm_add_ps(CONSOLE_TAP(0), CONSOLE_TAP(1)), CONSOLE_TAP(2)));
        }
    }
    #else
    static inline int grey_brighter(int pixel, int other) { return pixel > other ? pixel : other; }
    static inline void grey_narrow(const uint8_t *row, const uint8_t *other, const int *first, const float *weight,
                                   const uint8_t *take, float *out) {
        for (int k = 0; k < 84; k++) {
            const uint8_t *a = row + first[k], *b = other + first[k];
            out[k] = grey_brighter(a[0], b[0]) * weight[k] + grey_brighter(a[1], b[1]) * weight[84 + k]
                + grey_brighter(a[2], b[2]) * weight[168 + k];
        }
    }
    #endif
    """
    void grey_narrow(const uint8_t* row, const uint8_t* other, const int* first, const float* weight, const uint8_t* take,
                     float* out) noexcept nogil


ctypedef struct Axis:
    # One direction: small pixel k is the sum of weight[j][k] * screen pixel first[k] + j.
    int[SMALL] first
    float[MOST][SMALL] weight
    uint8_t[3][4 * SMALL] take  # of each four small pixels: where each finds its pixel j after the first one's; 128: zero


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
    for j in range(3):
        memset(axis.take[j], 128, 4 * SMALL)
        for k in range(SMALL):
            axis.take[j][4 * k] = <uint8_t>(axis.first[k] - axis.first[k & ~3] + j)


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


cdef inline void shrink_frames(const Painter* frame, const Painter* other, int height, const Axis* x, const Axis* y,
                               float* narrow, int* kept, Canvas* canvas) noexcept nogil:
    """Write the small picture of one frame, or of the brighter pixels of two, to a grey canvas.

    frame, other: pictures in grey of the last frame and of the one before; other may be NULL.
    height: their lines.
    narrow, kept: (height, SMALL) and (height,), working memory.
    """
    cdef const Painter* before = other if other != NULL else frame
    cdef int line, count = 0, mine, theirs, mine_before = -1, theirs_before = -1
    for line in range(height):
        mine, theirs = frame.kept[line], before.kept[line]
        if mine != mine_before or theirs != theirs_before:
            grey_narrow(frame.pixels + mine * COLUMNS, before.pixels + theirs * COLUMNS, x.first, &x.weight[0][0],
                        &x.take[0][0], narrow + count * SMALL)
            count += 1
            mine_before, theirs_before = mine, theirs
        kept[line] = count - 1
    small_rows(narrow, kept, y, canvas)

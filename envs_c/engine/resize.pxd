"""Pictures of any size: the mean of the screen area below each pixel, as OpenCV's INTER_AREA computes it.

All is done in integers. One direction with `length` screen pixels and `small` picture pixels is divided into units of their
largest common part: a screen pixel has small / gcd units, a picture pixel length / gcd.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset


cdef inline int common_factor(int a, int b) noexcept nogil:
    while b:
        a, b = b, a % b
    return a


cdef inline void shrink_row(const uint8_t* pixels, int length, int small, int channels, int32_t* sums) noexcept nogil:
    """The sums of value * units of a picture row's pixels, from one row of the screen.

    pixels: (length, channels).
    sums: (small, channels).
    """
    cdef int factor = common_factor(length, small)
    cdef int cell = length // factor, unit = small // factor
    cdef int k, channel, pixel = 0, rest = unit, left, part  # rest: units of the screen pixel that are not yet used
    memset(sums, 0, small * channels * sizeof(int32_t))
    for k in range(small):
        left = cell
        while left > 0:
            part = min(left, rest)
            for channel in range(channels):
                sums[k * channels + channel] += part * pixels[pixel * channels + channel]
            left -= part
            rest -= part
            if rest == 0:
                pixel += 1
                rest = unit


cdef inline void shrink(const uint8_t* pixels, int height, int width, int channels, int small_height, int small_width,
                        int64_t* sums, int32_t* row_sums, uint8_t* out) noexcept nogil:
    """Make a picture of another size; each value is rounded to nearest, halves up.

    pixels: (height, width, channels).
    sums, row_sums: (small_width, channels), working memory.
    out: (small_height, small_width, channels).
    """
    cdef int factor = common_factor(height, small_height)
    cdef int cell = height // factor, unit = small_height // factor
    cdef int count = small_width * channels
    cdef int64_t area = <int64_t>cell * (width // common_factor(width, small_width))
    cdef int row, k, y = 0, rest = unit, left, part
    shrink_row(pixels, width, small_width, channels, row_sums)
    for row in range(small_height):
        memset(sums, 0, count * sizeof(int64_t))
        left = cell
        while left > 0:
            part = min(left, rest)
            for k in range(count):
                sums[k] += <int64_t>part * row_sums[k]
            left -= part
            rest -= part
            if rest == 0:
                rest = unit
                y += 1
                if y < height:
                    shrink_row(pixels + <size_t>y * width * channels, width, small_width, channels, row_sums)
        for k in range(count):
            out[<size_t>row * count + k] = <uint8_t>((2 * sums[k] + area) // (2 * area))

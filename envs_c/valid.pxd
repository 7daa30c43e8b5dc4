"""Checks of ranges, for a game's `valid` function (see game.pxd)."""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t


ctypedef fused Integer:
    int8_t
    int16_t
    int32_t
    int64_t
    uint8_t
    uint16_t
    uint32_t


ctypedef fused Real:
    float
    double


cdef inline bint between(int64_t value, int64_t low, int64_t high) noexcept nogil:
    """True if low <= value <= high."""
    return low <= value <= high


cdef inline bint all_between(const Integer* values, int count, int64_t low, int64_t high) noexcept nogil:
    """True if low <= value <= high for each of `count` integers."""
    cdef int i
    for i in range(count):
        if not low <= <int64_t>values[i] <= high:
            return False
    return True


cdef inline bint finite_between(double value, double low, double high) noexcept nogil:
    """True if low <= value <= high, for finite bounds; False for NaN."""
    return low <= value <= high


cdef inline bint all_finite_between(const Real* values, int count, double low, double high) noexcept nogil:
    """True if low <= value <= high for each of `count` numbers; False if one is NaN."""
    cdef int i
    for i in range(count):
        if not low <= values[i] <= high:
            return False
    return True

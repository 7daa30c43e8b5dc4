"""The kernels of continuous actions on the CPU: the rows of rows.h, shared among as many OpenMP threads as torch has.

The functions take torch tensors, first the inputs, then the outputs. gaussian.py has checked their shapes, dtypes and strides.
"""

from cython.parallel cimport prange
from libc.stdint cimport uint32_t, uint64_t

import torch


cdef extern from "rows.h" nogil:
    void row_gaussian_sample(const float* mean, const float* log_deviation, int n, uint64_t seed, uint32_t environment,
                             uint64_t step, float* action, float* log_prob)
    void row_gaussian(const float* mean, const float* log_deviation, const float* action, int n, float* log_prob,
                      float* entropy)
    void row_gaussian_backward(const float* mean, const float* log_deviation, const float* action, int n, float dlog_prob,
                               float dentropy, float* dmean, float* dlog_deviation)


ctypedef float* floats


cdef floats reals(tensor) except? NULL:
    """The address of a float32 tensor's numbers; NULL for None."""
    return NULL if tensor is None else <floats><size_t>tensor.data_ptr()


def gaussian_sample(mean, log_deviation, uint64_t seed, uint32_t first, step, action, log_prob, value):
    """`reference.gaussian_sample`, into action, log_prob and, unless it is None, value."""
    cdef int k, rows = mean.shape[0], n = log_deviation.shape[0], threads = torch.get_num_threads()
    cdef size_t width = mean.shape[1]
    cdef uint64_t at = int(step)
    cdef floats means = reals(mean), widths = reals(log_deviation), chosen = reals(action), chances = reals(log_prob)
    cdef floats values = reals(value)
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_gaussian_sample(means + k * width, widths, n, seed, first + k, at, chosen + <size_t>k * n, chances + k)
            if values != NULL:
                values[k] = means[k * width + n]


def gaussian(mean, log_deviation, action, log_prob, entropy):
    """`reference.gaussian` of rows at a distance of mean.stride(0), into log_prob and entropy."""
    cdef int k, rows = mean.shape[0], n = mean.shape[1], threads = torch.get_num_threads()
    cdef size_t stride = mean.stride(0)
    cdef floats means = reals(mean), widths = reals(log_deviation), chosen = reals(action), chances = reals(log_prob)
    cdef floats entropies = reals(entropy)
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_gaussian(means + k * stride, widths, chosen + <size_t>k * n, n, chances + k, entropies + k)


def gaussian_backward(mean, log_deviation, action, dlog_prob, dentropy, dmean, dlog_deviation):
    """The gradient of `gaussian`, into dmean and dlog_deviation (contiguous rows)."""
    cdef int k, rows = mean.shape[0], n = mean.shape[1], threads = torch.get_num_threads()
    cdef size_t stride = mean.stride(0)
    cdef floats means = reals(mean), widths = reals(log_deviation), chosen = reals(action), dchances = reals(dlog_prob)
    cdef floats dentropies = reals(dentropy), dmeans = reals(dmean), dwidths = reals(dlog_deviation)
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_gaussian_backward(means + k * stride, widths, chosen + <size_t>k * n, n, dchances[k], dentropies[k],
                                  dmeans + <size_t>k * n, dwidths + <size_t>k * n)

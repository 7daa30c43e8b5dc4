"""The kernels of actions on the CPU: the rows of distributions.h, shared among as many OpenMP threads as torch has.

The functions take torch tensors, first the inputs, then the outputs. Their callers have checked shapes, dtypes and strides.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, uint32_t, uint64_t

import torch

include "../shared/addresses.pxi"


cdef extern from "distributions.h" nogil:
    int row_may_hold(uint64_t hold, const float* held, long long k)
    uint32_t row_random(uint64_t seed, uint32_t environment, uint64_t step, uint64_t kept, int may)
    int row_sample(const float* logits, const uint8_t* action_mask, int actions, uint32_t random, float* log_prob)
    void row_categorical(const float* logits, const uint8_t* action_mask, int actions, int action, float* log_prob,
                         float* entropy)
    void row_categorical_backward(const float* logits, const uint8_t* action_mask, int actions, int action, float dlog_prob,
                                  float dentropy, float* dlogits)
    void row_gaussian_sample(const float* mean, const float* log_deviation, int n, uint64_t seed, uint32_t environment,
                             uint64_t step, uint64_t kept, int may, float* action, float* log_prob)
    void row_gaussian(const float* mean, const float* log_deviation, const float* action, int n, float* log_prob,
                      float* entropy)
    void row_gaussian_backward(const float* mean, const float* log_deviation, const float* action, int n, float dlog_prob,
                               float dentropy, float* dmean, float* dlog_deviation)


def sample(logits, action_mask, uint64_t seed, uint32_t first, step, int actions, uint64_t hold, held, action, log_prob, value):
    """`reference.sample`, into action, log_prob and, unless it is None, value."""
    cdef int k, rows = logits.shape[0], threads = torch.get_num_threads()
    cdef size_t width = logits.shape[1]
    cdef uint64_t at = int(step), kept = at // hold
    cdef floats numbers = reals(logits), chances = reals(log_prob), values = reals(value), flags = reals(held)
    cdef uint8_t* masks = bytes_of(action_mask)
    cdef int32_t* chosen = <int32_t*><size_t>action.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            chosen[k] = row_sample(numbers + k * width, NULL if masks == NULL else masks + <size_t>k * actions, actions,
                                   row_random(seed, first + k, at, kept, row_may_hold(hold, flags, k)), chances + k)
            if values != NULL:
                values[k] = numbers[k * width + actions]


def categorical(logits, action_mask, action, log_prob, entropy):
    """`reference.categorical` of rows at a distance of logits.stride(0), into log_prob and entropy."""
    cdef int k, rows = logits.shape[0], actions = logits.shape[1], threads = torch.get_num_threads()
    cdef size_t stride = logits.stride(0)
    cdef floats numbers = reals(logits), chances = reals(log_prob), entropies = reals(entropy)
    cdef uint8_t* masks = bytes_of(action_mask)
    cdef int32_t* chosen = <int32_t*><size_t>action.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_categorical(numbers + k * stride, NULL if masks == NULL else masks + <size_t>k * actions, actions, chosen[k],
                            chances + k, entropies + k)


def categorical_backward(logits, action_mask, action, dlog_prob, dentropy, dlogits):
    """The gradient of `categorical`, into dlogits (contiguous rows)."""
    cdef int k, rows = logits.shape[0], actions = logits.shape[1], threads = torch.get_num_threads()
    cdef size_t stride = logits.stride(0)
    cdef floats numbers = reals(logits), dchances = reals(dlog_prob), dentropies = reals(dentropy)
    cdef floats gradient = reals(dlogits)
    cdef uint8_t* masks = bytes_of(action_mask)
    cdef int32_t* chosen = <int32_t*><size_t>action.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_categorical_backward(numbers + k * stride, NULL if masks == NULL else masks + <size_t>k * actions, actions,
                                     chosen[k], dchances[k], dentropies[k], gradient + <size_t>k * actions)


def gaussian_sample(mean, log_deviation, uint64_t seed, uint32_t first, step, uint64_t hold, held, action, log_prob, value):
    """`reference.gaussian_sample`, into action, log_prob and, unless it is None, value."""
    cdef int k, rows = mean.shape[0], n = log_deviation.shape[0], threads = torch.get_num_threads()
    cdef size_t width = mean.shape[1]
    cdef uint64_t at = int(step), kept = at // hold
    cdef floats means = reals(mean), widths = reals(log_deviation), chosen = reals(action), chances = reals(log_prob)
    cdef floats values = reals(value), flags = reals(held)
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_gaussian_sample(means + k * width, widths, n, seed, first + k, at, kept, row_may_hold(hold, flags, k),
                                chosen + <size_t>k * n, chances + k)
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

"""A minibatch of sequences on the CPU, taken out of a rollout, and its loss; shared among as many OpenMP threads as torch has.

minibatch.py has checked the tensors. A thread takes whole steps, and sums over steps are added in their order: the bits do not
depend on the number of threads.
"""

from cython.parallel cimport prange
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy

import torch


cdef extern from "row.h" nogil:
    ctypedef struct LossSettings:
        float clip, value_clip, value_coef, entropy_coef, scale
        float count, mean, deviation


cdef extern from "cpu.h" nogil:
    ctypedef struct Loss:
        long steps, environments, sequences, actions
        const int64_t* numbers
        const float* out
        const uint8_t* action_mask
        const int32_t* action
        const float* log_prob
        const float* value
        const float* advantage
        const float* value_error
        const float* terminated
        const float* truncated
        const float* weight
        LossSettings settings
        float* dout
        float* ratios
    void loss_statistics(const Loss* s, long t, double mean, double* sums)
    void loss_step(const Loss* s, long t, double* sums)


cdef size_t address(tensor) except? 0:
    """The address of a tensor's numbers; 0 for None."""
    return 0 if tensor is None else tensor.data_ptr()


cdef void add_up(const double* sums, long steps, long width, double* total) noexcept nogil:
    """The sums over the rows of `sums` (steps, width), to total (width,)."""
    cdef long t, k
    for k in range(width):
        total[k] = 0
        for t in range(steps):
            total[k] += sums[t * width + k]


cdef void measure(Loss* s, double* sums, int threads) noexcept nogil:
    """The statistics of this minibatch's advantages, to its settings. sums: memory for 3 numbers of each step."""
    cdef long t, _turn
    cdef double total[3]
    cdef double mean = 0, count = 1
    for _turn in range(2):  # the mean, then the squares of the differences from it
        for t in prange(s.steps, schedule="static", num_threads=threads):
            loss_statistics(s, t, mean, sums + 3 * t)
        add_up(sums, s.steps, 3, total)
        count = max(total[0], 1.0)
        mean += total[1] / count
    s.settings.count, s.settings.mean = <float>count, <float>mean
    s.settings.deviation = <float>sqrt(total[2] / count) + <float>1e-8


def ppo_loss(out, stored, numbers, statistics, weight, float entropy_coef, float clip, float value_clip, float value_coef,
             float scale, dout, parts, ratios):
    """The gradient by `out`, to dout, and the losses and diagnostics, to parts (5,).

    statistics: (3,) float32, as in `reference.gradient`; None for those of this minibatch.
    """
    cdef Loss s
    cdef long t, k
    cdef int threads = torch.get_num_threads()
    action_mask, action, log_prob, value, advantage, value_error, terminated, truncated = stored
    s.steps, s.sequences, s.actions, s.environments = out.shape[0], out.shape[1], out.shape[2] - 1, action.shape[1]
    s.numbers, s.out = <const int64_t*>address(numbers), <const float*>address(out)
    s.action_mask = <const uint8_t*>address(action_mask)
    s.action, s.log_prob = <const int32_t*>address(action), <const float*>address(log_prob)
    s.value, s.advantage = <const float*>address(value), <const float*>address(advantage)
    s.value_error = <const float*>address(value_error)
    s.terminated, s.truncated = <const float*>address(terminated), <const float*>address(truncated)
    s.weight, s.dout, s.ratios = <const float*>address(weight), <float*>address(dout), <float*>address(ratios)
    s.settings.clip, s.settings.value_clip, s.settings.value_coef = clip, value_clip, value_coef
    s.settings.entropy_coef, s.settings.scale = entropy_coef, scale
    rows = torch.empty(s.steps, 5, dtype=torch.float64)
    cdef double* sums = <double*>address(rows)
    cdef double total[5]
    cdef float* to = <float*>address(parts)
    if statistics is None:
        with nogil:
            measure(&s, sums, threads)
    else:
        s.settings.count, s.settings.mean, s.settings.deviation = statistics.tolist()
        s.settings.deviation = <float>sqrt(s.settings.deviation) + <float>1e-8
    with nogil:
        for t in prange(s.steps, schedule="static", num_threads=threads):
            loss_step(&s, t, sums + 5 * t)
        add_up(sums, s.steps, 5, total)
        for k in range(5):
            to[k] = <float>total[k]


def take(stored, numbers, out):
    """The columns `numbers` (S,) of stored (T, N, ...), to out (T, S, ...)."""
    cdef long steps = stored.shape[0], columns = stored.shape[1], sequences = numbers.shape[0], t, k
    cdef size_t size = out.nbytes // (steps * sequences)
    cdef const int64_t* number = <const int64_t*>address(numbers)
    cdef const char* source = <const char*>address(stored)
    cdef char* to = <char*>address(out)
    cdef int threads = torch.get_num_threads()
    for k in range(sequences):
        if not 0 <= number[k] < columns:
            raise IndexError(f"numbers[{k}] is {number[k]}; there are columns 0 to {columns - 1}")
    for t in prange(steps, schedule="static", num_threads=threads, nogil=True):
        for k in range(sequences):
            memcpy(to + (t * sequences + k) * size, source + (t * columns + number[k]) * size, size)

"""Minimal gated recurrent units on the CPU: all steps of some environments by each of as many OpenMP threads as torch has.

The functions take torch tensors, first the inputs, then the outputs. Their callers have checked shapes, dtypes and strides.
"""

from cython.parallel cimport prange, threadid

import torch

include "../shared/addresses.pxi"


cdef enum:
    GROUP = 16  # environments that go through the steps together: their states stay in the first cache


cdef extern from "cpu.h" nogil:
    ctypedef struct Units:
        long steps, batch, units, state_apart, apart
        const void* product
        const float* bias
        const float* keep
        const float* state
        const float* x
        float* states
        float* hidden
        const float* dout
        void* dproduct
        float* dx
    void mingru_f32_forward(const Units* s, long first, long rows)
    void mingru_bf16_forward(const Units* s, long first, long rows)
    void mingru_f32_backward(const Units* s, long first, long rows, float* space)
    void mingru_bf16_backward(const Units* s, long first, long rows, float* space)


cdef Units describe(product, bias, keep, state, x, states) except *:
    """The fields that both passes use."""
    cdef Units s
    s.steps, s.batch, s.units = states.shape[0], states.shape[1], states.shape[2]
    s.state_apart, s.apart = state.stride(0), states.stride(1)
    s.product, s.bias, s.keep = address(product), <float*>address(bias), <float*>address(keep)
    s.state, s.x, s.states = <float*>address(state), <float*>address(x), <float*>address(states)
    return s


cdef long environments_together(long batch, int threads) noexcept nogil:
    """Number of environments of a group: at most GROUP, and equal shares for the threads."""
    return max(1, min(GROUP, (batch + threads - 1) // threads))


def mingru(product, bias, keep, state, x, states, hidden):
    """`reference.mingru`, into states and hidden (None without x)."""
    cdef Units s = describe(product, bias, keep, state, x, states)
    cdef int threads = torch.get_num_threads()
    cdef bint half = product.dtype == torch.bfloat16
    cdef long k, rows = environments_together(s.batch, threads)
    s.hidden = <float*>address(hidden)
    with nogil:
        for k in prange((s.batch + rows - 1) // rows, schedule="static", num_threads=threads):
            if half:
                mingru_bf16_forward(&s, k * rows, min(rows, s.batch - k * rows))
            else:
                mingru_f32_forward(&s, k * rows, min(rows, s.batch - k * rows))


def mingru_backward(product, bias, keep, state, states, x, dout, dproduct, dx):
    """`reference.mingru_backward`, into dproduct and dx (None without x)."""
    cdef Units s = describe(product, bias, keep, state, x, states)
    cdef int threads = torch.get_num_threads()
    cdef bint half = product.dtype == torch.bfloat16
    cdef long k, rows = environments_together(s.batch, threads), room = (rows + 1) * s.units
    spaces = torch.empty(threads * room)
    cdef float* space = <float*>address(spaces)
    s.dout, s.dproduct, s.dx = <float*>address(dout), address(dproduct), <float*>address(dx)
    with nogil:
        for k in prange((s.batch + rows - 1) // rows, schedule="static", num_threads=threads):
            if half:
                mingru_bf16_backward(&s, k * rows, min(rows, s.batch - k * rows), space + threadid() * room)
            else:
                mingru_f32_backward(&s, k * rows, min(rows, s.batch - k * rows), space + threadid() * room)

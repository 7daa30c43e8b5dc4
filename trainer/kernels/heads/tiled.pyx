"""A policy's last layer on hidden states in bfloat16, shared among as many OpenMP threads as torch has."""

from cython.parallel cimport prange

import torch

include "../shared/tiles.pxi"


cdef extern from "tiled.h" nogil:
    ctypedef struct TiledHeads:
        long rows, units, outputs
        const bf16* hidden
        const float* weight
        const float* bias
        float* out
        bf16* dhidden
    const long CHUNK
    void tiled_heads(const TiledHeads* s, long first, long last)
    void tiled_heads_backward(const TiledHeads* s, long first, long last, float* sums)


ROWS = CHUNK  # of a part in heads_backward


cdef void describe_heads(TiledHeads* s, hidden, weight, bias, out, dhidden) except *:
    """Set the fields of `s`."""
    s.rows, s.units, s.outputs = hidden.shape[0], hidden.shape[1], weight.shape[0]
    s.hidden, s.weight, s.bias, s.out, s.dhidden = bf16s(hidden), reals(weight), reals(bias), reals(out), bf16s(dhidden)


def heads(hidden, weight, bias, out):
    """hidden (B, n) times weight (O, n) transposed, plus bias (O,), to out (B, O)."""
    cdef TiledHeads s
    cdef int threads = torch.get_num_threads()
    cdef long k, rows = hidden.shape[0], share = (rows + threads - 1) // threads
    describe_heads(&s, hidden, weight, bias, out, None)
    with nogil:
        for k in prange(threads, schedule="static", num_threads=threads):
            tiled_heads(&s, min(rows, k * share), min(rows, (k + 1) * share))


def heads_backward(hidden, weight, dout, dhidden, sums):
    """The gradient of `heads` by hidden, to dhidden; by weight and bias, in parts to sums (ceil(B / CHUNK), O * (n + 1))."""
    cdef TiledHeads s
    cdef int threads = torch.get_num_threads()
    cdef long k, rows = hidden.shape[0], chunks = sums.shape[0], numbers = sums.shape[1]
    cdef floats parts = reals(sums)
    describe_heads(&s, hidden, weight, weight, dout, dhidden)
    with nogil:
        for k in prange(chunks, schedule="static", num_threads=threads):
            tiled_heads_backward(&s, k * CHUNK, min(rows, (k + 1) * CHUNK), parts + k * numbers)

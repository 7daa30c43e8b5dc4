"""An LSTM in bfloat16 in tiles, shared among as many OpenMP threads as torch has.

tiles.py has checked the tensors. A thread takes up to BLOCK environments at a time; in the backward pass up to SIDE if there
are no more than FEW, so that more threads have work. Their gradients of the weights are added to PARTS sums, in an order that
does not depend on the number of threads; neither do the bits.
"""

from cython.parallel cimport prange, threadid

import torch

include "../shared/tiles.pxi"


cdef extern from "tiled.h" nogil:
    ctypedef struct TiledSequence:
        long steps, batch, inputs, units
        const bf16* x
        const bf16* weights
        const bf16* weights_back
        const float* bias
        const float* keep
        const float* keep_next
        const bf16* h
        bf16* h_last
        const float* cells
        float* cells_next
        bf16* hidden
        const bf16* dhidden
        bf16* dx
        bf16* gates
    long tiled_space(long inputs, long n, char* at, void* space)
    long tiled_gradient(long inputs, long n)
    void tiled_pack_forward(const bf16* weight_x, const bf16* weight_h, long inputs, long n, long u, bf16* to)
    void tiled_pack_backward(const bf16* weight_x, const bf16* weight_h, long inputs, long n, long c, bf16* to)
    void tiled_forward(const TiledSequence* s, long row, long rows, char* memory)
    void tiled_sum(long inputs, long n, const float* sums, long parts, long c, float* dweight_x, float* dweight_h, float* dbias)


cdef extern from "tiled_back.h" nogil:
    void tiled_backward(const TiledSequence* s, long row, long rows, bint more, float* out, char* memory)


cdef long FEW = 4 * SIDE
cdef long PARTS = 16  # sums of the weights' gradient, at most; no more threads than this share a backward pass


def pack(weight_x, weight_h, packed):
    """Pack weight_x (4n, E) and weight_h (4n, n) for the forward pass, into packed (4n * (E + n),)."""
    cdef long k, inputs = weight_x.shape[1], n = weight_h.shape[1], units = n // SIDE
    cdef halves from_x = bf16s(weight_x), from_h = bf16s(weight_h), to = bf16s(packed)
    cdef int threads = torch.get_num_threads()
    with nogil:
        for k in prange(units, schedule="static", num_threads=threads):
            tiled_pack_forward(from_x, from_h, inputs, n, k, to)


cdef void run_forward(TiledSequence* s) except *:
    """The forward pass. Groups are smaller than BLOCK if threads would otherwise have none."""
    cdef int threads = torch.get_num_threads()
    cdef long k, rows = min(BLOCK, (s.batch + threads - 1) // threads), groups = (s.batch + rows - 1) // rows
    cdef long size = tiled_space(s.inputs, s.units, NULL, NULL)
    bytes_of = torch.empty(threads * size + 63, dtype=torch.uint8)
    cdef char* memory = aligned(bytes_of)
    with nogil:
        for k in prange(groups, schedule="static", num_threads=threads):
            tiled_forward(s, k * rows, min(rows, s.batch - k * rows), memory + threadid() * size)


def lstm_step(x, packed, bias, keep, keep_next, h, c, hidden):
    """One step; h, c: IN the state before it, OUT that after it. hidden: OUT."""
    cdef TiledSequence s
    s.gates = NULL
    s.steps, s.batch, s.inputs, s.units = 1, x.shape[0], x.shape[1], h.shape[1]
    s.x, s.weights, s.bias, s.keep, s.keep_next = bf16s(x), bf16s(packed), reals(bias), reals(keep), reals(keep_next)
    s.h, s.h_last, s.cells, s.cells_next, s.hidden = bf16s(h), bf16s(h), reals(c), reals(c), bf16s(hidden)
    run_forward(&s)


cdef void describe(TiledSequence* s, x, bias, keep, h, cells, hidden, gates) except *:
    """Set the fields of `s` that both passes over a sequence use."""
    s.steps, s.batch, s.inputs, s.units = x.shape[0], x.shape[1], x.shape[2], h.shape[1]
    s.x, s.bias, s.keep, s.keep_next = bf16s(x), reals(bias), reals(keep), reals(keep) + s.batch
    s.h, s.h_last, s.cells, s.cells_next = bf16s(h), NULL, reals(cells), reals(cells) + s.batch * s.units
    s.hidden, s.gates = bf16s(hidden), bf16s(gates)


def lstm_sequence(x, weight_x, weight_h, bias, keep, h, cells, hidden, gates):
    """All T steps. cells (T + 1, B, n): IN row 0, OUT the others. hidden, and gates unless it is None: OUT."""
    cdef TiledSequence s
    describe(&s, x, bias, keep, h, cells, hidden, gates)
    packed = torch.empty(weight_x.numel() + weight_h.numel(), dtype=x.dtype)
    pack(weight_x, weight_h, packed)
    s.weights = bf16s(packed)
    run_forward(&s)


def lstm_sequence_backward(x, weight_x, weight_h, bias, keep, h, cells, hidden, gates, dhidden, dx, dweight_x, dweight_h,
                           dbias):
    """The gradient of `lstm_sequence`, from its arguments: to dx, unless it is None, and to the last three tensors."""
    cdef TiledSequence s
    cdef int threads = torch.get_num_threads()
    describe(&s, x, bias, keep, h, cells, hidden, gates)
    cdef long k, group, inputs = s.inputs, n = s.units, batch = s.batch, size = tiled_space(inputs, n, NULL, NULL)
    cdef long rows = SIDE if batch <= FEW else BLOCK, groups = (batch + rows - 1) // rows, parts = min(groups, PARTS)
    cdef long numbers = tiled_gradient(inputs, n), blocks = (inputs + n) // BLOCK, columns = 4 * n // BLOCK
    packed, packed_back = torch.empty(2, weight_x.numel() + weight_h.numel(), dtype=x.dtype)
    if gates is None:  # the gates are computed anew
        pack(weight_x, weight_h, packed)
    bytes_of, summed = torch.empty(threads * size + 63, dtype=torch.uint8), torch.empty(parts * numbers)
    cdef char* memory = aligned(bytes_of)
    cdef floats sums = reals(summed), to_x = reals(dweight_x), to_h = reals(dweight_h), to_bias = reals(dbias)
    cdef halves from_x = bf16s(weight_x), from_h = bf16s(weight_h), back = bf16s(packed_back)
    s.weights, s.weights_back, s.dhidden, s.dx = bf16s(packed), back, bf16s(dhidden), bf16s(dx)
    with nogil:
        for k in prange(blocks, schedule="static", num_threads=threads):
            tiled_pack_backward(from_x, from_h, inputs, n, k, back)
        for k in prange(parts, schedule="static", num_threads=threads):
            for group in range(groups * k // parts, groups * (k + 1) // parts):
                tiled_backward(&s, group * rows, min(rows, batch - group * rows), group > groups * k // parts,
                               sums + k * numbers, memory + threadid() * size)
        for k in prange(columns, schedule="static", num_threads=threads):
            tiled_sum(inputs, n, sums, parts, k * BLOCK, to_x, to_h, to_bias)

"""A layer with ReLU in bfloat16 in tiles, shared among as many OpenMP threads as torch has.

dense.py has checked the tensors. The gradients of PART rows and more are added up in one sum, in an order
that does not depend on the number of threads; neither do the bits.
"""

from cython.parallel cimport prange, threadid

import torch

include "../shared/tiles.pxi"


cdef extern from "tiled.h" nogil:
    ctypedef struct TiledDense:
        long rows, inputs, outputs
        const bf16* x
        const bf16* packed
        const float* bias
        bf16* out
        const bf16* dout
    long tiled_padded(long inputs)
    long tiled_dense_gradient(long inputs, long outputs)
    long tiled_dense_space(long inputs, long outputs, char* at, void* space)
    void tiled_dense_pack(const float* weight, long inputs, long u, bf16* to)
    void tiled_dense(const TiledDense* s, long first, long last, char* memory)
    void tiled_dense_backward(const TiledDense* s, long first, long last, float* sums, char* memory)
    void tiled_dense_sum(const TiledDense* s, const float* sums, long parts, long o, float* dweight, float* dbias)


cdef long PART = 512, PARTS = 16  # rows of a sum of gradients, at least; number of sums, at most


def padded(long inputs):
    """The number of inputs that the tiles multiply."""
    return tiled_padded(inputs)


def pack(weight, packed):
    """Pack weight (E, K) float32 into packed (E * padded(K),) bfloat16."""
    cdef long u, inputs = weight.shape[1], units = weight.shape[0] // SIDE
    cdef floats numbers = reals(weight)
    cdef halves to = bf16s(packed)
    with nogil:
        for u in range(units):
            tiled_dense_pack(numbers, inputs, u, to)


def forward(x, packed, bias, out):
    """x (B, K) to out (B, E)."""
    cdef TiledDense s
    cdef int threads = torch.get_num_threads()
    s.rows, s.inputs, s.outputs = x.shape[0], x.shape[1], out.shape[1]
    s.x, s.packed, s.bias, s.out = bf16s(x), bf16s(packed), reals(bias), bf16s(out)
    cdef long k, share = ((s.rows + threads - 1) // threads + SIDE - 1) // SIDE * SIDE
    cdef long size = tiled_dense_space(s.inputs, s.outputs, NULL, NULL)
    bytes_of = torch.empty(threads * size + 63, dtype=torch.uint8)
    cdef char* memory = aligned(bytes_of)
    with nogil:
        for k in prange(threads, schedule="static", num_threads=threads):
            tiled_dense(&s, min(s.rows, k * share), min(s.rows, (k + 1) * share), memory + k * size)


def backward(x, out, dout, dweight, dbias):
    """The gradients of `forward` by the weights, to dweight (E, K), and by the bias, to dbias (E,)."""
    cdef TiledDense s
    cdef int threads = torch.get_num_threads()
    s.rows, s.inputs, s.outputs = x.shape[0], x.shape[1], out.shape[1]
    s.x, s.out, s.dout = bf16s(x), bf16s(out), bf16s(dout)
    cdef long k, outputs = s.outputs, size = tiled_dense_space(s.inputs, outputs, NULL, NULL)
    cdef long rows = max(PART, (s.rows // PARTS + BLOCK) // BLOCK * BLOCK), parts = (s.rows + rows - 1) // rows
    cdef long numbers = tiled_dense_gradient(s.inputs, outputs)
    bytes_of, summed = torch.empty(threads * size + 63, dtype=torch.uint8), torch.empty(parts * numbers)
    cdef char* memory = aligned(bytes_of)
    cdef floats sums = reals(summed), to_weight = reals(dweight), to_bias = reals(dbias)
    with nogil:
        for k in prange(parts, schedule="static", num_threads=threads):
            tiled_dense_backward(&s, k * rows, min(s.rows, (k + 1) * rows), sums + k * numbers, memory + threadid() * size)
        for k in prange(outputs, schedule="static", num_threads=threads):
            tiled_dense_sum(&s, sums, parts, k, to_weight, to_bias)

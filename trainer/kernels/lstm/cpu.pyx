"""An LSTM on the CPU, a step and whole sequences, shared among as many OpenMP threads as torch has.

The functions take torch tensors, first the inputs, then the outputs. Their callers have checked shapes, dtypes and strides.
Tensors are bfloat16 if `half`, else float32; biases, cell states and sums are always float32.
"""

from cython.parallel cimport prange, threadid

import torch

include "../shared/addresses.pxi"


cdef extern from "cpu.h" nogil:
    ctypedef unsigned int word
    ctypedef struct Sequence:
        long steps, batch, inputs, units
        const void* x
        const word* weight_x
        const word* weight_h
        const float* bias
        const float* keep
        void* gates
        void* recurrent
        float* cells
        void* hidden
        const void* dhidden
        void* dx
        float* dweights
    const long LANES, TILE, GROUP, WIDE, FAST_F32, FAST_BF16
    long space_backward(long n)
    long space_weights(long inputs, long n)
    void pack_gates(const word* weight, long depth, long n, long k, word* panel)
    void pack_columns(bint half, const void* weight, long rows, long columns, long k, word* panel)
    void sequence_forward(bint half, const Sequence* s, long row, long rows)
    void sequence_backward(bint half, const Sequence* s, long row, long rows, float* space)
    void sequence_weights(bint half, const Sequence* s, long lo, long hi, long first, long last, float* space)
    ctypedef unsigned short bf16
    void lstm_f32_forward(const float* gx, const float* gh, long apart, const float* bias, const float* c_prev, float keep,
                          float keep_next, float* gates, float* c, float* h, float* h_next, long n, long count)
    void lstm_bf16_forward(const bf16* gx, const bf16* gh, long apart, const float* bias, const float* c_prev, float keep,
                           float keep_next, bf16* gates, float* c, bf16* h, bf16* h_next, long n, long count)
    void lstm_f32_backward(const float* gates, const float* c_prev, float keep, const float* c, const float* dh,
                           const float* dh_next, float keep_next, const float* dc, float* dgates, float* dc_prev, long n)
    void lstm_bf16_backward(const bf16* gates, const float* c_prev, float keep, const float* c, const bf16* dh,
                            const bf16* dh_next, float keep_next, const float* dc, bf16* dgates, float* dc_prev, long n)


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
    """`reference.lstm_forward`, into gates, c, h and h_next."""
    cdef int k, rows = c.shape[0], n = c.shape[1], threads = torch.get_num_threads()
    cdef bint half = gx.dtype == torch.bfloat16
    cdef size_t p, q
    cdef floats biases = reals(bias), c0 = reals(c_prev), c1 = reals(c), keeps = reals(keep), nexts = reals(keep_next)
    cdef size_t x = gx.data_ptr(), y = gh.data_ptr(), g = gates.data_ptr(), h0 = h.data_ptr(), h1 = h_next.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            q = <size_t>k * n
            p = 4 * q
            if half:
                lstm_bf16_forward(<bf16*>x + p, <bf16*>y + p, n, biases, c0 + q, keeps[k], nexts[k],
                                  <bf16*>g + p, c1 + q, <bf16*>h0 + q, <bf16*>h1 + q, n, n)
            else:
                lstm_f32_forward(<float*>x + p, <float*>y + p, n, biases, c0 + q, keeps[k], nexts[k],
                                 <float*>g + p, c1 + q, <float*>h0 + q, <float*>h1 + q, n, n)


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc, dgates, dc_prev):
    """`reference.lstm_backward`, into dgates (can be the same tensor as gates) and dc_prev (can be dc)."""
    cdef int k, rows = c.shape[0], n = c.shape[1], threads = torch.get_num_threads()
    cdef bint half = gates.dtype == torch.bfloat16
    cdef size_t p, q
    cdef floats c0 = reals(c_prev), c1 = reals(c), keeps = reals(keep), nexts = reals(keep_next)
    cdef floats d1 = reals(dc), d0 = reals(dc_prev)
    cdef size_t g = gates.data_ptr(), dg = dgates.data_ptr(), h0 = dh.data_ptr(), h1 = dh_next.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            q = <size_t>k * n
            p = 4 * q
            if half:
                lstm_bf16_backward(<bf16*>g + p, c0 + q, keeps[k], c1 + q, <bf16*>h0 + q, <bf16*>h1 + q, nexts[k], d1 + q,
                                   <bf16*>dg + p, d0 + q, n)
            else:
                lstm_f32_backward(<float*>g + p, c0 + q, keeps[k], c1 + q, <float*>h0 + q, <float*>h1 + q, nexts[k], d1 + q,
                                  <float*>dg + p, d0 + q, n)


cdef long ceiling(long a, long b) noexcept nogil:
    return (a + b - 1) // b


cdef long environments_together(long batch, int threads) noexcept nogil:
    """Number of environments of a group: as near to GROUP as equal shares of the threads allow."""
    return ceiling(batch, threads * ceiling(batch, threads * GROUP))


def takes_sequences(dtype, long inputs, long units):
    """True if `lstm_sequence` supports this dtype and these sizes, and this build's products are faster than torch's.

    With bfloat16 both sizes must be even, since a row consists of words of two numbers.
    """
    if dtype == torch.bfloat16:
        return bool(FAST_BF16) and inputs % 2 == 0 and units % 2 == 0
    return bool(FAST_F32) and dtype == torch.float32


cdef void describe(Sequence* s, x, keep, gates, recurrent, cells) except *:
    """Set the fields of `s` that both passes use."""
    s.steps, s.batch, s.inputs, s.units = x.shape[0], x.shape[1], x.shape[2], recurrent.shape[2]
    s.x, s.keep, s.gates, s.recurrent, s.cells = address(x), reals(keep), address(gates), address(recurrent), reals(cells)


def lstm_sequence(x, weight_x, weight_h, bias, keep, gates, recurrent, cells, hidden):
    """All T steps of `reference.lstm_forward` and the matrix products.

    It reads row 0 of recurrent and cells, and writes their other rows, gates and hidden.
    """
    cdef Sequence s
    cdef bint half = x.dtype == torch.bfloat16
    cdef int threads = torch.get_num_threads()
    describe(&s, x, keep, gates, recurrent, cells)
    cdef long k, panels = ceiling(s.units, LANES), rows = environments_together(s.batch, threads)
    cdef long words_x = s.inputs >> half, words_h = s.units >> half
    packed = torch.empty(panels * WIDE * (words_x + words_h), dtype=torch.int32)
    cdef word* packed_x = <word*>address(packed)
    cdef word* packed_h = packed_x + panels * WIDE * words_x
    cdef word* from_x = <word*>address(weight_x)
    cdef word* from_h = <word*>address(weight_h)
    s.weight_x, s.weight_h, s.bias, s.hidden = packed_x, packed_h, reals(bias), address(hidden)
    with nogil:
        for k in prange(panels, schedule="static", num_threads=threads):
            pack_gates(from_x, words_x, s.units, k, packed_x + k * WIDE * words_x)
            pack_gates(from_h, words_h, s.units, k, packed_h + k * WIDE * words_h)
        for k in prange(ceiling(s.batch, rows), schedule="static", num_threads=threads):
            sequence_forward(half, &s, k * rows, min(rows, s.batch - k * rows))


def lstm_sequence_backward(x, weight_x, weight_h, keep, gates, recurrent, cells, dhidden, dx, dweights):
    """The gradient of `lstm_sequence`, from its inputs and outputs.

    It writes to gates the gradient of the pre-activations; to dx that of x, unless it is None; and to dweights (E + n + 1, 4n)
    those of weight_x transposed, weight_h transposed and the bias.
    """
    cdef Sequence s
    cdef bint half = x.dtype == torch.bfloat16
    cdef int threads = torch.get_num_threads()
    describe(&s, x, keep, gates, recurrent, cells)
    cdef long k, depth = 4 * s.units, panel = WIDE * (depth >> half), width = s.inputs + s.units + 1
    cdef long panels_x = ceiling(s.inputs, WIDE), panels_h = ceiling(s.units, WIDE), panels = ceiling(depth, WIDE)
    cdef long tiles = ceiling(width, TILE), across = min(threads, panels), down = min(tiles, threads // across)
    cdef long rows = environments_together(s.batch, threads)
    cdef long room = max(space_backward(s.units), space_weights(s.inputs, s.units))
    packed = torch.empty((panels_x + panels_h) * panel, dtype=torch.int32)
    spaces = torch.empty(threads * room)
    cdef word* packed_x = <word*>address(packed)
    cdef word* packed_h = packed_x + panels_x * panel
    cdef void* from_x = address(weight_x)
    cdef void* from_h = address(weight_h)
    cdef floats space = reals(spaces)
    s.weight_x, s.weight_h, s.dhidden, s.dx, s.dweights = packed_x, packed_h, address(dhidden), address(dx), reals(dweights)
    with nogil:
        for k in prange(panels_x + panels_h, schedule="static", num_threads=threads):
            if k < panels_x:
                pack_columns(half, from_x, depth, s.inputs, k, packed_x + k * panel)
            else:
                pack_columns(half, from_h, depth, s.units, k - panels_x, packed_x + k * panel)
        for k in prange(ceiling(s.batch, rows), schedule="static", num_threads=threads):
            sequence_backward(half, &s, k * rows, min(rows, s.batch - k * rows), space + threadid() * room)
        for k in prange(across * down, schedule="static", num_threads=threads):  # each k is a part of dweights
            sequence_weights(half, &s, panels * (k % across) // across, panels * (k % across + 1) // across,
                             tiles * (k // across) // down * TILE, min(width, tiles * (k // across + 1) // down * TILE),
                             space + threadid() * room)

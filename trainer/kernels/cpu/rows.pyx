"""The kernels on the CPU: the rows of rows.h, shared among as many OpenMP threads as torch has.

The functions take torch tensors, first the inputs, then the outputs. dispatch.py has checked their shapes, dtypes and strides.
Tensors are bfloat16 if `half`, else float32; biases, cell states and sums are always float32.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

import torch


cdef extern from "lstm.h" nogil:
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


cdef extern from "units.h" nogil:
    ctypedef unsigned short bf16
    void lstm_f32_forward(const float* gx, const float* gh, long apart, const float* bias, const float* c_prev, float keep,
                          float keep_next, float* gates, float* c, float* h, float* h_next, long n, long count)
    void lstm_bf16_forward(const bf16* gx, const bf16* gh, long apart, const float* bias, const float* c_prev, float keep,
                           float keep_next, bf16* gates, float* c, bf16* h, bf16* h_next, long n, long count)
    void lstm_f32_backward(const float* gates, const float* c_prev, float keep, const float* c, const float* dh,
                           const float* dh_next, float keep_next, const float* dc, float* dgates, float* dc_prev, long n)
    void lstm_bf16_backward(const bf16* gates, const float* c_prev, float keep, const float* c, const bf16* dh,
                            const bf16* dh_next, float keep_next, const float* dc, bf16* dgates, float* dc_prev, long n)
    uint32_t row_random(uint64_t seed, uint32_t environment, uint64_t step)
    int row_sample(const float* logits, const uint8_t* legal, int actions, uint32_t random, float* log_prob)
    void row_categorical(const float* logits, const uint8_t* legal, int actions, int action, float* log_prob,
                         float* entropy)
    void row_categorical_backward(const float* logits, const uint8_t* legal, int actions, int action, float dlog_prob,
                                  float dentropy, float* dlogits)
    void row_advantages(const float* reward, const float* terminated, const float* truncated, const float* valid,
                        const float* value, const float* ratio, float* advantage, int steps, long stride, float gamma,
                        float lambda_, float rho_clip, float c_clip)
    void stack_u8_f32(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                      void* out, long n)
    void stack_u8_u8(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                     void* out, long n)
    void stack_u8_bf16(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                       void* out, long n)
    void stack_bf16_f32(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                        void* out, long n)
    void stack_bf16_bf16(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                         void* out, long n)
    void stack_f32_f32(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                       void* out, long n)
    void stack_f32_bf16(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                        void* out, long n)


ctypedef float* floats
ctypedef void (*stack_fn)(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                          void* out, long n) noexcept nogil


cdef floats reals(tensor) except? NULL:
    """The address of a float32 tensor's numbers; NULL for None."""
    return NULL if tensor is None else <floats><size_t>tensor.data_ptr()


cdef void* address(tensor) except? NULL:
    """The address of a tensor's numbers; NULL for None."""
    return NULL if tensor is None else <void*><size_t>tensor.data_ptr()


cdef uint8_t* bytes_of(tensor) except? NULL:
    """The address of a uint8 tensor's numbers; NULL for None."""
    return NULL if tensor is None else <uint8_t*><size_t>tensor.data_ptr()


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


def sample(logits, legal, uint64_t seed, uint32_t first, step, int actions, action, log_prob, value):
    """`reference.sample`, into action, log_prob and, unless it is None, value."""
    cdef int k, rows = logits.shape[0], threads = torch.get_num_threads()
    cdef size_t width = logits.shape[1]
    cdef uint64_t at = int(step)
    cdef floats numbers = reals(logits), chances = reals(log_prob), values = reals(value)
    cdef uint8_t* mask = bytes_of(legal)
    cdef int32_t* chosen = <int32_t*><size_t>action.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            chosen[k] = row_sample(numbers + k * width, NULL if mask == NULL else mask + <size_t>k * actions, actions,
                                   row_random(seed, first + k, at), chances + k)
            if values != NULL:
                values[k] = numbers[k * width + actions]


def categorical(logits, legal, action, log_prob, entropy):
    """`reference.categorical` of rows at a distance of logits.stride(0), into log_prob and entropy."""
    cdef int k, rows = logits.shape[0], actions = logits.shape[1], threads = torch.get_num_threads()
    cdef size_t stride = logits.stride(0)
    cdef floats numbers = reals(logits), chances = reals(log_prob), entropies = reals(entropy)
    cdef uint8_t* mask = bytes_of(legal)
    cdef int32_t* chosen = <int32_t*><size_t>action.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_categorical(numbers + k * stride, NULL if mask == NULL else mask + <size_t>k * actions, actions, chosen[k],
                            chances + k, entropies + k)


def categorical_backward(logits, legal, action, dlog_prob, dentropy, dlogits):
    """The gradient of `categorical`, into dlogits (contiguous rows)."""
    cdef int k, rows = logits.shape[0], actions = logits.shape[1], threads = torch.get_num_threads()
    cdef size_t stride = logits.stride(0)
    cdef floats numbers = reals(logits), dchances = reals(dlog_prob), dentropies = reals(dentropy)
    cdef floats gradient = reals(dlogits)
    cdef uint8_t* mask = bytes_of(legal)
    cdef int32_t* chosen = <int32_t*><size_t>action.data_ptr()
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_categorical_backward(numbers + k * stride, NULL if mask == NULL else mask + <size_t>k * actions, actions,
                                     chosen[k], dchances[k], dentropies[k], gradient + <size_t>k * actions)


def advantages(reward, terminated, truncated, valid, value, float gamma, float lam, ratio, float rho_clip, float c_clip, out):
    """`reference.advantages`, into out."""
    cdef int k, steps = reward.shape[0], rows = reward.shape[1], threads = torch.get_num_threads()
    cdef floats rewards = reals(reward), ends = reals(terminated), cuts = reals(truncated), valids = reals(valid)
    cdef floats values = reals(value), ratios = reals(ratio), result = reals(out)
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_advantages(rewards + k, ends + k, cuts + k, valids + k, values + k, NULL if ratios == NULL else ratios + k,
                           result + k, steps, rows, gamma, lam, rho_clip, c_clip)


def stack_frames(frames, start, t, float scale, int steps, int count, out):
    """`reference.stack_frames`, into out."""
    cdef int k, rows = frames.shape[1], threads = torch.get_num_threads()
    cdef long n = frames[0, 0].numel(), stride = frames.stride(0), start_stride = start.stride(0)
    cdef long size = frames.element_size(), newest = int(t) + count - 1, planes = n * count * out.element_size()
    cdef char* base = <char*><size_t>frames.data_ptr()
    cdef char* result = <char*><size_t>out.data_ptr()
    cdef floats starts = reals(start)
    cdef bint half = out.dtype == torch.bfloat16
    cdef stack_fn stack
    if size == 1:
        stack = stack_u8_u8 if out.dtype == torch.uint8 else stack_u8_bf16 if half else stack_u8_f32
    elif size == 2:
        stack = stack_bf16_bf16 if half else stack_bf16_f32
    else:
        stack = stack_f32_bf16 if half else stack_f32_f32
    with nogil:
        for k in prange(steps * rows, schedule="static", num_threads=threads):
            stack(base + ((newest + k // rows) * stride + k % rows * n) * size, stride,
                  starts + (newest + k // rows) * start_stride + k % rows, start_stride, count, scale, result + k * planes, n)

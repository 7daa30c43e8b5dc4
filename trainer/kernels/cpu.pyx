"""The kernels on the CPU: rows of rows.h shared among torch's number of OpenMP threads.

The functions take torch tensors, what they read and then what they write; `trainer.kernels` has checked shapes, dtypes and
strides before it calls. What `half` says is bfloat16 is else float32; biases, cell states and sums are float32 always.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

import torch


cdef extern from "cpu_rows.h" nogil:
    ctypedef unsigned short bf16
    void lstm_f32_forward(const float* gx, const float* gh, const float* bias, const float* c_prev, float keep,
                          float keep_next, float* gates, float* c, float* h, float* h_next, long n)
    void lstm_bf16_forward(const bf16* gx, const bf16* gh, const float* bias, const float* c_prev, float keep,
                           float keep_next, bf16* gates, float* c, bf16* h, bf16* h_next, long n)
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
    """Where a float32 tensor's numbers lie; NULL of None."""
    return NULL if tensor is None else <floats><size_t>tensor.data_ptr()


cdef uint8_t* bytes_of(tensor) except? NULL:
    """Where a uint8 tensor's numbers lie; NULL of None."""
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
                lstm_bf16_forward(<bf16*>x + p, <bf16*>y + p, biases, c0 + q, keeps[k], nexts[k],
                                  <bf16*>g + p, c1 + q, <bf16*>h0 + q, <bf16*>h1 + q, n)
            else:
                lstm_f32_forward(<float*>x + p, <float*>y + p, biases, c0 + q, keeps[k], nexts[k],
                                 <float*>g + p, c1 + q, <float*>h0 + q, <float*>h1 + q, n)


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc, dgates, dc_prev):
    """`reference.lstm_backward`, into dgates (may be gates) and dc_prev (may be dc)."""
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


def sample(logits, legal, uint64_t seed, uint32_t first, step, int actions, action, log_prob, value):
    """`reference.sample`, into action, log_prob and, where it is not None, value."""
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
    """`reference.categorical` of rows that lie logits.stride(0) apart, into log_prob and entropy."""
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
        stack = stack_u8_bf16 if half else stack_u8_f32
    elif size == 2:
        stack = stack_bf16_bf16 if half else stack_bf16_f32
    else:
        stack = stack_f32_bf16 if half else stack_f32_f32
    with nogil:
        for k in prange(steps * rows, schedule="static", num_threads=threads):
            stack(base + ((newest + k // rows) * stride + k % rows * n) * size, stride,
                  starts + (newest + k // rows) * start_stride + k % rows, start_stride, count, scale, result + k * planes, n)

"""The kernels on the CPU: rows of rows.h shared among OpenMP threads.

The functions take addresses (torch's data_ptr) and sizes; `trainer.kernels` checks shapes and dtypes before it calls. What
is `half` is bfloat16, else float32; biases, cell states and sums are float32 always.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t


cdef extern from "cpu_rows.h" nogil:
    ctypedef unsigned short bf16
    void lstm_f32_forward(const float* gx, const float* gh, const float* bias, const float* c_prev, float keep,
                          float keep_next, float* gates, float* c, float* h, float* h_next, long n)
    void lstm_bf16_forward(const bf16* gx, const bf16* gh, const float* bias, const float* c_prev, float keep,
                           float keep_next, bf16* gates, float* c, bf16* h, bf16* h_next, long n)
    void lstm_f32_backward(float* gates, const float* c_prev, float keep, const float* c, const float* dh,
                           const float* dh_next, float keep_next, float* dc, long n)
    void lstm_bf16_backward(bf16* gates, const float* c_prev, float keep, const float* c, const bf16* dh,
                            const bf16* dh_next, float keep_next, float* dc, long n)
    uint32_t row_random(uint64_t seed, uint32_t environment, uint64_t step)
    int row_sample(const float* logits, uint8_t* legal, int actions, uint32_t random, float* log_prob)
    void row_advantages(const float* reward, const float* terminated, const float* truncated, const float* valid,
                        const float* value, float* advantage, int steps, long stride, float gamma, float lambda_)


def lstm_forward(size_t gx, size_t gh, size_t bias, size_t c_prev, size_t keep, size_t keep_next, size_t gates, size_t c,
                 size_t h, size_t h_next, int rows, int n, bint half, int threads):
    """One time step of `rows` rows of n units; all row-contiguous, gx, gh and gates (rows, 4n), keep (rows,)."""
    cdef int k
    cdef size_t p, q
    cdef const float* keeps = <const float*>keep
    cdef const float* keeps_next = <const float*>keep_next
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            p = <size_t>k * n * 4
            q = <size_t>k * n
            if half:
                lstm_bf16_forward(<bf16*>gx + 4 * q, <bf16*>gh + 4 * q, <float*>bias, <float*>c_prev + q, keeps[k],
                                  keeps_next[k], <bf16*>gates + p, <float*>c + q, <bf16*>h + q, <bf16*>h_next + q, n)
            else:
                lstm_f32_forward(<float*>gx + 4 * q, <float*>gh + 4 * q, <float*>bias, <float*>c_prev + q, keeps[k],
                                 keeps_next[k], <float*>gates + p, <float*>c + q, <float*>h + q, <float*>h_next + q, n)


def lstm_backward(size_t gates, size_t c_prev, size_t keep, size_t c, size_t dh, size_t dh_next, size_t keep_next,
                  size_t dc, int rows, int n, bint half, int threads):
    """The same backwards: gates become dL/d(pre-activations), dc becomes dL/dc_prev before `keep` is applied."""
    cdef int k
    cdef size_t q
    cdef const float* keeps = <const float*>keep
    cdef const float* keeps_next = <const float*>keep_next
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            q = <size_t>k * n
            if half:
                lstm_bf16_backward(<bf16*>gates + 4 * q, <float*>c_prev + q, keeps[k], <float*>c + q, <bf16*>dh + q,
                                   <bf16*>dh_next + q, keeps_next[k], <float*>dc + q, n)
            else:
                lstm_f32_backward(<float*>gates + 4 * q, <float*>c_prev + q, keeps[k], <float*>c + q, <float*>dh + q,
                                  <float*>dh_next + q, keeps_next[k], <float*>dc + q, n)


def sample(size_t logits, int width, size_t legal, int actions, uint64_t seed, int first, uint64_t step, size_t action,
           size_t log_prob, int rows, int threads):
    """Draw an action a row. logits (rows, width), of which the first `actions` count; legal (rows, actions) uint8 or 0."""
    cdef int k
    cdef uint8_t* allowed
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            allowed = NULL if legal == 0 else <uint8_t*>legal + <size_t>k * actions
            (<int32_t*>action)[k] = row_sample(<float*>logits + <size_t>k * width, allowed, actions,
                                               row_random(seed, first + k, step), <float*>log_prob + k)


def advantages(size_t reward, size_t terminated, size_t truncated, size_t valid, size_t value, size_t advantage,
               int steps, int rows, float gamma, float lambda_, int threads):
    """Advantages of `rows` environments, all (steps, rows) but value (steps + 1, rows)."""
    cdef int k
    with nogil:
        for k in prange(rows, schedule="static", num_threads=threads):
            row_advantages(<float*>reward + k, <float*>terminated + k, <float*>truncated + k, <float*>valid + k,
                           <float*>value + k, <float*>advantage + k, steps, rows, gamma, lambda_)

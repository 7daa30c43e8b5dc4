"""Advantages and stacks of frames on the CPU, shared among as many OpenMP threads as torch has.

The functions take torch tensors, first the inputs, then the outputs. Their callers have checked shapes, dtypes and strides.
"""

from cython.parallel cimport prange

import torch

include "../shared/addresses.pxi"


cdef extern from "cpu.h" nogil:
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


ctypedef void (*stack_fn)(const void* newest, long stride, const float* start, long start_stride, int count, float scale,
                          void* out, long n) noexcept nogil


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

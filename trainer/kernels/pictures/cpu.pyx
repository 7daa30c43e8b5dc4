"""Convolutions over pictures of bytes in float32, shared among as many OpenMP threads as torch has.

pictures.py has checked the tensors. A thread takes RUN pictures at a time. The gradients are added to MOST_PARTS sums, in an
order that does not depend on the number of threads; neither do the bits.
"""

from cython.parallel cimport prange, threadid

import torch

include "../shared/addresses.pxi"


cdef extern from "cpu.h" nogil:
    ctypedef struct Pictures:
        long planes, height, width
        const uint8_t* pictures
        const float* weights[3]
        const float* back[3]
        const float* bias
        float* features
        float* kept
        const float* dfeatures
    const int FAST_F32
    long kept_numbers(const Pictures* s)
    long picture_space(const Pictures* s, char* at, void* space)
    long pictures_gradient(long planes)
    void pictures_forward(const Pictures* s, long first, long last, char* memory)
    void pictures_backward(const Pictures* s, long first, long last, float* sums, char* memory)


FAST = bool(FAST_F32)  # faster than torch's convolutions on this CPU

cdef long RUN = 32         # pictures of a thread before it takes others
cdef long MOST_PARTS = 16  # sums of the gradients, at most; no more threads than this share a backward pass
cdef long MOST_KEPT = 1 << 25  # bytes: more would be new pages at each call, which take as long as the convolutions


def keep(pictures):
    """Memory (B, numbers) float32 in which a forward pass keeps the outputs of the first two convolutions.

    None: the backward pass computes them again, because they need more than MOST_KEPT.
    """
    cdef Pictures s
    s.planes, s.height, s.width = pictures.shape[1], pictures.shape[2], pictures.shape[3]
    cdef long numbers = kept_numbers(&s)
    return None if 4 * numbers * len(pictures) > MOST_KEPT else torch.empty(len(pictures), numbers)


cdef Pictures describe(pictures, weights, bias, features, kept) except *:
    """The fields that both passes use."""
    cdef Pictures s
    cdef int k
    s.planes, s.height, s.width = pictures.shape[1], pictures.shape[2], pictures.shape[3]
    s.pictures, s.bias, s.features, s.kept = bytes_of(pictures), reals(bias), reals(features), reals(kept)
    for k in range(3):
        s.weights[k] = reals(weights[k])
    return s


def forward(pictures, weights, bias, features, kept):
    """The features of pictures (B, planes, height, width) uint8, to `features` (B, rows, columns, channels).

    weights: three packed tensors.
    kept: OUT; result of `keep`, or None.
    """
    cdef Pictures s = describe(pictures, weights, bias, features, kept)
    cdef int threads = torch.get_num_threads()
    cdef long k, count = pictures.shape[0], run = max(1, min(RUN, (count + threads - 1) // threads))
    cdef long size = picture_space(&s, NULL, NULL)
    spaces = torch.empty(threads * size, dtype=torch.uint8)
    cdef char* memory = <char*>address(spaces)
    with nogil:
        for k in prange((count + run - 1) // run, schedule="dynamic", num_threads=threads):
            pictures_forward(&s, k * run, min(count, (k + 1) * run), memory + threadid() * size)


def backward(pictures, weights, back, bias, features, kept, dfeatures):
    """The sums (parts, numbers) float32 of the gradients; back: weights for the second and third one's inputs."""
    cdef Pictures s = describe(pictures, weights, bias, features, kept)
    cdef int threads = torch.get_num_threads()
    cdef long k, count = pictures.shape[0], parts = max(1, min(MOST_PARTS, count))
    s.back[1], s.back[2], s.dfeatures = reals(back[0]), reals(back[1]), reals(dfeatures)
    cdef long size = picture_space(&s, NULL, NULL), numbers = pictures_gradient(s.planes)
    spaces, sums = torch.empty(threads * size, dtype=torch.uint8), torch.empty(parts, numbers)
    cdef char* memory = <char*>address(spaces)
    cdef float* to = reals(sums)
    with nogil:
        for k in prange(parts, schedule="dynamic", num_threads=threads):
            pictures_backward(&s, count * k // parts, count * (k + 1) // parts, to + k * numbers, memory + threadid() * size)
    return sums

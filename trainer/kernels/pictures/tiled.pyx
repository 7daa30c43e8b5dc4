"""Convolutions over pictures of bytes in tiles of bfloat16, shared among as many OpenMP threads as torch has.

pictures.py has checked the tensors. A thread takes RUN pictures at a time. The gradients are added to PARTS sums, in an order
that does not depend on the number of threads; neither do the bits.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport uint8_t

import torch

include "../shared/tiles.pxi"


cdef extern from "tiled_back.h" nogil:
    ctypedef struct TiledPictures:
        long planes, height, width
        const uint8_t* pictures
        const bf16* weights[3]
        const bf16* back[3]
        const float* bias
        bf16* features
        bf16* kept
        const bf16* dfeatures
    long kept_numbers(const TiledPictures* s)
    long picture_space(const TiledPictures* s, char* at, void* space)
    long tiled_pictures_gradient(long planes)
    void tiled_pictures(const TiledPictures* s, long first, long last, char* memory)
    void tiled_pictures_backward(const TiledPictures* s, long first, long last, float* sums, char* memory)


cdef long RUN = 32    # pictures of a thread before it takes others
cdef long PARTS = 16  # sums of the gradients, at most; no more threads than this share a backward pass


cdef long MOST_KEPT = 1 << 28  # bytes


def keep(pictures):
    """Memory (B, numbers) bfloat16 in which a forward pass keeps the outputs of the first two convolutions.

    None: the backward pass computes them again, because AMX is faster so, or because they need more than MOST_KEPT.
    """
    cdef TiledPictures s
    s.planes, s.height, s.width = pictures.shape[1], pictures.shape[2], pictures.shape[3]
    cdef long numbers = kept_numbers(&s)
    if tiles_unit != VECTORS or 2 * numbers * len(pictures) > MOST_KEPT:
        return None
    return torch.empty(len(pictures), numbers, dtype=torch.bfloat16)


cdef void describe(TiledPictures* s, pictures, weights, bias, features, kept) except *:
    """Set the fields of `s` that both passes use."""
    s.kept = bf16s(kept)
    s.planes, s.height, s.width = pictures.shape[1], pictures.shape[2], pictures.shape[3]
    s.pictures, s.bias, s.features = <uint8_t*>address(pictures), reals(bias), bf16s(features)
    cdef int k
    for k in range(3):
        s.weights[k] = bf16s(weights[k])


def forward(pictures, weights, bias, features, kept):
    """pictures (B, planes, height, width) uint8; weights: three packed tensors; features: OUT (B, rows, columns, channels).

    kept: OUT; result of `keep`, or None.
    """
    cdef TiledPictures s
    cdef int threads = torch.get_num_threads()
    cdef long k, count = pictures.shape[0], run = max(1, min(RUN, (count + threads - 1) // threads))
    cdef long runs = (count + run - 1) // run
    describe(&s, pictures, weights, bias, features, kept)
    cdef long size = picture_space(&s, NULL, NULL)
    bytes_of = torch.empty(threads * size + 63, dtype=torch.uint8)
    cdef char* memory = aligned(bytes_of)
    with nogil:
        for k in prange(runs, schedule="dynamic", num_threads=threads):
            tiled_pictures(&s, k * run, min(count, (k + 1) * run), memory + threadid() * size)


def backward(pictures, weights, back, bias, features, kept, dfeatures):
    """The sums (parts, numbers) float32 of the gradients; back: packed weights for the second and third one's inputs."""
    cdef TiledPictures s
    cdef int threads = torch.get_num_threads()
    cdef long k, count = pictures.shape[0], parts = max(1, min(PARTS, count))
    describe(&s, pictures, weights, bias, features, kept)
    s.back[1], s.back[2], s.dfeatures = bf16s(back[0]), bf16s(back[1]), bf16s(dfeatures)
    cdef long size = picture_space(&s, NULL, NULL), numbers = tiled_pictures_gradient(s.planes)
    bytes_of, sums = torch.empty(threads * size + 63, dtype=torch.uint8), torch.empty(parts, numbers)
    cdef char* memory = aligned(bytes_of)
    cdef float* to = reals(sums)
    with nogil:
        for k in prange(parts, schedule="dynamic", num_threads=threads):
            tiled_pictures_backward(&s, count * k // parts, count * (k + 1) // parts, to + k * numbers,
                                    memory + threadid() * size)
    return sums

/* The weights of an LSTM on their way to tiles, and their gradient on its way back. */
#ifndef INSERTCOIN_TILED_PACK_H
#define INSERTCOIN_TILED_PACK_H

#include "tiles.h"

/* Numbers of a gradient of the weights as tiled_weights writes it. */
static long tiled_gradient(long inputs, long n) { return (inputs + n + 1) * 4 * n; }

#ifdef HAVE_TILES

/* Pack units 16u to 16u + 15 for the forward pass: gates i and f, then g and o. A tile holds one gate of them. */
TILES static void tiled_pack_forward(const bf16 *weight_x, const bf16 *weight_h, long inputs, long n, long u, bf16 *to) {
    const long depth = (inputs + n) / DEEP;
    for (long gate = 0; gate < 4; gate++)
        for (long k = 0; k < depth; k++) {
            const int of_h = k >= inputs / DEEP;
            const long width = of_h ? n : inputs, column = k * DEEP - (of_h ? inputs : 0);
            const bf16 *from = (of_h ? weight_h : weight_x) + (gate * n + u * SIDE) * width + column;
            __m512i words[SIDE];
            for (int unit = 0; unit < SIDE; unit++) words[unit] = _mm512_loadu_si512(from + unit * width);
            tiled_transpose(words);
            bf16 *tile = to + ((u * 2 + gate / 2) * depth + k) * 2 * NUMBERS + gate % 2 * NUMBERS;
            for (int p = 0; p < SIDE; p++) _mm512_storeu_si512(tile + p * DEEP, words[p]);
        }
}

/* Pack columns 32c to 32c + 31 of (weight_x, weight_h), (4n, E + n), for the backward pass. */
TILES static void tiled_pack_backward(const bf16 *weight_x, const bf16 *weight_h, long inputs, long n, long c, bf16 *to) {
    const int of_h = c >= inputs / DEEP;
    const long width = of_h ? n : inputs, column = c * DEEP - (of_h ? inputs : 0), depth = 4 * n / DEEP;
    const bf16 *from = (of_h ? weight_h : weight_x) + column;
    for (long k = 0; k < depth; k++) tiled_pack(from + k * DEEP * width, width, DEEP, to + (c * depth + k) * 2 * NUMBERS);
}

/* Columns c to c + 31 of the sum of `parts` results of tiled_weights: dweight_x (4n, E), dweight_h (4n, n), dbias (4n,). */
TILES static void tiled_sum(long inputs, long n, const float *from, long parts, long c, float *dweight_x, float *dweight_h,
                          float *dbias) {
    const long size = tiled_gradient(inputs, n), rows = inputs + n;
    for (long r = 0; r < rows; r += SIDE) {
        float *to = r < inputs ? dweight_x + c * inputs + r : dweight_h + c * n + r - inputs;
        for (long half = 0; half < 2; half++) {
            const float *tile = from + (c * rows + r / BLOCK * BLOCK * BLOCK) + (r / SIDE % 2 * 2 + half) * SIDE * SIDE;
            __m512i sums[SIDE];
            for (int k = 0; k < SIDE; k++) {
                __m512 sum = _mm512_loadu_ps(tile + k * SIDE);
                for (long part = 1; part < parts; part++)
                    sum = _mm512_add_ps(sum, _mm512_loadu_ps(tile + part * size + k * SIDE));
                sums[k] = _mm512_castps_si512(sum);
            }
            tiled_transpose(sums);
            for (int k = 0; k < SIDE; k++) _mm512_storeu_si512(to + (half * SIDE + k) * (r < inputs ? inputs : n), sums[k]);
        }
    }
    for (long k = c; k < c + BLOCK; k++) {
        dbias[k] = 0.0f;
        for (long part = 0; part < parts; part++) dbias[k] += from[part * size + 4 * n * rows + k];
    }
}

#else
static void tiled_pack_forward(const bf16 *weight_x, const bf16 *weight_h, long inputs, long n, long u, bf16 *to) {}
static void tiled_pack_backward(const bf16 *weight_x, const bf16 *weight_h, long inputs, long n, long c, bf16 *to) {}
static void tiled_sum(long inputs, long n, const float *from, long parts, long c, float *dweight_x, float *dweight_h,
                    float *dbias) {}
#endif
#endif

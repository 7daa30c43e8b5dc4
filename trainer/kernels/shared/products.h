/* Matrix products in blocks that one thread computes in its own caches. With torch.mm at every step of a sequence, all threads
 * would have to wait for each other at every step.
 *
 * Matrices are read in words of 32 bits: one float32, or two neighbouring bfloat16s along the depth, the dimension over which
 * the product sums. `half` means bfloat16; it is a constant in each inlined function. The right-hand matrix is packed in
 * panels of WIDE columns; a panel stores its rows of words one after the other. A tile is the product of up to TILE rows of
 * the left-hand matrix and a panel; its sums stay in registers. Sums are float32 and follow the order of the depth, so the
 * result of a row does not depend on the other rows.
 */
#ifndef INSERTCOIN_PRODUCTS_H
#define INSERTCOIN_PRODUCTS_H

#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#include "lanes.h"

#if LANES == 16 || defined(__aarch64__)
#define TILE 6 /* times 4 registers of sums fits in 32 registers; a TILE of 3 fits in 16 */
#else
#define TILE 3
#endif

#define WIDE (4 * LANES)

/* 1 if these products of bfloat16s are faster than torch's: if the CPU multiplies bfloat16s directly. torch is faster on CPUs with
 * matrix units (AMX, Apple), which it uses. */
#if defined(__AVX512BF16__) && !defined(__AMX_BF16__)
#define FAST_BF16 1
#else
#define FAST_BF16 0
#endif

typedef uint32_t word __attribute__((may_alias, aligned(2)));
typedef uint32_t words __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

ROW float word_real(uint32_t bits) {
    union { uint32_t bits; float number; } u;
    u.bits = bits;
    return u.number;
}

/* sum + a * b for a word `a` and a register of words `b`. */
ROW reals multiply_add(const int half, reals sum, uint32_t a, words b) {
    if (!half) return sum + (reals)b * word_real(a);
#ifdef __AVX512BF16__
    return (reals)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_epi32((int)a), (__m512bh)b);
#else
    sum += (reals)(b << 16) * word_real(a << 16);
    return sum + (reals)(b & 0xFFFF0000u) * word_real(a & 0xFFFF0000u);
#endif
}

/* A tile of `rows` rows; `rows` is a constant. Word k of row r of the left-hand matrix is a[r * a_row + k * a_depth]. The
 * results of row r start at out[r * out_row]; each LANES of them are out_lanes apart. `more` adds to the numbers in `out`.
 * Each sum is a variable of its own, because compilers do not always keep an array in registers. */
#define SUMS(R) reals sum##R##0 = {0}, sum##R##1 = {0}, sum##R##2 = {0}, sum##R##3 = {0};
#define TAKE(R)                                                                                                          \
    if (rows > R) {                                                                                                      \
        sum##R##0 = *(reals *)(out + R * out_row);                                                                       \
        sum##R##1 = *(reals *)(out + R * out_row + out_lanes);                                                           \
        sum##R##2 = *(reals *)(out + R * out_row + 2 * out_lanes);                                                       \
        sum##R##3 = *(reals *)(out + R * out_row + 3 * out_lanes);                                                       \
    }
#define ADD(R)                                                                                                           \
    if (rows > R) {                                                                                                      \
        uint32_t one = a[R * a_row + k * a_depth];                                                                       \
        sum##R##0 = multiply_add(half, sum##R##0, one, b0);                                                              \
        sum##R##1 = multiply_add(half, sum##R##1, one, b1);                                                              \
        sum##R##2 = multiply_add(half, sum##R##2, one, b2);                                                              \
        sum##R##3 = multiply_add(half, sum##R##3, one, b3);                                                              \
    }
#define LEAVE(R)                                                                                                         \
    if (rows > R) {                                                                                                      \
        *(reals *)(out + R * out_row) = sum##R##0;                                                                       \
        *(reals *)(out + R * out_row + out_lanes) = sum##R##1;                                                           \
        *(reals *)(out + R * out_row + 2 * out_lanes) = sum##R##2;                                                       \
        *(reals *)(out + R * out_row + 3 * out_lanes) = sum##R##3;                                                       \
    }
#define ALL(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5)

ROW void tile_rows(const int half, const int rows, const word *a, long a_row, long a_depth, const word *panel, long depth,
                   int more, float *out, long out_row, long out_lanes) {
    ALL(SUMS)
    if (more) { ALL(TAKE) }
    for (long k = 0; k < depth; k++) {
        const words *b = (const words *)(panel + k * WIDE);
        words b0 = b[0], b1 = b[1], b2 = b[2], b3 = b[3];
        ALL(ADD)
    }
    ALL(LEAVE)
}

/* tile_rows for 1 to TILE rows. */
#define TILE_ROWS(COUNT)                                                                                                 \
    case COUNT:                                                                                                          \
        tile_rows(half, COUNT, a, a_row, a_depth, panel, depth, more, out, out_row, out_lanes);                          \
        break;

ROW void tile_any(const int half, long rows, const word *a, long a_row, long a_depth, const word *panel, long depth,
                  int more, float *out, long out_row, long out_lanes) {
    switch (rows) {
        TILE_ROWS(1)
        TILE_ROWS(2)
        TILE_ROWS(3)
#if TILE == 6
        TILE_ROWS(4)
        TILE_ROWS(5)
        TILE_ROWS(6)
#endif
    }
}

static void tile_f32(long rows, const word *a, long a_row, long a_depth, const word *panel, long depth, int more, float *out,
                     long out_row, long out_lanes) {
    tile_any(0, rows, a, a_row, a_depth, panel, depth, more, out, out_row, out_lanes);
}

static void tile_bf16(long rows, const word *a, long a_row, long a_depth, const word *panel, long depth, int more, float *out,
                      long out_row, long out_lanes) {
    tile_any(1, rows, a, a_row, a_depth, panel, depth, more, out, out_row, out_lanes);
}

/* Pack rows of the right-hand matrix as words: to[k * to_stride + c] for c < width, zero from `columns` on. The rows are
 * `stride` apart. An odd last row of bfloat16s is paired with zeros. */
ROW void pack_rows(const int half, const void *from, long stride, long rows, long columns, long width, word *restrict to,
                   long to_stride) {
    for (long k = 0; k < rows; k += 1 + half, to += to_stride) {
        if (!half)
            memcpy(to, (const float *)from + k * stride, columns * sizeof(float));
        else {
            const bf16 *restrict even = (const bf16 *)from + k * stride, *restrict odd = even + stride;
            if (k + 1 < rows)
                for (long c = 0; c < columns; c++) to[c] = even[c] | (uint32_t)odd[c] << 16;
            else
                for (long c = 0; c < columns; c++) to[c] = even[c];
        }
        memset(to + columns, 0, (width - columns) * sizeof(word));
    }
}

/* Pack panel k of a right-hand matrix (rows, columns). */
static void pack_columns(int half, const void *from, long rows, long columns, long k, word *panel) {
    const char *first = (const char *)from + k * WIDE * (half ? sizeof(bf16) : sizeof(float));
    long width = columns - k * WIDE < WIDE ? columns - k * WIDE : WIDE;
    if (half)
        pack_rows(1, first, columns, rows, width, WIDE, panel, WIDE);
    else
        pack_rows(0, first, columns, rows, width, WIDE, panel, WIDE);
}

/* Pack panel k of an LSTM's weights (4n, depth words), transposed: the gates i, f, g and o of LANES units. */
static void pack_gates(const word *weight, long depth, long n, long k, word *panel) {
    for (long gate = 0; gate < 4; gate++)
        for (long lane = 0; lane < LANES; lane++) {
            long unit = k * LANES + lane;
            for (long at = 0; at < depth; at++)
                panel[at * WIDE + gate * LANES + lane] = unit < n ? weight[(gate * n + unit) * depth + at] : 0;
        }
}

/* bfloat16 to float32. */
ROW void widen(const bf16 *restrict from, float *restrict to, long n) {
    for (long k = 0; k < n; k++) to[k] = row_from_bf16(from[k]);
}

/* float32 to bfloat16. */
ROW void narrow(const float *restrict from, bf16 *restrict to, long n) {
    long k = 0;
#ifdef __AVX512BF16__
    for (; k + 16 <= n; k += 16) {
        __m256bh rounded = _mm512_cvtneps_pbh(_mm512_loadu_ps(from + k));
        memcpy(to + k, &rounded, sizeof(rounded));
    }
#endif
    for (; k < n; k++) to[k] = row_to_bf16(from[k]);
}

/* float32 to bfloat16 and back, in place. NaN stays NaN, because its payload came from a bfloat16. */
ROW void round_row(float *row, long n) {
    for (long k = 0; k < n; k++) {
        union { float number; uint32_t bits; } u;
        u.number = row[k];
        row[k] = word_real((u.bits + 0x7FFFu + (u.bits >> 16 & 1u)) & 0xFFFF0000u);
    }
}

#endif

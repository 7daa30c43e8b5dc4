/* Tiles of bfloat16, and functions of vectors beside their products.
 *
 * A tile has 16 rows of 64 bytes: 16 x 32 bfloat16s on the left-hand side of a product, 32 x 16 on its right-hand side. That one
 * is packed: word c of row p holds elements 2p and 2p + 1 of column c. The functions carry their instruction sets as
 * attributes, so every build for x86-64 has them, whatever its -march; the CPU decides whether they are called.
 */
#ifndef INSERTCOIN_VECTORS_H
#define INSERTCOIN_VECTORS_H

#include <string.h>

#include "rows.h"

#define DEEP 32               /* bfloat16s in a row of a tile */
#define SIDE 16               /* rows of a tile, and float32s in a row */
#define NUMBERS (SIDE * DEEP) /* bfloat16s of a tile */
#define BLOCK 32              /* rows and columns of a block */

/* A wheel has one variant for each level; CPUs that multiply tiles use that for AVX-512. */
#if defined(__x86_64__) && defined(__linux__) && (!defined(OLD_GLIBC) || defined(__AVX512F__)) && \
    ((defined(__clang__) && __clang_major__ >= 12) || (!defined(__clang__) && __GNUC__ >= 11))
#define HAVE_TILES 1
#include <immintrin.h>

#define TILES __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,fma")))
#define TILES_INLINE static inline __attribute__((always_inline)) TILES

/* 16 rows of 16 words, transposed in registers. */
TILES_INLINE void tiled_transpose(__m512i r[16]) {
    __m512i t[16];
    for (int k = 0; k < 16; k += 2) {
        t[k] = _mm512_unpacklo_epi32(r[k], r[k + 1]);
        t[k + 1] = _mm512_unpackhi_epi32(r[k], r[k + 1]);
    }
    for (int k = 0; k < 16; k += 4)
        for (int j = 0; j < 2; j++) {
            r[k + 2 * j] = _mm512_unpacklo_epi64(t[k + j], t[k + j + 2]);
            r[k + 2 * j + 1] = _mm512_unpackhi_epi64(t[k + j], t[k + j + 2]);
        }
    for (int k = 0; k < 16; k += 8)
        for (int j = 0; j < 4; j++) {
            t[k + j] = _mm512_shuffle_i32x4(r[k + j], r[k + j + 4], 0x88);
            t[k + j + 4] = _mm512_shuffle_i32x4(r[k + j], r[k + j + 4], 0xDD);
        }
    for (int j = 0; j < 8; j++) {
        r[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
        r[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xDD);
    }
}

/* Pairs of rows: lower columns to `low`, upper ones to `high`, of 32 columns. */
TILES_INLINE void tiled_pair(__m512i even, __m512i odd, __m512i *low, __m512i *high) {
    const __m512i first = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37, 5,
                                           36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
    *low = _mm512_permutex2var_epi16(even, first, odd);
    *high = _mm512_permutex2var_epi16(even, _mm512_add_epi16(first, _mm512_set1_epi16(16)), odd);
}

/* Pack 32 rows and 32 columns as two right-hand tiles. Rows from `rows` on are zeros. */
TILES_INLINE void tiled_pack(const bf16 *from, long stride, long rows, bf16 *to) {
    for (long p = 0; p < SIDE; p++) {
        const __m512i even = 2 * p < rows ? _mm512_loadu_si512(from + 2 * p * stride) : _mm512_setzero_si512();
        const __m512i odd = 2 * p + 1 < rows ? _mm512_loadu_si512(from + (2 * p + 1) * stride) : _mm512_setzero_si512();
        __m512i low, high;
        tiled_pair(even, odd, &low, &high);
        _mm512_storeu_si512(to + p * DEEP, low);
        _mm512_storeu_si512(to + NUMBERS + p * DEEP, high);
    }
}

/* The same, transposed: two left-hand tiles of 16 columns each. Rows 16 to 31 are `more` rows from `second` on. */
TILES_INLINE void tiled_pack_both(const bf16 *first, long rows, const bf16 *second, long more, long stride, bf16 *to) {
    __m512i low[SIDE], high[SIDE];
    for (int p = 0; p < SIDE; p++) {
        const long row = 2 * p % SIDE, count = p < SIDE / 2 ? rows : more;
        const bf16 *from = (p < SIDE / 2 ? first : second) + row * stride;
        const __m512i even = row < count ? _mm512_loadu_si512(from) : _mm512_setzero_si512();
        const __m512i odd = row + 1 < count ? _mm512_loadu_si512(from + stride) : _mm512_setzero_si512();
        tiled_pair(even, odd, &low[p], &high[p]);
    }
    tiled_transpose(low);
    for (int p = 0; p < SIDE; p++) _mm512_storeu_si512(to + p * DEEP, low[p]);
    tiled_transpose(high);
    for (int p = 0; p < SIDE; p++) _mm512_storeu_si512(to + NUMBERS + p * DEEP, high[p]);
}

TILES_INLINE void tiled_pack_transposed(const bf16 *from, long stride, long rows, bf16 *to) {
    tiled_pack_both(from, rows, from + SIDE * stride, rows - SIDE, stride, to);
}

/* 2^z to a relative error of 4e-6. z: at most 126. The polynomial is exact at 0 and 1, so the function is continuous. */
TILES_INLINE __m512 tiled_exp2(__m512 z) {
    __m512 r = _mm512_reduce_ps(z, 0x01), p = _mm512_set1_ps(0.0135557470f); /* z - floor(z) */
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.0520323688f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.2413797636f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.6930321206f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, z); /* times 2^floor(z) */
}

#define LOG2E 1.44269504088896341f

/* 1 / (1 + 2^z) and (1 - 2^z) / (1 + 2^z), to a relative error of 1e-4, of which bfloat16 shows no digit: the sigmoid of x for
 * z = -x LOG2E, and its tanh for z = -2x LOG2E. NaN stays NaN. */
TILES_INLINE __m512 tiled_sigmoid(__m512 z) {
    __m512 e = tiled_exp2(_mm512_min_ps(_mm512_set1_ps(126.0f), z));
    return _mm512_rcp14_ps(_mm512_add_ps(_mm512_set1_ps(1.0f), e));
}

TILES_INLINE __m512 tiled_tanh(__m512 z) {
    __m512 one = _mm512_set1_ps(1.0f), e = tiled_exp2(_mm512_min_ps(_mm512_set1_ps(126.0f), z));
    return _mm512_mul_ps(_mm512_sub_ps(one, e), _mm512_rcp14_ps(_mm512_add_ps(one, e)));
}

TILES_INLINE __m512 tiled_widen(const bf16 *from) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from)), 16));
}

TILES_INLINE void tiled_narrow(bf16 *to, __m512 from) {
    _mm256_storeu_si256((__m256i *)to, (__m256i)_mm512_cvtneps_pbh(from));
}

#endif
#endif

/* Matrix products of tiles, in blocks of 32 rows and 32 columns: four tiles of sums, two of the left-hand side, two of the right.
 *
 * Two units multiply: Intel's AMX, whose registers are tiles, or vectors of AVX512-BF16 on CPUs that have no AMX; tiles_unit
 * chooses. Each sum follows the order of the depth, so a row does not depend on the others.
 */
#ifndef INSERTCOIN_TILES_H
#define INSERTCOIN_TILES_H

#include "vectors.h"

enum { NO_UNIT, VECTORS, AMX };
static int tiles_unit = NO_UNIT; /* what the functions below multiply with; one number for each module */

#ifdef HAVE_TILES

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FENCE __asm__ volatile("" ::: "memory") /* the compiler does not see the memory that a tile is loaded from */

/* 1 if the CPU has AMX and the system lets this process use it; Linux wants to be asked once. */
static inline int amx_permitted(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 22 & 1) || !(d >> 24 & 1)) return 0; /* AMX-BF16, AMX-TILE */
    return syscall(SYS_arch_prctl, 0x1023, 18) == 0; /* ARCH_REQ_XCOMP_PERM, XTILEDATA */
}

/* The best unit of this CPU. */
static inline int tiles_best(void) {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bf16"))
        return NO_UNIT;
    return amx_permitted() ? AMX : VECTORS;
}

/* A block's sums: tiles of rows and columns 0 to 15, of the next columns, of the next rows, of both. AMX has them in registers. */
typedef struct {
    float sums[4][SIDE][SIDE] __attribute__((aligned(64))); /* not with AMX, as the following */
    long rows;                 /* that are multiplied, 1 to 32 */
    int empty;                 /* all sums are 0, whatever the numbers above */
} Tiles;

/* Prepare this thread for products of `rows` rows, 1 to 32. */
TILES_INLINE void tiles_begin(Tiles *t, long rows) {
    t->rows = rows;
    if (tiles_unit != AMX) return;
    struct { uint8_t palette, start, zero[14]; uint16_t bytes[16]; uint8_t rows[16]; } __attribute__((aligned(64))) config;
    memset(&config, 0, sizeof(config));
    config.palette = 1;
    for (int tile = 0; tile < 8; tile++) {
        config.bytes[tile] = 64;
        config.rows[tile] = SIDE;
    }
    config.rows[0] = config.rows[1] = config.rows[4] = rows < SIDE ? rows : SIDE;
    config.rows[2] = config.rows[3] = config.rows[5] = rows > SIDE ? rows - SIDE : 1; /* a tile must have one */
    FENCE;
    _tile_loadconfig(&config);
}

/* Multiply only the first `rows` rows in the products that follow. AMX would need a new configuration: it multiplies all rows. */
TILES_INLINE void tiles_limit(Tiles *t, long rows) {
    if (tiles_unit != AMX) t->rows = rows < BLOCK ? rows : BLOCK;
}

TILES_INLINE void tiles_end(void) {
    if (tiles_unit == AMX) _tile_release();
}

TILES_INLINE void tiles_zero(Tiles *t) {
    t->empty = 1;
    if (tiles_unit != AMX) return;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

/* Add the products of `rows` rows of `a` and `wide` tiles of 16 columns, over `depth` tiles of depth, to sums (wide, SIDE, SIDE);
 * empty: to zero. `rows` and `wide` are constants. Each row's sums follow the order of the depth. */
TILES_INLINE void vectors_rows(const int rows, const int wide, const bf16 *a, long a_row, long a_next, const bf16 *b,
                               long b_next, long depth, float *sums, int empty) {
    __m512 low[SIDE], high[SIDE];
    for (int r = 0; r < rows; r++) {
        low[r] = empty ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + r * SIDE);
        if (wide == 2) high[r] = empty ? _mm512_setzero_ps() : _mm512_loadu_ps(sums + NUMBERS / 2 + r * SIDE);
    }
    for (long k = 0; k < depth; k++, a += a_next, b += b_next)
        for (int p = 0; p < SIDE; p++) {
            const __m512bh first = (__m512bh)_mm512_loadu_si512(b + p * DEEP);
            const __m512bh second = (__m512bh)_mm512_loadu_si512(b + (wide == 2 ? NUMBERS : 0) + p * DEEP);
            _Pragma("GCC unroll 16") for (int r = 0; r < rows; r++) {
                int pair;
                memcpy(&pair, a + r * a_row + 2 * p, sizeof(pair));
                const __m512bh both = (__m512bh)_mm512_set1_epi32(pair);
                low[r] = _mm512_dpbf16_ps(low[r], both, first);
                if (wide == 2) high[r] = _mm512_dpbf16_ps(high[r], both, second);
            }
        }
    for (int r = 0; r < rows; r++) {
        _mm512_storeu_ps(sums + r * SIDE, low[r]);
        if (wide == 2) _mm512_storeu_ps(sums + NUMBERS / 2 + r * SIDE, high[r]);
    }
}

#define VECTORS_ROWS(COUNT)                                                                                              \
    case COUNT:                                                                                                          \
        vectors_rows(COUNT, 2, a, a_row, a_next, b, 2 * NUMBERS, depth, sums, empty);                                    \
        break;

/* Rows 0 to rows - 1 of two tiles of columns, at most 8 at a time: their sums stay in registers. */
TILES static __attribute__((noinline)) void vectors_add(long rows, const bf16 *a, long a_row, long a_next, const bf16 *b,
                                                        long depth, float *sums, int empty) {
    for (; rows > 0; rows -= 8, a += 8 * a_row, sums += 8 * SIDE) switch (rows) {
            VECTORS_ROWS(1)
            VECTORS_ROWS(2)
            VECTORS_ROWS(3)
            VECTORS_ROWS(4)
            VECTORS_ROWS(5)
            VECTORS_ROWS(6)
            VECTORS_ROWS(7)
            default:
                vectors_rows(8, 2, a, a_row, a_next, b, 2 * NUMBERS, depth, sums, empty);
        }
}

/* Add the product of a, of two tiles of rows a_row numbers apart, and b, packed, over `depth` tiles of depth. */
TILES_INLINE void tiles_add(Tiles *t, const bf16 *first, const bf16 *second, long a_row, long a_next, const bf16 *b,
                            long depth) {
    if (tiles_unit != AMX) {
        vectors_add(t->rows < SIDE ? t->rows : SIDE, first, a_row, a_next, b, depth, t->sums[0][0], t->empty);
        vectors_add(t->rows - SIDE, second, a_row, a_next, b, depth, t->sums[2][0], t->empty);
        t->empty = 0;
        return;
    }
    FENCE;
    for (long k = 0; k < depth; k++, first += a_next, second += a_next, b += 2 * NUMBERS) {
        _tile_loadd(6, b, 64);
        _tile_loadd(4, first, a_row * 2);
        _tile_loadd(7, b + NUMBERS, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(5, second, a_row * 2);
        _tile_dpbf16ps(1, 4, 7);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
}

/* The same with one tile of rows of a. */
TILES_INLINE void tiles_add_one(Tiles *t, const bf16 *a, long a_row, long a_next, const bf16 *b, long depth) {
    if (tiles_unit != AMX) {
        vectors_add(t->rows < SIDE ? t->rows : SIDE, a, a_row, a_next, b, depth, t->sums[0][0], t->empty);
        t->empty = 0;
        return;
    }
    FENCE;
    for (long k = 0; k < depth; k++, a += a_next, b += 2 * NUMBERS) {
        _tile_loadd(6, b, 64);
        _tile_loadd(4, a, a_row * 2);
        _tile_loadd(7, b + NUMBERS, 64);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
    }
}

/* The four tiles of sums are those of 64 rows and 16 columns: add the product of `a` and b, of single packed tiles. */
TILES_INLINE void tiles_add_tall(Tiles *t, const bf16 *a, long a_row, const bf16 *b, long depth) {
    if (tiles_unit != AMX) {
        for (int part = 0; part < 8; part++) /* of 8 rows: the addresses of 16 do not fit the registers */
            vectors_rows(8, 1, a + part * 8 * a_row, a_row, DEEP, b, NUMBERS, depth, t->sums[part / 2][part % 2 * 8], t->empty);
        t->empty = 0;
        return;
    }
    FENCE;
    for (long k = 0; k < depth; k++, a += DEEP, b += NUMBERS) {
        _tile_loadd(6, b, 64);
        _tile_loadd(4, a, a_row * 2);
        _tile_loadd(5, a + SIDE * a_row, a_row * 2);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 5, 6);
        _tile_loadd(4, a + 2 * SIDE * a_row, a_row * 2);
        _tile_loadd(5, a + 3 * SIDE * a_row, a_row * 2);
        _tile_dpbf16ps(2, 4, 6);
        _tile_dpbf16ps(3, 5, 6);
    }
}

/* The four tiles of sums are those of 16 rows and 64 columns: add the product of one tile `a` and four packed ones. */
TILES_INLINE void tiles_add_wide(Tiles *t, const bf16 *a, const bf16 *b) {
    if (tiles_unit != AMX) {
        vectors_add(SIDE, a, DEEP, 0, b, 1, t->sums[0][0], t->empty);
        vectors_add(SIDE, a, DEEP, 0, b + 2 * NUMBERS, 1, t->sums[2][0], t->empty);
        t->empty = 0;
        return;
    }
    FENCE;
    _tile_loadd(4, a, 64);
    _tile_loadd(6, b, 64);
    _tile_loadd(7, b + NUMBERS, 64);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(6, b + 2 * NUMBERS, 64);
    _tile_loadd(7, b + 3 * NUMBERS, 64);
    _tile_dpbf16ps(2, 4, 6);
    _tile_dpbf16ps(3, 4, 7);
    FENCE;
}

/* Load or store the four tiles of sums: 32 x 32 numbers, the second columns `across` and the second rows `down` numbers on. */
TILES_INLINE void tiles_take(Tiles *t, const float *from, long row, long across, long down) {
    if (tiles_unit != AMX) {
        for (int tile = 0; tile < 4; tile++)
            for (long r = 0; r < SIDE; r++)
                _mm512_store_ps(t->sums[tile][r], _mm512_loadu_ps(from + tile / 2 * down + tile % 2 * across + r * row));
        t->empty = 0;
        return;
    }
    FENCE;
    _tile_loadd(0, from, row * 4);
    _tile_loadd(1, from + across, row * 4);
    _tile_loadd(2, from + down, row * 4);
    _tile_loadd(3, from + down + across, row * 4);
}

TILES_INLINE void tiles_leave(Tiles *t, float *to, long row, long across, long down) {
    if (tiles_unit != AMX) {
        for (int tile = 0; tile < 4; tile++)
            for (long r = 0; r < t->rows - tile / 2 * SIDE && r < SIDE; r++)
                _mm512_storeu_ps(to + tile / 2 * down + tile % 2 * across + r * row, _mm512_load_ps(t->sums[tile][r]));
        return;
    }
    _tile_stored(0, to, row * 4);
    _tile_stored(1, to + across, row * 4);
    _tile_stored(2, to + down, row * 4);
    _tile_stored(3, to + down + across, row * 4);
    FENCE;
}

#else
static inline int tiles_best(void) { return NO_UNIT; }
#endif
#endif

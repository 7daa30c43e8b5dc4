/* The instructions of AMX in C, for CPUs without it: the files tiled.pyx in trainer/kernels compiled with `-include amx_in_c.h` runs its products
 * for AMX. Semantics: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, TDPBF16PS and the following.
 * Rounding is that of single operations. An instruction without a configuration ends the process, as on the CPU. */
#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef struct { uint8_t row[16][64]; } AmxTile;

static __thread AmxTile amx_tiles[8];
static __thread uint8_t amx_rows[8];
static __thread int amx_configured;

static inline AmxTile *amx_tile(int tile) {
    if (!amx_configured) __builtin_trap();
    return &amx_tiles[tile];
}

static inline void amx_configure(const void *from) {
    memcpy(amx_rows, (const uint8_t *)from + 48, sizeof(amx_rows));
    memset(amx_tiles, 0, sizeof(amx_tiles));
    amx_configured = 1;
}

static inline void amx_release(void) { amx_configured = 0; }

static inline void amx_zero(int tile) { memset(amx_tile(tile), 0, sizeof(AmxTile)); }

static inline void amx_load(int tile, const void *from, long stride) {
    amx_zero(tile);
    for (int r = 0; r < amx_rows[tile]; r++) memcpy(amx_tile(tile)->row[r], (const char *)from + r * stride, 64);
}

static inline void amx_store(int tile, void *to, long stride) {
    for (int r = 0; r < amx_rows[tile]; r++) memcpy((char *)to + r * stride, amx_tile(tile)->row[r], 64);
}

static inline float amx_number(const uint8_t *row, int k) {
    uint16_t half;
    memcpy(&half, row + 2 * k, sizeof(half));
    const uint32_t bits = (uint32_t)half << 16;
    float number;
    memcpy(&number, &bits, sizeof(number));
    return number;
}

static inline void amx_multiply(int sums, int left, int right) {
    for (int r = 0; r < amx_rows[sums]; r++)
        for (int pair = 0; pair < 16; pair++)
            for (int column = 0; column < 16; column++)
                for (int k = 0; k < 2; k++) {
                    uint8_t *at = amx_tile(sums)->row[r] + 4 * column;
                    float sum;
                    memcpy(&sum, at, sizeof(sum));
                    sum += amx_number(amx_tile(left)->row[r], 2 * pair + k) * amx_number(amx_tile(right)->row[pair], 2 * column + k);
                    memcpy(at, &sum, sizeof(sum));
                }
}

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
#define _tile_loadconfig(from) amx_configure(from)
#define _tile_release() amx_release()
#define _tile_zero(tile) amx_zero(tile)
#define _tile_loadd(tile, from, stride) amx_load(tile, from, stride)
#define _tile_stored(tile, to, stride) amx_store(tile, to, stride)
#define _tile_dpbf16ps(sums, left, right) amx_multiply(sums, left, right)

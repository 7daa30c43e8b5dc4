"""From bits to bytes: a line of three layers of 160 bits becomes a row of 160 pixels.

A layer has three words; bit x is pixel x, and no two layers share one.
"""

from libc.stdint cimport uint8_t, uint64_t


cdef extern from *:
    """
    /* Write the pixels whose bit is in `inside`: colour k where layer k has a bit, colour 3 where none has.
       layers: (3, 3); inside: (3,); out: (160,), with 32 more bytes behind, which keep their values. */
    #if defined(__AVX512BW__)
    #include <immintrin.h>
    static inline void console_paint(const uint64_t *layers, const uint8_t *colours, const uint64_t *inside, uint8_t *out) {
        for (int word = 0; word < 3; word++) {
            __m512i pixels = _mm512_set1_epi8((char)colours[3]);
            for (int k = 0; k < 3; k++)
                pixels = _mm512_mask_blend_epi8(layers[3 * k + word], pixels, _mm512_set1_epi8((char)colours[k]));
            pixels = _mm512_mask_blend_epi8(inside[word], _mm512_loadu_si512(out + 64 * word), pixels);
            _mm512_storeu_si512(out + 64 * word, pixels);
        }
    }
    #elif defined(__AVX2__)
    #include <immintrin.h>
    static inline __m256i console_bytes(const uint64_t *words, int x) {
        const __m256i each = _mm256_set1_epi64x((long long)0x8040201008040201ULL);
        const __m256i from = _mm256_setr_epi64x(0, 0x0101010101010101LL, 0x0202020202020202LL, 0x0303030303030303LL);
        __m256i bits = _mm256_set1_epi32((int)(uint32_t)(words[x >> 6] >> (x & 63)));
        return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(bits, from), each), each);
    }
    static inline void console_paint(const uint64_t *layers, const uint8_t *colours, const uint64_t *inside, uint8_t *out) {
        for (int x = 0; x < 160; x += 32) {
            __m256i pixels = _mm256_set1_epi8((char)colours[3]), old = _mm256_loadu_si256((const __m256i *)(out + x));
            for (int k = 0; k < 3; k++)
                pixels = _mm256_blendv_epi8(pixels, _mm256_set1_epi8((char)colours[k]), console_bytes(layers + 3 * k, x));
            _mm256_storeu_si256((__m256i *)(out + x), _mm256_blendv_epi8(old, pixels, console_bytes(inside, x)));
        }
    }
    #else
    static inline uint64_t console_bytes(const uint64_t *words, int x) {
        uint64_t bits = (words[x >> 6] >> (x & 63) & 0xFF) * 0x0101010101010101ULL & 0x8040201008040201ULL;
        return (bits + 0x7F7F7F7F7F7F7F7FULL) >> 7 & 0x0101010101010101ULL;
    }
    static inline void console_paint(const uint64_t *layers, const uint8_t *colours, const uint64_t *inside, uint8_t *out) {
        for (int x = 0; x < 160; x += 8) {
            uint64_t here = console_bytes(inside, x), none = here, eight = 0, old;
            for (int k = 0; k < 3; k++) {
                uint64_t layer = console_bytes(layers + 3 * k, x) & here;
                eight |= layer * colours[k];
                none ^= layer;
            }
            memcpy(&old, out + x, 8);
            eight |= none * colours[3] | (old & ~(here * 255));
            memcpy(out + x, &eight, 8);
        }
    }
    #endif

    /* The bits below pixel x. */
    #define BELOW_WORD(x, o) ((x) <= (o) ? 0 : (x) >= (o) + 64 ? ~0ULL : (1ULL << (((x) - (o)) & 63)) - 1)
    #define BELOW_1(x) {BELOW_WORD(x, 0), BELOW_WORD(x, 64), BELOW_WORD(x, 128)}
    #define BELOW_10(x) BELOW_1(x), BELOW_1(x + 1), BELOW_1(x + 2), BELOW_1(x + 3), BELOW_1(x + 4), BELOW_1(x + 5), \
        BELOW_1(x + 6), BELOW_1(x + 7), BELOW_1(x + 8), BELOW_1(x + 9)
    #define BELOW_40(x) BELOW_10(x), BELOW_10(x + 10), BELOW_10(x + 20), BELOW_10(x + 30)
    static const uint64_t BELOW[161][3] = {BELOW_40(0), BELOW_40(40), BELOW_40(80), BELOW_40(120), BELOW_1(160)};
    """
    const uint64_t[161][3] BELOW
    void console_paint(const uint64_t* layers, const uint8_t* colours, const uint64_t* inside, uint8_t* out) noexcept nogil

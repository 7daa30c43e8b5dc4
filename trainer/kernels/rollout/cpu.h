/* Stacks of frames on the CPU, one function for each pair of dtypes. */
#ifndef INSERTCOIN_ROLLOUT_CPU_H
#define INSERTCOIN_ROLLOUT_CPU_H

#include <string.h>

#include "rows.h"

#define SAME(x) (x)

/* A stack of `count` frames of n pixels, oldest first, times `scale`; zeros for frames of an earlier episode. The newest frame
 * is at `newest`, earlier ones at distances of `stride` before it. */
#define STACK_ROWS(NAME, IN, OUT, LOAD, STORE)                                                                           \
    static void NAME(const void *newest, long stride, const float *start, long start_stride, int count, float scale,     \
                     void *out, long n) {                                                                                \
        for (int back = 0; back < count; back++) {                                                                       \
            const IN *restrict frame = (const IN *)newest - back * stride;                                               \
            OUT *restrict plane = (OUT *)out + (count - 1 - back) * n;                                                   \
            if (row_same_episode(start, start_stride, back))                                                             \
                for (long p = 0; p < n; p++) plane[p] = STORE(LOAD(frame[p]) * scale);                                   \
            else                                                                                                         \
                memset(plane, 0, n * sizeof(OUT));                                                                       \
        }                                                                                                                \
    }

STACK_ROWS(stack_u8_f32, uint8_t, float, (float), SAME)
STACK_ROWS(stack_u8_u8, uint8_t, uint8_t, (float), (uint8_t))
STACK_ROWS(stack_u8_bf16, uint8_t, bf16, (float), row_to_bf16)
STACK_ROWS(stack_f32_f32, float, float, SAME, SAME)
STACK_ROWS(stack_f32_bf16, float, bf16, SAME, row_to_bf16)
STACK_ROWS(stack_bf16_f32, bf16, float, row_from_bf16, SAME)
STACK_ROWS(stack_bf16_bf16, bf16, bf16, row_from_bf16, row_to_bf16)

#endif

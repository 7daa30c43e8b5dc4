/* The registers of vectors that the compiler builds for. */
#ifndef INSERTCOIN_LANES_H
#define INSERTCOIN_LANES_H

#include <string.h>

#include "rows.h"

#if defined(__AVX512F__)
#define LANES 16 /* float32s in a register */
#elif defined(__AVX__)
#define LANES 8
#else
#define LANES 4
#endif

/* 1 if products of float32s that are written in C are faster than torch's: if the CPU has fused multiply-add, and torch has no
 * matrix unit to use, as it has on Apple's. */
#if defined(__FMA__) || (defined(__aarch64__) && !defined(__APPLE__))
#define FAST_F32 1
#else
#define FAST_F32 0
#endif

typedef float reals __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t masks __attribute__((vector_size(4 * LANES), aligned(4), may_alias)); /* results of comparisons of reals */

#endif

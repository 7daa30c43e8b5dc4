/* Aligned memory: C11's function, or that of Windows, whose memory is freed by a function of its own. */

#ifndef ENVS_C_ALIGNED_H
#define ENVS_C_ALIGNED_H

#ifdef _WIN32
#include <malloc.h>
#define new_aligned(alignment, size) _aligned_malloc(size, alignment)
#define free_aligned(memory) _aligned_free(memory)
#else
#include <stdlib.h>
#define new_aligned(alignment, size) aligned_alloc(alignment, size)
#define free_aligned(memory) free(memory)
#endif

#endif

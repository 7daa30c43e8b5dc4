/* The team of threads of an OpenMP runtime that another library has loaded, such as torch's.
 *
 * After a parallel region of OpenMP, its threads spin for milliseconds and hold their cores. A second set of threads in the
 * same process then waits for a core, or takes turns on one. So the pool's calls that all cores are to share run as parallel
 * regions of that runtime: the threads that spin for the next region are the ones that take the chunks.
 *
 * A team of OpenMP belongs to the thread that starts regions. Only the process's main thread is offered one here: it is the
 * thread that runs torch in most programs, and teams of further threads would need cores of their own.
 */

#ifndef ENVS_C_RUNTIME_H
#define ENVS_C_RUNTIME_H

#include <pthread.h>

typedef struct {
    void (*parallel)(void (*work)(void *), void *data, unsigned threads, unsigned flags);  /* GOMP_parallel; NULL: no runtime */
    int (*threads)(void);  /* omp_get_max_threads: the size of the team that other code uses */
    unsigned long main;    /* the only thread that may use it, as pthread_self() numbers it */
    int generation;        /* the only process: as for pool_run */
    int used;              /* 1 after the first region */
} Runtime;

/* True if a call by this thread with `size` threads can be a region of the runtime. Regions of another size than other code's
   would end and start threads each time. */
static inline int runtime_fits(const Runtime *r, int size, int generation) {
    return r && r->parallel && r->generation == generation && r->main == (unsigned long)pthread_self()
        && r->threads() == size;
}

#endif

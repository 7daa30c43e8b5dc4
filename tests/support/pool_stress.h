/* Jobs on pools of several sizes from one and from two threads, each chunk counted. Prints "ok" if each was done once.
 * Compiled by tests/envs_c/stepping/test_pool.py, also with NO_THREADS, under which no helper can be started. */

#ifdef NO_THREADS
#include <pthread.h>
#define pthread_create(thread, attributes, work, argument) 11 /* EAGAIN */
#endif
#include "pool.h"
#undef pthread_create

#include <stdio.h>

enum { CHUNKS = 64, JOBS = 3000, PROCESS = 1 };

typedef struct {
    Pool *pool;
    int count[CHUNKS];
    int wrong;
} Caller;

static void count(void *job, int chunk) {
    ((Caller *)job)->count[chunk]++;
}

static void *call(void *argument) {
    Caller *c = argument;
    for (int n = 1; n <= JOBS; n++) {
        int chunks = 2 + n % (CHUNKS - 1);
        for (int k = 0; k < CHUNKS; k++) c->count[k] = 0;
        pool_run(c->pool, n % POOL_KINDS, count, c, chunks, 1e4 * chunks, n % 2, PROCESS);
        for (int k = 0; k < CHUNKS; k++) c->wrong += c->count[k] != (k < chunks);
        if (n % 100 == 0) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);  /* until the helpers sleep */
    }
    return NULL;
}

#ifndef NO_THREADS
/* A runtime of OpenMP with threads for one region only. Of the two callers it serves the one that starts it. */
static int team = 3, regions = 0;

static void parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags) {
    pthread_t others[8];
    (void)flags;
    regions++;
    for (unsigned k = 1; k < threads; k++) pthread_create(&others[k], NULL, (void *(*)(void *))(void *)work, data);
    work(data);
    for (unsigned k = 1; k < threads; k++) pthread_join(others[k], NULL);
}

static int threads(void) { return team; }
#endif

int main(void) {
    int wrong = 0;
#ifdef NO_THREADS
    Runtime *offered = NULL;
#else
    Runtime runtime = {.parallel = parallel, .threads = threads, .main = (unsigned long)pthread_self(), .generation = PROCESS};
    Runtime *offered = &runtime;
#endif
    for (int most = 1; most <= 6; most++) {
        Caller one = {.pool = pool_new(most, offered)}, other = {.pool = one.pool};
        call(&one);
#ifndef NO_THREADS
        pthread_t thread;
        pthread_create(&thread, NULL, call, &other);
        call(&one);
        pthread_join(thread, NULL);
#endif
        pool_free(one.pool, PROCESS);
        wrong += one.wrong + other.wrong;
    }
#ifndef NO_THREADS
    wrong += regions == 0 || !runtime.used;
#endif
    puts(wrong ? "wrong" : "ok");
    return 0;
}

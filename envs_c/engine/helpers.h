/* The threads of a pool, and the range of chunks that they take from.
 *
 * A helper of the team spins for its next call for at most SPIN_MOST, and only if calls follow each other as fast as that; then
 * it sleeps, and the caller must wake it. Helpers start with the first call that needs them, block all signals, know nothing of
 * Python, and end with the pool. In a child process after a fork they do not exist: the first call there starts new ones.
 *
 * GCC's and Clang's atomic builtins, POSIX threads.
 */

#ifndef ENVS_C_HELPERS_H
#define ENVS_C_HELPERS_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "crowd.h"
#include "runtime.h"
#include "team.h"
#ifdef OLD_GLIBC
#include "old_glibc.h"
#endif

#define SPIN_MOST 100000   /* ns; about the time in which a sleeping thread wakes */
#define SPIN_MARGIN 10000  /* ns that a helper waits longer than calls usually take to follow */
#define SPIN_CALL 2000000  /* ns that a helper spins at most until the others have done their last chunks of a call */
#define POOL_KINDS 3       /* kinds of calls with a team each */
#define CACHE_LINE 64

#define pool_load(at) __atomic_load_n(at, __ATOMIC_SEQ_CST)
#define pool_store(at, value) __atomic_store_n(at, value, __ATOMIC_SEQ_CST)

typedef void (*pool_work)(void *job, int chunk);

struct Pool;

typedef struct {
    struct Pool *pool;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t called;
    int index;    /* 1 ...: it takes part in calls of more threads than this */
    int asleep;   /* 1 while it sleeps or is about to */
    int wanted;   /* 1 to wake it; under the mutex */
} __attribute__((aligned(2 * CACHE_LINE))) Helper;

typedef struct Pool {
    /* The job. The range `left` guards the other fields: a thread reads them after it has taken a chunk, and then the job
       cannot end before this thread is done. */
    pool_work work;
    void *job;
    uint64_t left __attribute__((aligned(2 * CACHE_LINE)));  /* chunks that nobody has taken: the first << 32 | the end */
    int size;                                                /* threads that take part */
    int64_t spin;                                            /* ns that helpers spin after it */
    int stop;                                                /* 1: helpers end */
    int pending __attribute__((aligned(2 * CACHE_LINE)));    /* chunks that are not done */
    int waiting;                                             /* 1 while the caller sleeps until they are */
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    /* The caller's. */
    int holder __attribute__((aligned(2 * CACHE_LINE)));     /* the process's generation during a call, else 0 */
    int generation;                                          /* of the process in which the helpers run */
    int most;                                                /* threads, with the caller */
    int started;                                             /* helpers that run */
    int64_t last;                                            /* end of the last call */
    Team teams[POOL_KINDS];
    Runtime *runtime;                                        /* of another library; or NULL */
    Helper *helpers;                                         /* most - 1 */
} Pool;

static inline int64_t pool_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

static inline void pool_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

static inline int pool_is_empty(uint64_t left) {
    return left >> 32 >= (uint32_t)left;
}

/* Do chunks until all are taken. Returns their number. at_end: 1 to take them at the range's end. */
static inline int pool_take(Pool *p, int at_end) {
    int done = 0;
    uint64_t left = pool_load(&p->left);
    while (!pool_is_empty(left)) {
        uint64_t rest = at_end ? left - 1 : left + ((uint64_t)1 << 32);
        if (__atomic_compare_exchange_n(&p->left, &left, rest, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            p->work(p->job, at_end ? (int)(uint32_t)rest : (int)(left >> 32));
            done++;
            left = pool_load(&p->left);
        }
    }
    return done;
}

static inline int pool_has_work(Helper *h) {
    return !pool_is_empty(pool_load(&h->pool->left)) && h->index < pool_load(&h->pool->size);
}

/* Wait for work for the time that helpers spin at present, which begins at the end of the call. Returns 0 if none came. */
static inline int pool_spin(Helper *h) {
    Pool *p = h->pool;
    int64_t spin = h->index < pool_load(&p->size) ? pool_load(&p->spin) : 0;
    int64_t now = pool_clock(CLOCK_MONOTONIC), until = now + spin, latest = now + SPIN_CALL;
    while (!pool_load(&p->stop) && now < until) {
        for (int k = 0; k < 16; k++, pool_pause())
            if (pool_has_work(h)) return 1;
        now = pool_clock(CLOCK_MONOTONIC);
        if (pool_load(&p->pending) && now < latest) until = now + spin;
    }
    return pool_has_work(h);
}

static inline void *pool_help(void *argument) {
    Helper *h = argument;
    Pool *p = h->pool;
    for (;;) {
        int done = pool_has_work(h) ? pool_take(p, 1) : 0;
        if (done && __atomic_sub_fetch(&p->pending, done, __ATOMIC_SEQ_CST) == 0 && pool_load(&p->waiting)) {
            pthread_mutex_lock(&p->mutex);
            pthread_cond_signal(&p->finished);
            pthread_mutex_unlock(&p->mutex);
        }
        if (done || pool_spin(h)) continue;
        pthread_mutex_lock(&h->mutex);
        pool_store(&h->asleep, 1);
        while (!h->wanted && !pool_load(&p->stop) && !pool_has_work(h)) pthread_cond_wait(&h->called, &h->mutex);
        h->wanted = 0;
        pool_store(&h->asleep, 0);
        pthread_mutex_unlock(&h->mutex);
        if (pool_load(&p->stop)) return NULL;
    }
}

/* Start the missing helpers of a team. Fewer start if the system allows no more. */
static inline void pool_start(Pool *p, int size) {
    sigset_t all, before;
    if (p->started >= size - 1) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; p->started < size - 1; p->started++) {
        Helper *h = &p->helpers[p->started];
        *h = (Helper){.pool = p, .index = p->started + 1};
        pthread_mutex_init(&h->mutex, NULL);
        pthread_cond_init(&h->called, NULL);
        if (pthread_create(&h->thread, NULL, pool_help, h)) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Wake the sleeping helpers of a team. */
static inline void pool_wake(Pool *p, int size) {
    for (int k = 0; k < size - 1 && k < p->started; k++) {
        Helper *h = &p->helpers[k];
        if (!pool_load(&h->asleep) || pthread_mutex_trylock(&h->mutex)) continue;
        h->wanted = 1;
        pthread_cond_signal(&h->called);
        pthread_mutex_unlock(&h->mutex);
    }
}

/* Wait until the chunks that helpers have begun are done: spin, then sleep. */
static inline void pool_wait(Pool *p) {
    int64_t until = 0;
    for (int k = 1; pool_load(&p->pending); k++, pool_pause()) {
        if (k % 16) continue;
        if (!until) until = pool_clock(CLOCK_MONOTONIC) + SPIN_MOST;
        if (pool_clock(CLOCK_MONOTONIC) < until) continue;
        pthread_mutex_lock(&p->mutex);
        pool_store(&p->waiting, 1);
        while (pool_load(&p->pending)) pthread_cond_wait(&p->finished, &p->mutex);
        pool_store(&p->waiting, 0);
        pthread_mutex_unlock(&p->mutex);
        return;
    }
}

/* A pool of at most `most` threads, with the caller. NULL if there is no memory. */
static inline Pool *pool_new(int most, Runtime *runtime) {
    Pool *p = NULL;
    if (posix_memalign((void **)&p, 2 * CACHE_LINE, sizeof(Pool))) return NULL;
    *p = (Pool){.most = most, .runtime = runtime};
    for (int k = 0; k < POOL_KINDS; k++) team_init(&p->teams[k], most);
    if (posix_memalign((void **)&p->helpers, 2 * CACHE_LINE, (most > 1 ? most - 1 : 1) * sizeof(Helper))) {
        free(p);
        return NULL;
    }
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->finished, NULL);
    return p;
}

/* End the helpers and free the pool; no call may run. generation: of this process, as for pool_run. */
static inline void pool_free(Pool *p, int generation) {
    if (!p) return;
    if (p->generation != generation) p->started = 0;  /* helpers of a parent process */
    pool_store(&p->stop, 1);
    for (int k = 0; k < p->started; k++) {
        Helper *h = &p->helpers[k];
        pthread_mutex_lock(&h->mutex);
        pthread_cond_signal(&h->called);
        pthread_mutex_unlock(&h->mutex);
        pthread_join(h->thread, NULL);
        pthread_cond_destroy(&h->called);
        pthread_mutex_destroy(&h->mutex);
    }
    free(p->helpers);
    free(p);
}

#endif

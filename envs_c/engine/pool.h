/* A pool of threads that share the chunks of one call, the engine's own.
 *
 * The calling thread works too. All take chunks from one atomic range, the caller at its start and the others at its end, so
 * that each finds the environments of its last call in its core's cache. A thread that comes late, because it sleeps or has no
 * core, is not waited for: the caller takes its chunks. The caller waits only for chunks that another thread has begun.
 *
 * team.h decides how many threads take part in a call. They are the pool's helpers (helpers.h), or, if the whole team is asked
 * for and torch has loaded an OpenMP runtime, the threads of that runtime (runtime.h); its region ends when all of them came.
 *
 * A pool has one caller at a time. A second one, or a caller that finds no helpers, does all chunks by itself.
 */

#ifndef ENVS_C_POOL_H
#define ENVS_C_POOL_H

#include "helpers.h"

static _Thread_local Crowd pool_crowd;

/* Begin a call in a process that has no helpers yet: a new pool's first, or the first after a fork, which may have come in
   the middle of a call of another thread. */
static inline void pool_enter_process(Pool *p, int generation) {
    p->generation = generation;
    p->left = 0;
    p->pending = p->waiting = p->started = 0;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->finished, NULL);
}

/* Publish the chunks of a job to a team of `size` threads. */
static inline void pool_publish(Pool *p, int size, pool_work work, void *job, int chunks, double gap) {
    int64_t spin = (int64_t)(2 * gap) + SPIN_MARGIN;
    p->work = work;
    p->job = job;
    pool_store(&p->spin, spin < SPIN_MOST ? spin : 0);
    pool_store(&p->size, size);
    pool_store(&p->pending, chunks);
    pool_store(&p->left, (uint64_t)chunks);
}

static inline int pool_alone(pool_work work, void *job, int chunks) {
    for (int k = 0; k < chunks; k++) work(job, k);
    return chunks;
}

/* The calling thread's part of a call. */
typedef struct {
    Pool *pool;
    pthread_t thread;
    pool_work work;
    void *job;
    int chunks;
    int measured;  /* 1 to take the CPU time */
    int done;      /* chunks */
    Call *call;
} Share;

/* Do the calling thread's chunks. alone: 1 for all chunks, without a look at others. */
static inline void pool_do_own(Share *s, int alone) {
    int64_t begin = pool_clock(CLOCK_MONOTONIC), cpu = s->measured ? pool_clock(CLOCK_THREAD_CPUTIME_ID) : 0;
    s->done = alone ? pool_alone(s->work, s->job, s->chunks) : pool_take(s->pool, 0);
    int64_t ran = s->measured ? pool_clock(CLOCK_THREAD_CPUTIME_ID) - cpu : 0, own = pool_clock(CLOCK_MONOTONIC) - begin;
    if (s->measured) crowd_note(&pool_crowd, (double)ran, (double)(own - ran));
    s->call->own_ns = (double)own;
}

/* A thread of the runtime's team. */
static inline void pool_region(void *share) {
    Share *s = share;
    if (pthread_equal(s->thread, pthread_self())) {
        pool_do_own(s, 0);
        return;
    }
    int done = pool_take(s->pool, 1);
    if (done) __atomic_sub_fetch(&s->pool->pending, done, __ATOMIC_SEQ_CST);
}

/* Do the chunks 0 .. chunks-1 of a job, each by one call of work(job, chunk).
 *
 * kind: 0 .. POOL_KINDS-1: calls with a team of their own.
 * items: the size of the job, to which its time is proportional.
 * all: 1 for the whole team, without measurements.
 * generation: a number of this process, never 0; after a fork, the child's is another one.
 */
static inline void pool_run(Pool *p, int kind, pool_work work, void *job, int chunks, double items, int all,
                            int generation) {
    if (__atomic_exchange_n(&p->holder, generation, __ATOMIC_SEQ_CST) == generation) {  /* another thread's call */
        pool_alone(work, job, chunks);
        return;
    }
    if (p->generation != generation) pool_enter_process(p, generation);
    Team *t = &p->teams[kind];
    int64_t begin = pool_clock(CLOCK_MONOTONIC);
    int worth = !all && team_is_worth_it(t, items);
    if (worth) crowd_look(&pool_crowd, begin);
    int crowded = crowd_is_here(&pool_crowd);
    int size = all ? p->most : team_size(t, items, crowded);
    int region = size > 1 && runtime_fits(p->runtime, size, generation);
    Call call = {.items = items, .gap = p->last ? begin - p->last : 0};
    Share share = {.pool = p, .thread = pthread_self(), .work = work, .job = job, .chunks = chunks,
                   .measured = worth && pool_crowd.blind, .call = &call};
    if (size > 1) pool_publish(p, region ? 1 : size, work, job, chunks, t->gap);
    if (region) {
        p->runtime->used = 1;
        p->runtime->parallel(pool_region, &share, size, 0);
    } else if (size > 1) {
        pool_start(p, size);
        pool_wake(p, size);
        pool_do_own(&share, 0);
    } else {
        pool_do_own(&share, 1);
    }
    if (size > 1 && __atomic_sub_fetch(&p->pending, share.done, __ATOMIC_SEQ_CST)) pool_wait(p);
    int64_t end = pool_clock(CLOCK_MONOTONIC);
    call.own_items = items * share.done / chunks;
    call.ns = end - begin;
    team_follow(t, call.gap);
    if (!all) team_note(t, size, crowded, &call);
    p->last = end;
    __atomic_store_n(&p->holder, 0, __ATOMIC_RELEASE);
}

#endif

/* Threads that do single items of work while their caller does something else.
 *
 * The caller gives items, numbers from 0 to N - 1, and later takes those that were done first. An item is given again only after
 * the caller took it, so each is in one place at a time: in the ring of items to do, with a thread, or in the ring of those done.
 * One mutex guards the rings. A thread takes several items at once if many wait, so that the mutex costs little per item. The
 * caller wakes one thread; each thread wakes one more if it leaves items, so few items wake few threads.
 *
 * A caller that waits does items too. So everything is done even if the system gives no thread at all.
 *
 * Threads start with the first items, block all signals, know nothing of Python, and end with the crew. In a child process after
 * a fork they do not exist: the first call there starts new ones (crew_enter).
 *
 * POSIX threads; on Windows those of windows_threads.h.
 */

#ifndef ENVS_C_CREW_H
#define ENVS_C_CREW_H

#include <stdlib.h>

#ifdef _WIN32
#include "windows_threads.h"
#else
#include <pthread.h>
#include <signal.h>
#endif

#ifdef OLD_GLIBC
#include "old_glibc.h"
#endif

#define CREW_MOST 32  /* items that a thread takes at once */

typedef void (*crew_work)(void *job, int item);

typedef struct {
    int *items;  /* (size,) */
    int size;
    int head;    /* the oldest */
    int count;
} Ring;

typedef struct {
    crew_work work;
    void *job;
    Ring todo, done;
    int wanted;      /* items for which the caller sleeps; 0: it does not */
    int asleep;      /* threads that wait for items */
    int stop;        /* 1: threads end */
    int most;        /* threads */
    int started;
    int generation;  /* of the process in which the threads run */
    pthread_t *threads;
    pthread_mutex_t mutex;
    pthread_cond_t called, finished;
} Crew;

static inline void ring_put(Ring *r, int item) {
    r->items[(r->head + r->count++) % r->size] = item;
}

static inline int ring_take(Ring *r) {
    int item = r->items[r->head];
    r->head = (r->head + 1) % r->size;
    r->count--;
    return item;
}

/* With the mutex held: do some items, without it. limit: the most. Returns their number, 0 if none waits. */
static inline int crew_do_some(Crew *c, int limit) {
    int some[CREW_MOST], share = c->todo.count / (2 * c->most), n = share < 1 ? 1 : share;
    n = n < limit ? n : limit;
    n = n < CREW_MOST ? n : CREW_MOST;
    n = n < c->todo.count ? n : c->todo.count;
    if (n == 0) return 0;
    for (int k = 0; k < n; k++) some[k] = ring_take(&c->todo);
    if (c->todo.count && c->asleep) pthread_cond_signal(&c->called);
    pthread_mutex_unlock(&c->mutex);
    for (int k = 0; k < n; k++) c->work(c->job, some[k]);
    pthread_mutex_lock(&c->mutex);
    for (int k = 0; k < n; k++) ring_put(&c->done, some[k]);
    if (c->wanted && c->done.count >= c->wanted) pthread_cond_signal(&c->finished);
    return n;
}

static inline void *crew_member(void *argument) {
    Crew *c = argument;
    pthread_mutex_lock(&c->mutex);
    while (!c->stop) {
        if (crew_do_some(c, CREW_MOST)) continue;
        c->asleep++;
        pthread_cond_wait(&c->called, &c->mutex);
        c->asleep--;
    }
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

/* A crew of `most` threads for the items 0 .. size-1; an item is one call of work(job, item). NULL if there is no memory. */
static inline Crew *crew_new(int most, int size, crew_work work, void *job) {
    Crew *c = calloc(1, sizeof(Crew));
    if (!c) return NULL;
    c->work = work;
    c->job = job;
    c->most = most;
    c->todo.size = c->done.size = size;
    c->todo.items = calloc(size, sizeof(int));
    c->done.items = calloc(size, sizeof(int));
    c->threads = calloc(most, sizeof(pthread_t));
    if (c->todo.items && c->done.items && c->threads) return c;
    free(c->todo.items);
    free(c->done.items);
    free(c->threads);
    free(c);
    return NULL;
}

/* Begin a call. In a new process the crew is empty, and has no threads: a new one, or the child's after a fork.
 *
 * generation: a number of this process, never 0; after a fork, the child's is another one.
 */
static inline void crew_enter(Crew *c, int generation) {
    if (c->generation == generation) return;
    c->generation = generation;
    c->started = c->asleep = c->wanted = c->stop = 0;
    c->todo.head = c->todo.count = c->done.head = c->done.count = 0;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->called, NULL);
    pthread_cond_init(&c->finished, NULL);
}

/* Start the missing threads. Fewer start if the system allows no more. */
static inline void crew_start(Crew *c) {
    if (c->started == c->most) return;
#ifndef _WIN32
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    while (c->started < c->most && !pthread_create(&c->threads[c->started], NULL, crew_member, c)) c->started++;
#ifndef _WIN32
    pthread_sigmask(SIG_SETMASK, &before, NULL);
#endif
}

/* Give items to the threads: `count` of them, none of which is with the crew. */
static inline void crew_give(Crew *c, const int *items, int count) {
    crew_start(c);
    pthread_mutex_lock(&c->mutex);
    for (int k = 0; k < count; k++) ring_put(&c->todo, items[k]);
    pthread_mutex_unlock(&c->mutex);
    pthread_cond_signal(&c->called);
}

/* Take the `count` items that were done first, in this order; they must be with the crew. */
static inline void crew_take(Crew *c, int *items, int count) {
    pthread_mutex_lock(&c->mutex);
    while (c->done.count < count) {
        if (crew_do_some(c, count - c->done.count)) continue;
        c->wanted = count;
        pthread_cond_wait(&c->finished, &c->mutex);
        c->wanted = 0;
    }
    for (int k = 0; k < count; k++) items[k] = ring_take(&c->done);
    pthread_mutex_unlock(&c->mutex);
}

/* End the threads and free the crew. An item that a thread has begun is finished; the others are dropped. */
static inline void crew_free(Crew *c, int generation) {
    if (!c) return;
    if (c->generation == generation) {
        pthread_mutex_lock(&c->mutex);
        c->stop = 1;
        pthread_cond_broadcast(&c->called);
        pthread_mutex_unlock(&c->mutex);
        for (int k = 0; k < c->started; k++) pthread_join(c->threads[k], NULL);
        pthread_mutex_destroy(&c->mutex);
        pthread_cond_destroy(&c->called);
        pthread_cond_destroy(&c->finished);
    }
    free(c->todo.items);
    free(c->done.items);
    free(c->threads);
    free(c);
}

#endif

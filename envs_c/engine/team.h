/* How many threads step a call: the whole team, or the calling thread alone. Plain arithmetic on measured times.
 *
 * The team is OpenMP's: its threads start and end together, so a call waits for a thread that has no core. Alone run
 *
 * - small calls, which cost less than to start and end a parallel region;
 * - calls on crowded cores: other threads wait there, and a second thread would take its time from them, and in the end from
 *   the callers themselves. The measure is the time that the calling thread waits for a core, divided by the time that it
 *   runs or waits. Linux counts both, also between calls;
 * - all calls for a time after the team took longer than one thread would have. That time grows with the loss, so the team's
 *   failures cost a small part of the whole. Now and then the loss of one call does not count: threads start and wake slowly
 *   (15 of them take more than half a millisecond), and a system interrupts them;
 * - a call now and then, to know what one thread needs;
 * - all calls on Windows.
 */

#ifndef ENVS_C_TEAM_H
#define ENVS_C_TEAM_H

#include <stdint.h>
#include <time.h>

#ifdef _WIN32

typedef struct {
    int unused;
} Team;

typedef Team Call;

static inline int team_begin(Team *t, Call *call, double items) {
    return (void)t, (void)call, (void)items, 0;
}

static inline void team_end(Team *t, const Call *call) {
    (void)t, (void)call;
}

/* A clock's ns. */
static inline int64_t team_now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

#else

#include <fcntl.h>
#include <unistd.h>

#define TEAM_SMALL 10e3          /* ns: calls that take less with one thread run alone */
#define TEAM_FIRST 4             /* calls alone before the first of the team */
#define TEAM_AGAIN 128           /* times the duration of a call alone until the next call alone */
#define TEAM_LOSS 0.01           /* the most of the calls' time that failures of the team may cost */
#define TEAM_FORGIVEN 0.01       /* the most of the time that forgiven calls may cost */
#define TEAM_LOST 200e3          /* ns that the team loses before it ends, and ... */
#define TEAM_CALLS 2             /* ... as many times the duration of a call alone, ... */
#define TEAM_SAVED 40e6          /* ... beyond what it saved before, of which at most this counts */
#define TEAM_REST 1e9            /* ns: the longest time without the team */
#define CROWD_LOOK 2000000       /* ns from one look at the system's counters to the next; a look takes 2 us */
#define CROWD_EVIDENCE 10000000  /* ns of running and waiting that are compared */
#define CROWD_SHARE 0.25         /* waiting from which the cores are crowded */

/* The calls of one kind of one engine. It begins with 0. */
typedef struct {
    int busy;      /* 1 during a measured call */
    int calls;     /* alone, up to TEAM_FIRST */
    double item;   /* ns of one thread for an environment, a moving average */
    double since;  /* ns of the team's calls since the last call alone */
    double lost;   /* ns that the team took longer than one thread would have; below 0: shorter */
    double rest;   /* ns of calls that run alone until the team is tried again */
    double strict; /* the clock's ns from which the loss of a call is forgiven again */
} Team;

/* The cores as one calling thread finds them. It begins with 0. */
typedef struct {
    int crowded;
    int blind;             /* 1 if the system does not count */
    int64_t looked;        /* time of the last look */
    uint64_t ran, waited;  /* ns of this thread since its start, at the last comparison */
    uint64_t sums[2];      /* where the system does not count: ns of running and of waiting in calls */
} Crowd;

static _Thread_local Crowd team_crowd;

static inline int64_t team_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * (int64_t)1000000000 + time.tv_nsec;
}

static inline int64_t team_now(void) {
    return team_clock(CLOCK_MONOTONIC);
}

/* Compare the counters of a thread with those of the last comparison. */
static inline void crowd_compare(Crowd *c, uint64_t ran, uint64_t waited) {
    uint64_t waits = waited - c->waited, both = ran - c->ran + waits;
    if (both < CROWD_EVIDENCE) return;
    c->crowded = waits > CROWD_SHARE * both;
    c->ran = ran, c->waited = waited;
}

/* Look at the system's counters of this thread if the last look was long ago. now: ns. */
static inline void crowd_look(Crowd *c, int64_t now) {
    char text[64];
    uint64_t numbers[3] = {0};  /* ns of running and of waiting, and how often the thread got a core */
    if (c->blind || now < c->looked + CROWD_LOOK) return;
    c->looked = now;
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text);
    if (file >= 0) close(file);
    for (int at = 0, k = 0; at < length && k < 3; at++)
        if (text[at] >= '0' && text[at] <= '9') numbers[k] = 10 * numbers[k] + (uint64_t)(text[at] - '0');
        else k++;
    if (numbers[2]) crowd_compare(c, numbers[0], numbers[1]);
    else c->blind = 1;  /* all three are 0 if the system does not count */
}

/* True if the whole team steps the next call. */
static inline int team_plays(const Team *t, double items, int crowded) {
    double alone = items * t->item;
    return t->calls >= TEAM_FIRST && alone >= TEAM_SMALL && !crowded && t->rest <= 0 && t->since < TEAM_AGAIN * alone;
}

/* Take note of a call of `items` that took `ns`, with the whole team or alone. now: ns of the clock. */
static inline void team_note(Team *t, double items, double ns, int whole, double now) {
    double item = ns / items, alone = items * t->item;
    if (whole) {
        t->since += ns;
        t->lost += ns - alone;
        if (t->lost < -TEAM_SAVED) t->lost = -TEAM_SAVED;
        if (t->lost < TEAM_LOST + TEAM_CALLS * alone) return;
        if (now >= t->strict) {
            t->strict = now + (ns - alone) / TEAM_FORGIVEN;
            t->lost -= ns - alone;
            return;
        }
        t->rest = t->lost < TEAM_LOSS * TEAM_REST ? t->lost / TEAM_LOSS : TEAM_REST;
        t->lost = 0;
        return;
    }
    t->since = 0;
    t->rest -= ns;
    if (t->calls < TEAM_FIRST) t->item = t->calls++ && t->item < item ? t->item : item;  /* the first ones find no memory */
    else if (item < t->item) t->item += (item - t->item) / 2;
    else t->item += ((item < 2 * t->item ? item : 2 * t->item) - t->item) / 8;  /* it may be an interruption */
}

/* A call: first team_begin, which returns 1 for the whole team, then team_end. */
typedef struct {
    double items;
    int64_t begin, cpu;  /* ns */
    int whole;
    int measured;        /* 0 if another thread's call of this kind is */
} Call;

static inline int team_begin(Team *t, Call *call, double items) {
    *call = (Call){.items = items, .measured = !__atomic_exchange_n(&t->busy, 1, __ATOMIC_ACQUIRE)};
    if (!call->measured) return 0;
    call->begin = team_clock(CLOCK_MONOTONIC);
    if (items * t->item >= TEAM_SMALL) {
        crowd_look(&team_crowd, call->begin);
        if (team_crowd.blind) call->cpu = team_clock(CLOCK_THREAD_CPUTIME_ID);
    }
    return call->whole = team_plays(t, items, team_crowd.crowded);
}

static inline void team_end(Team *t, const Call *call) {
    if (!call->measured) return;
    int64_t now = team_clock(CLOCK_MONOTONIC), ns = now - call->begin;
    if (call->cpu) {
        int64_t ran = team_clock(CLOCK_THREAD_CPUTIME_ID) - call->cpu;
        team_crowd.sums[0] += (uint64_t)ran;
        team_crowd.sums[1] += (uint64_t)(ns > ran ? ns - ran : 0);
        crowd_compare(&team_crowd, team_crowd.sums[0], team_crowd.sums[1]);
    }
    team_note(t, call->items, (double)ns, call->whole, (double)now);
    __atomic_store_n(&t->busy, 0, __ATOMIC_RELEASE);
}

#endif

/* OpenMP, or one thread if the module is compiled without it. */
#ifdef _OPENMP
#include <omp.h>
#pragma weak omp_pause_resource_all /* NULL: the runtime of a GCC before 9 */
#define TEAM_MOST 1024
#else
#define TEAM_MOST 1
#define omp_get_max_threads() 1
#endif

static _Thread_local int team_used; /* 1 if this thread has a team */

static inline void team_is_used(void) {
    team_used = 1;
}

/* Before a fork: end this thread's team, for OpenMP in the child would wait for it. It starts again with the next region. */
static inline void team_leave_process(void) {
#ifdef _OPENMP
    if (team_used && omp_pause_resource_all) omp_pause_resource_all(omp_pause_soft);
#endif
    team_used = 0;
}

/* The thread sanitizer does not see what OpenMP orders, for GCC's runtime is not compiled for it: it is told here. */
#ifdef __SANITIZE_THREAD__
extern void __tsan_release(void *), __tsan_acquire(void *);
#define order_before(point) __tsan_release(point)
#define order_after(point) __tsan_acquire(point)
#else
#define order_before(point) ((void)(point))
#define order_after(point) ((void)(point))
#endif

#endif

/* How many threads take part in a call, decided by measured times. Plain arithmetic: no clock is read here.
 *
 * A call has some items, and its duration is measured. From time to time a few calls run with twice or half as many threads,
 * a trial; the size with the least time per item stays. So small calls run alone, threads that must be woken take part if it
 * pays, and the costs are those of this machine at present.
 *
 * A trial cannot see one thing: on a busy machine a second thread takes its time from other programs, and in the end from the
 * callers themselves. The sign of it is a calling thread that waits for a core: its own work then takes longer than the
 * CPU time it used. In this case calls run alone until it has passed.
 */

#ifndef ENVS_C_TEAM_H
#define ENVS_C_TEAM_H

#define TEAM_SMALL 10e3          /* ns: shorter calls run alone, and are not worth a measurement */
#define TEAM_SHARE 100e3         /* ns of work for each thread in the first guess */
#define TEAM_TRIAL_CALLS 8       /* of a trial, after one call to start and wake threads */
#define TEAM_TRIAL_NS 2e6        /* a trial also ends after this time */
#define TEAM_PATIENCE 10e6       /* ns of calls between trials; doubled by each trial without a better size ... */
#define TEAM_MOST_PATIENCE 250e6 /* ... up to this */
#define TEAM_BETTER 0.95         /* more threads must take less than this part of the time */
#define TEAM_DRIFT 1.5           /* a change of the time per item by this factor brings the next trial forward */
#define TEAM_WINDOW 20e6         /* ns of the calling thread's own work in which it is compared with its CPU time */
#define TEAM_EVIDENCE 10e6       /* ns of it with the present number of threads before the comparison counts */
#define TEAM_OWN_CORE 0.7        /* CPU time per time below which the calling thread waits for a core */
#define TEAM_LONGEST_GAP 1e6     /* ns: a longer pause between calls counts as this */

typedef struct {
    int most;         /* threads that may take part */
    int size;         /* threads that take part in the next call */
    int best;         /* the size that was found best */
    int up;           /* 1 if the next trial is of more threads */
    double item;      /* ns of one thread's work for an item, a moving average; 0: not known */
    double cost;      /* ns of a call per item with `best` threads, a moving average; 0: not known */
    double anchor;    /* `cost` soon after the last decision; 0: not known */
    double since;     /* ns of calls since the last decision */
    double patience;  /* ns of calls until the next trial */
    double trial_ns;  /* of the present trial, and its items */
    double trial_items;
    int calls;        /* since the last decision, or of the trial */
    double wall;      /* ns of the calling thread's own work, and its CPU time, over the last calls with `best` threads */
    double cpu;
    double gap;       /* ns from the end of a call to the next, a moving average */
} Team;

typedef struct {
    double items;
    double ns;        /* of the call */
    double gap;       /* ns since the last call */
    double own_items; /* done by the calling thread */
    double own_ns;
    double own_cpu;   /* ns of CPU time; negative: not measured */
} Call;

static inline double team_mean(double mean, double value, double weight) {
    return mean > 0 ? mean + (value - mean) * weight : value;
}

static inline void team_init(Team *t, int most) {
    *t = (Team){.most = most, .size = 1, .best = 1, .up = 1};
}

/* The threads for a call of `items`. */
static inline int team_size(const Team *t, double items) {
    return items * t->item < TEAM_SMALL ? 1 : t->size;
}

/* True if the calling thread's CPU time is worth its measurement (200 ns). */
static inline int team_wants_cpu(const Team *t, double items) {
    return items * t->item >= TEAM_SMALL;
}

static inline int team_is_crowded(const Team *t) {
    return t->wall > TEAM_EVIDENCE && t->cpu < TEAM_OWN_CORE * t->wall;
}

/* Go on with `best` threads; the next trial comes after `patience`. */
static inline void team_settle(Team *t, int best, double cost, double patience) {
    if (best != t->best) t->wall = t->cpu = 0;
    t->size = t->best = best;
    t->cost = cost;
    t->anchor = 0;
    t->patience = patience < TEAM_MOST_PATIENCE ? patience : TEAM_MOST_PATIENCE;
    t->since = 0;
    t->calls = 0;
}

/* Begin a trial of more or fewer threads, in turn. */
static inline void team_try(Team *t) {
    int more = 2 * t->best < t->most ? 2 * t->best : t->most, fewer = t->best / 2 > 1 ? t->best / 2 : 1;
    int size = t->up ? more : fewer;
    t->up = !t->up;
    if (size == t->best) size = more + fewer - size;
    if (size == t->best) return;
    t->size = size;
    t->calls = 0;
    t->trial_ns = t->trial_items = 0;
}

static inline void team_judge(Team *t, const Call *call) {
    if (t->calls++ == 0) return;
    t->trial_ns += call->ns;
    t->trial_items += call->items;
    if (t->calls <= TEAM_TRIAL_CALLS && t->trial_ns < TEAM_TRIAL_NS) return;
    double cost = t->trial_ns / t->trial_items;
    if (cost < t->cost * (t->size > t->best ? TEAM_BETTER : 1)) team_settle(t, t->size, cost, t->patience);
    else team_settle(t, t->best, t->cost, t->patience > 0 ? 2 * t->patience : TEAM_PATIENCE);
}

/* Take note of the time since the last call. */
static inline void team_follow(Team *t, double gap) {
    t->gap = team_mean(t->gap, gap < TEAM_LONGEST_GAP ? gap : TEAM_LONGEST_GAP, 0.125);
}

/* Take note of a call with `size` threads. */
static inline void team_note(Team *t, int size, const Call *call) {
    int first = t->item == 0;
    if (call->own_items > 0) t->item = team_mean(t->item, call->own_ns / call->own_items, 0.125);
    if (call->own_cpu >= 0) {
        t->wall += call->own_ns;
        t->cpu += call->own_cpu;
        if (t->wall > TEAM_WINDOW) t->wall /= 2, t->cpu /= 2;
    }
    if (first) {  /* also the first use of this memory: no measure for later calls */
        double guess = call->items * t->item / TEAM_SHARE;
        team_settle(t, guess >= t->most ? t->most : guess > 1 ? (int)guess : 1, 0, 0);
        return;
    }
    if (size != t->size || call->items * t->item < TEAM_SMALL) return;
    if (team_is_crowded(t)) {
        int alone = t->best == 1 && t->size == 1;
        team_settle(t, 1, alone ? team_mean(t->cost, call->ns / call->items, 0.0625) : 0,
                    alone ? t->patience : 2 * t->patience + TEAM_PATIENCE);
        return;
    }
    if (t->size != t->best) {
        team_judge(t, call);
        return;
    }
    t->cost = team_mean(t->cost, call->ns / call->items, 0.0625);
    t->since += call->ns;
    if (t->calls++ < TEAM_TRIAL_CALLS && t->since < TEAM_TRIAL_NS) return;
    if (t->anchor == 0) t->anchor = t->cost;
    if (t->patience > TEAM_PATIENCE && (t->cost > TEAM_DRIFT * t->anchor || t->anchor > TEAM_DRIFT * t->cost)) {
        t->patience = TEAM_PATIENCE;
        t->anchor = t->cost;
    }
    if (t->since > t->patience + 20 * t->trial_ns) team_try(t);
}

#endif

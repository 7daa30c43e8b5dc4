/* How many threads take part in a call, decided by measured times. Plain arithmetic: no clock is read here.
 *
 * A call has some items, and its duration is measured. From time to time a few calls run with twice or half as many threads,
 * a trial; the size with the least time per item stays. So small calls run alone, threads that must be woken take part if it
 * pays, and the costs are those of this machine at present.
 *
 * A trial that fails costs time, most of all if its threads wait for a core. So it ends with its first call if that one took
 * much too long, and the next trial waits until the loss is a small part of the time.
 *
 * A trial cannot see one thing: on a busy machine a second thread takes its time from other programs, and in the end from the
 * callers themselves. While the cores are crowded (crowd.h), calls run alone, and there are no trials.
 */

#ifndef ENVS_C_TEAM_H
#define ENVS_C_TEAM_H

#define TEAM_SMALL 10e3          /* ns: shorter calls run alone, and are not worth a measurement */
#define TEAM_SHARE 100e3         /* ns of work for each thread in the first guess */
#define TEAM_TRIAL_CALLS 8       /* of a trial, after one call to start and wake threads */
#define TEAM_TRIAL_NS 2e6        /* a trial also ends after this time, or with a first call that takes so much too long */
#define TEAM_PATIENCE 10e6       /* ns of calls between trials; doubled by each trial without a better size ... */
#define TEAM_MOST_PATIENCE 1e9   /* ... up to this */
#define TEAM_LOSS 0.02           /* the most of the time that trials may cost */
#define TEAM_BETTER 0.95         /* more threads must take less than this part of the time */
#define TEAM_DRIFT 1.5           /* a change of the time per item by this factor brings the next trial forward */
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
    double trial_ns;  /* of the present trial without its first call, and its items */
    double trial_items;
    double lost;      /* ns by which the calls of the last trial took longer than with `best` threads */
    int calls;        /* since the last decision, or of the trial */
    double gap;       /* ns from the end of a call to the next, a moving average */
} Team;

typedef struct {
    double items;
    double ns;        /* of the call */
    double gap;       /* ns since the last call */
    double own_items; /* done by the calling thread */
    double own_ns;
} Call;

static inline double team_mean(double mean, double value, double weight) {
    return mean > 0 ? mean + (value - mean) * weight : value;
}

static inline void team_init(Team *t, int most) {
    *t = (Team){.most = most, .size = 1, .best = 1, .up = 1};
}

/* True if a call of `items` may have more than one thread. */
static inline int team_is_worth_it(const Team *t, double items) {
    return items * t->item >= TEAM_SMALL;
}

/* The threads for a call of `items`. crowded: 1 if the cores are. */
static inline int team_size(const Team *t, double items, int crowded) {
    return crowded || !team_is_worth_it(t, items) ? 1 : t->size;
}

/* Go on with `best` threads; the next trial comes after `patience`. */
static inline void team_settle(Team *t, int best, double cost, double patience) {
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
    t->trial_ns = t->trial_items = t->lost = 0;
}

static inline void team_judge(Team *t, const Call *call) {
    double usual = call->items * t->cost;
    t->lost += call->ns - usual;
    if (t->calls++ == 0) {
        if (call->ns < 2 * usual + TEAM_TRIAL_NS) return;
        team_settle(t, t->best, t->cost, t->patience > 0 ? 2 * t->patience : TEAM_PATIENCE);
        return;
    }
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

/* Take note of a call with `size` threads. crowded: as for team_size. */
static inline void team_note(Team *t, int size, int crowded, const Call *call) {
    int first = t->item == 0;
    double cost = call->ns / call->items;
    if (call->own_items > 0) t->item = team_mean(t->item, call->own_ns / call->own_items, 0.125);
    if (first) {  /* also the first use of this memory: no measure for later calls */
        double guess = call->items * t->item / TEAM_SHARE;
        team_settle(t, guess >= t->most ? t->most : guess > 1 ? (int)guess : 1, 0, 0);
        return;
    }
    if (!team_is_worth_it(t, call->items)) return;
    if (crowded) {
        int alone = t->best == 1 && t->size == 1;
        team_settle(t, 1, alone ? team_mean(t->cost, cost, 0.0625) : 0, alone ? t->patience : 2 * t->patience + TEAM_PATIENCE);
        return;
    }
    if (size != t->size) return;
    if (t->size != t->best) {
        team_judge(t, call);
        return;
    }
    t->cost = team_mean(t->cost, cost, 0.0625);
    t->since += call->ns;
    if (t->calls++ < TEAM_TRIAL_CALLS && t->since < TEAM_TRIAL_NS) return;
    if (t->anchor == 0) t->anchor = t->cost;
    if (t->patience > TEAM_PATIENCE && (t->cost > TEAM_DRIFT * t->anchor || t->anchor > TEAM_DRIFT * t->cost)) {
        t->patience = TEAM_PATIENCE;
        t->anchor = t->cost;
    }
    if (t->since > t->patience && t->since * TEAM_LOSS > t->lost) team_try(t);
}

#endif

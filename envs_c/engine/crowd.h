/* Detects that other threads occupy the cores, so that a second thread of the pool would have to wait for one.
 *
 * The measure is the time that the calling thread waits for a core, divided by the time that it runs or waits. Sleep counts as
 * neither. Linux counts both times for each thread, also between the pool's calls, when spinning threads of OpenMP may occupy
 * the cores. On other systems the pool compares the duration of the calling thread's work in a call with its CPU time.
 */

#ifndef ENVS_C_CROWD_H
#define ENVS_C_CROWD_H

#include <fcntl.h>
#include <stdint.h>
#include <unistd.h>

#define CROWD_WINDOW 20e6    /* ns of running and waiting over which they are compared */
#define CROWD_EVIDENCE 10e6  /* ns before the comparison counts */
#define CROWD_SHARE 0.25     /* waiting from which the cores are crowded */
#define CROWD_LOOK 2000000   /* ns from one look at the system's counters to the next; a look takes 2 us */

/* One for each thread. It begins with 0. */
typedef struct {
    double ran;            /* ns of the last window */
    double waited;
    int64_t looked;        /* time of the last look */
    uint64_t counters[2];  /* ns of this thread since its start, running and waiting, at the last look; 0 before the first */
    int blind;             /* 1 if the system does not count */
} Crowd;

/* Take note that the thread ran, and waited for a core, for so many ns. */
static inline void crowd_note(Crowd *c, double ran, double waited) {
    c->ran += ran;
    c->waited += waited > 0 ? waited : 0;
    while (c->ran + c->waited > CROWD_WINDOW) c->ran /= 2, c->waited /= 2;
}

static inline int crowd_is_here(const Crowd *c) {
    double both = c->ran + c->waited;
    return both > CROWD_EVIDENCE && c->waited > CROWD_SHARE * both;
}

/* The system's two counters of this thread. Returns 0 if there are none. */
static inline int crowd_read(uint64_t counters[2]) {
    char text[64];
    uint64_t numbers[3] = {0};  /* ns of running and of waiting, and how often the thread got a core */
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text);
    close(file);
    for (int at = 0, k = 0; at < length && k < 3; at++)
        if (text[at] >= '0' && text[at] <= '9') numbers[k] = 10 * numbers[k] + (uint64_t)(text[at] - '0');
        else k++;
    counters[0] = numbers[0], counters[1] = numbers[1];
    return numbers[2] > 0;  /* all three are 0 if the system does not count */
}

/* Look at the counters of this thread if the last look was long ago. now: ns. */
static inline void crowd_look(Crowd *c, int64_t now) {
    uint64_t counters[2];
    if (c->blind || now < c->looked + CROWD_LOOK) return;
    if (!crowd_read(counters)) {
        c->blind = 1;
        return;
    }
    if (counters[0] >= c->counters[0] && counters[1] >= c->counters[1])  /* else they began anew with a fork */
        crowd_note(c, (double)(counters[0] - c->counters[0]), (double)(counters[1] - c->counters[1]));
    c->looked = now;
    c->counters[0] = counters[0], c->counters[1] = counters[1];
}

#endif

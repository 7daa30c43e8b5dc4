/* Items through crews of several sizes, each counted. Prints "ok" if each given item was done once and came back once, and an
 * item that is done is not kept waiting by one that is not.
 * Compiled by tests/envs_c/asynchronous/test_crew.py, also with NO_THREADS, under which no thread can be started. */

#ifdef NO_THREADS
#include <pthread.h>
#define pthread_create(thread, attributes, work, argument) 11 /* EAGAIN */
#endif
#include "crew.h"
#undef pthread_create

#include <semaphore.h>
#include <stdio.h>
#include <time.h>

enum { ITEMS = 50, ROUNDS = 4000, PROCESS = 1 };

static int counts[ITEMS];
static sem_t begun, gate;

static void count(void *job, int item) {
    (void)job;
    counts[item]++;
}

static void wait_at_gate(void *job, int item) {
    (void)job;
    if (item) return;
    sem_post(&begun);
    sem_wait(&gate);
}

/* Give and take some items in turn, until `rounds` is over; returns the number of errors. */
static int play(int most, int batch) {
    int given[ITEMS] = {0}, away[ITEMS] = {0}, items[ITEMS], in_flight = 0, wrong = 0, next = 0;
    Crew *c = crew_new(most, ITEMS, count, NULL);
    for (int k = 0; k < ITEMS; k++) counts[k] = 0;
    crew_enter(c, PROCESS);
    for (int n = 0; n < ROUNDS; n++) {
        int free = 0;
        for (int k = 0; k < ITEMS; k++, next = (next + 7) % ITEMS) {
            if (away[next] || free > n % (batch + 2)) continue;
            items[free++] = next;
            away[next] = 1;
            given[next]++;
        }
        crew_give(c, items, free);
        in_flight += free;
        if (in_flight < batch) continue;
        crew_take(c, items, batch);
        in_flight -= batch;
        for (int k = 0; k < batch; k++) {
            wrong += !away[items[k]] || counts[items[k]] != given[items[k]];
            away[items[k]] = 0;
        }
        if (n % 100 == 0) nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);  /* until the threads sleep */
    }
    crew_free(c, PROCESS);  /* some items are in flight */
    return wrong;
}

/* Item 0 waits at the gate while the others come back. */
static int slow_item(void) {
    int wrong = 0, zero = 0, others[3] = {1, 2, 3}, items[3];
    Crew *c = crew_new(2, 4, wait_at_gate, NULL);
    sem_init(&begun, 0, 0);
    sem_init(&gate, 0, 0);
    crew_enter(c, PROCESS);
    crew_give(c, &zero, 1);
    sem_wait(&begun);
    crew_give(c, others, 3);
    crew_take(c, items, 3);
    for (int k = 0; k < 3; k++) wrong += items[k] == 0;
    sem_post(&gate);
    crew_take(c, items, 1);
    wrong += items[0] != 0;
    crew_free(c, PROCESS);
    return wrong;
}

int main(void) {
    int wrong = 0;
    for (int most = 1; most <= 5; most++)
        for (int batch = 1; batch <= ITEMS; batch += 12) wrong += play(most, batch);
#ifndef NO_THREADS
    wrong += slow_item();
#endif
    puts(wrong ? "wrong" : "ok");
    return 0;
}

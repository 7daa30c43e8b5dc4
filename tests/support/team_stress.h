/* Measured calls of one kind from one and from two threads, every other one with OpenMP's threads. Prints "ok" if each chunk was
 * done once. Compiled by tests/envs_c/stepping/test_team.py, under the thread sanitizer. */

#include "team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNKS = 16, CALLS = 3000, THREADS = 4 };

typedef struct {
    Team *team;
    int count[CHUNKS];
    char begun, done;
    int wrong;
} Caller;

static void work(Caller *c, int chunk) {
    order_after(&c->begun);
    c->count[chunk]++;
    order_before(&c->done);
}

/* Compiled without the sanitizer: the variables that a region shares are the compiler's. */
__attribute__((no_sanitize("thread"))) static void region(Caller *c) {
#pragma omp parallel for num_threads(THREADS) schedule(static)
    for (int k = 0; k < CHUNKS; k++) work(c, k);
}

static void *call(void *argument) {
    Caller *c = argument;
    for (int n = 1; n <= CALLS; n++) {
        Call call;
        for (int k = 0; k < CHUNKS; k++) c->count[k] = 0;
        team_begin(c->team, &call, 1e6);
        if (n % 2) {
            order_before(&c->begun);
            region(c);
            order_after(&c->done);
        } else {
            for (int k = 0; k < CHUNKS; k++) c->count[k]++;
        }
        team_end(c->team, &call);
        for (int k = 0; k < CHUNKS; k++) c->wrong += c->count[k] != 1;
    }
    return NULL;
}

int main(void) {
    Team team = {0};
    Caller one = {.team = &team}, other = {.team = &team};
    pthread_t thread;
    call(&one);
    pthread_create(&thread, NULL, call, &other);
    call(&one);
    pthread_join(thread, NULL);
    puts(one.wrong || other.wrong ? "wrong" : "ok");
    return 0;
}

/* What the kernels of all .cu files share: loads and stores of numbers, and the work of a thread.
 *
 * Kernels have grid-stride loops: any number of blocks does all items.
 */
#ifndef INSERTCOIN_THREADS_H
#define INSERTCOIN_THREADS_H

#include "rows.h"

typedef long long int64;

/* Loads and stores of numbers of each dtype. */
ROW float number(float x) { return x; }
ROW float number(bf16 x) { return row_from_bf16(x); }
ROW float number(uint8_t x) { return (float)x; }
ROW void put(float *at, float x) { *at = x; }
ROW void put(bf16 *at, float x) { *at = row_to_bf16(x); }
ROW void put(uint8_t *at, float x) { *at = (uint8_t)x; }

/* The rows of a thread if one thread has a complete row: `first`, `first + stride`, ... */
struct Share {
    int64 first, stride;
};

ROW Share share() {
    return {(int64)blockIdx.x * blockDim.x + threadIdx.x, (int64)gridDim.x * blockDim.x};
}

/* The elements of a thread if a team of threads has a row of n units: the rows `row`, `row + rows`, ..., and in each row the
 * units `unit`, `unit + units`, ... Neighbouring threads have neighbouring units, so that their memory accesses coalesce. */
struct Place {
    int64 row, rows, unit, units;
};

ROW Place place(int64 n) {
    int64 team = n < blockDim.x ? n : blockDim.x;
    int64 thread = (int64)blockIdx.x * blockDim.x + threadIdx.x, teams = (int64)gridDim.x * blockDim.x / team;
    bool spare = thread / team >= teams; /* it belongs to an incomplete last team, which gets no row */
    return {spare ? 1LL << 62 : thread / team, teams, thread % team, team};
}

#endif

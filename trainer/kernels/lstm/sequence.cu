/* The recurrence of an LSTM over whole sequences on a GPU, in bfloat16: one kernel in place of a matrix product and a kernel for
 * each time step. The input products of all steps are one matrix product before it, and the weights' gradients come after it.
 *
 * A block has 16 sequences, the rows of a matrix product of tensor cores (mma.m16n8k16), for all steps. Each of its warps has 8
 * units of all gates. A thread has 2 units of 2 sequences: it computes their gates, and their cell states stay in its registers.
 * So do the recurrent weights, 64 registers of a thread with 128 units: the 128 KB would not fit into the shared memory of a
 * GeForce, and would be read from it at each step. Only hidden states, or gradients of gates, pass through shared memory.
 * There are two tiles, for even and odd steps, so that one barrier a step is enough.
 */
#include "rows.h"

typedef long long int64;

const int SEQUENCES = 16;
const int UNITS = 8; /* of a warp */
const int PAD = 8;   /* elements behind each row of a tile: the rows of a matrix that ldmatrix reads lie in different banks */

/* Two neighbours in memory: the lower half is the first. */
ROW uint32_t pair_at(const bf16 *at) { return *(const uint32_t *)at; }
ROW void put_pair(bf16 *at, uint32_t pair) { *(uint32_t *)at = pair; }
ROW float first_of(uint32_t pair) { return row_from_bf16((bf16)pair); }
ROW float second_of(uint32_t pair) { return row_from_bf16((bf16)(pair >> 16)); }

ROW uint32_t pack(float first, float second) {
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
    return pair;
}

/* 1 / (1 + e^-x) and tanh(x) to about 1e-6, by the units for special functions. */
ROW float fast_sigmoid(float x) {
    float power, result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * -1.44269504088896341f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(1.0f + power));
    return result;
}

ROW float fast_tanh(float x) { return 2.0f * fast_sigmoid(2.0f * x) - 1.0f; }

/* sums += A B for A (16, 16) and B (16, 8), spread over a warp. Thread l has of `sums` the rows l / 4 and l / 4 + 8, in each
 * the columns l % 4 * 2 and the next; of B the column l / 4, in it the rows l % 4 * 2 and the next (b[0]), and 8 further (b[1]). */
ROW void add_product(float sums[4], const uint32_t a[4], const uint32_t b[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* The matrix A (16, 16) that begins at a column of a tile. place: of this thread's row in the tile, in shared memory. */
ROW void load_matrix(uint32_t a[4], uint32_t place, int column) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(place + column * 2) : "memory");
}

ROW uint32_t matrix_place(const bf16 *tile, int width) {
    int lane = threadIdx.x % 32;
    return (uint32_t)__cvta_generic_to_shared(tile + lane % 16 * width + lane / 16 * 8);
}

/* `reference.lstm_recurrence` with N units. gates can be the memory of products. inputs, cells: IN row 0, OUT the others. */
template <int N>
ROW void recurrence(const bf16 *products, const bf16 *weight, const float *bias, const float *keep, bf16 *gates, bf16 *inputs,
                    float *cells, bf16 *hidden, int64 steps, int64 batch) {
    const int WIDTH = N + PAD;
    __shared__ __align__(16) bf16 tiles[2][SEQUENCES * WIDTH];
    int lane = threadIdx.x % 32, above = threadIdx.x / 32 * UNITS, unit = above + lane % 4 * 2;
    uint32_t weights[4][N / 16][2];
#pragma unroll
    for (int gate = 0; gate < 4; gate++)
#pragma unroll
        for (int k = 0; k < N / 16; k++) {
            const bf16 *at = weight + (gate * N + above + lane / 4) * N + k * 16 + lane % 4 * 2;
            weights[gate][k][0] = pair_at(at);
            weights[gate][k][1] = pair_at(at + 8);
        }
    uint32_t place = matrix_place(tiles[0], WIDTH);
    for (int64 begin = blockIdx.x * (int64)SEQUENCES; begin < batch; begin += gridDim.x * (int64)SEQUENCES) {
        bool there[2];
        int64 row = begin + lane / 4; /* of (T * B) rows; the second one is 8 further */
        float c[2][2], kept[2];
        uint32_t fetched[4][2];
#pragma unroll
        for (int r = 0; r < 2; r++) {
            there[r] = row + 8 * r < batch;
            int64 k = row + 8 * r;
            c[r][0] = there[r] ? cells[k * N + unit] : 0.0f;
            c[r][1] = there[r] ? cells[k * N + unit + 1] : 0.0f;
            kept[r] = there[r] ? keep[k] : 0.0f;
            put_pair(tiles[0] + (lane / 4 + 8 * r) * WIDTH + unit, there[r] ? pair_at(inputs + k * N + unit) : 0);
#pragma unroll
            for (int gate = 0; gate < 4; gate++)
                fetched[gate][r] = there[r] ? pair_at(products + (k * 4 + gate) * N + unit) : 0;
        }
        __syncthreads();
        for (int64 t = 0; t < steps; t++, row += batch) {
            float sums[4][4], kept_next[2];
#pragma unroll
            for (int r = 0; r < 2; r++) kept_next[r] = there[r] ? keep[row + batch + 8 * r] : 0.0f;
#pragma unroll
            for (int gate = 0; gate < 4; gate++) {
                float2 shift = *(const float2 *)(bias + gate * N + unit);
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    sums[gate][2 * r] = first_of(fetched[gate][r]) + shift.x;
                    sums[gate][2 * r + 1] = second_of(fetched[gate][r]) + shift.y;
                    if (there[r] && t + 1 < steps) /* of the next step: they arrive while this one is computed */
                        fetched[gate][r] = pair_at(products + ((row + batch + 8 * r) * 4 + gate) * N + unit);
                }
            }
#pragma unroll
            for (int k = 0; k < N / 16; k++) {
                uint32_t a[4];
                load_matrix(a, place + (t & 1) * (uint32_t)sizeof(tiles[0]), k * 16);
#pragma unroll
                for (int gate = 0; gate < 4; gate++) add_product(sums[gate], a, weights[gate][k]);
            }
            bf16 *next = tiles[(t + 1) & 1];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                int64 k = row + 8 * r;
                float h[2];
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float *i = &sums[0][2 * r + e], *f = &sums[1][2 * r + e], *g = &sums[2][2 * r + e], *o = &sums[3][2 * r + e];
                    *i = fast_sigmoid(*i);
                    *f = fast_sigmoid(*f);
                    *g = fast_tanh(*g);
                    *o = fast_sigmoid(*o);
                    c[r][e] = *f * (c[r][e] * kept[r]) + *i * *g;
                    h[e] = *o * fast_tanh(c[r][e]);
                }
                kept[r] = kept_next[r];
                uint32_t input = pack(h[0] * kept_next[r], h[1] * kept_next[r]);
                put_pair(next + (lane / 4 + 8 * r) * WIDTH + unit, input);
                if (!there[r]) continue;
#pragma unroll
                for (int gate = 0; gate < 4; gate++)
                    put_pair(gates + (k * 4 + gate) * N + unit, pack(sums[gate][2 * r], sums[gate][2 * r + 1]));
                *(float2 *)(cells + (k + batch) * N + unit) = {c[r][0], c[r][1]};
                put_pair(inputs + (k + batch) * N + unit, input);
                put_pair(hidden + k * N + unit, pack(h[0], h[1]));
            }
            __syncthreads();
        }
    }
}

/* `reference.lstm_recurrence_backward` with N units. dgates can be the memory of gates. */
template <int N>
ROW void recurrence_backward(const bf16 *gates, const bf16 *weight, const float *keep, const float *cells, const bf16 *dhidden,
                             bf16 *dgates, int64 steps, int64 batch) {
    const int WIDTH = 4 * N + PAD;
    __shared__ __align__(16) bf16 tiles[2][SEQUENCES * WIDTH];
    int lane = threadIdx.x % 32, above = threadIdx.x / 32 * UNITS, unit = above + lane % 4 * 2;
    uint32_t weights[N / 4][2];
#pragma unroll
    for (int k = 0; k < N / 4; k++) {
        const bf16 *at = weight + (k * 16 + lane % 4 * 2) * N + above + lane / 4;
        weights[k][0] = at[0] | (uint32_t)at[N] << 16;
        weights[k][1] = at[8 * N] | (uint32_t)at[9 * N] << 16;
    }
    uint32_t place = matrix_place(tiles[0], WIDTH);
    for (int64 begin = blockIdx.x * (int64)SEQUENCES; begin < batch; begin += gridDim.x * (int64)SEQUENCES) {
        bool there[2];
        int64 row = (steps - 1) * batch + begin + lane / 4;
        float sums[2][4] = {}, dc[2][2] = {}, kept_next[2] = {};
        float2 c[2], before[2];
        float kept[2];
        uint32_t activated[4][2], dabove[2];
        auto load = [&](int64 from, int r) {
            int64 k = from + 8 * r;
#pragma unroll
            for (int gate = 0; gate < 4; gate++)
                activated[gate][r] = there[r] ? pair_at(gates + (k * 4 + gate) * N + unit) : 0;
            dabove[r] = there[r] ? pair_at(dhidden + k * N + unit) : 0;
            before[r] = there[r] ? *(const float2 *)(cells + k * N + unit) : float2{0.0f, 0.0f};
            kept[r] = there[r] ? keep[k] : 0.0f;
        };
#pragma unroll
        for (int r = 0; r < 2; r++) {
            int64 k = row + 8 * r + batch;
            there[r] = begin + lane / 4 + 8 * r < batch;
            c[r] = there[r] ? *(const float2 *)(cells + k * N + unit) : float2{0.0f, 0.0f};
            kept_next[r] = there[r] ? keep[k] : 0.0f;
            load(row, r);
        }
        for (int64 t = steps - 1; t >= 0; t--, row -= batch) {
            bf16 *tile = tiles[t & 1];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                float d[4][2];
#pragma unroll
                for (int e = 0; e < 2; e++) {
#pragma unroll
                    for (int gate = 0; gate < 4; gate++)
                        d[gate][e] = e ? second_of(activated[gate][r]) : first_of(activated[gate][r]);
                    float dh = (e ? second_of(dabove[r]) : first_of(dabove[r]))
                             + (sums[0][2 * r + e] + sums[1][2 * r + e]) * kept_next[r];
                    dc[r][e] *= kept_next[r];
                    row_lstm_unit_gradient(&d[0][e], &d[1][e], &d[2][e], &d[3][e], (e ? before[r].y : before[r].x) * kept[r],
                                           fast_tanh(e ? c[r].y : c[r].x), dh, &dc[r][e]);
                }
                c[r] = before[r];
                kept_next[r] = kept[r];
#pragma unroll
                for (int gate = 0; gate < 4; gate++) {
                    uint32_t both = pack(d[gate][0], d[gate][1]);
                    put_pair(tile + (lane / 4 + 8 * r) * WIDTH + gate * N + unit, both);
                    if (there[r]) put_pair(dgates + ((row + 8 * r) * 4 + gate) * N + unit, both);
                }
                if (t) load(row - batch, r); /* the step before: its numbers arrive while the product is computed */
            }
            __syncthreads();
            if (!t) break; /* nobody needs the gradient of the first hidden state */
#pragma unroll
            for (int s = 0; s < 8; s++) sums[s / 4][s % 4] = 0.0f;
#pragma unroll
            for (int k = 0; k < N / 4; k++) {
                uint32_t a[4];
                load_matrix(a, place + (t & 1) * (uint32_t)sizeof(tiles[0]), k * 16);
                add_product(sums[k & 1], a, weights[k]);
            }
        }
    }
}

/* A block has a warp for each 8 units. */
#define RECURRENCE(N)                                                                                                   \
    extern "C" __global__ void __launch_bounds__(4 * N)                                                                 \
    lstm_recurrence_##N(const bf16 *products, const bf16 *weight, const float *bias, const float *keep, bf16 *gates,    \
                        bf16 *inputs, float *cells, bf16 *hidden, int64 steps, int64 batch) {                           \
        recurrence<N>(products, weight, bias, keep, gates, inputs, cells, hidden, steps, batch);                        \
    }                                                                                                                   \
    extern "C" __global__ void __launch_bounds__(4 * N)                                                                 \
    lstm_recurrence_backward_##N(const bf16 *gates, const bf16 *weight, const float *keep, const float *cells,          \
                                 const bf16 *dhidden, bf16 *dgates, int64 steps, int64 batch) {                         \
        recurrence_backward<N>(gates, weight, keep, cells, dhidden, dgates, steps, batch);                              \
    }

RECURRENCE(32)
RECURRENCE(64)
RECURRENCE(128)

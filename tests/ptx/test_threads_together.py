"""The emulator of PTX: barriers, shared memory, atomics, shuffles, votes, matrix products and copies beside the kernel."""

import numpy as np
import pytest
import torch

SUM = """extern "C" __global__ void k(const float *x, float *out) {
    __shared__ float tile[SIZE]; extern __shared__ float more[];
    int t = threadIdx.x; tile[t] = x[blockIdx.x * SIZE + t]; __syncthreads();
    for (int far = SIZE / 2; far; far /= 2) { if (t < far) tile[t] += tile[t + far]; __syncthreads(); }
    more[t] = tile[0] + t; __syncthreads();
    out[blockIdx.x * SIZE + t] = more[SIZE - 1 - t];
}"""


@pytest.mark.parametrize("size", [1, 8, 64, 256])
def test_a_block_sums_in_shared_memory_between_barriers(size, launch):
    x, out = np.arange(3 * size, dtype=np.float32), np.zeros(3 * size, np.float32)
    launch(SUM.replace("SIZE", str(size)), x, out, grid=(3,), block=(size,), shared=4 * size)
    assert np.array_equal(out.reshape(3, size), x.reshape(3, size).sum(1)[:, None] + np.arange(size)[::-1])


@pytest.mark.parametrize(("arch", "most"), [("sm_80", 163), ("sm_90", 227), ("sm_120", 99)])
def test_a_block_gets_no_more_shared_memory_than_the_architecture_has(arch, most, launch):
    from ptx import Fault
    x, out = np.zeros(8, np.float32), np.zeros(8, np.float32)
    launch(SUM.replace("SIZE", "8"), x, out, block=(8,), shared=1024 * most - 32, arch=arch)
    with pytest.raises(Fault, match=rf"k: {1024 * most + 4} bytes of shared memory for a block are more than {1024 * most}"):
        launch(SUM.replace("SIZE", "8"), x, out, block=(8,), shared=1024 * most - 28, arch=arch)


def test_more_threads_than_run_side_by_side_give_the_same(launch):
    x, out = np.arange(64 * 512, dtype=np.float32) % 7, np.zeros(64 * 512, np.float32)
    launch(SUM.replace("SIZE", "512"), x, out, grid=(64,), block=(512,), shared=2048)
    assert np.array_equal(out.reshape(64, 512), x.reshape(64, 512).sum(1)[:, None] + np.arange(512)[::-1])


ATOMICS = {  # CUDA: (its word after all threads, in Python from the words 0, 1, 2, ...)
    "atomicAdd(out + 0, w)": sum, "atomicMax(out + 1, w)": max, "atomicMin(out + 2, -w)": lambda words: -max(words),
    "atomicOr(out + 3, w)": lambda words: int(np.bitwise_or.reduce(words)), "atomicXor(out + 4, w)": lambda words: int(
        np.bitwise_xor.reduce(words)),
}


@pytest.mark.parametrize(("grid", "block"), [(1, 1), (1, 33), (5, 64)])
def test_atomic_operations_lose_no_thread(grid, block, launch):
    out, floats, taken = np.zeros(5, np.int32), np.zeros(1, np.float32), np.full(grid * block, -1, np.int32)
    launch(f"""extern "C" __global__ void k(int *out, float *floats, int *taken, unsigned *turn) {{
        __shared__ int mine; if (threadIdx.x == 0) mine = 0; __syncthreads();
        int w = blockIdx.x * blockDim.x + threadIdx.x; {"; ".join(ATOMICS)};
        taken[atomicAdd(turn, 1u)] = w; atomicAdd(&mine, 2); __syncthreads();
        if (threadIdx.x == 0) atomicAdd(floats, (float)mine);
    }}""", out, floats, taken, np.zeros(1, np.uint32), grid=(grid,), block=(block,))
    words = list(range(grid * block))
    assert out.tolist() == [function(words) for function in ATOMICS.values()]
    assert sorted(taken.tolist()) == words and floats[0] == 2 * grid * block


def test_compare_and_swap_takes_turns(launch):
    value = np.zeros(1, np.int32)
    launch("""extern "C" __global__ void k(int *value) {
        int old = 0, seen; while ((seen = atomicCAS(value, old, old + threadIdx.x)) != old) old = seen; }""",
           value, block=(40,))
    assert value[0] == sum(range(40))


SHUFFLES = {  # CUDA: lane -> lane whose value it gets, for a warp of 32
    "__shfl_xor_sync(~0u, v, 5)": lambda t: t ^ 5, "__shfl_up_sync(~0u, v, 3)": lambda t: t - 3 if t >= 3 else t,
    "__shfl_down_sync(~0u, v, 7)": lambda t: t + 7 if t + 7 < 32 else t, "__shfl_sync(~0u, v, 9)": lambda t: 9,
    "__shfl_sync(~0u, v, t * 3)": lambda t: t * 3 % 32, "__shfl_up_sync(~0u, v, 2, 8)": lambda t: t - 2 if t % 8 >= 2 else t,
    "__shfl_xor_sync(~0u, v, 1, 16)": lambda t: t ^ 1, "__shfl_sync(~0u, v, 3, 4)": lambda t: t // 4 * 4 + 3,
}


def test_shuffles_read_the_lane_that_cuda_defines(launch):
    out = np.zeros((len(SHUFFLES), 64), np.int32)
    lines = "".join(f"out[{64 * k} + threadIdx.x] = {text};" for k, text in enumerate(SHUFFLES))
    launch(f'extern "C" __global__ void k(int *out) {{ int v = 100 + threadIdx.x, t = threadIdx.x % 32; {lines} }}', out,
           block=(64,))
    for (text, lane), row in zip(SHUFFLES.items(), out, strict=True):
        assert row.tolist() == [100 + t // 32 * 32 + lane(t % 32) for t in range(64)], text


def test_votes_count_the_lanes_of_their_warp(launch):
    out = np.zeros((4, 64), np.uint32)
    launch("""extern "C" __global__ void k(unsigned *out) { int t = threadIdx.x;
        out[t] = __ballot_sync(~0u, t % 3 == 0); out[64 + t] = __any_sync(~0u, t == 40); out[128 + t] = __all_sync(~0u, t < 32);
        out[192 + t] = __popc(__ballot_sync(~0u, t & 1)); }""", out, block=(64,))
    bits = [sum(1 << t % 32 for t in range(warp, warp + 32) if t % 3 == 0) for warp in (0, 32)]
    assert out.tolist() == [[bits[t // 32] for t in range(64)], [int(t >= 32) for t in range(64)],
                            [int(t < 32) for t in range(64)], [16] * 64]


def test_parts_of_a_warp_shuffle_apart(launch):
    out = np.zeros(32, np.int32)
    launch("""extern "C" __global__ void k(int *out) { int t = threadIdx.x, v = t;
        if (t < 16) v = __shfl_xor_sync(0xFFFFu, v, 1); else v = 50 + __shfl_xor_sync(0xFFFF0000u, v, 2);
        out[t] = v; }""", out)
    assert out.tolist() == [t ^ 1 if t < 16 else 50 + (t ^ 2) for t in range(32)]


MATRIX = """extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, const float *c, float *d) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, p = lane % 4 * 2;
    a += warp * 256; b += warp * 128; c += warp * 128; d += warp * 128;
    auto pair = [](const unsigned short *x) { return *(const unsigned *)x; };
    unsigned a0 = pair(a + g * 16 + p), a1 = pair(a + (g + 8) * 16 + p), a2 = pair(a + g * 16 + p + 8),
             a3 = pair(a + (g + 8) * 16 + p + 8);
    unsigned b0 = b[p * 8 + g] | (unsigned)b[(p + 1) * 8 + g] << 16;
    unsigned b1 = b[(p + 8) * 8 + g] | (unsigned)b[(p + 9) * 8 + g] << 16;
    float x = c[g * 8 + p], y = c[g * 8 + p + 1], z = c[(g + 8) * 8 + p], w = c[(g + 8) * 8 + p + 1];
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    d[g * 8 + p] = x; d[g * 8 + p + 1] = y; d[(g + 8) * 8 + p] = z; d[(g + 8) * 8 + p + 1] = w;
}"""


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_120"])
def test_a_matrix_product_of_bfloat16_is_torch_s(arch, launch):
    torch.manual_seed(0)
    a, b, c = torch.randn(3, 16, 16).bfloat16(), torch.randn(3, 16, 8).bfloat16(), torch.randn(3, 16, 8)
    d = np.zeros((3, 16, 8), np.float32)
    launch(MATRIX, *(x.view(torch.uint16).numpy() for x in (a, b)), c.numpy(), d, block=(96,), arch=arch)
    wanted = a.double() @ b.double() + c.double()
    assert np.abs(d - wanted.numpy()).max() < 1e-6


LDMATRIX = """extern "C" __global__ void k(const unsigned short *x, unsigned *out) {
    __shared__ __align__(16) unsigned short tile[32 * 8];
    for (int i = threadIdx.x; i < 256; i += 32) tile[i] = x[i];
    __syncthreads();
    unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 8), r0, r1, r2, r3;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4TRANS.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "r"(at));
    out[threadIdx.x] = r0; out[32 + threadIdx.x] = r1; out[64 + threadIdx.x] = r2; out[96 + threadIdx.x] = r3;
}"""


@pytest.mark.parametrize("trans", ["", ".trans"])
def test_matrices_are_loaded_by_rows_or_columns(trans, launch):
    x, out = np.arange(256, dtype=np.uint16), np.zeros((4, 8, 4, 2), np.uint16)
    launch(LDMATRIX.replace("TRANS", trans), x, out.view(np.uint32))
    matrices = x.reshape(4, 8, 8)
    assert np.array_equal(out.reshape(4, 8, 8), matrices.swapaxes(1, 2) if trans else matrices)


COPY = """extern "C" __global__ void k(const float *x, float *out, int n) {
    __shared__ __align__(16) float tile[2][128];
    auto fetch = [&](int stage, int from) {
        unsigned to = (unsigned)__cvta_generic_to_shared(tile[stage] + 4 * threadIdx.x);
        asm volatile("cp.async.SIZE.shared.global [%0], [%1], 16;" :: "r"(to), "l"(x + from + 4 * threadIdx.x));
        asm volatile("cp.async.commit_group;");
    };
    fetch(0, 0);
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) { fetch((k + 1) & 1, 128 * (k + 1)); asm volatile("cp.async.wait_group 1;"); }
        else asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        for (int j = 0; j < 4; j++) out[128 * k + threadIdx.x + 32 * j] = tile[k & 1][127 - threadIdx.x - 32 * j];
        AFTER
    }
}"""


@pytest.mark.parametrize("size", ["ca", "cg"])
def test_copies_beside_the_kernel_arrive_at_the_wait(size, launch):
    x, out = np.arange(640, dtype=np.float32), np.zeros(640, np.float32)
    launch(COPY.replace("SIZE", size).replace("AFTER", "__syncthreads();"), x, out, np.int32(5))
    assert np.array_equal(out.reshape(5, 128), x.reshape(5, 128)[:, ::-1])


@pytest.mark.parametrize(("change", "text"), [
    (("AFTER", ""), "without a barrier between"),  # the next copy overwrites what others still read
    (("wait_group 1", "wait_group 2"), "reads 4 bytes of shared memory .* never written"),  # read before it has arrived
])
def test_a_copy_that_is_not_waited_for_is_a_fault(change, text, launch):
    from ptx import Fault
    source = COPY.replace("SIZE", "ca").replace(*change).replace("AFTER", "__syncthreads();" if change[0] != "AFTER" else "")
    with pytest.raises(Fault, match=text):
        launch(source, np.zeros(640, np.float32), np.zeros(640, np.float32), np.int32(5))

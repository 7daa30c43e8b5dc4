"""The emulator's checks catch planted faults: in hand-written kernels, and in copies of our own with one change."""

import numpy as np
import pytest
import torch

from bridge.nvrtc import CudaModule
from bridge.on_device.cartpole import MODULE, CartPoleKernel
from trainer import kernels
from trainer.kernels import choose
from trainer.kernels.rollout import cuda

REVERSE = """extern "C" __global__ void k(const float *x, float *out) {
    __shared__ float tile[64]; int t = threadIdx.x;
    tile[t] = x[t];
    __syncthreads();
    out[t] = tile[63 - t];
}"""
SUMS = """extern "C" __global__ void k(const float *x, float *out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    atomicAdd(out, x[i]); out[1 + i] = 2 * x[i];
}"""
OUTSIDE = "outside every live allocation"
RACE = "without a barrier between"
UNWRITTEN = "that were never written"
CHANGES = {  # a change of a correct kernel, and the fault
    "behind an array": (REVERSE, "x[t]", "x[t + 1]",
                        rf"kernel\.cu:3: thread 63 of block 0 accesses 4 bytes at 0x\w+, {OUTSIDE}, "
                        r"4 bytes too far for an array of 256 bytes \(line \d+ of the PTX: ld\.global"),
    "before an array": (REVERSE, "out[t]", "out[t - 9]", f"thread 0 of block 0 accesses 4 bytes .* {OUTSIDE}"),
    "a null pointer": (REVERSE, "out[t]", "((float *)(long long)(x[0] - 1))[t]", f"accesses 4 bytes at 0x0, {OUTSIDE}"),
    "behind shared memory": (REVERSE, "tile[63 - t]", "tile[64 - t]", "thread 0 .* 4 bytes at 256 of shared memory, which"),
    "not aligned": (REVERSE, "x[t]", "*(const float *)((const char *)x + t)", "thread 1 of block 0 .* is not aligned"),
    "a vector not aligned": (REVERSE, "x[t]", "[](float4 v) { return v.x + v.y + v.z + v.w; }(*(const float4 *)(x + t % 8))",
                             "thread 1 of block 0 accesses 16 bytes .* is not aligned"),
    "no barrier": (REVERSE, "__syncthreads();", "", r"kernel\.cu:5: thread \d+ of block 0 reads 4 bytes of shared memory, .* "
                   rf"which thread \d+ of block 0 wrote {RACE}"),
    "a barrier of a warp for two warps": (REVERSE, "__syncthreads()", "__syncwarp()", RACE),
    "two threads write one address": (REVERSE, "out[t]", "out[t / 2]",
                                      f"thread 0 of block 0 writes 4 bytes .* which thread 1 of block 0 wrote {RACE}"),
    "shared memory never written": (REVERSE, "tile[t] = x[t];", "if (t != 5) tile[t] = x[t];",
                                    f"thread 58 of block 0 reads 4 bytes of shared memory {UNWRITTEN}, 20 bytes"),
    "output never written": (REVERSE, "out[t] =", "out[t] +=", f"thread 0 of block 0 reads 4 bytes of an array {UNWRITTEN}"),
    "a local array never written": (REVERSE, "out[t] =", "float m[9]; m[t % 9] = 1; out[t] = m[(t + 1) % 9] +",
                                    f"of local memory {UNWRITTEN}"),
    "a barrier that a thread skips": (REVERSE, "__syncthreads();", "if (t == 7) return; __syncthreads();",
                                      "waits for ever: thread 7 of its block has returned"),
    "two barriers": (REVERSE, "__syncthreads();", "if (t & 1) __syncthreads(); else { tile[t] += 1; __syncthreads(); }",
                     "waits for ever: thread . of its block waits elsewhere"),
    "a lane that does not shuffle": (REVERSE, "tile[63 - t]", "t % 32 ? __shfl_xor_sync(~0u, t, 1) : 0",
                                     "waits for ever: thread 0 of its block has returned"),
    "a lane outside its mask": (REVERSE, "tile[63 - t]", "__shfl_sync(1u, t, 0)", "thread 1 of block 0 is not in its own mask"),
    "division by zero": (REVERSE, "tile[63 - t]", "t / (t - 9)", "divides by zero"),
    "not atomic": (SUMS, "atomicAdd(out, x[i])", "*out += x[i]", RACE),
    "atomic and plain": (SUMS, "out[1 + i]", "out[i]", f"writes 4 bytes .* which thread 31 of block 1 updated {RACE}"),
    "blocks write one address": (SUMS, "out[1 + i]", "out[1 + threadIdx.x]",
                                 "thread 0 of block 0 writes .* which thread 0 of block 1 wrote"),
}


def play(launch, source):
    """Run REVERSE with one block of 64 threads, or SUMS with two of 32; returns what it wrote."""
    reverse = "tile" in source
    x, out = np.ones(64, np.float32), np.zeros(64 if reverse else 65, np.float32)
    launch(source, x, out, grid=(1 if reverse else 2,), block=(64 if reverse else 32,), unwritten=[out] if reverse else [])
    return out


@pytest.mark.parametrize("source", [REVERSE, SUMS], ids=["reverse", "sums"])
def test_a_correct_kernel_has_no_fault(source, launch):
    assert play(launch, source).sum() > 0


@pytest.mark.parametrize(("source", "old", "new", "text"), CHANGES.values(), ids=CHANGES)
def test_a_planted_fault_is_caught(source, old, new, text, launch):
    from ptx import Fault
    assert old in source
    with pytest.raises(Fault, match=text):
        play(launch, source.replace(old, new))


def test_a_barrier_of_a_warp_orders_its_threads(launch):
    out = play(launch, REVERSE.replace("63 - t", "t ^ 31").replace("__syncthreads()", "__syncwarp()"))
    assert (out == 1).all()


def changed(module: CudaModule, tmp_path, old: str, new: str, **settings):
    """A module on the emulator whose source or header has `new` for `old`."""
    from ptx import EmulatedModule
    files = [tmp_path / path.name for path in (module.path, *module.headers)]
    for path, copy in zip((module.path, *module.headers), files, strict=True):
        copy.write_text(path.read_text().replace(old, new))
    assert any(old in path.read_text() for path in (module.path, *module.headers))
    return EmulatedModule(CudaModule(files[0], files[1:]), "sm_90", **settings)


THREAD = "(int64)blockIdx.x * blockDim.x + threadIdx.x, "
OURS = {  # a change of trainer/kernels/rollout/cuda.cu or rows.h, and the fault
    "a row too far": ("k < batch; k += mine.stride", "k <= batch; k += mine.stride", rf"rows\.h:\d+: .*({OUTSIDE}|{RACE})"),
    "a step too far": ("int t = steps - 1", "int t = steps", OUTSIDE),
    "two threads a row": (THREAD, THREAD.replace("threadIdx.x, ", "threadIdx.x / 2, "), RACE),
    "output read": ("float running = 0.0f;", "float running = advantage[0];", rf"a tensor \(4, 5\) .* {UNWRITTEN}"),
}


@pytest.mark.parametrize(("old", "new", "text"), OURS.values(), ids=OURS)
def test_a_planted_fault_in_a_copy_of_our_kernels_is_caught(old, new, text, tmp_path, monkeypatch):
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, is not there to compile CUDA sources")
    from ptx import Fault
    from ptx.launch import Written
    with Written() as written:
        monkeypatch.setitem(choose.DEVICES, "cpu", choose.CUDA)
        monkeypatch.setattr(cuda, "module", changed(cuda.module, tmp_path, old, new, written=written))
        with pytest.raises(Fault, match=text):
            kernels.advantages(*torch.rand(4, 4, 5), torch.rand(5, 5), 0.99, 0.95, out=torch.empty(4, 5))


@pytest.mark.parametrize(("old", "new", "text"), [
    ("observation + 4 * i);\n    ", "observation + 3 * i);\n    ", RACE),
    ("totals[n + i] += steps", "totals[2 * n + i] += steps", OUTSIDE),
    ("rng[i] = mine.state", "rng[0] = mine.state", RACE)])
def test_a_planted_fault_in_a_copy_of_cartpole_is_caught(old, new, text, tmp_path):
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, is not there to compile CUDA sources")
    from ptx import Fault
    simulation = CartPoleKernel(40, "cpu", 1, module=changed(MODULE, tmp_path, old, new), time_limit=3)
    out = [torch.zeros(40, 4), *torch.zeros(3, 40)]
    with pytest.raises(Fault, match=text):
        simulation.reset(*out)
        for _ in range(4):
            simulation.step(torch.zeros(40, dtype=torch.int32), *out)

"""CUDA sources: they compile without a GPU; compiler errors and arguments; streams and graphs on a GPU."""

import re
import sys

import numpy as np
import pytest
import torch
from cuda_on_cpu import CpuModule

from benchmarks.device_games import assembler
from bridge.errors import DeviceError
from bridge.nvrtc import CudaModule, arguments
from envs_c import install
from trainer import kernels
from trainer.kernels import choose
from trainer.kernels.checks.sources import OWNERS, modules
from trainer.kernels.lstm import cuda as lstm
from trainer.kernels.lstm import recurrence
from trainer.kernels.rollout import cuda as rollout

KERNELS = {
    "lstm_forward_f32", "lstm_forward_bf16", "lstm_forward_bf16_f32", "lstm_backward_f32", "lstm_backward_bf16", "mingru_f32",
    "mingru_bf16", "mingru_backward_f32", "mingru_backward_bf16", "sample", "categorical", "categorical_backward", "gaussian",
    "gaussian_sample", "gaussian_backward", "advantages", "stack_frames_u8_f32", "stack_frames_u8_bf16", "stack_frames_f32_f32",
    "stack_frames_f32_bf16", "stack_frames_bf16_f32", "stack_frames_bf16_bf16", "store_step_u8_u8", "store_step_f32_f32",
    "store_step_f32_bf16", "sample_step", "ppo_loss", "end_minibatch", "select_sequences_1", "select_sequences_4",
    "select_sequences_16"}
SEQUENCES = {f"lstm_recurrence_{part}{units}" for part in ("", "backward_") for units in (32, 64, 128)}

SCALE = """
#include "factor.h"
extern "C" __global__ void scale(float *x, const float *offset, long long count, float by) {
    for (long long k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x)
        x[k] = x[k] * by * FACTOR + (offset ? offset[k] : 0.0f);
}
"""


@pytest.fixture
def nvrtc():
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, is not there to compile CUDA sources")


@pytest.fixture
def scale(tmp_path):
    """A module of one kernel, with a header."""
    (tmp_path / "scale.cu").write_text(SCALE)
    (tmp_path / "factor.h").write_text("#define FACTOR 2.0f\n")
    return CudaModule(tmp_path / "scale.cu", [tmp_path / "factor.h"])


@pytest.mark.parametrize("arch", ["75", "90", *(pytest.param(arch, marks=pytest.mark.slow) for arch in ("80", "100", "120"))])
def test_every_kernel_is_assembled_without_a_gpu_and_without_a_stack(arch, nvrtc):
    found = {}
    for module in modules(bf16=int(arch) >= 80):
        found |= assembler.compiled(module, arch)
    assert found.keys() == KERNELS | (SEQUENCES if int(arch) >= 80 else set())
    assert all(used.stack == used.spills == 0 for used in found.values())
    assert all(used.registers <= (128 if name in SEQUENCES else 64) for name, used in found.items()), found


def test_a_module_is_a_cubin(nvrtc, scale):
    assert scale.compile("sm_86").startswith(b"\x7fELF")


@pytest.mark.parametrize(("source", "arch", "text"), [
    ('extern "C" __global__ void k(float *x) { x[0] = nothing; }', "sm_90",
     r'broken\.cu does not compile for sm_90:(.|\n)*identifier "nothing" is undefined'),
    ('#include "missing.h"', "sm_90", r'broken\.cu does not compile for sm_90:(.|\n)*missing\.h'),
    ("", "sm_12345", r"broken\.cu does not compile for sm_12345:(.|\n)*gpu-architecture"),
])
def test_a_source_that_does_not_compile_is_named_with_nvrtc_s_message(source, arch, text, nvrtc, tmp_path):
    path = tmp_path / "broken.cu"
    path.write_text(source)
    with pytest.raises(DeviceError, match=text):
        CudaModule(path).compile(arch)


def test_without_cupy_the_error_names_the_package_to_install(scale, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setitem(sys.modules, "cupy.cuda", None)
    for use in (lambda: scale.compile("sm_90"), lambda: scale.function("scale")):
        with pytest.raises(DeviceError, match=re.escape(install.hint("cuda"))):
            use()


def test_arguments_have_the_types_that_kernels_read():
    tensor = torch.zeros(3)
    packed = arguments((tensor, tensor[1:], None, 5, 2**40, 0.1, np.uint64(2**64 - 1)))
    assert packed == [tensor.data_ptr(), tensor.data_ptr() + 4, 0, 5, 2**40, np.float32(0.1), 2**64 - 1]
    assert [type(value) for value in packed] == [np.uint64, np.uint64, np.uint64, np.int64, np.int64, np.float32, np.uint64]


@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (3, 2), (1, 7), (40, 1)])
@pytest.mark.parametrize("count", (0, 1, 5, 100))
def test_a_kernel_on_the_cpu_does_every_item_once(blocks, threads, count, scale):
    x, offset = torch.arange(1.0, 101.0), torch.ones(100)
    CpuModule(scale, blocks, threads).launch("scale", count, x, None, count, 0.5)
    assert torch.equal(x, torch.arange(1.0, 101.0))
    CpuModule(scale, blocks, threads).launch("scale", count, x, offset, count, 1.5)
    assert torch.equal(x[:count], 3 * torch.arange(1.0, count + 1) + 1)
    assert torch.equal(x[count:], torch.arange(count + 1.0, 101))


@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (2, 5), (5, 2), (1, 64), (3, 7)])
@pytest.mark.parametrize("n", (1, 3, 5, 12))
def test_results_do_not_depend_on_the_grid(blocks, threads, n, monkeypatch):
    monkeypatch.setitem(choose.DEVICES, "cpu", choose.CUDA)
    frames, start = torch.randint(0, 256, (6, 3, n), dtype=torch.uint8), (torch.rand(6, 3) < 0.3).float()
    gx, bias, c, ones = torch.randn(7, 4 * n), torch.randn(4 * n), torch.randn(7, n), torch.ones(7)

    sources = {owner: owner.module for owner in (lstm, rollout)}

    def results(*grid):
        for owner, source in sources.items():
            monkeypatch.setattr(owner, "module", CpuModule(source, *grid))
        gates, cell, h, h_next = (torch.full((7, size), torch.nan) for size in (4 * n, n, n, n))
        kernels.lstm_forward(gx, gx, bias, c, ones, ones, gates, cell, h, h_next)
        return gates, cell, h, h_next, kernels.stack_frames(frames, start, 0, 1.0, torch.full((3, 3, 4, n), torch.nan))

    for ours, wanted in zip(results(blocks, threads), results(), strict=True):
        assert torch.equal(ours, wanted)


def test_no_kernel_synchronizes_threads():
    modules = [owner.module for owner in OWNERS if owner is not recurrence]
    text = "".join(path.read_text() for one in modules for path in (one.path, *one.headers))
    assert not re.search(r"__sync|__shfl|atomic|__shared__", text)


@pytest.mark.gpu
def test_a_kernel_runs_on_torch_s_current_stream(scale):
    x = torch.arange(1.0, 1001.0, device="cuda")
    scale.function("scale")  # compiles
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)  # cycles: a launch on another stream would overtake the next line
        x.add_(1)
        scale.launch("scale", 1000, x, None, 1000, 1.5)
        x.add_(1)
    stream.synchronize()
    assert torch.equal(x.cpu(), 3 * torch.arange(2.0, 1002.0) + 1)


def captured(work):
    """A graph of `work`, which first runs on another stream, as torch requires before a capture."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


@pytest.mark.gpu
def test_a_captured_sample_draws_anew_at_each_replay():
    logits, step = torch.randn(1000, 5, device="cuda"), torch.zeros(1, dtype=torch.int64, device="cuda")
    action, (log_prob, value) = torch.empty(1000, dtype=torch.int32, device="cuda"), torch.empty(2, 1000, device="cuda")

    def work():
        kernels.sample(logits, None, 3, 10, step, action, log_prob, 4, value)
        step.add_(1)

    graph = captured(work)
    step.fill_(100)
    drawn = []
    for count in range(3):
        graph.replay()
        wanted, wanted_log_prob = torch.empty_like(action), torch.empty_like(log_prob)
        kernels.sample(logits, None, 3, 10, 100 + count, wanted, wanted_log_prob, 4)
        assert torch.equal(action, wanted) and torch.equal(log_prob, wanted_log_prob) and torch.equal(value, logits[:, 4])
        drawn.append(action.clone())
    assert not torch.equal(drawn[0], drawn[1]) and not torch.equal(drawn[1], drawn[2])


@pytest.mark.gpu
def test_a_captured_categorical_and_its_gradient_see_new_logits():
    weight = torch.randn(64, 3, 5, device="cuda", requires_grad=True)
    action = torch.randint(0, 4, (64, 3), dtype=torch.int32, device="cuda")
    outputs = [torch.empty(64, 3, device="cuda"), torch.empty(64, 3, device="cuda"), torch.empty(64, 3, 5, device="cuda")]

    def compute():
        log_prob, entropy = kernels.categorical(weight[..., :4], None, action)
        return log_prob.detach(), entropy.detach(), *torch.autograd.grad((log_prob + 0.1 * entropy).sum(), weight)

    def work():
        for out, result in zip(outputs, compute(), strict=True):
            out.copy_(result)

    graph = captured(work)
    for seed in (1, 2):
        torch.manual_seed(seed)
        with torch.no_grad():
            weight.normal_()
        graph.replay()
        for out, wanted in zip(outputs, compute(), strict=True):
            assert torch.equal(out, wanted)


@pytest.mark.gpu
def test_a_captured_stack_reads_its_step_from_memory():
    frames = torch.randint(0, 256, (12, 3, 7, 5), dtype=torch.uint8, device="cuda")
    start = (torch.rand(12, 3, device="cuda") < 0.3).float()
    out, t = torch.empty(1, 3, 4, 7, 5, device="cuda"), torch.zeros(1, dtype=torch.int64, device="cuda")

    def work():
        kernels.stack_frames(frames, start, t, 1 / 255, out)
        t.add_(1)

    graph = captured(work)
    t.zero_()
    for step in range(9):
        graph.replay()
        assert torch.equal(out, kernels.stack_frames(frames, start, step, 1 / 255, torch.empty_like(out)))


@pytest.mark.gpu
def test_launches_do_not_wait():
    logits, action = torch.randn(64, 5, device="cuda", requires_grad=True), torch.zeros(64, dtype=torch.int32, device="cuda")
    log_prob, value = torch.empty(2, 64, device="cuda")
    *flags, ratio = torch.ones(5, 8, 8, device="cuda")
    values = torch.zeros(9, 8, device="cuda")

    def everything():
        kernels.sample(logits.detach(), None, 0, 0, 0, action, log_prob, 4, value)
        sum(kernels.categorical(logits[:, :4], None, action)).sum().backward()
        kernels.advantages(*flags, values, 0.99, 0.95, ratio)

    everything()
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        everything()
    finally:
        torch.cuda.set_sync_debug_mode("default")

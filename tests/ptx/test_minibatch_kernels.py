"""The kernels of a minibatch as NVRTC compiles them, and as C on the CPU, equal the reference (see test_our_kernels.py)."""

import functools

import ptx_runs
import pytest
import torch
from cuda_on_cpu import CpuModule

from trainer import kernels
from trainer.kernels import Rollout
from trainer.kernels.loss import cuda

F32, BF16, U8 = torch.float32, torch.bfloat16, torch.uint8
ROWS = (1, 3, 33, 129)
T = 4


def flags(*shape: int, share: float = 0.3) -> torch.Tensor:
    return (torch.rand(*shape) < share).float()


def numbered(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The order of three minibatches of `rows` sequences of 2 * rows environments, and a position."""
    return torch.stack([torch.randperm(2 * rows)[:rows] for _ in range(3)]), torch.tensor([1, 5])


def select_sequences(rows: int, n: int = 7, dtype=F32, wide: int = 0, h=F32):
    frames = torch.randint(0, 256, (T, 2 * rows, n + wide)).to(dtype)
    return kernels.select_sequences(frames[..., :n], flags(T, 2 * rows), torch.randn(2 * rows, 5).to(h),
                                    torch.randn(2 * rows, 3), *numbered(rows))


def ppo_loss(rows: int, actions: int = 4, masked: bool = False, weighed: bool = False, value_clip: float = 0.2):
    order, position = numbered(rows)
    count = 2 * rows
    action_mask = flags(T, count, actions, share=0.6).to(U8) if masked else None
    action = torch.randint(0, actions, (T, count)).int()
    if masked:
        action_mask.scatter_(2, action.long()[..., None], 1)
        action_mask[0, 0] = 0
    rollout = Rollout(action_mask, action, -torch.rand(T, count) - 0.5, *torch.randn(3, T, count), flags(T, count),
                      flags(T, count, share=0.1))
    ratios = torch.zeros(T, count) if weighed else None
    statistics = torch.rand(3, 3) + torch.tensor([rows * 3.0, 0.0, 0.5])
    out = torch.randn(T, rows, actions + 1) * 0.5
    weight = torch.rand(rows) if weighed else None
    gradient, parts = kernels.ppo_gradient(out, rollout, order, position, statistics, weight, torch.tensor(0.01), clip=0.2,
                                           value_clip=value_clip, value_coef=0.5, scale=0.25, ratios=ratios)
    return gradient, parts.sum(1), *([] if ratios is None else [ratios])


def end_minibatch(rows: int, last: bool = True, most: float = 0.5):
    sums, gradients, history = torch.randn(5), torch.randn(rows), torch.zeros(4, 6)
    position, parameter = torch.tensor([2, 1]), torch.nn.Parameter(torch.zeros(rows))
    parameter.grad = gradients
    kernels.end_minibatch(sums, [parameter] if last else None, gradients, history, position, 3, most)
    return gradients, history, position


P = functools.partial
CASES = {  # the case: does the C++ compiler give the same bits
    "select, units of 4 bytes": (select_sequences, True), "select, of 1": (P(select_sequences, dtype=U8), True),
    "select, of 16, longer rows": (P(select_sequences, dtype=BF16, wide=1, h=BF16), True),
    "select, wide": (P(select_sequences, n=544), True),
    "ppo_loss": (ppo_loss, False), "ppo_loss, masked": (P(ppo_loss, masked=True), False),
    "ppo_loss, weights and ratios": (P(ppo_loss, weighed=True), False),
    "ppo_loss, values not clipped": (P(ppo_loss, value_clip=0.0), False),
    "end_minibatch": (end_minibatch, True), "end_minibatch, small gradients": (P(end_minibatch, most=1e6), True),
    "end_minibatch, not the last": (P(end_minibatch, last=False), True),
}


@functools.cache
def on_cpu() -> CpuModule:
    return CpuModule(cuda.module)


@pytest.mark.parametrize(("arch", "rows"), ptx_runs.on_all(ROWS, 33), indirect=["arch"])
@pytest.mark.parametrize(("case", "exact"), CASES.values(), ids=CASES)
def test_what_the_compiler_emits_equals_the_twins(case, exact, rows, arch):
    ptx_runs.require_equal(cuda, case, rows, arch, on_cpu(), exact)


def test_every_kernel_of_the_source_has_a_case(arch):
    names = ptx_runs.launched(cuda, [case for case, _ in CASES.values()], arch)
    assert names == ptx_runs.compiled_kernels(cuda, arch)

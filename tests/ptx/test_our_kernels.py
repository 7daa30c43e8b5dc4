"""The trainer's kernels as NVRTC compiles them, launched by the files cuda.py with CPU tensors, equal their twins.

Twins: reference.py up to rounding; and bit for bit the same source compiled for the CPU, which equals the CPU's kernels. Exempt
are results of logf, sqrtf and the like, whose last bits are the libraries' own.
"""

import functools

import numpy as np
import ptx_runs
import pytest
import torch
from cuda_on_cpu import CpuModule
from kernel_devices import close

from trainer import kernels
from trainer.kernels import reference
from trainer.kernels.actions import cuda as actions_cuda
from trainer.kernels.lstm import cuda as lstm_cuda
from trainer.kernels.mingru import cuda as mingru_cuda
from trainer.kernels.rollout import cuda as rollout_cuda

F32, BF16, U8 = torch.float32, torch.bfloat16, torch.uint8
ROWS = (1, 3, 31, 33, 129, 1023)  # a block has 32 or 128 threads
SEED, STEP = 2**64 - 1, 5_000_000_000


def flags(*shape: int, share: float = 0.3) -> torch.Tensor:
    return (torch.rand(*shape) < share).float()


def lstm_forward(rows: int, n: int = 5, dtype=F32, place: bool = False):
    gx, gh = (3 * torch.randn(2, rows, 4 * n)).to(dtype)
    gates, (h, h_next) = gx if place else torch.empty(rows, 4 * n, dtype=dtype), torch.empty(2, rows, n, dtype=dtype)
    c_prev = torch.randn(rows, n)
    c = c_prev if place else torch.empty(rows, n)
    kernels.lstm_forward(gx, gh, torch.randn(4 * n), c_prev, flags(rows), flags(rows), gates, c, h, h_next)
    return gates, c, h, h_next


def lstm_backward(rows: int, n: int = 5, dtype=F32):
    gates, dh, dh_next, dc = (torch.rand(rows, 4 * n).to(dtype), *torch.randn(2, rows, n).to(dtype), torch.randn(rows, n))
    kernels.lstm_backward(gates, torch.randn(rows, n), flags(rows), torch.randn(rows, n), dh, dh_next, flags(rows), dc)
    return gates, dc


def mingru(rows: int, n: int = 5, dtype=F32, highway: bool = False):
    """Forward and backward, from rows at a distance."""
    steps, gates = 4, 3 if highway else 2
    product, state = torch.randn(steps, rows, gates * n).to(dtype), torch.randn(rows, 2 * n)[:, n:]
    product[0, :, n] = 0.0  # the corner of g
    bias, keep, dout = torch.randn(gates * n), flags(steps, rows, share=0.7), torch.randn(steps, rows, n)
    bias[n] = 0.0
    x, hidden, dx = [torch.randn(steps, rows, n) for _ in range(3)] if highway else [None] * 3
    states, dproduct = torch.empty(steps, rows, n), torch.empty_like(product)
    kernels.mingru_forward(product, bias, keep, state, x, states, hidden)
    kernels.mingru_backward(product, bias, keep, state, states, x, dout, dproduct, dx)
    return (states, dproduct, hidden, dx) if highway else (states, dproduct)


def mask(rows: int, actions: int) -> torch.Tensor:
    """(rows, actions); the last row has no legal action."""
    action_mask = (torch.rand(rows, actions) > 0.4).to(U8)
    action_mask[-1] = 0
    return action_mask


def sample(rows: int, actions: int = 4, masked: bool = False, memory: bool = False, hold: int = 1):
    action, (log_prob, value) = torch.empty(rows, dtype=torch.int32), torch.empty(2, rows)
    step = torch.tensor([STEP]) if memory else STEP
    kernels.sample(3 * torch.randn(rows, actions + 1), mask(rows, actions) if masked else None, SEED, 100, step, action,
                   log_prob, actions, value, held_by(rows, hold))
    return action, log_prob, value


def held_by(rows: int, hold: int) -> kernels.Held:
    return kernels.Held(hold, flags(rows) if hold > 1 else None)


def categorical(rows: int, actions: int = 4, masked: bool = False):
    wide = (3 * torch.randn(rows, actions + 1)).requires_grad_()  # rows at a distance
    action_mask, action = mask(rows, actions) if masked else None, torch.randint(0, actions, (rows,)).int()
    results = kernels.categorical(wide[:, :actions], action_mask, action)
    if masked:
        results = [result.nan_to_num(neginf=-1.0) for result in results]
    torch.autograd.backward(results, [*torch.randn(2, rows)])
    return *(result.detach() for result in results), wide.grad


def gaussian_sample(rows: int, count: int = 3, memory: bool = False, hold: int = 1):
    action, log_prob, value = torch.empty(rows, count), torch.empty(rows), torch.empty(rows)
    kernels.gaussian_sample(torch.randn(rows, count + 1), 0.3 * torch.randn(count), SEED, 100,
                            torch.tensor([STEP]) if memory else STEP, action, log_prob, value, held_by(rows, hold))
    return action, log_prob, value


def gaussian(rows: int, count: int = 3):
    wide, log_deviation = torch.randn(rows, count + 1).requires_grad_(), (0.3 * torch.randn(count)).requires_grad_()
    results = kernels.gaussian(wide[:, :count], log_deviation, torch.randn(rows, count))
    torch.autograd.backward(results, [*torch.randn(2, rows)])
    return *(result.detach() for result in results), wide.grad, log_deviation.grad / rows


def advantages(rows: int, steps: int = 6, weighed: bool = False):
    ratio = torch.randn(steps, rows).exp() if weighed else None
    parts = torch.randn(steps, rows), flags(steps, rows), flags(steps, rows), flags(steps, rows, share=0.8)
    return (kernels.advantages(*parts, torch.randn(steps + 1, rows), 0.99, 0.95, ratio, 1.2, 0.9),)


def stack_frames(rows: int, n: int = 7, of=U8, to=F32, memory: bool = False):
    frames = torch.randint(0, 256, (12, rows, n)).to(of)[::2]  # times at a distance
    start, t = flags(12, rows)[::2], torch.tensor([2]) if memory else 2
    return (kernels.stack_frames(frames, start, t, 1 / 255, torch.empty(2, rows, 3, n, dtype=to)),)


P = functools.partial
CASES = {  # the case: does the C++ compiler give the same bits
    "lstm_forward f32": (lstm_forward, True), "lstm_forward bf16": (P(lstm_forward, dtype=BF16), True),
    "lstm_forward in place": (P(lstm_forward, place=True), True), "lstm_backward f32": (lstm_backward, True),
    "lstm_backward bf16": (P(lstm_backward, dtype=BF16), True),
    "mingru f32": (mingru, True), "mingru bf16": (P(mingru, dtype=BF16), True),
    "mingru with a highway": (P(mingru, highway=True), True),
    "sample": (sample, False), "sample, masked": (P(sample, masked=True), False),
    "sample, step in memory": (P(sample, memory=True), False), "sample, held": (P(sample, hold=16), False),
    "categorical": (categorical, False), "categorical, masked": (P(categorical, masked=True), False),
    "gaussian_sample": (gaussian_sample, False), "gaussian_sample, step in memory": (P(gaussian_sample, memory=True), False),
    "gaussian_sample, held": (P(gaussian_sample, hold=16), False),
    "gaussian": (gaussian, True), "advantages": (advantages, True), "advantages, weighed": (P(advantages, weighed=True), True),
    **{f"stack_frames {of} {to}": (P(stack_frames, of=of, to=to), True) for of in (U8, F32, BF16) for to in (F32, BF16)},
    "stack_frames, step in memory": (P(stack_frames, memory=True), True),
}
WIDE = {  # rows of more units than a block has threads, or many actions
    "lstm_forward": (P(lstm_forward, n=130), True), "lstm_backward bf16": (P(lstm_backward, n=130, dtype=BF16), True),
    "mingru bf16, highway": (P(mingru, n=130, dtype=BF16, highway=True), True),
    "stack_frames": (P(stack_frames, n=130), True), "sample": (P(sample, actions=362, masked=True), False),
    "categorical": (P(categorical, actions=70), False), "gaussian": (P(gaussian, count=17), True),
}


OWNERS = {  # the Python module that launches the kernels of a case
    lstm_forward: lstm_cuda, lstm_backward: lstm_cuda, mingru: mingru_cuda, sample: actions_cuda, categorical: actions_cuda,
    gaussian_sample: actions_cuda, gaussian: actions_cuda, advantages: rollout_cuda, stack_frames: rollout_cuda}


def owner_of(case):
    return OWNERS[getattr(case, "func", case)]


def results(case, rows: int, make=None, written=None, owner=None):
    """The outputs of a case: of the reference, or of the kernels in a module that `make` makes from the owner's."""
    owner = owner or owner_of(case)
    return ptx_runs.results(owner, case, rows, None if make is None else make(owner.module), written)


def check(case, exact: bool, rows: int, arch: str):
    from ptx import EmulatedModule
    from ptx.launch import Written
    written = Written()
    ours = results(case, rows, lambda module: EmulatedModule(module, arch, written=written), written)
    assert written.all(*ours)  # no element is left out
    for mine, wanted, built in zip(ours, results(case, rows), results(case, rows, on_cpu), strict=True):
        if mine.dtype == torch.int32:
            assert (mine == wanted).float().mean() > 0.998  # a random point exactly between two actions can fall to either side
            assert torch.equal(mine, built)
        elif exact:
            close(mine, wanted, mine.dtype)
            assert torch.equal(mine, built)
        else:
            agree = ours[0] == results(case, rows)[0] if ours[0].dtype == torch.int32 else slice(None)
            close(mine[agree], wanted[agree], mine.dtype)
            close(mine, built, mine.dtype)


@functools.cache
def on_cpu(module) -> CpuModule:
    return CpuModule(module)


@pytest.mark.parametrize(("arch", "rows"), ptx_runs.on_all(ROWS, 33), indirect=["arch"])
@pytest.mark.parametrize(("case", "exact"), CASES.values(), ids=CASES)
def test_what_the_compiler_emits_equals_the_twins(case, exact, rows, arch):
    check(case, exact, rows, arch)


@pytest.mark.parametrize(("arch", "rows"), ptx_runs.on_all((1, 3, 31), 3), indirect=["arch"])
@pytest.mark.parametrize(("case", "exact"), WIDE.values(), ids=WIDE)
def test_wide_rows_equal_the_twins(case, exact, rows, arch):
    check(case, exact, rows, arch)


def test_bfloat16_is_rounded_as_by_torch(arch):
    from ptx import EmulatedModule
    torch.manual_seed(0)
    upper = torch.randint(-2**15, 2**15, (4096,), dtype=torch.int32)
    upper[:12] = torch.tensor([0x7F80, 0x7F7F]).repeat_interleave(6)  # infinity and NaN, and what rounds to infinity
    lower = torch.tensor([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], dtype=torch.int32).repeat(683)[:4096]
    x = (upper << 16 | lower).view(F32)  # most lie at or beside the middle of two bfloat16
    out = torch.empty(1, 1, 1, 4096, dtype=BF16)
    rounded, = results(lambda rows: [kernels.stack_frames(x.view(1, 1, -1), torch.zeros(1, 1), 0, 1.0, out)], 1,
                       lambda module: EmulatedModule(module, arch), owner=rollout_cuda)
    ours, wanted = rounded.view(-1), x.bfloat16()
    same = ours.view(torch.int16) == wanted.view(torch.int16)
    assert (same | (ours.isnan() & wanted.isnan())).all() and ours.isnan().any() and ours.isinf().any()


def test_hidden_states_in_float32_are_those_in_bfloat16(arch):
    from ptx import EmulatedModule

    def hidden(rows: int, dtype=BF16):
        gates, c, h_next = torch.randn(rows, 20).to(BF16), torch.randn(rows, 5), torch.empty(rows, 5, dtype=BF16)
        h = torch.empty(rows, 5, dtype=dtype)
        kernels.lstm_forward(gates, gates, torch.randn(20), c, flags(rows), flags(rows), gates, c, h, h_next)
        return [h]
    def emulated(case):
        return results(case, 33, lambda module: EmulatedModule(module, arch), owner=lstm_cuda)[0]

    narrow, wide = emulated(hidden), emulated(P(hidden, dtype=F32))
    assert torch.equal(narrow.float(), wide)
    assert torch.equal(wide, results(P(hidden, dtype=F32), 33, on_cpu, owner=lstm_cuda)[0])


@pytest.mark.parametrize("multiprocessors", [1, 132])
def test_the_number_of_multiprocessors_changes_no_bit(multiprocessors, arch):
    from ptx import EmulatedModule
    case = P(lstm_forward, n=128)
    ours = results(case, 65, lambda module: EmulatedModule(module, arch, multiprocessors))
    for mine, wanted in zip(ours, results(case, 65, on_cpu), strict=True):
        assert torch.equal(mine, wanted)


def test_every_kernel_of_the_source_has_a_case(arch):
    from ptx import EmulatedModule
    launched = set()

    class Watched(EmulatedModule):
        def launch(self, name, *values, **settings):
            launched.add(name)
            super().launch(name, *values, **settings)
    for case, _ in CASES.values():
        results(case, 1, lambda module: Watched(module, arch))
    launched.add("lstm_forward_bf16_f32")  # of the test above
    from ptx.launch import compiled
    modules = {owner.module for owner in OWNERS.values()}
    kernels_of_all = {name for one in modules for name in compiled(one.path, arch, tuple(one.headers)).entries}
    assert launched == {name for name in kernels_of_all if not name.startswith(("store_step", "sample_step"))}


DRAW = """#include "distributions.h"
extern "C" __global__ void k(unsigned *out, unsigned long long seed, unsigned first, unsigned long long step, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = row_random(seed, first + i, step, step, 0);
}"""


@pytest.mark.parametrize(("seed", "first", "step"), [(0, 0, 0), (7, 0, 1), (SEED, 2**31, STEP), (2**63, 2**32 - 5, 2**64 - 1)])
def test_random_numbers_have_the_bits_of_philox(seed, first, step, arch):
    from ptx import Memory, Module
    out, memory = np.zeros(1023, np.uint32), Memory()
    args = memory.add_array(out), np.uint64(seed), np.uint32(first), np.uint64(step), np.int32(len(out))
    Module(DRAW, arch, headers=actions_cuda.module.headers).kernel("k")((3,), (128,), args, 0, memory)
    wanted = reference.random_bits(seed, torch.arange(first, first + len(out)), step)
    assert out.tolist() == wanted.tolist()

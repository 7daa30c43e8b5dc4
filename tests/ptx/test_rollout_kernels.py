"""The kernels of a rollout's step as NVRTC compiles them, and as C on the CPU, equal their twins (see test_our_kernels.py)."""

import functools

import ptx_runs
import pytest
import torch
from cuda_on_cpu import CpuModule

from trainer import kernels
from trainer.kernels.rollout import cuda

F32, BF16, U8, I64 = torch.float32, torch.bfloat16, torch.uint8, torch.int64
ROWS = (1, 3, 33, 129)
results = functools.partial(ptx_runs.results, cuda)
SEED, T = 2**64 - 1, 4


def flags(*shape: int, share: float = 0.3) -> torch.Tensor:
    return (torch.rand(*shape) < share).float()


def clock_of(*numbers: int) -> kernels.DeviceClock:
    clock = kernels.DeviceClock(torch.device("cpu"))
    clock.numbers.copy_(torch.tensor(numbers))
    return clock


def store_step(rows: int, n: int = 7, of=F32, to=F32, actions: int = 0, wide: int = 0, t: int = 2):
    """The columns 1 .. rows of rows + 2."""
    observation = torch.randint(0, 256, (rows, n)).to(of)
    mask = flags(rows, actions).to(U8) if actions else None
    slab = observation, torch.randn(rows), flags(rows), flags(rows), mask
    clock, over = clock_of(t, 5_000_000_000, -1, -1), flags(rows)
    frames = torch.zeros(T + 1, rows + 2, n + wide, dtype=to)
    columns = [torch.zeros(T + 1, rows + 2) for _ in range(4)]
    masks = torch.zeros(T, rows + 2, actions, dtype=U8) if actions else None
    keep, keep_next = torch.empty(rows), torch.empty(rows)
    inputs = torch.zeros(rows, n + wide, dtype=to)[:, :n] if of != to else None
    mine = slice(1, rows + 1)
    ours = [None if one is None else one[:, mine] for one in (frames[..., :n], *columns, masks)]
    kernels.store_step(kernels.Slab(*slab), clock, over, kernels.Columns(*ours, None, None, None), keep, keep_next, inputs)
    return [one for one in (clock.numbers, over, frames, *columns, masks, keep, keep_next, inputs) if one is not None]


def sample_step(rows: int, actions: int = 4, masked: bool = False, hold: int = 1):
    action_mask = flags(rows, actions, share=0.6).to(U8) if masked else None
    clock, action = clock_of(0, 0, 1, 5_000_000_000), torch.empty(rows, dtype=torch.int32)
    stored, (log_prob, value) = torch.zeros(T, rows + 2, dtype=torch.int32), torch.zeros(2, T, rows + 2)
    mine = slice(1, rows + 1)
    columns = kernels.Columns(*[None] * 6, stored[:, mine], log_prob[:, mine], value[:, mine])
    logits = 3 * torch.randn(rows, actions + 1)
    kernels.sample_step(logits, action_mask, SEED, 100, clock, action, columns, *torch.empty(2, rows),
                        kernels.Held(hold, flags(rows)))
    return action, stored, log_prob, value, clock.numbers


P = functools.partial
CASES = {  # the case: does the C++ compiler give the same bits
    "store_step f32": (store_step, True), "store_step, bf16, longer rows": (P(store_step, to=BF16, wide=1), True),
    "store_step, bytes": (P(store_step, of=U8, to=U8, n=130), True), "store_step, masks": (P(store_step, actions=11), True),
    "store_step, the last row": (P(store_step, t=T), True),
    "sample_step": (sample_step, False), "sample_step, masked": (P(sample_step, masked=True), False),
    "sample_step, held": (P(sample_step, hold=16), False),
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
    others = "advantages", "stack_frames"  # of test_our_kernels.py
    assert names == {name for name in ptx_runs.compiled_kernels(cuda, arch) if not name.startswith(others)}


def test_observations_that_the_kernel_does_not_convert_are_refused(arch):
    from ptx import EmulatedModule
    with pytest.raises(TypeError, match=r"observations of torch\.uint8 cannot be stored as torch\.float32"):
        results(P(store_step, of=U8, to=F32), 3, EmulatedModule(cuda.module, arch))

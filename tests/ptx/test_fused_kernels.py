"""The kernels of fused.cu as NVRTC compiles them, and as C on the CPU, equal reference_fused.py (see test_our_kernels.py)."""

import functools

import ptx_runs
import pytest
import torch
from cuda_on_cpu import CpuModule
from kernel_devices import close

from trainer.kernels import fused

F32, BF16, U8, I64 = torch.float32, torch.bfloat16, torch.uint8, torch.int64
ROWS = (1, 3, 33, 129)
results = functools.partial(ptx_runs.results, fused)
SEED, T = 2**64 - 1, 4


def flags(*shape: int, share: float = 0.3) -> torch.Tensor:
    return (torch.rand(*shape) < share).float()


def store_step(rows: int, n: int = 7, of=F32, to=F32, actions: int = 0, wide: int = 0, t: int = 2):
    """The columns 1 .. rows of rows + 2."""
    observation = torch.randint(0, 256, (rows, n)).to(of)
    mask = flags(rows, actions).to(U8) if actions else None
    slab = observation, torch.randn(rows), flags(rows), flags(rows), mask
    clock, over = torch.tensor([t, 5_000_000_000, -1, -1]), flags(rows)
    frames = torch.zeros(T + 1, rows + 2, n + wide, dtype=to)
    columns = [torch.zeros(T + 1, rows + 2) for _ in range(4)]
    masks = torch.zeros(T, rows + 2, actions, dtype=U8) if actions else None
    keep, keep_next = torch.empty(rows), torch.empty(rows)
    inputs = torch.zeros(rows, n + wide, dtype=to)[:, :n] if of != to else None
    mine = slice(1, rows + 1)
    fused.store_step(slab, clock, over, frames[..., :n][:, mine], *(one[:, mine] for one in columns),
                     None if masks is None else masks[:, mine], keep, keep_next, inputs)
    return [one for one in (clock, over, frames, *columns, masks, keep, keep_next, inputs) if one is not None]


def sample_step(rows: int, actions: int = 4, masked: bool = False):
    legal = flags(rows, actions, share=0.6).to(U8) if masked else None
    clock, action = torch.tensor([0, 0, 1, 5_000_000_000]), torch.empty(rows, dtype=torch.int32)
    stored, (log_prob, value) = torch.zeros(T, rows + 2, dtype=torch.int32), torch.zeros(2, T, rows + 2)
    mine = slice(1, rows + 1)
    fused.sample_step(3 * torch.randn(rows, actions + 1), legal, SEED, 100, clock, action, stored[:, mine], log_prob[:, mine],
                      value[:, mine])
    return action, stored, log_prob, value, clock


def numbered(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The order of three minibatches of `rows` sequences of 2 * rows environments, and a position."""
    return torch.stack([torch.randperm(2 * rows)[:rows] for _ in range(3)]), torch.tensor([1, 5])


def select_sequences(rows: int, n: int = 7, dtype=F32, wide: int = 0, h=F32):
    frames = torch.randint(0, 256, (T, 2 * rows, n + wide)).to(dtype)
    return fused.select_sequences(frames[..., :n], flags(T, 2 * rows), torch.randn(2 * rows, 5).to(h), torch.randn(2 * rows, 3),
                                  *numbered(rows))


def ppo_loss(rows: int, actions: int = 4, masked: bool = False, weighed: bool = False, value_clip: float = 0.2):
    order, position = numbered(rows)
    count = 2 * rows
    legal = flags(T, count, actions, share=0.6).to(U8) if masked else None
    action = torch.randint(0, actions, (T, count)).int()
    if masked:
        legal.scatter_(2, action.long()[..., None], 1)
        legal[0, 0] = 0
    stored = (legal, action, -torch.rand(T, count) - 0.5, *torch.randn(2, T, count), flags(T, count),
              flags(T, count, share=0.1))
    ratios = torch.zeros(T, count) if weighed else None
    statistics = torch.rand(3, 3) + torch.tensor([rows * 3.0, 0.0, 0.5])
    out = torch.randn(T, rows, actions + 1) * 0.5
    weight = torch.rand(rows) if weighed else None
    results = fused.ppo_loss(out, stored, statistics, weight, torch.tensor(0.01), order, position, clip=0.2,
                             value_clip=value_clip, value_coef=0.5, scale=0.25, ratios=ratios)
    return *results, *([] if ratios is None else [ratios])


def end_minibatch(rows: int, last: bool = True, most: float = 0.5):
    sums, gradients, history = torch.randn(5), torch.randn(rows), torch.zeros(4, 6)
    position = torch.tensor([2, 1])
    fused.end_minibatch(sums, gradients.norm() if last else None, gradients, history, position, 3, most)
    return gradients, history, position


P = functools.partial
CASES = {  # the case: does the C++ compiler give the same bits
    "store_step f32": (store_step, True), "store_step, bf16, longer rows": (P(store_step, to=BF16, wide=1), True),
    "store_step, bytes": (P(store_step, of=U8, to=U8, n=130), True), "store_step, masks": (P(store_step, actions=11), True),
    "store_step, the last row": (P(store_step, t=T), True),
    "sample_step": (sample_step, False), "sample_step, masked": (P(sample_step, masked=True), False),
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
    return CpuModule(fused.module)


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize(("case", "exact"), CASES.values(), ids=CASES)
def test_what_the_compiler_emits_equals_the_twins(case, exact, rows, arch):
    from ptx import EmulatedModule
    from ptx.launch import Written
    written = Written()
    ours = results(case, rows, EmulatedModule(fused.module, arch, written=written), written)
    assert written.all(*ours)  # no element is left out
    for mine, wanted, built in zip(ours, results(case, rows), results(case, rows, on_cpu()), strict=True):
        if not mine.is_floating_point():
            assert torch.equal(mine, wanted)
            assert torch.equal(mine, built)
        else:
            close(mine, wanted, mine.dtype)
            close(mine, built, mine.dtype)
            assert not exact or torch.equal(mine, built)


def test_every_kernel_of_the_source_has_a_case(arch):
    from ptx import EmulatedModule
    from ptx.launch import compiled
    launched = set()

    class Watched(EmulatedModule):
        def launch(self, name, *values, **settings):
            launched.add(name)
            super().launch(name, *values, **settings)
    for case, _ in CASES.values():
        results(case, 1, Watched(fused.module, arch))
    assert launched == set(compiled(fused.module.path, arch, tuple(fused.module.headers)).entries)


def test_observations_that_the_kernel_does_not_convert_are_refused(arch):
    from ptx import EmulatedModule
    with pytest.raises(TypeError, match=r"observations of torch\.uint8 cannot be stored as torch\.float32"):
        results(P(store_step, of=U8, to=F32), 3, EmulatedModule(fused.module, arch))

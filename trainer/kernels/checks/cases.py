"""Each kernel on small inputs. `compare` gives the differences between a GPU's results and those of reference.py on the CPU.

The inputs are made on the CPU by a generator of their own: they are the same for every device, and torch's global random
numbers go on as if there had been no check. Outputs are NaN (or -1) before the call, so an element left out is found.
"""

import functools
from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch

from bridge.on_device.cartpole import MODULE as CARTPOLE_MODULE
from bridge.on_device.cartpole import CartPole, CartPoleKernel
from bridge.on_device.cartpole_tensors import CartPoleTensors
from trainer import kernels
from trainer.kernels import choose
from trainer.kernels.checks import minibatch_cases, rollout_cases, sources
from trainer.kernels.checks.inputs import Inputs
from trainer.kernels.lstm import recurrence

F32, BF16, U8 = torch.float32, torch.bfloat16, torch.uint8
# Largest difference, relative to the largest magnitude (or 1). The GPU's logf, sqrtf and cosf have errors of their own in the
# last bits, and nobody can correct a tolerance that is too small for a new GPU: training would be slow there for no reason.
TOLERANCE = {F32: 1e-4, BF16: 2e-2}
SEED, STEP = 2**64 - 1, 5_000_000_000  # more than 32 bits


def lstm_forward(make: Inputs, rows: int, n: int = 5, dtype=F32):
    gates, c, (h, h_next) = make.out(rows, 4 * n, dtype=dtype), make.out(rows, n), make.out(2, rows, n, dtype=dtype)
    kernels.lstm_forward(*make.normal(2, rows, 4 * n, dtype=dtype), make.normal(4 * n), make.normal(rows, n), make.flags(rows),
                         make.flags(rows), gates, c, h, h_next)
    return gates, c, h, h_next


def lstm_backward(make: Inputs, rows: int, n: int = 5, dtype=F32):
    gates, (c_prev, c, dc) = make.uniform(rows, 4 * n, dtype=dtype), make.normal(3, rows, n)
    dh, dh_next = make.normal(2, rows, n, dtype=dtype)
    kernels.lstm_backward(gates, c_prev, make.flags(rows), c, dh, dh_next, make.flags(rows), dc)
    return gates, dc


def lstm_sequence(make: Inputs, rows: int, n: int, steps: int = 5):
    """Both passes."""
    products, weight_h = make.normal(steps, rows, 4 * n, dtype=BF16), make.normal(4 * n, n) / n ** 0.5
    bias, keep, (h, c) = make.normal(4 * n), make.flags(steps + 1, rows, share=0.7), make.normal(2, rows, n).tanh()
    inputs, cells = make.out(steps + 1, rows, n, dtype=BF16), make.out(steps + 1, rows, n)
    hidden, weight_h = make.out(steps, rows, n, dtype=BF16), weight_h.to(BF16)
    inputs[0], cells[0] = h * keep[0, :, None], c
    gates, dgates = make.out(*products.shape, dtype=BF16), make.out(*products.shape, dtype=BF16)
    recurrence.lstm_recurrence(products, weight_h, bias, keep, gates, inputs, cells, hidden)
    recurrence.lstm_recurrence_backward(gates, weight_h, keep, cells, make.normal(steps, rows, n, dtype=BF16), dgates)
    return gates, inputs, cells, hidden, dgates


def mingru(make: Inputs, rows: int, n: int = 5, dtype=F32, highway: bool = False):
    """Both passes."""
    width = 3 * n if highway else 2 * n
    before = make.normal(4, rows, width, dtype=dtype), make.normal(width), make.flags(4, rows, share=0.7), make.normal(rows, n)
    x, hidden, dx = (make.normal(4, rows, n), make.out(4, rows, n), make.out(4, rows, n)) if highway else (None, None, None)
    states, dproduct = make.out(4, rows, n), make.out(4, rows, width, dtype=dtype)
    kernels.mingru_forward(*before, x, states, hidden)
    kernels.mingru_backward(*before, states, x, make.normal(4, rows, n), dproduct, dx)
    return (states, dproduct, hidden, dx) if highway else (states, dproduct)


def sample(make: Inputs, rows: int, actions: int = 4, masked: bool = False, memory: bool = False,
           hold: int = 1):
    action, log_prob, value = make.out(rows, dtype=torch.int32), make.out(rows), make.out(rows)
    kernels.sample(make.normal(rows, actions + 1), make.action_mask(rows, actions) if masked else None, SEED, 100,
                   make.counter(STEP, memory), action, log_prob, actions, value, make.held(rows, hold))
    return action, log_prob, value


def categorical(make: Inputs, rows: int, actions: int = 4, masked: bool = False):
    wide = make.normal(rows, actions + 1).requires_grad_()  # rows at a distance
    action_mask = make.action_mask(rows, actions) if masked else None
    results = kernels.categorical(wide[:, :actions], action_mask, make.integers(actions, rows))
    results = [result.nan_to_num(neginf=-1.0) for result in results]  # illegal actions
    gradient, = torch.autograd.grad(results, wide, [make.normal(rows), make.normal(rows)])
    return *(result.detach() for result in results), gradient


def gaussian_sample(make: Inputs, rows: int, count: int = 3, memory: bool = False, hold: int = 1):
    action, log_prob, value = make.out(rows, count), make.out(rows), make.out(rows)
    kernels.gaussian_sample(make.normal(rows, count + 1), 0.3 * make.normal(count), SEED, 100, make.counter(STEP, memory),
                            action, log_prob, value, make.held(rows, hold))
    return action, log_prob, value


def gaussian(make: Inputs, rows: int, count: int = 3):
    wide, log_deviation = make.normal(rows, count + 1).requires_grad_(), (0.3 * make.normal(count)).requires_grad_()
    results = kernels.gaussian(wide[:, :count], log_deviation, make.normal(rows, count))
    gradients = torch.autograd.grad(results, (wide, log_deviation), [make.normal(rows), make.normal(rows)])
    return *(result.detach() for result in results), *gradients


def advantages(make: Inputs, rows: int, steps: int = 6, weighed: bool = False):
    parts = make.normal(steps, rows), make.flags(steps, rows), make.flags(steps, rows), make.flags(steps, rows, share=0.8)
    value, ratio, out = make.normal(steps + 1, rows), make.normal(steps, rows).exp(), make.out(steps, rows)
    return (kernels.advantages(*parts, value, 0.99, 0.95, ratio if weighed else None, 1.2, 0.9, out=out),)


def stack_frames(make: Inputs, rows: int, n: int = 7, of=U8, to=F32, memory: bool = False):
    frames, start = make.integers(256, 12, rows, n, dtype=of)[::2], make.flags(12, rows)[::2]  # times at a distance
    return (kernels.stack_frames(frames, start, make.counter(2, memory), 1 / 255, make.out(2, rows, 3, n, dtype=to)),)


def cartpole(make: Inputs, rows: int, steps: int = 8):
    """The environments after some steps; on the CPU CartPoleTensors, which has the bits of the compiled game."""
    kind = {"block": 128} if make.device.type == "cuda" else {}
    games: CartPole = (CartPoleKernel if kind else CartPoleTensors)(rows, make.device, 5, time_limit=5, sticky=0.2, **kind)
    observation, reward, terminated, truncated = make.out(rows, 4), make.out(rows), make.out(rows), make.out(rows)
    games.reset(observation, reward, terminated, truncated)
    for _ in range(steps):
        games.step(make.integers(2, rows), observation, reward, terminated, truncated)
    return observation, reward, terminated, truncated, *games.arrays().values()


P = functools.partial
Cases = dict[str, dict[str, Callable[..., tuple[torch.Tensor, ...]]]]
CASES: Cases = {  # the function of trainer.kernels, and its cases by name
    "lstm_forward": {"float32": lstm_forward, "bfloat16": P(lstm_forward, dtype=BF16), "wide": P(lstm_forward, n=130)},
    "lstm_backward": {"float32": lstm_backward, "bfloat16": P(lstm_backward, dtype=BF16), "wide": P(lstm_backward, n=130)},
    "lstm_sequence": {f"{n} units": P(lstm_sequence, n=n) for n in recurrence.UNITS},
    "mingru": {"float32": mingru, "bfloat16": P(mingru, dtype=BF16), "highway": P(mingru, highway=True)},
    "sample": {"all action_mask": sample, "masked": P(sample, masked=True), "step in memory": P(sample, memory=True),
               "many actions": P(sample, actions=70), "held": P(sample, hold=16, memory=True)},
    "categorical": {"all action_mask": categorical, "masked": P(categorical, masked=True),
                    "many actions": P(categorical, actions=70)},
    "gaussian_sample": {"step as a number": gaussian_sample, "step in memory": P(gaussian_sample, memory=True),
                        "held": P(gaussian_sample, hold=16)},
    "gaussian": {"3 numbers": gaussian, "17 numbers": P(gaussian, count=17)},
    "advantages": {"GAE": advantages, "V-trace": P(advantages, weighed=True)},
    "stack_frames": {"step in memory": P(stack_frames, memory=True), "wide": P(stack_frames, n=130),
                     **{f"{of} to {to}".replace("torch.", ""): P(stack_frames, of=of, to=to)
                        for of in (U8, F32, BF16) for to in (F32, BF16)}},
}


class Group(NamedTuple):
    """Kernels that are checked together."""

    title: str
    modules: Callable[[], tuple]  # the CudaModules of their sources
    cases: Cases


KERNELS = Group("kernels", sources.modules, CASES | rollout_cases.CASES | minibatch_cases.CASES)
CARTPOLE = Group("CartPole on the device", lambda: (CARTPOLE_MODULE,), {"cartpole": {"8 steps": cartpole}})


class Outcome(NamedTuple):
    """One case on one number of rows."""

    kernel: str
    case: str
    rows: int
    error: float      # the largest of its outputs, each relative to the output's largest magnitude (or 1)
    tolerance: float

    @property
    def equal(self) -> bool:
        return self.error <= self.tolerance


def compare(group: Group, device: torch.device, rows: Iterable[int]) -> list[Outcome]:
    """Run all cases of a group on a device; those of `lstm_sequence` only if the GPU has it."""
    found = []
    for kernel, cases in group.cases.items():
        if kernel == "lstm_sequence" and not recurrence.multiplies_bf16(device):
            continue
        for name, case in cases.items():
            for count in rows:
                with torch.enable_grad(), choose.without_replacements():
                    ours = [one.cpu() for one in case(Inputs(device, count), count)]
                    with kernels.use_reference():
                        wanted = case(Inputs(torch.device("cpu"), count), count)
                exact = kernel == "cartpole"
                tolerance = 0.0 if exact else max(TOLERANCE.get(one.dtype, 0.0) for one in ours)
                found.append(Outcome(kernel, name, count, max(map(error, ours, wanted)), tolerance))
    return found


def error(ours: torch.Tensor, wanted: torch.Tensor) -> float:
    """The largest difference, relative to the largest magnitude (or 1); infinite if integers differ or a number is NaN."""
    if not ours.is_floating_point():
        return 0.0 if torch.equal(ours, wanted) else float("inf")
    difference = (ours.double() - wanted.double()).abs().nan_to_num(nan=float("inf")).max().item()
    return difference / max(1.0, wanted.double().abs().max().item())

"""The fast kernels over many steps equal plain loops: gradients of an LSTM, advantages with and without importance weights, and
stacks of frames."""

import numpy as np
import pytest
import torch
from kernel_devices import DEVICES, TOLERANCE, choose, close

from trainer import kernels
from trainer.kernels import reference


@pytest.fixture(params=DEVICES)
def device(request, monkeypatch):
    return choose(request.param, monkeypatch)


@pytest.mark.parametrize(("steps", "resets"), [
    (1, [0]), (7, []), *((7, [t]) for t in range(7)), (7, range(7)), (64, [5, 6, 63])])
def test_a_sequence_s_gradients_equal_float64_autograd_with_resets_anywhere(steps, resets, device):
    torch.manual_seed(steps)
    size, n, keep = 3, 5, torch.ones(steps, 2)
    keep[list(resets), 1] = 0
    tensors = [torch.randn(*shape) for shape in ((steps, 2, size), (4 * n, size), (4 * n, n), (4 * n,), (steps, 2, n))]

    def gradients(unroll, weight, *inputs):
        for tensor in inputs:
            tensor.requires_grad_()
        hidden = unroll(*inputs)
        return hidden.detach(), *torch.autograd.grad((hidden * weight).sum(), inputs)

    def plain(x, weight_x, weight_h, bias):
        h, c = torch.ones(2, 2, n, dtype=torch.float64)
        hidden = []
        for t in range(steps):
            recurrent = (h * keep[t, :, None]) @ weight_h.t()
            _, c, h, _ = reference.lstm_forward(x[t] @ weight_x.t(), recurrent, bias, c, keep[t], keep[t])
            hidden.append(h)
        return torch.stack(hidden)

    def fast(x, weight_x, weight_h, bias):
        state = torch.ones(2, 2, n, device=device)
        return kernels.lstm(x, weight_x, weight_h, bias, keep.to(device), state, kernels.LstmBuffers())

    *inputs, weight = (tensor.double() for tensor in tensors)
    wanted = gradients(plain, weight, *inputs)
    *inputs, weight = (tensor.to(device) for tensor in tensors)
    for ours, theirs in zip(gradients(fast, weight, *inputs), wanted, strict=True):
        close(ours, theirs)


ENDS = {  # name: (t, terminated, truncated) of the ends in 12 steps
    "none": [],
    "terminated": [(5, 1, 0)],
    "truncated": [(5, 0, 1)],
    "both at once": [(5, 1, 1)],
    "at the first step": [(0, 1, 0)],
    "at the last step": [(11, 0, 1)],
    "several": [(1, 1, 0), (3, 0, 1), (7, 1, 1), (10, 1, 0)],
    "everywhere": [(t, 1 - t % 2, t % 2) for t in range(12)],
}


def plain_advantages(reward, terminated, truncated, valid, value, ratio, gamma, lam, rho_clip, c_clip):
    """The recursion in float64 Python numbers."""
    steps, rows = len(reward), len(reward[0])
    result = [[0.0] * rows for _ in range(steps)]
    for row in range(rows):
        running = 0.0
        for t in range(steps - 1, -1, -1):
            future = 0.0 if terminated[t][row] else value[t + 1][row]
            delta = min(rho_clip, ratio[t][row]) * (reward[t][row] + gamma * future - value[t][row])
            cut = terminated[t][row] or truncated[t][row]
            running = delta + (0.0 if cut else gamma * lam * min(c_clip, ratio[t][row]) * running)
            if not valid[t][row]:
                running = 0.0
            result[t][row] = running
    return result


def rollout(steps, rows, ends=()):
    """reward, terminated, truncated, valid (T, B) and value (T + 1, B), with `ends` in the second (or only) environment."""
    torch.manual_seed(steps * rows)
    reward, value = torch.randn(steps, rows), torch.randn(steps + 1, rows)
    terminated, truncated, valid = torch.zeros(steps, rows), torch.zeros(steps, rows), torch.ones(steps, rows)
    row = min(1, rows - 1)
    for t, ended, late in ends:
        terminated[t, row], truncated[t, row] = ended, late
        if t + 1 < steps and len(ends) < steps:
            valid[t + 1, row] = 0  # this step only resets
    return reward, terminated, truncated, valid, value


CLIPS = {"without weights": None, "clipped at 1": (1.0, 1.0), "clipped apart": (1.5, 0.7), "not clipped": (1e9, 1e9)}


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS.keys())
@pytest.mark.parametrize(("gamma", "lam"), [(0.99, 0.95), (1, 1), (0.9, 0.0)])
@pytest.mark.parametrize("clips", CLIPS.values(), ids=CLIPS.keys())
def test_advantages_equal_a_float64_loop(ends, gamma, lam, clips, device):
    arguments = rollout(12, 3, ends)
    ratio = torch.randn(12, 3).exp() if clips else None
    wide = [tensor.double().tolist() for tensor in (*arguments, torch.ones(12, 3) if ratio is None else ratio)]
    wanted = torch.tensor(plain_advantages(*wide, gamma, lam, *(clips or (1, 1))), dtype=torch.float64)
    weights = (ratio, *clips) if clips else ()
    close(reference.advantages(*arguments, gamma, lam, *weights), wanted)
    arguments = [tensor.to(device) for tensor in arguments]
    weights = (ratio.to(device), *clips) if clips else ()
    close(kernels.advantages(*arguments, gamma, lam, *weights), wanted)


@pytest.mark.parametrize("steps", (1, 7, 64))
@pytest.mark.parametrize("rows", (1, 3, 1023))
@pytest.mark.parametrize("weighed", (False, True))
def test_advantages_equal_the_reference(steps, rows, weighed, device):
    arguments = rollout(steps, rows)
    arguments[1].copy_(torch.rand(steps, rows) > 0.9)
    arguments[2].copy_(torch.rand(steps, rows) > 0.9)
    ratio = torch.randn(steps, rows).exp() if weighed else None
    out = torch.empty(steps, rows, device=device)
    result = kernels.advantages(*(tensor.to(device) for tensor in arguments), 0.99, 0.95,
                                ratio if ratio is None else ratio.to(device), 1.2, 0.9, out)
    assert result is out
    close(out, reference.advantages(*arguments, 0.99, 0.95, ratio, 1.2, 0.9))


def test_weights_of_one_change_no_bit(device):
    arguments = [tensor.to(device) for tensor in rollout(64, 33, ENDS["several"])]
    plain = kernels.advantages(*arguments, 0.99, 0.95)
    assert torch.equal(plain, kernels.advantages(*arguments, 0.99, 0.95, torch.ones(64, 33, device=device)))


def test_values_and_weighed_advantages_sum_to_v_trace(device):
    """Equation 1 of arXiv:1802.01561, term by term: v_s = V(x_s) + sum_t gamma^(t - s) c_s ... c_(t - 1) delta_t."""
    steps, gamma, rho_clip, c_clip = 9, 0.9, 1.3, 0.8
    reward, *_, value = arguments = rollout(steps, 1)
    ratio = torch.randn(steps, 1).exp()
    v, rho, c = value[:, 0].tolist(), ratio[:, 0].clamp(max=rho_clip).tolist(), ratio[:, 0].clamp(max=c_clip).tolist()
    delta = [rho[t] * (reward[t].item() + gamma * v[t + 1] - v[t]) for t in range(steps)]
    wanted = [v[s] + sum(gamma ** (t - s) * np.prod(c[s:t]) * delta[t] for t in range(s, steps)) for s in range(steps)]
    result = kernels.advantages(*(tensor.to(device) for tensor in arguments), gamma, 1.0, ratio.to(device), rho_clip, c_clip)
    close(result.cpu()[:, 0] + value[:-1, 0], torch.tensor(wanted))


def test_a_ratio_of_nan_is_not_hidden(device):
    arguments = [tensor.to(device) for tensor in rollout(3, 2)]
    ratio = torch.full((3, 2), torch.nan, device=device)
    assert kernels.advantages(*arguments, 0.99, 0.95, ratio).isnan().all()


FRAMES = {"bytes": torch.uint8, "float32": torch.float32, "bfloat16": torch.bfloat16}
SIZES = [  # steps, batch, frames a stack, shape
    (1, 1, 1, (1,)), (1, 3, 4, (5,)), (7, 3, 1, (2, 3)), (4, 2, 3, ()), (2, 3, 4, (84, 84)), (1, 1023, 2, (118,)),
    (64, 3, 5, (7,))]


def stored(steps, batch, count, shape, dtype, before=2, after=1):
    """Frames (L, B + 3, *shape) and starts (L, B + 3), with `before` rows before step 0."""
    torch.manual_seed(steps + batch + count)
    rows = before + steps + count - 1 + after
    return torch.randint(0, 256, (rows, batch + 3, *shape)).to(dtype), (torch.rand(rows, batch + 3) < 0.2).float()


@pytest.mark.parametrize("dtype", FRAMES.values(), ids=FRAMES.keys())
@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("in_memory", (False, True))
@pytest.mark.parametrize(("steps", "batch", "count", "shape"), SIZES)
def test_stacks_equal_the_reference(steps, batch, count, shape, dtype, precision, in_memory, device):
    storage = stored(steps, batch, count, shape, dtype)
    out = torch.empty(steps, batch, count, *shape, dtype=precision, device=device)
    t = torch.tensor([2], device=device) if in_memory else 2
    frames, start = (tensor.to(device)[:, 2: batch + 2] for tensor in storage)  # the rows of one batch
    assert kernels.stack_frames(frames, start, t, 1 / 255, out) is out
    expected = reference.stack_frames(*(tensor[:, 2: batch + 2] for tensor in storage), 2, 1 / 255, steps, count)
    assert torch.equal(out.cpu(), expected.to(precision))  # one product, rounded once: all bits are equal


@pytest.mark.parametrize("place", range(8))
@pytest.mark.parametrize("count", (1, 2, 4))
def test_a_stack_shows_nothing_from_before_a_start(place, count, device):
    frames = torch.arange(1.0, 9.0).view(8, 1, 1)
    start = torch.zeros(8, 1)
    start[place] = 1
    steps = 8 - count + 1
    out = torch.empty(steps, 1, count, 1, device=device)
    kernels.stack_frames(frames.to(device), start.to(device), 0, 1.0, out)
    for step in range(steps):
        newest = step + count - 1
        shown = [frame + 1.0 if not frame < place <= newest else 0.0 for frame in range(step, newest + 1)]
        assert out[step, 0, :, 0].tolist() == shown


def test_frames_of_an_earlier_episode_are_zero_even_if_they_hold_nan(device):
    frames = torch.tensor([[[torch.nan]], [[3.0]]], device=device)
    out = torch.empty(1, 1, 2, 1, device=device)
    kernels.stack_frames(frames, torch.tensor([[0.0], [1.0]], device=device), 0, 2.0, out)
    assert out.flatten().tolist() == [0.0, 6.0]


REFUSED = {  # (error, its text, change of valid arguments)
    "before the first frame": (ValueError,
                               "t must be from 0 to 2 with 8 frames and 3 steps of 4 frames each, not -1", {"t": -1}),
    "past the last frame": (ValueError, "t must be from 0 to 2.*not 3", {"t": torch.tensor([3])}),
    "frames": (TypeError, "frames must be torch.uint8 or", {"frames": torch.zeros(8, 2, 5, dtype=torch.int32)}),
    "out": (TypeError, "out must be torch.float32 or torch.bfloat16", {"out": torch.zeros(3, 2, 4, 5, dtype=torch.float64)}),
    "shape": (ValueError, r"out must have the shape \(3, 2, 4, 5\), not \(3, 2, 4, 6\)", {"out": torch.zeros(3, 2, 4, 6)}),
    "starts": (ValueError, r"start must have the shape .*, not \(8, 3\)", {"start": torch.zeros(8, 3)}),
    "strides": (ValueError, "frames of one time must be contiguous", {"frames": torch.zeros(8, 2, 10)[..., ::2]}),
    "counter": (ValueError, r"t must have the shape .*, not \(2,\)", {"t": torch.zeros(2, dtype=torch.int64)}),
}


@pytest.mark.parametrize(("error", "text", "change"), REFUSED.values(), ids=REFUSED.keys())
def test_stacks_refuse_invalid_arguments(error, text, change):
    fits = {"frames": torch.zeros(8, 2, 5), "start": torch.zeros(8, 2), "t": 0, "scale": 1.0, "out": torch.zeros(3, 2, 4, 5)}
    kernels.stack_frames(**fits)
    with pytest.raises(error, match=text):
        kernels.stack_frames(**fits | change)

"""An LSTM in tiles equals float64 autograd for any numbers of environments and resets, in sequences and in steps.
Sizes and CPUs without tiles go step by step."""

import pytest
import torch
from kernel_devices import close
from lstm_twin import draw, plain, unroll

from envs_c.machine import cpu_features
from trainer import kernels
from trainer.kernels.lstm import tiles as lstm_tiles
from trainer.kernels.shared import tiles as tiled
from trainer.policy.lstm import LstmPolicy
from trainer.policy.policy import StepSpace

HALF = torch.bfloat16
with_tiles = pytest.mark.usefixtures("unit")
SIZES = [  # steps, environments, inputs, units: less than a tile and many blocks, with and without a remainder
    (1, 1, 32, 32), (7, 3, 128, 64), (5, 31, 64, 128), (3, 1023, 32, 64), (17, 33, 96, 256), (64, 16, 128, 128),
    (19, 9, 32, 64), (35, 80, 32, 32)]  # the last group, of at most 16, has a step without a second one for its tiles
RESETS = {"none": [], "first": [0], "middle": [3], "last": [6], "all": range(7)}

@with_tiles
@pytest.mark.parametrize(("steps", "batch", "size", "n"), SIZES)
def test_tiles_and_their_gradients_equal_float64_autograd(steps, batch, size, n):
    arguments = draw(steps, batch, size, n, HALF)
    for ours, theirs in zip(unroll(*arguments), plain(*arguments), strict=True):
        close(ours, theirs, HALF)


@with_tiles
@pytest.mark.parametrize("resets", RESETS.values(), ids=RESETS.keys())
def test_tiles_and_their_gradients_equal_float64_autograd_with_resets_anywhere(resets):
    x, weight_x, weight_h, bias, keep, *rest = draw(7, 5, 32, 32, HALF)
    keep.fill_(1)
    keep[list(resets), 1] = 0
    arguments = x, weight_x, weight_h, bias, keep, *rest
    for ours, theirs in zip(unroll(*arguments), plain(*arguments), strict=True):
        close(ours, theirs, HALF)


@with_tiles
@pytest.mark.parametrize("batch", (3, 40))
def test_gates_in_memory_give_the_gradients_of_gates_computed_again(batch):
    x, weight_x, weight_h, bias, keep, h, c, dhidden = draw(6, batch, 64, 96, HALF)
    weights, keeps = (weight_x.to(HALF), weight_h.to(HALF)), torch.cat([keep, torch.ones(1, batch)])
    cells, hidden, gates = torch.empty(7, batch, 96), torch.empty(6, batch, 96, dtype=HALF), x.new_empty(6, batch, 4 * 96)
    cells[0] = c
    arguments = x, *weights, bias, keeps, h, cells, hidden
    lstm_tiles.lstm_tiles(*arguments, gates)
    results = []
    for kept in (gates, None):
        dx = torch.empty_like(x)
        results.append([dx, *lstm_tiles.lstm_tiles_backward(*arguments, dhidden.to(HALF), dx, kept)])
    for one, other in zip(*results, strict=True):
        close(one, other, HALF)


@with_tiles
@pytest.mark.parametrize("batch", (3, 31, 70))
def test_steps_give_the_bits_of_a_sequence(batch):
    """The probability ratios of the first minibatch after a rollout are then 1."""
    x, weight_x, weight_h, bias, keep, h, c, _ = draw(6, batch, 64, 96, HALF)
    weights, keeps = (weight_x.to(HALF), weight_h.to(HALF)), torch.cat([keep, torch.ones(1, batch)])
    cells, hidden, one = torch.empty(7, batch, 96), torch.empty(6, batch, 96, dtype=HALF), torch.empty(batch, 96, dtype=HALF)
    cells[0] = c
    lstm_tiles.lstm_tiles(x, *weights, bias, keeps, h, cells, hidden)
    packed, h = lstm_tiles.pack_tiles(*weights), h * keeps[0, :, None].to(HALF)
    for t in range(6):
        lstm_tiles.lstm_step_tiles(x[t], packed, bias, keeps[t], keeps[t + 1], h, c, one)
        assert torch.equal(one, hidden[t])
        assert torch.equal(c, cells[t + 1])
        assert torch.equal(h, hidden[t] * keeps[t + 1, :, None].to(HALF))


@with_tiles
@pytest.mark.parametrize("batch", (27, 75))
def test_bits_depend_neither_on_threads_nor_on_the_run(batch):
    arguments, threads = draw(9, batch, 32, 64, HALF), torch.get_num_threads()
    first = unroll(*arguments)
    try:
        for count in (1, 2, 3, 16, threads):
            torch.set_num_threads(count)
            assert all(torch.equal(*pair) for pair in zip(unroll(*arguments), first, strict=True)), count
    finally:
        torch.set_num_threads(threads)


@with_tiles
def test_an_environment_s_bits_do_not_depend_on_the_others():
    x, weight_x, weight_h, bias, keep, h, c, weight = draw(4, 45, 32, 32, HALF)
    hidden, dx, *_ = unroll(x, weight_x, weight_h, bias, keep, h, c, weight)
    for part in (slice(0, 1), slice(1, 20), slice(20, 45)):
        few, dfew, *_ = unroll(x[:, part], weight_x, weight_h, bias, keep[:, part], h[part], c[part], weight[:, part])
        assert torch.equal(few, hidden[:, part])
        assert torch.equal(dfew, dx[:, part])


@with_tiles
def test_inputs_that_need_no_gradient_change_no_other():
    arguments = draw(3, 7, 32, 64, HALF)
    hidden, _, *gradients = unroll(*arguments)
    assert all(torch.equal(*pair) for pair in zip(unroll(*arguments, inputs=False), (hidden, *gradients), strict=True))


@with_tiles
def test_nan_shows_in_its_environment_and_in_the_gradients_of_the_weights():
    x, *rest = draw(6, 40, 32, 32, HALF)
    x[2, 3, 1] = torch.nan
    hidden, dx, *gradients = unroll(x, *rest)
    wanted = torch.zeros(6, 40, dtype=torch.bool)
    wanted[2:, 3] = True
    assert torch.equal(hidden.isnan().any(-1), wanted)
    assert torch.equal(dx.isnan().any(-1).any(0), wanted.any(0))
    assert all(gradient.isnan().any() for gradient in gradients)


@with_tiles
def test_large_inputs_saturate_without_nan():
    x, weight_x, weight_h, bias, keep, h, c, weight = draw(5, 4, 32, 32, HALF)
    for scale in (1e4, -1e30):
        hidden, *gradients = unroll(x * scale, weight_x, weight_h, bias, keep, h, c, weight)
        assert hidden.isfinite().all() and hidden.abs().max() <= 1
        assert all(gradient.isfinite().all() for gradient in gradients[:1])


@with_tiles
@pytest.mark.parametrize("n", (32, 128))
def test_the_policy_steps_as_it_unrolls(n):
    torch.manual_seed(n)
    policy = LstmPolicy((7,), 3, 64, n, precision=HALF)
    weights, space = policy.cast_weights(), StepSpace(policy, 5)
    observation, start = torch.randn(4, 5, 1, 7).to(HALF), (torch.rand(4, 5) < 0.3).float()
    logits, value = policy.unroll(observation, start, policy.initial_state(5))
    (h, c), ends = policy.initial_state(5), torch.cat([start, torch.zeros(1, 5)])
    for t in range(4):
        out = policy.step(weights, observation[t], 1 - ends[t], 1 - ends[t + 1], h, c, space)
        assert torch.equal(out[:, :-1], logits[t]) and torch.equal(out[:, -1], value[t])


def test_tiles_are_found_where_the_cpu_has_them():
    features = cpu_features()
    if "avx512_bf16" not in features:
        assert not tiled.AVAILABLE
    if "amx_bf16" not in features:
        assert tiled.unit() < tiled.UNITS["amx"]
    takes = [lstm_tiles.supports(torch.zeros(1), dtype, inputs, units)
             for inputs, units, dtype in [(32, 128, HALF), (33, 128, HALF), (32, 72, HALF), (32, 128, torch.float32)]]
    assert takes == [tiled.AVAILABLE, False, False, False]
    assert not lstm_tiles.supports(torch.zeros(1, device="meta"), HALF, 32, 128)


@pytest.mark.parametrize(("n", "tiles"), [(72, True), (64, False)])
def test_other_sizes_and_cpus_go_step_by_step(n, tiles, monkeypatch):
    monkeypatch.setattr(tiled, "AVAILABLE", tiles and tiled.AVAILABLE)
    policy = LstmPolicy((7,), 3, 64, n, precision=HALF)
    assert "input" in policy.cast_weights()
    logits, _ = policy.unroll(torch.randn(4, 5, 1, 7).to(HALF), torch.zeros(4, 5), policy.initial_state(5))
    logits.sum().backward()
    with pytest.raises(ValueError, match=f"no kernel with tiles for torch.bfloat16 on 'cpu' with 64 inputs and {n} units"):
        lstm_tiles.pack_tiles(torch.zeros(4 * n, 64, dtype=HALF), torch.zeros(4 * n, n, dtype=HALF))


REFUSED = {  # (error, its text, change of valid arguments)
    "x": (ValueError, "x must be contiguous", {"x": torch.zeros(3, 2, 64, dtype=HALF)[..., ::2]}),
    "dtype": (TypeError, "hidden must be torch.bfloat16, not torch.float32", {"hidden": torch.zeros(3, 2, 64)}),
    "weight": (ValueError, r"weight_x must have the shape \(256, 32\), not", {"weight_x": torch.zeros(128, 32, dtype=HALF)}),
    "bias": (ValueError, r"bias must have the shape \(256,\)", {"bias": torch.zeros(64)}),
    "keep": (ValueError, r"keep must have the shape \(4, 2\), not \(3, 2\)", {"keep": torch.zeros(3, 2)}),
    "h": (ValueError, r"h must have the shape \(2, 64\)", {"h": torch.zeros(3, 64, dtype=HALF)}),
    "cells": (ValueError, r"cells must have the shape \(4, 2, 64\)", {"cells": torch.zeros(3, 2, 64)}),
    "gates": (ValueError, r"gates must have the shape \(3, 2, 256\)", {"gates": torch.zeros(3, 2, 64, dtype=HALF)}),
}


@with_tiles
@pytest.mark.parametrize(("error", "text", "change"), REFUSED.values(), ids=REFUSED.keys())
def test_tiles_refuse_invalid_arguments(error, text, change):
    fits = {"x": torch.zeros(3, 2, 32, dtype=HALF), "weight_x": torch.zeros(256, 32, dtype=HALF),
            "weight_h": torch.zeros(256, 64, dtype=HALF), "bias": torch.zeros(256), "keep": torch.ones(4, 2),
            "h": torch.zeros(2, 64, dtype=HALF), "cells": torch.zeros(4, 2, 64), "hidden": torch.zeros(3, 2, 64, dtype=HALF)}
    lstm_tiles.lstm_tiles(**fits)
    with pytest.raises(error, match=text):
        lstm_tiles.lstm_tiles(**fits | change)


@with_tiles
@pytest.mark.parametrize(("shape", "n", "outputs"), [((1,), 32, 1), ((64, 3), 128, 5), ((31,), 96, 16), ((3, 1023), 64, 7)])
def test_heads_and_their_gradients_equal_float64_autograd(shape, n, outputs):
    torch.manual_seed(n)
    hidden, weight, bias = torch.randn(*shape, n).to(HALF), torch.randn(outputs, n) / n ** 0.5, torch.randn(outputs)
    dout = torch.randn(*shape, outputs)

    def gradients(heads, *leaves):
        for leaf in leaves:
            leaf.requires_grad_()
        out = heads(*leaves)
        return out.detach(), *torch.autograd.grad(out, leaves, dout.to(out.dtype))

    wanted = gradients(lambda hidden, weight, bias: hidden @ weight.t() + bias, *(x.double() for x in (hidden, weight, bias)))
    ours = gradients(kernels.heads, hidden, weight, bias)
    for place, (one, other) in enumerate(zip(ours, wanted, strict=True)):
        close(one, other, HALF if place == 1 else torch.float32)  # that of the hidden states is rounded to bfloat16
    rows, out = hidden.detach().view(-1, n), torch.empty(hidden[..., 0].numel(), outputs)
    assert kernels.heads_step(rows, weight.detach(), None, bias.detach(), None, out) is out
    assert torch.equal(out.view_as(ours[0]), ours[0])


@with_tiles
def test_heads_bits_do_not_depend_on_threads():
    hidden, weight, bias = torch.randn(2500, 32).to(HALF), torch.randn(3, 32), torch.randn(3)
    leaves, threads, seen = [leaf.requires_grad_() for leaf in (hidden, weight, bias)], torch.get_num_threads(), []
    try:
        for count in (1, 2, 5):
            torch.set_num_threads(count)
            out = kernels.heads(*leaves)
            seen.append([out, *torch.autograd.grad(out.square().sum(), leaves)])
    finally:
        torch.set_num_threads(threads)
    assert all(torch.equal(one, first) for run in seen[1:] for one, first in zip(run, seen[0], strict=True))


@pytest.mark.parametrize(("n", "outputs", "dtype"), [(64, 3, torch.float32), (65, 3, HALF), (64, 17, HALF)])
def test_other_heads_are_torch_s_products_in_float32(n, outputs, dtype):
    hidden, weight, bias = torch.randn(5, n).to(dtype), torch.randn(outputs, n), torch.randn(outputs)
    wanted = hidden.float() @ weight.t() + bias
    close(kernels.heads(hidden, weight, bias), wanted)
    close(kernels.heads_step(hidden, weight, weight.t(), bias, torch.empty(5, n), torch.empty(5, outputs)), wanted)
    assert kernels.picked()["heads"] == "reference"

"""`unroll` equals a plain loop over `step`, and its gradients equal those of torch's own LSTM."""

import pytest
import torch
from trainer_support import STARTS

from trainer import kernels
from trainer.policy.feed_forward import FeedForwardPolicy
from trainer.policy.lstm import LstmPolicy
from trainer.policy.policy import StepSpace

STEPS, BATCH = 9, 5


def make(precision=torch.float32, device="cpu") -> LstmPolicy:
    torch.manual_seed(0)
    policy = LstmPolicy((6,), 3, 16, 12, precision=precision)
    with torch.no_grad():
        policy.heads.weight.mul_(20)  # far from uniform, so that differences would show
    return policy.to(device)


def draw(starts, precision=torch.float32, device="cpu"):
    """Observations (T, B, 6), starts (T, B) and a state that is not zero."""
    torch.manual_seed(1)
    start = torch.zeros(STEPS, BATCH)
    for t, environment in starts:
        start[t, environment] = 1.0
    observation, h, c = torch.randn(STEPS, BATCH, 6), torch.randn(BATCH, 12), torch.randn(BATCH, 12)
    return observation.to(device), start.to(device), (h.to(device, precision), c.to(device))


def step_loop(policy, observation, start, state):
    """Logits and values of `step`, one step after the other."""
    h, c = state[0] * (1 - start[0])[:, None].to(state[0].dtype), state[1].clone()
    weights, outs, space = policy.cast_weights(), [], StepSpace(policy, BATCH, start.device)
    inputs = policy.preprocess_rollout(observation, start)
    with torch.no_grad():
        for t in range(STEPS):
            following = start[t + 1] if t + 1 < STEPS else torch.zeros_like(start[t])
            outs.append(policy.step(weights, inputs[t], 1 - start[t], 1 - following, h, c, space).clone())
    out = torch.stack(outs)
    return out[..., :-1], out[..., -1]


def unroll(policy, observation, start, state):
    """`unroll` of plain observations (T, B, *shape)."""
    return policy.unroll(policy.preprocess_rollout(observation, start), start, state)


def torch_loop(policy, observation, start, state):
    """The same policy with torch's LSTM cell and autograd; the loop zeroes the state."""
    cell = torch.nn.LSTMCell(16, 12, device=start.device)
    cell.weight_ih, cell.weight_hh, cell.bias_ih = policy.input, policy.recurrent, policy.bias
    cell.bias_hh.data.zero_()
    (h, c), outs = state, []
    for t in range(len(observation)):
        keep = (1 - start[t])[:, None]
        h, c = cell(policy.encoder(observation[t]), (h * keep, c * keep))
        outs.append(policy.heads(h))
    out = torch.stack(outs)
    return out[..., :-1], out[..., -1]


@pytest.mark.parametrize("starts", STARTS.values(), ids=STARTS.keys())
@pytest.mark.parametrize(("precision", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_unroll_equals_the_step_loop(starts, precision, tolerance, device):
    policy, (observation, start, state) = make(precision, device), draw(starts, precision, device)
    with torch.no_grad():
        unrolled = unroll(policy, observation, start, state)
    for whole, looped in zip(unrolled, step_loop(policy, observation, start, state), strict=True):
        assert (whole - looped).abs().max() <= tolerance * looped.abs().max()


@pytest.mark.parametrize("starts", STARTS.values(), ids=STARTS.keys())
@pytest.mark.parametrize("plain", [False, True], ids=["compiled", "reference"])
def test_unroll_and_its_gradients_equal_torch_s_own(starts, plain, device):
    policy, (observation, start, state) = make(device=device), draw(starts, device=device)
    weight = torch.randn(STEPS, BATCH, 4).to(device)

    def gradients(outputs):
        policy.zero_grad()
        (torch.cat([outputs[0], outputs[1][..., None]], -1) * weight).sum().backward()
        return {name: parameter.grad.clone() for name, parameter in policy.named_parameters()}

    expected = torch_loop(policy, observation, start, state)
    wanted = gradients(expected)
    if plain:
        with kernels.use_reference():
            actual = unroll(policy, observation, start, state)
            got = gradients(actual)
    else:
        actual = unroll(policy, observation, start, state)
        got = gradients(actual)
    for ours, theirs in zip(actual, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    for name, gradient in wanted.items():
        assert (got[name] - gradient).abs().max() <= 1e-5 * max(1.0, gradient.abs().max()), name


def test_a_start_forgets_the_past(device):
    policy, (observation, start, state) = make(device=device), draw([(4, 1)], device=device)
    other = observation.clone()
    other[:4, 1] += 5.0
    with torch.no_grad():
        before = unroll(policy, observation, start, state)
        after = unroll(policy, other, start, (state[0] + 1, state[1] + 1))
    assert torch.equal(before[0][4:, 1], after[0][4:, 1])
    assert not torch.equal(before[0][:4, 1], after[0][:4, 1])
    assert not torch.equal(before[0][4:, 0], after[0][4:, 0])  # without a start the state has an effect


def test_two_unrolls_at_once_do_not_share_memory():
    policy, (observation, start, state) = make(), draw([])
    alone = unroll(policy, observation, start, state)
    alone[0].sum().backward()
    wanted = policy.recurrent.grad.clone()
    policy.zero_grad()
    first = unroll(policy, observation, start, state)
    second = unroll(policy, observation + 1, start, state)
    first[0].sum().backward()
    assert torch.equal(policy.recurrent.grad, wanted)
    second[0].sum().backward()
    with pytest.raises(RuntimeError):
        second[0].sum().backward()


def test_bytes_are_scaled_to_one():
    torch.manual_seed(0)
    policy = LstmPolicy((6,), 3, 16, 12, scale=1 / 255)
    pixels = torch.randint(0, 256, (STEPS, BATCH, 6), dtype=torch.uint8)
    with torch.no_grad():
        logits = unroll(policy, pixels, torch.zeros(STEPS, BATCH), policy.initial_state(BATCH))[0]
        policy.scale = 1.0
        wanted = unroll(policy, pixels.float() / 255, torch.zeros(STEPS, BATCH), policy.initial_state(BATCH))[0]
    torch.testing.assert_close(logits, wanted)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_without_memory_a_step_gives_the_same_anywhere_in_a_sequence(precision):
    torch.manual_seed(0)
    policy = FeedForwardPolicy((6,), 3, 16, 12, precision=precision)
    observation, start, _ = draw([(4, 1)])
    state = policy.initial_state(BATCH)
    logits, values = unroll(policy, observation, start, state)
    assert logits.requires_grad and values.requires_grad
    backwards = unroll(policy, observation.flip(0), start, state)[0].flip(0)
    assert torch.equal(logits, backwards)
    with torch.no_grad():
        weights, space, x = policy.cast_weights(), StepSpace(policy, BATCH), policy.preprocess_rollout(observation, start)
        for t in range(STEPS):
            out = policy.step(weights, x[t], 1 - start[t], 1 - start[t], *state, space)
            torch.testing.assert_close(out, torch.cat([logits[t], values[t][:, None]], 1), rtol=1e-5, atol=1e-5)


def test_the_forget_gates_of_a_new_lstm_are_open_and_the_others_half_open():
    """It keeps what it remembers from the start: without an input, c becomes sigmoid(1) c."""
    policy = make()
    with torch.no_grad():
        h, after = policy.export_step(torch.zeros(1, 16), {"h": torch.zeros(1, 12), "c": torch.ones(1, 12)})
    kept = torch.sigmoid(torch.ones(1, 12))
    torch.testing.assert_close(after["c"], kept)
    torch.testing.assert_close(h, 0.5 * kept.tanh())

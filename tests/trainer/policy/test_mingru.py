"""The MinGRU equals its paper's formula in a float64 loop; its gradient equals autograd and finite differences."""

import contextlib

import pytest
import torch
from trainer_support import STARTS

from trainer import kernels
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.config import ConfigError
from trainer.policy.feed_forward import FeedForwardPolicy
from trainer.policy.lstm import LstmPolicy
from trainer.policy.mingru import LONGEST, MinGruPolicy, initialize_bias
from trainer.training.build import make_session
from trainer.training.train import iterate

STEPS, BATCH, UNITS = 9, 5, 6


def inputs(starts, dtype=torch.float64, gates=2):
    """Products (T, B, gates * n), a bias (gates * n,), keep (T, B) and a state (B, n) that is not zero; for 3 gates also
    x (T, B, n)."""
    torch.manual_seed(1)
    keep = torch.ones(STEPS, BATCH, dtype=dtype)
    for t, environment in starts:
        keep[t, environment] = 0.0
    product = torch.randn(STEPS, BATCH, gates * UNITS, dtype=torch.float64).to(dtype)
    made = (product.requires_grad_(), torch.randn(gates * UNITS, dtype=torch.float64).to(dtype).requires_grad_(), keep,
            torch.rand(BATCH, UNITS, dtype=torch.float64).to(dtype))
    return (*made, torch.randn(STEPS, BATCH, UNITS, dtype=torch.float64).to(dtype).requires_grad_()) if gates == 3 else made


def formula(product, bias, keep, state, x=None):
    """The paper's equations, one after the other: states (T, B, n), or the highway's outputs."""
    states = []
    for t in range(len(product)):
        gate, candidate, *p = (product[t] + bias).chunk(2 if x is None else 3, 1)
        z = torch.sigmoid(gate)
        positive = torch.where(candidate >= 0, candidate + 0.5, torch.sigmoid(candidate))
        state = (1 - z) * keep[t][:, None] * state + z * positive
        states.append(state if x is None else torch.lerp(x[t], state, torch.sigmoid(p[0])))
    return torch.stack(states)


def twin(dtype):
    """The kernels have no float64."""
    return kernels.use_reference() if dtype == torch.float64 else contextlib.nullcontext()


@pytest.mark.parametrize("starts", STARTS.values(), ids=STARTS.keys())
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
@pytest.mark.parametrize("gates", [2, 3], ids=["plain", "highway"])
def test_outputs_and_gradients_equal_the_formula(starts, dtype, tolerance, gates):
    wanted_inputs, given = inputs(starts, gates=gates), inputs(starts, dtype, gates)
    weight = torch.randn(STEPS, BATCH, UNITS, dtype=torch.float64)
    wanted = formula(*wanted_inputs)
    (wanted * weight).sum().backward()
    with twin(dtype):
        outputs = kernels.mingru(*given)
        (outputs * weight.to(dtype)).sum().backward()
    pairs = [(one.grad, other.grad) for one, other in zip(given, wanted_inputs, strict=True) if other.requires_grad]
    assert len(pairs) == gates
    for ours, theirs in [(outputs, wanted), *pairs]:
        assert ours.dtype == dtype
        assert (ours.double() - theirs).abs().max() <= 10 * tolerance * theirs.abs().max().clamp(min=1)


@pytest.mark.parametrize("gates", [2, 3], ids=["plain", "highway"])
def test_gradients_equal_finite_differences(gates):
    product, bias, keep, state, *x = inputs(STARTS["twice"], gates=gates)
    with kernels.use_reference():
        assert torch.autograd.gradcheck(lambda product, bias, *x: kernels.mingru(product, bias, keep, state, *x),
                                        (product, bias, *x))


def test_products_in_bfloat16_give_states_in_float32_and_gradients_in_bfloat16():
    product, bias, keep, state = (tensor.detach().float() for tensor in inputs(STARTS["in the middle"]))
    half = product.bfloat16().requires_grad_()
    states = kernels.mingru(half, bias, keep, state)
    assert states.dtype == torch.float32
    torch.testing.assert_close(states, formula(half.detach().float(), bias, keep, state), rtol=1e-6, atol=1e-6)
    states.sum().backward()
    assert half.grad.dtype == torch.bfloat16


def test_initial_time_scales_range_from_one_step_to_the_longest():
    bias = torch.ones(2 * UNITS)
    initialize_bias(bias)
    steps = 1 / torch.sigmoid(bias[:UNITS]) - 1
    assert steps.min().item() == pytest.approx(1)
    assert steps.max().item() == pytest.approx(LONGEST, rel=1e-5)
    assert (bias[UNITS:] == 0).all()


@pytest.mark.parametrize(("encoder_size", "layers"), [(12, 1), (12, 3), (16, 1), (16, 2)])
def test_layers_have_residual_connections(encoder_size, layers):
    torch.manual_seed(0)
    policy = MinGruPolicy((6,), 3, encoder_size, 12, layers=layers)
    observation, keep = torch.randn(STEPS, BATCH, 6), torch.ones(STEPS, BATCH)
    h, c = policy.initial_state(BATCH)
    h += torch.rand_like(h)
    logits, values = policy.unroll(observation[:, :, None], 1 - keep, (h, c))
    x = policy.encoder(observation.flatten(0, 1)).view(STEPS, BATCH, -1)
    for k, layer in enumerate(policy.core):
        said = formula(x @ layer.weight.t(), layer.bias, keep, h[:, 12 * k: 12 * (k + 1)])
        x = said + x if k or encoder_size == 12 else said
    torch.testing.assert_close(torch.cat([logits, values[..., None]], -1), policy.heads(x), rtol=1e-5, atol=1e-5)


def test_layers_can_have_highways_instead():
    torch.manual_seed(0)
    policy = MinGruPolicy((6,), 3, 12, 12, layers=2, highway=True)
    observation, keep = torch.randn(STEPS, BATCH, 6), torch.ones(STEPS, BATCH)
    h, c = policy.initial_state(BATCH)
    h += torch.rand_like(h)
    logits, values = policy.unroll(observation[:, :, None], 1 - keep, (h, c))
    x = policy.encoder(observation.flatten(0, 1)).view(STEPS, BATCH, -1)
    for layer, state in zip(policy.core, h.split(12, 1), strict=True):
        assert (layer.bias[24:] == 0).all()
        x = formula(x @ layer.weight.t(), layer.bias, keep, state, x)
    torch.testing.assert_close(torch.cat([logits, values[..., None]], -1), policy.heads(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", [LstmPolicy, FeedForwardPolicy])
def test_only_mingru_stacks_layers(kind):
    with pytest.raises(ValueError, match="layers must be 1 with this memory"):
        kind((6,), 3, 16, 12, layers=2)


def config(**policy):
    return Config("cartpole", EnvConfig(num_envs=8, num_threads=1),
                  PolicyConfig(encoder_size=16, lstm_size=12, precision="float32", memory="mingru", **policy),
                  PPOConfig(horizon=16, minibatch=64, total_steps=10**6, epochs=2), RunConfig(seed=5, device="cpu"))


@pytest.mark.parametrize("layers", [1, 2])
def test_a_run_is_resumed_bit_for_bit(tmp_path, layers):
    whole, part = make_session(config(layers=layers)), make_session(config(layers=layers))
    for _ in range(4):
        iterate(whole)
    for _ in range(2):
        iterate(part)
    resumed = make_session(config(layers=layers), resume=part.save(tmp_path))
    for _ in range(2):
        iterate(resumed)
    for name, tensor in whole.policy.state_dict().items():
        assert torch.equal(tensor, resumed.policy.state_dict()[name]), name
    assert torch.equal(whole.actor.h, resumed.actor.h) and whole.actor.h.abs().max() > 0


def test_layers_of_another_memory_are_refused():
    with pytest.raises(ConfigError, match="layers must be 1 with memory"):
        PolicyConfig(layers=2)


@pytest.mark.parametrize(("settings", "text"), [
    ({"memory": "lstm"}, "highway must be false with memory 'lstm'"),
    ({"memory": "mingru", "encoder_size": 64}, "highway must be false if encoder_size, 64, is not lstm_size, 128"),
])
def test_a_highway_needs_a_mingru_as_wide_as_its_input(settings, text):
    with pytest.raises(ConfigError, match=text):
        PolicyConfig(highway=True, **settings)

"""The encoder `pixels`: the parameters and results of `conv`; it reads pictures as bytes where the CPU has kernels for them."""

import pytest
import torch

from trainer import kernels
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.kernels.pictures import cpu
from trainer.kernels.shared import tiles as tiled
from trainer.policy.encoders.make import make_encoder
from trainer.policy.feed_forward import FeedForwardPolicy
from trainer.policy.lstm import LstmPolicy
from trainer.policy.policy import StepSpace
from trainer.training.build import make_session
from trainer.training.train import iterate

HALF, STEPS, BATCH = torch.bfloat16, 6, 3


def make_policy(kind, frames, precision, encoder="pixels"):
    torch.manual_seed(0)
    return kind((84, 84), 3, 32, 32, encoder=encoder, frames=frames, scale=1 / 255, precision=precision)


def draw(frames):
    """Stored pictures (T + K - 1, B, 84, 84) and starts; some are inside of the first and the last sequence of frames."""
    torch.manual_seed(1)
    pictures = torch.randint(0, 256, (STEPS + frames - 1, BATCH, 84, 84), dtype=torch.uint8)
    starts = torch.zeros(STEPS + frames - 1, BATCH)
    starts[2, 0] = starts[-1, 1] = 1
    return pictures, starts


def unroll(policy, pictures, starts):
    """Logits and values with the gradients of all parameters."""
    logits, value = policy.unroll(policy.preprocess_rollout(pictures, starts), starts[policy.frames - 1:],
                                  policy.initial_state(BATCH))
    factor = torch.randn(logits.shape, generator=torch.Generator().manual_seed(2))
    policy.zero_grad()
    ((logits * factor).sum() + value.square().sum()).backward()
    return logits, value, {name: one.grad.clone() for name, one in policy.named_parameters()}


@pytest.mark.parametrize("shape", [(84, 84), (2, 84, 84), (40, 52)])
def test_pixels_has_the_parameters_and_float32_results_of_conv(shape):
    ours, conv = make_encoder("pixels", shape, 2, 16, scale=1 / 255), make_encoder("conv", shape, 2, 16)
    conv.initialize()
    ours.load_state_dict(conv.state_dict())
    x = torch.rand(5, 2, *shape)
    assert torch.allclose(ours(x), conv(x), atol=1e-5)
    out = torch.empty(5, 16)
    with torch.no_grad():
        assert torch.allclose(ours.step(ours.cast(torch.float32), x, out), conv(x), atol=1e-5)


@pytest.mark.parametrize("kind", [LstmPolicy, FeedForwardPolicy])
@pytest.mark.parametrize("frames", [1, 3])
def test_bytes_give_the_results_and_gradients_of_scaled_pictures_in_float32(kind, frames, precision):
    pictures, starts = draw(frames)
    ours, plain = make_policy(kind, frames, precision), make_policy(kind, frames, torch.float32, "conv")
    plain.load_state_dict(ours.state_dict())
    assert ours.preprocess_rollout(pictures, starts).dtype == torch.uint8
    assert plain.preprocess_rollout(pictures, starts).dtype == torch.float32
    (logits, value, gradients), (logits32, value32, gradients32) = (unroll(one, pictures, starts) for one in (ours, plain))
    near, of_gradients = (0.02, 0.1) if precision == HALF else (1e-4, 1e-3)  # of bfloat16 some ReLUs switch
    assert (logits - logits32).abs().max() <= near * logits32.abs().max()
    assert (value - value32).abs().max() <= near * value32.abs().max()
    for name, wanted in gradients32.items():
        assert (gradients[name] - wanted).norm() <= of_gradients * wanted.norm() + 1e-6, name


@pytest.mark.parametrize("kind", [LstmPolicy, FeedForwardPolicy])
@pytest.mark.parametrize("frames", [1, 3])
def test_steps_give_the_results_of_a_sequence_and_in_bfloat16_its_bits(kind, frames, precision):
    policy, (pictures, starts) = make_policy(kind, frames, precision), draw(frames)
    weights, space = policy.cast_weights(), StepSpace(policy, BATCH, stored=torch.uint8)
    inputs, start = policy.preprocess_rollout(pictures, starts), starts[frames - 1:]
    ends = torch.cat([start, torch.zeros(1, BATCH)])
    logits, value = policy.unroll(inputs, start, policy.initial_state(BATCH))
    h, c = policy.initial_state(BATCH)
    for t in range(STEPS):
        out = policy.step(weights, inputs[t], 1 - ends[t], 1 - ends[t + 1], h, c, space)
        wanted = torch.cat([logits[t], value[t, :, None]], 1)
        assert torch.equal(out, wanted) if precision == HALF else torch.allclose(out, wanted, atol=1e-6)  # torch's products


@pytest.mark.parametrize(("encoder", "precision", "stored", "kernel", "read"), [
    ("pixels", HALF, torch.uint8, True, torch.uint8),
    ("pixels", HALF, HALF, True, HALF),
    ("pixels", HALF, torch.uint8, False, HALF),
    ("pixels", torch.float32, torch.uint8, True, torch.uint8),
    ("pixels", torch.float32, torch.uint8, False, torch.float32),
    ("conv", HALF, torch.uint8, True, HALF),
])
def test_bytes_are_read_only_where_there_is_a_kernel(monkeypatch, encoder, precision, stored, kernel, read):
    if kernel and not (tiled.AVAILABLE if precision == HALF else cpu.FAST):
        pytest.skip(f"this CPU has no kernel in {precision}")
    monkeypatch.setattr(*((tiled, "AVAILABLE") if precision == HALF else (cpu, "FAST")), kernel)
    policy = make_policy(FeedForwardPolicy, 2, precision, encoder)
    assert policy.input_dtype(stored) == StepSpace(policy, 4, stored=stored).inputs.dtype == read
    assert ("encoder_last" in policy.cast_weights()) == (encoder == "pixels" and kernel)


def test_frames_of_bytes_are_stacked_as_bytes():
    pictures, starts = draw(3)
    out = torch.empty(STEPS, BATCH, 3, 84, 84, dtype=torch.uint8)
    kernels.stack_frames(pictures, starts, 0, 1.0, out)
    assert torch.equal(out.float(), kernels.stack_frames(pictures, starts, 0, 1.0, torch.empty(out.shape)))
    for frames, scale in ((pictures.float(), 1.0), (pictures, 0.5)):
        with pytest.raises(TypeError, match="out must be"):
            kernels.stack_frames(frames, starts, 0, scale, out)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_run_of_pictures_learns_and_is_resumed_bit_for_bit(tmp_path, precision):
    settings = Config("pong", EnvConfig(view="pixels", num_envs=4, num_threads=1),
                      PolicyConfig(encoder="pixels", encoder_size=32, lstm_size=32, precision=precision, frame_stack=2),
                      PPOConfig(horizon=8, minibatch=16, total_steps=10**6), RunConfig(seed=5, device="cpu"))
    whole, part = make_session(settings), make_session(settings)
    before = {name: tensor.clone() for name, tensor in whole.policy.state_dict().items()}
    for _ in range(2):
        iterate(whole)
    iterate(part)
    resumed = make_session(settings, resume=part.save(tmp_path))
    iterate(resumed)
    for name, tensor in whole.policy.state_dict().items():
        assert torch.equal(tensor, resumed.policy.state_dict()[name]), name
        assert not torch.equal(tensor, before[name]), name

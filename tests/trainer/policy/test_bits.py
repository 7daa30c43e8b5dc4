"""The encoder `bits` reads each bit of each byte, in rollouts and in learning."""

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.config import ConfigError
from trainer.policy.encoders.bits import Bits
from trainer.training.build import make_session
from trainer.training.train import iterate


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("highest", [3, 17, 255])
def test_each_byte_has_its_bits_and_itself_as_inputs(dtype, highest):
    count = highest.bit_length()
    bytes_ = torch.arange(highest + 1)
    inputs = Bits((1, highest + 1), 8, 1 / highest).expand((bytes_.float() / highest).to(dtype)[None, None])
    inputs = inputs.reshape(highest + 1, count + 1)
    wanted = torch.tensor([[2 * int(bit) - 1 for bit in reversed(f"{byte:0{count}b}")] for byte in range(highest + 1)])
    assert inputs.dtype == dtype and torch.equal(inputs[:, :count], wanted.to(dtype))
    assert torch.equal(inputs[:, count], (bytes_.float() / highest * 2 - 1).to(dtype))


def test_a_step_equals_the_forward_pass_of_learning():
    encoder = Bits((2, 16), 32, 1 / 255)
    encoder.initialize()
    x = torch.randint(0, 256, (7, 2, 16)) / 255
    with torch.no_grad():
        torch.testing.assert_close(encoder.step(encoder.cast(torch.float32), x, torch.zeros(7, 32)), encoder(x))


def config(game="g2048", **policy) -> Config:
    return Config(game, EnvConfig(num_envs=8, num_threads=1),
                  PolicyConfig(encoder_size=16, lstm_size=8, encoder="bits", **policy),
                  PPOConfig(horizon=8, minibatch=32), RunConfig(device="cpu"))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_it_is_trained(precision):
    made = make_session(config(precision=precision))
    before = made.policy.encoder.weight.clone()
    metrics = iterate(made)
    assert metrics["kl"] < 0.01 and not torch.equal(made.policy.encoder.weight, before)


@pytest.mark.parametrize("game", ["breakout", "cartpole"])
def test_observations_of_numbers_are_refused(game):
    with pytest.raises(ConfigError, match=r"'bits' reads bytes.*bits or numbers; use --encoder mlp"):
        make_session(config(game))

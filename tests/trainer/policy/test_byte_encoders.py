"""The encoders of bytes: `cells` has an input for each kind of a cell, `bits` one for each bit; rollouts and learning agree."""

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.config import ConfigError
from trainer.policy.encoders.bits import Bits
from trainer.policy.encoders.cells import Cells
from trainer.training.build import make_session
from trainer.training.train import iterate


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("highest", [2, 4, 17, 63])
def test_every_kind_of_every_cell_is_an_input_of_its_own(dtype, highest):
    cells = Cells((2, 5), 8, 1 / highest)
    kinds = torch.randint(0, highest + 1, (300, 2, 5), generator=torch.Generator().manual_seed(0))
    inputs = cells.one_hot((kinds.float() / highest).to(dtype))
    wanted = torch.nn.functional.one_hot(kinds.flatten(1), highest + 1).flatten(1)
    assert torch.equal(inputs, wanted.to(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("highest", [3, 17, 255])
def test_each_byte_has_its_bits_and_itself_as_inputs(dtype, highest):
    count = highest.bit_length()
    bytes_ = torch.arange(highest + 1)
    inputs = Bits((1, highest + 1), 8, 1 / highest).inputs((bytes_.float() / highest).to(dtype)[None, None])
    inputs = inputs.reshape(highest + 1, count + 1)
    wanted = torch.tensor([[2 * int(bit) - 1 for bit in reversed(f"{byte:0{count}b}")] for byte in range(highest + 1)])
    assert inputs.dtype == dtype and torch.equal(inputs[:, :count], wanted.to(dtype))
    assert torch.equal(inputs[:, count], (bytes_.float() / highest * 2 - 1).to(dtype))


@pytest.mark.parametrize(("encoder", "highest"), [(Cells, 17), (Bits, 255)])
def test_a_step_equals_the_forward_pass_of_learning(encoder, highest):
    made = encoder((1, 16), 32, 1 / highest)
    made.initialize()
    x = torch.randint(0, highest + 1, (7, 1, 16)) / highest
    with torch.no_grad():
        torch.testing.assert_close(made.step(made.cast(torch.float32), x, torch.zeros(7, 32)), made(x))


def config(encoder, game="g2048", **policy) -> Config:
    return Config(game, EnvConfig(num_envs=8, num_threads=1),
                  PolicyConfig(encoder_size=16, lstm_size=8, encoder=encoder, **policy),
                  PPOConfig(horizon=8, minibatch=32), RunConfig(device="cpu"))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("encoder", ["cells", "bits"])
def test_it_is_trained(encoder, precision):
    made = make_session(config(encoder, precision=precision))
    weight = made.policy.encoder.input_weights()[0]
    before = weight.clone()
    metrics = iterate(made)
    assert metrics["kl"] < 0.01 and not torch.equal(weight, before)


@pytest.mark.parametrize(("encoder", "reads"), [("cells", "bytes of 3 to 64 kinds"), ("bits", "bytes")])
@pytest.mark.parametrize("game", ["breakout", "cartpole"])
def test_observations_of_numbers_are_refused(encoder, reads, game):
    with pytest.raises(ConfigError, match=f"'{encoder}' reads {reads}, but.*bits or numbers; use --encoder mlp"):
        make_session(config(encoder, game))

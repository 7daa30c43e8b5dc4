"""The encoder `cells` has a separate input for each kind of each cell, in rollouts and in learning."""

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.config import ConfigError
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


def test_a_step_equals_the_forward_pass_of_learning():
    cells = Cells((1, 16), 32, 1 / 17)
    cells.initialize()
    x = torch.randint(0, 18, (7, 1, 16)) / 17
    with torch.no_grad():
        torch.testing.assert_close(cells.step(cells.cast(torch.float32), x, torch.zeros(7, 32)), cells(x))


def config(game="g2048", **policy) -> Config:
    return Config(game, EnvConfig(num_envs=8, num_threads=1),
                  PolicyConfig(encoder_size=16, lstm_size=8, encoder="cells", **policy),
                  PPOConfig(horizon=8, minibatch=32), RunConfig(device="cpu"))


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_it_is_trained(precision):
    made = make_session(config(precision=precision))
    before = made.policy.encoder.first.weight.clone()
    metrics = iterate(made)
    assert metrics["kl"] < 0.01 and not torch.equal(made.policy.encoder.first.weight, before)


@pytest.mark.parametrize("game", ["breakout", "cartpole"])
def test_observations_of_numbers_are_refused(game):
    with pytest.raises(ConfigError, match=r"reads bytes of 3 to 64 kinds.*bits or numbers; use --encoder mlp"):
        make_session(config(game))

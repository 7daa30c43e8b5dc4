"""The choice of an encoder by the observations' shape, and encoders of the user's own: right ones learn, wrong ones are refused
with a clear message."""

import math
import sys

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.config import ConfigError
from trainer.policy.encoders.make import choose_encoder, choose_plain_encoder, make_encoder
from trainer.policy.encoders.mlp import Mlp
from trainer.policy.encoders.pictures import LARGEST_BOARD, Board, Conv
from trainer.policy.load import load_policy
from trainer.training.build import make_session
from trainer.training.train import iterate


@pytest.mark.parametrize(("shape", "kind"), [
    ((118,), Mlp), ((16,), Mlp), ((84, 84), Conv), ((36, 40), Conv), ((20, 10), Mlp), ((5, 9, 9), Board), ((5, 19, 19), Board),
    ((210, 160, 3), Mlp), ((4, 84, 84), Conv), ((7, 7, 3), Mlp), ((2, 3, 4, 5), Mlp), ((3, 4, 4), Board),
    ((3, 3, 9), Mlp), ((3, 35, 35), Board), ((3, 36, 36), Conv), ((36, 35), Mlp),
])
def test_auto_chooses_by_the_shape(shape, kind):
    assert type(make_encoder("auto", shape, 2, 8)) is kind
    assert make_encoder(choose_encoder(shape), shape, 2, 8)(torch.rand(3, 2, *shape)).shape == (3, 8)


@pytest.mark.parametrize(("shape", "kind"), [
    ((84, 84), "conv"), ((3, 84, 84), "mlp"), ((4, 40, 40), "mlp"), ((3, 32, 32), "board"), ((3, 32, 33), "mlp"),
    ((5, 9, 9), "board"), ((6,), "mlp")])
def test_runs_of_plain_observations_keep_the_encoder_that_they_had(shape, kind):
    assert choose_plain_encoder(shape) == kind


def test_a_board_s_encoder_sees_a_point_s_neighbours_before_its_layer():
    torch.manual_seed(0)
    board = Board((2, 3, 7, 7), 8)  # 2 frames of 3 planes
    assert board.convolutions[0].in_channels == 6
    with torch.no_grad():
        plain = board.convolve(torch.zeros(1, 2, 3, 7, 7), board.convolution_weights(torch.float32)).view(7, 7, -1)
        x = torch.zeros(1, 2, 3, 7, 7)
        x[0, 1, 2, 3, 3] = 1.0
        stone = board.convolve(x, board.convolution_weights(torch.float32)).view(7, 7, -1)
    changed = (stone != plain).any(-1)
    reach = len(board.convolutions)
    assert changed[3 - reach: 4 + reach, 3 - reach: 4 + reach].float().mean() > 0.9
    assert math.isclose(changed.sum().item(), min(7, 2 * reach + 1) ** 2, abs_tol=4)


@pytest.mark.parametrize("kind", ["conv", "pixels"])
def test_at_first_a_bright_background_gives_the_features_of_a_dark_one(kind):
    torch.manual_seed(0)
    encoder = make_encoder(kind, (84, 84), 2, 8)
    encoder.initialize()
    pictures = torch.zeros(3, 2, 84, 84)
    pictures[1:] = 0.9
    pictures[2, 1, 40:44, 40] = 0.2  # a ball
    with torch.no_grad():
        dark, bright, ball = encoder.convolve(pictures, encoder.convolution_weights(torch.float32))
    assert torch.allclose(dark, bright, atol=1e-5)
    assert (ball - bright).abs().max() > 0.01


@pytest.mark.parametrize(("kind", "shape", "texts"), [
    ("conv", (118,), ["'conv'", "(118,)", "--encoder mlp"]),
    ("board", (118,), ["'board'", "(118,)", "--encoder mlp"]),
    ("board", (84, 84), ["'board'", f"{LARGEST_BOARD} x {LARGEST_BOARD}", "(84, 84)", "--encoder conv"]),
    ("tree", (118,), ["'tree'", "auto, mlp, conv, pixels, board", "my_encoders:Small"]),
])
def test_an_encoder_that_does_not_fit_is_refused(kind, shape, texts):
    with pytest.raises(ValueError) as error:
        make_encoder(kind, shape, 1, 8)
    assert all(text in str(error.value) for text in texts), error.value


@pytest.mark.parametrize(("path", "texts"), [
    ("no_such_module:Small", ["no module no_such_module", "current folder", "PYTHONPATH"]),
    ("own_encoders.deeper:Small", ["no module own_encoders.deeper"]),
    ("own_encoders:Smal", ["own_encoders.py has no Smal"]),
    ("own_encoders:", ["named by its module and its class"]),
    ("own encoders:Small", ["named by its module and its class"]),
    (".own_encoders:Small", ["named by its module and its class"]),
    ("own_encoders:NUMBER", ["the int 3", "a class or a function"]),
    ("own_encoders:Other", ["keyword arguments shape, size", "unexpected keyword argument 'size'"]),
    ("own_encoders:nothing", ["must make a torch.nn.Module, not None"]),
    ("builtins:len", ["keyword arguments shape, size"]),
    ("own_encoders:Raises", ["KeyError: 'no such thing'", "shape=(1, 6), size=12", "own_encoders.py, line"]),
    ("own_encoders:Narrow", ["RuntimeError", "of shape (2, 1, 6)", "own_encoders.py, line"]),
    ("own_encoders:Shorter", ["the shape (2, 11)", "(2, 12), (batch, encoder_size)"]),
    ("own_encoders:Scalar", ["the float 1.5", "(2, 12), (batch, encoder_size)"]),
    ("own_encoders:Batch", ["batch normalization"]),
    ("own_encoders:Dropout", ["dropout"]),
    ("own_encoders:Divides", ["finite numbers"]),
])
def test_a_wrong_encoder_of_the_user_s_own_is_named(path, texts):
    with pytest.raises(ValueError) as error:
        make_encoder(path, (6,), 1, 12)
    assert path in str(error.value)
    assert all(text in str(error.value) for text in texts), error.value


@pytest.mark.parametrize(("source", "texts"), [
    ("import a_module_that_nobody_has", ["importing fresh_encoders", "No module named 'a_module_that_nobody_has'"]),
    ("def f(:", ["importing fresh_encoders", "SyntaxError", "fresh_encoders.py, line 1"]),
    ("raise RuntimeError('no licence')", ["importing fresh_encoders", "RuntimeError: no licence"]),
])
def test_a_module_that_cannot_be_imported_is_named(fresh, source, texts):
    fresh.write_text(source)
    with pytest.raises(ValueError) as error:
        make_encoder("fresh_encoders:Small", (6,), 1, 12)
    assert all(text in str(error.value) for text in texts), error.value


def test_a_module_is_found_on_sys_path(fresh):
    fresh.write_text("from torch import nn\n\n\ndef flat(shape, size):\n"
                     "    return nn.Sequential(nn.Flatten(), nn.LazyLinear(size))\n")
    assert make_encoder("fresh_encoders:flat", (6,), 2, 5)(torch.rand(3, 2, 6)).shape == (3, 5)


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A path for fresh_encoders.py, in a folder on sys.path."""
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "fresh_encoders.py"
    sys.modules.pop("fresh_encoders", None)


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
def test_an_encoder_of_the_user_s_own_keeps_float32_weights(precision):
    encoder = make_encoder("own_encoders:small", (6,), 1, 12, precision)
    out = encoder(torch.randn(5, 1, 6).to(precision))
    assert out.dtype == precision and out.shape == (5, 12)
    out.float().square().sum().backward()
    assert all(parameter.dtype == parameter.grad.dtype == torch.float32 for parameter in encoder.parameters())


def config(encoder, game="cartpole", precision="float32", **policy):
    return Config(game, EnvConfig(num_envs=8, num_threads=1),
                  PolicyConfig(encoder_size=16, lstm_size=12, precision=precision, encoder=encoder, **policy),
                  PPOConfig(horizon=16, minibatch=64, total_steps=10**6, epochs=2), RunConfig(seed=5, device="cpu"))


@pytest.mark.parametrize(("encoder", "game"), [("own_encoders:Small", "cartpole"), ("board", "go")])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_run_learns_through_its_encoder_and_is_resumed_bit_for_bit(tmp_path, encoder, game, precision):
    settings = config(encoder, game, precision)
    whole, part = make_session(settings), make_session(settings)
    before = {name: tensor.clone() for name, tensor in whole.policy.state_dict().items()}
    for _ in range(4):
        iterate(whole)
    for _ in range(2):
        iterate(part)
    path = part.save(tmp_path)
    resumed = make_session(settings, resume=path)
    for _ in range(2):
        iterate(resumed)
    for name, tensor in whole.policy.state_dict().items():
        assert torch.equal(tensor, resumed.policy.state_dict()[name]), name
        assert not torch.equal(tensor, before[name]), name
    policy, _ = load_policy(path, trust_code=True)
    for name, tensor in part.policy.state_dict().items():
        assert torch.equal(tensor, policy.state_dict()[name]), name


@pytest.mark.parametrize("encoder", ["tree", "convolution", ""])
def test_the_config_refuses_an_unknown_encoder(encoder):
    with pytest.raises(ConfigError, match=r"encoder must be .*my_encoders:Small"):
        PolicyConfig(encoder=encoder)


def test_a_run_with_a_wrong_encoder_is_refused():
    with pytest.raises(ConfigError, match="no module no_such_module"):
        make_session(config("no_such_module:Small"))


def test_the_module_s_own_initialization_stays():
    torch.manual_seed(3)
    encoder = make_encoder("own_encoders:Small", (6,), 1, 12)
    weight = encoder.module.layers[1].weight.clone()
    encoder.initialize()
    assert torch.equal(encoder.module.layers[1].weight, weight)

"""Observations of several parts in the policy: kinds, pictures, memories, masks, normalization and precision."""

import dataclasses

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium import spaces
from own_environments import MIXED
from torch import nn

from bridge.layout import Observations
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.errors import SettingError
from trainer.policy import precision
from trainer.policy.encoders.make import make_encoder
from trainer.policy.encoders.mlp import Mlp
from trainer.policy.encoders.parts import Parts
from trainer.policy.encoders.pictures import Board, Conv
from trainer.policy.encoders.transformed import Transformed
from trainer.training.build import make_session
from trainer.training.train import iterate


def row_of(space, observation):
    """The row (1, 1, n) float32 of one observation."""
    found = Observations(space)
    host = np.zeros((1, *found.shape), np.float32)
    batch = gymnasium.vector.utils.concatenate(
        space, [observation], gymnasium.vector.utils.create_empty_array(space, 1))
    found.write(batch, host)
    return torch.from_numpy(host)[:, None]


@pytest.mark.parametrize("space", [
    spaces.Discrete(5), spaces.Discrete(5, start=-2), spaces.MultiDiscrete([3, 4, 2]), spaces.MultiBinary((2, 3)),
    spaces.Tuple((spaces.Discrete(3), spaces.MultiDiscrete([2, 5]))),
    spaces.Dict(a=spaces.Box(0, 1, (2, 2)), b=spaces.Discrete(4)),
    spaces.Dict(a=spaces.MultiBinary(2), b=spaces.Box(-1, 1, (3,)), c=spaces.Tuple((spaces.Discrete(300),))),
])
def test_the_inputs_are_those_of_gymnasium_s_flatten(space):
    encoder = Parts((1, Observations(space).shape[0]), 4, Observations(space).layout)
    space.seed(1)
    for _ in range(20):
        observation = space.sample()
        np.testing.assert_allclose(torch.cat(encoder.vectors(row_of(space, observation)), 1)[0].numpy(),
                                   spaces.flatten(space, observation), rtol=1e-6)


def test_behind_a_transform_the_weights_that_read_observations_are_those_of_the_encoder():
    encoder = make_encoder("auto", (Observations(MIXED).layout.size,), 1, 8, layout=Observations(MIXED).layout)
    (reads,) = Transformed(lambda observation: observation, encoder).input_weights()
    assert reads is encoder.layer.weight


@pytest.mark.parametrize("frames", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", ["auto", "mlp"])
def test_a_step_and_the_learner_compute_the_same(kind, dtype, frames):
    layout = Observations(MIXED).layout
    encoder = make_encoder(kind, (layout.size,), frames, 8, dtype, layout=layout)
    encoder.initialize()
    kinds = {"auto": [Board, Conv], "mlp": []}[kind]
    assert [type(picture) for picture in encoder.pictures] == kinds
    x = torch.cat([row_of(MIXED, MIXED.sample()) for _ in range(2 * frames)]).view(2, frames, -1).to(dtype)
    with torch.no_grad():
        stepped = encoder.step(encoder.cast(dtype), x, torch.zeros(2, 8, dtype=dtype))
        assert torch.equal(stepped, encoder(x)) and stepped.abs().sum() > 0


def test_pictures_enter_scaled_with_their_channels_first():
    layout = Observations(MIXED).layout
    encoder, observation = Parts((1, layout.size), 8, layout), MIXED.sample()
    board, camera = encoder.inputs(row_of(MIXED, observation))
    np.testing.assert_allclose(camera[0, 0].numpy(), np.moveaxis(observation["camera"], -1, 0) / 255, rtol=1e-6)
    np.testing.assert_allclose(board[0, 0].numpy(), np.moveaxis(observation["board"], -1, 0))


@pytest.mark.parametrize(("shape", "kind"), [
    ((3, 64, 64), Conv), ((4, 3, 84, 80), Conv), ((3, 36, 36), Conv), ((3, 35, 35), Board), ((2, 5, 5), Board),
    ((3, 2, 2), Mlp)])
def test_pictures_of_several_channels_are_read_by_convolutions(shape, kind):
    encoder = make_encoder("auto", shape, 2, 8)
    assert type(encoder) is kind
    x = torch.rand(3, 2, *shape)
    with torch.no_grad():
        assert torch.equal(encoder.step(encoder.cast(torch.float32), x, torch.zeros(3, 8)), encoder(x))


@pytest.mark.parametrize("kind", ["conv", "board", "cells"])
def test_an_encoder_of_one_shape_is_refused_for_several_parts(kind):
    layout = Observations(MIXED).layout
    with pytest.raises(SettingError, match=f"encoder must be auto, mlp or an import path for .*, not '{kind}'"):
        make_encoder(kind, (layout.size,), 1, 8, layout=layout)


def session(game, env=None, **policy):
    """A session of a small run; game: of ours, gym:ID, or a class in own_environments."""
    return make_session(Config(f"gym:own_environments:{game}" if game[0].isupper() else game,
                               EnvConfig(num_envs=4, num_threads=1, **env or {}),
                               PolicyConfig(**{"encoder_size": 8, "lstm_size": 8, **policy}),
                               PPOConfig(horizon=8, minibatch=32, total_steps=10**4, epochs=1), RunConfig(device="cpu")))


@pytest.mark.parametrize(("memory", "frames"), [("lstm", 1), ("mingru", 1), ("none", 2), ("lstm", 2)])
@pytest.mark.parametrize("normalize", [False, True])
def test_recurrent_masked_and_dict_together(memory, frames, normalize):
    """Illegal actions make the environment raise; the first minibatch has the rollout's own probabilities."""
    made = session("Mixed", memory=memory, frame_stack=frames, normalize_observations=normalize, precision="float32")
    for _ in range(3):
        metrics = iterate(made)
        assert metrics["kl"] < 1e-5 and metrics["clip_fraction"] == 0
    assert made.storage.action_mask is not None and not (made.storage.action == 1).all()
    valid = made.storage.valid.bool()
    assert set(made.storage.action[valid].tolist()) == {0, 2}
    made.pipeline.close()


def test_only_measured_numbers_are_normalized():
    made = session("Mixed", normalize_observations=True, precision="float32")
    for _ in range(3):
        iterate(made)
    raw, stored = made.pipeline.slabs[0].host["observation"], made.storage.observation[-1].numpy()
    layout = made.pipeline.source.layout
    for part, columns in zip(layout.parts, layout.columns(), strict=True):
        assert (part.name == "speed") == part.measured
        assert np.array_equal(raw[:, columns], stored[:, columns]) != part.measured, part.name
    assert made.policy.layout.parts[-1].scale == layout.parts[-1].scale
    made.pipeline.close()


@pytest.fixture
def with_bfloat16(monkeypatch):
    """A machine for which the setting precision "auto" means bfloat16."""
    monkeypatch.setattr(precision, "choose", lambda *_: (torch.bfloat16, "a test"))


@pytest.mark.parametrize(("game", "settings", "products", "stored"), [
    ("gym:CartPole-v1", {}, torch.float32, torch.float32),
    ("gym:CartPole-v1", {"normalize_observations": True}, torch.bfloat16, torch.bfloat16),
    ("Mixed", {}, torch.float32, torch.float32),
    ("Kinds", {"normalize_observations": True}, torch.float32, torch.float32),  # bfloat16 has no 299
    ("Line", {}, torch.bfloat16, torch.uint8),
    ("Pictures", {}, torch.bfloat16, torch.uint8),
    ("cartpole", {}, torch.bfloat16, torch.bfloat16),
])
def test_observations_that_bfloat16_would_round_are_stored_and_read_in_float32(with_bfloat16, game, settings, products, stored):
    made = session(game, **settings)
    assert (made.policy.precision, made.storage.frames.dtype) == (products, stored)
    iterate(made)
    made.pipeline.close()


def test_bfloat16_as_asked_is_refused_with_what_to_do():
    with pytest.raises(SettingError, match=r"must be auto or float32, since .*--normalize-observations.*, not 'bfloat16'"):
        session("gym:CartPole-v1", precision="bfloat16")


def test_a_normalized_box_is_not_scaled_twice():
    made = session("gym:Pendulum-v1", normalize_observations=True)
    assert made.policy.scale == 1.0
    made.pipeline.close()


class OwnWithLayout(nn.Module):
    """An encoder of the user's own: it gets the layout."""

    def __init__(self, shape, size, layout):
        super().__init__()
        self.kinds = layout.most_kinds()
        self.layer = nn.Linear(shape[0] * layout.size, size)

    def forward(self, x):
        return self.layer(x.flatten(1))


def test_an_encoder_of_the_user_s_own_gets_the_layout():
    layout = Observations(MIXED).layout
    assert make_encoder(f"{__name__}:OwnWithLayout", (layout.size,), 2, 8, layout=layout).module.kinds == 5
    with pytest.raises(SettingError, match="must accept the keyword arguments shape, size, layout"):
        make_encoder("own_encoders:Small", (layout.size,), 2, 8, layout=layout)


@pytest.mark.parametrize(("game", "shape", "kind"), [("Pictures", (36, 40, 3), Mlp), ("gym:CartPole-v1", (4,), Mlp)])
def test_a_run_of_an_older_version_goes_on_with_its_shape_its_scale_and_its_encoder(tmp_path, game, shape, kind):
    old = session(game, {"observations": "plain"}, precision="float32")
    assert old.pipeline.source.observation_shape == shape and type(old.policy.encoder) is kind
    assert old.policy.scale == (1 / 255 if game == "Pictures" else 1.0)
    iterate(old)
    path = old.save(tmp_path)
    saved = old.config.to_dict()
    for name in ("observations", "vectorization", "wrap"):
        del saved["env"][name]
    config = Config.from_dict(saved)
    assert config == dataclasses.replace(old.config, env=dataclasses.replace(old.config.env, observations="plain"))
    old.pipeline.close()
    resumed = make_session(config, resume=path)
    assert resumed.step == 32 and torch.equal(resumed.policy.encoder.weight, old.policy.encoder.weight)
    resumed.pipeline.close()

"""The example that plays a cartridge: a tiny policy plays by features and by pixels; what cannot be played is one line."""

from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
import torch

import envs_c
from benchmarks.cartridges.features import Camera, open_cartridge
from examples import play_the_cartridge
from trainer.config import Config
from trainer.environments import make_source
from trainer.errors import TrainerError
from trainer.policy.make import make_policy

pytestmark = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py")


def tiny(game: str, **settings) -> tuple:
    """An untrained policy of a small LSTM, and its config; an episode has at most 12 steps."""
    config = Config(game)
    config = replace(config, env=replace(config.env, time_limit=12, **settings),
                     policy=replace(config.policy, encoder_size=16, lstm_size=8))
    source = make_source(game, config.env, 1, 0)
    policy = make_policy(config.policy, source, 0, torch.float32)
    source.close()
    return policy, config


@pytest.mark.parametrize("view", ["features", "pixels"])
def test_a_policy_plays_the_cartridge(view):
    policy, config = tiny("breakout", view=view)
    scores = play_the_cartridge.play(policy, config, 2, sticky=0.25)
    assert scores.shape == (2,) and (scores >= 0).all()


@pytest.mark.parametrize("game, settings, text", [
    ("cartpole", {}, "only these games have a cartridge"),
    ("enduro", {}, "must be trained with --view pixels for enduro"),
    ("breakout", {"options": {"lives": 3.0}}, "must have no options of the game"),
])
def test_a_run_that_no_cartridge_plays_is_refused(game, settings, text):
    with pytest.raises(TrainerError, match=text):
        play_the_cartridge.play(*tiny(game, **settings), 1, 0.0)


def test_the_grey_picture_is_the_one_of_our_game():
    theirs, env = open_cartridge("breakout"), envs_c.make("breakout", 1, view="pixels", frame_skip=1)
    ours = env.reset()[0][0]
    assert np.array_equal(env.render()[0], theirs.screen())
    assert np.abs(Camera(theirs).read().astype(int) - ours).max() <= 1

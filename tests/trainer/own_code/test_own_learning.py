"""Losses, reward transforms, observation transforms and heads of the user's own, given by import path."""

import contextlib
import math
import re

import pytest
import torch
from trainer_support import config, same

from trainer.config.config import overlay
from trainer.errors import LearningError, SettingError
from trainer.kernels.loss.reference import Statistics
from trainer.ppo.losses import losses, select
from trainer.training.build import make_session
from trainer.training.train import iterate

# Names of a setting and of its section, for each kind of code.
SECTION = {"loss": "ppo", "reward_transform": "ppo", "heads": "policy", "observation_transform": "policy"}
# Settings that a function of the user's own must work together with. T-maze needs memory; Go and 2048 have masks.
TOGETHER = {
    "lstm": ("tmaze", {}), "mingru": ("tmaze", {"policy": {"memory": "mingru", "layers": 2}}),
    "no memory": ("cartpole", {"policy": {"memory": "none"}}),
    "masks": ("go", {"env": {"time_limit": None, "sticky": 0.0, "options": {"size": 5.0}}}),
    "masks and cells": ("g2048", {"env": {"sticky": 0.0}, "policy": {"encoder": "cells"}}),
    "stacked pictures": ("breakout", {"env": {"view": "pixels", "num_envs": 4}, "ppo": {"horizon": 16, "minibatch": 32},
                                      "policy": {"frame_stack": 2}}),
    "self-play": ("go", {"env": {"time_limit": None, "sticky": 0.0, "options": {"size": 5.0}},
                         "self_play": {"self_play": True, "anchor_games": 0}}),
    "Dict observations": ("gym:own_environments:Mixed", {"env": {"time_limit": None, "sticky": 0.0}}),
    "bfloat16": ("breakout", {"policy": {"precision": "bfloat16"}}),
    "normalized": ("cartpole", {"policy": {"normalize_observations": True}, "ppo": {"normalize_rewards": True}}),
    "V-trace and priorities": ("tmaze", {"ppo": {"vtrace": True, "priority_alpha": 0.5, "accumulate": 2}}),
}


def own(path: str | None, setting: str, game="cartpole", changes=None):
    """The config of a short training with a function of own_learning as `setting`."""
    changed = overlay(config("unused", game=game), changes or {})
    return overlay(changed, {SECTION[setting]: {setting: path and f"own_learning:{path}"}})


def trained(settings, iterations=3):
    """The weights after some iterations, and the metrics of the last one."""
    with contextlib.closing(make_session(settings)) as session:
        for _ in range(iterations):
            metrics = iterate(session)
        return {name: tensor.clone() for name, tensor in session.policy.state_dict().items()}, metrics


def differ(one: dict, other: dict) -> bool:
    return any(not torch.equal(tensor, other[name]) for name, tensor in one.items())


@pytest.mark.parametrize("together", TOGETHER)
@pytest.mark.parametrize(("setting", "path"), [("loss", "checks"), ("reward_transform", "doubled"), ("heads", "Deep"),
                                               ("observation_transform", "same")])
def test_own_code_works_with_memory_masks_pictures_and_precisions(setting, path, together):
    game, changes = TOGETHER[together]
    _, metrics = trained(own(path, setting, game, changes), 2)
    assert all(math.isfinite(metrics[name]) for name in ("loss_policy", "loss_value", "grad_norm"))
    assert setting != "loss" or metrics["loss_legal"] == 1


@pytest.mark.parametrize(("setting", "path"), [("loss", "zero"), ("loss", "same_policy_loss"),
                                               ("reward_transform", "unchanged"), ("observation_transform", "same")])
def test_code_that_changes_nothing_gives_the_same_bits(setting, path):
    mine = trained(own(path, setting))[0]
    same({name.replace("encoder.inner.", "encoder."): tensor for name, tensor in mine.items()}, trained(own(None, setting))[0])


@pytest.mark.parametrize(("setting", "path"), [("loss", "small_memory"), ("reward_transform", "doubled")])
def test_code_that_changes_something_changes_the_learning(setting, path):
    raw = {"ppo": {"normalize_rewards": False}}  # else twice the rewards have twice the unit
    assert differ(trained(own(path, setting, changes=raw))[0], trained(own(None, setting, changes=raw))[0])


def test_doubled_rewards_are_those_of_a_reward_scale_of_2():
    scaled = overlay(own(None, "loss"), {"ppo": {"reward_scale": 2.0, "normalize_rewards": False}})
    same(trained(own("doubled", "reward_transform", changes={"ppo": {"normalize_rewards": False}}))[0], trained(scaled)[0])


def test_a_term_of_the_loss_is_minimized_and_logged():
    pressed, watched = (trained(own(path, "loss"), 8)[1]["loss_hidden"] for path in ("small_memory", "watched_memory"))
    assert 0 < pressed < watched / 2
    assert trained(own("zero", "loss"), 1)[1]["loss_zero"] == 0


def test_the_terms_of_ranks_add_up_to_those_of_the_whole():
    settings = own("small_memory", "loss", "tmaze")
    with contextlib.closing(make_session(settings)) as session:
        iterate(session)
        storage, advantage = session.storage, session.learner.advantage

        def term(sequences, joint=None):
            batch = select(session.policy, storage, advantage, torch.tensor(sequences))
            return losses(session.policy, batch, settings.ppo, joint=joint, own=session.learner.own_loss)[1]["loss_hidden"]
        count = storage.valid[:, :16].sum()
        joint = Statistics(count, advantage.mean(), advantage.var())
        parts = [term(list(range(5)), joint), term(list(range(5, 16)), joint)]
        whole = term(list(range(16)))
    torch.testing.assert_close(sum(parts), whole)


def test_a_term_with_the_name_of_ppo_s_replaces_it():
    with contextlib.closing(make_session(own("no_policy_loss", "loss", changes={"ppo": {"entropy_coef": 0.0}}))) as session:
        start = session.policy.heads.weight.detach().clone()
        iterate(session)
        after = session.policy.heads.weight.detach()
    assert torch.equal(start[:-1], after[:-1]) and not torch.equal(start[-1], after[-1])


@pytest.mark.parametrize(("setting", "path", "words"), [
    ("loss", "NUMBER", ["the int 3", "a class or a function"]),
    ("loss", "unchanged", ["keyword arguments batch, outputs"]),
    ("loss", "fails", ["raised KeyError: 'no such thing'", "own_learning.py, line"]),
    ("loss", "no_terms", ["a dict of scalar tensors by name", "{}"]),
    ("loss", "a_tensor", ["a dict of scalar tensors by name", "a tensor of float32 and the shape ()"]),
    ("loss", "a_number", ["scalar tensors, but one is the float 1.0"]),
    ("loss", "a_vector", ["scalar tensors, but values is a tensor of float32 and the shape (32, 1)"]),
    ("loss", "taken_name", ["other than kl, clip_fraction, grad_norm", "'kl'"]),
    ("loss", "bad_name", ["identifiers", "'my term'"]),
    ("loss", "no_gradient", ["terms that depend on the policy's weights"]),
    ("reward_transform", "total", ["floats of shape (32, 16), (steps, environments), not a tensor of float32"]),
    ("reward_transform", "integers", ["not a tensor of int64"]),
    ("reward_transform", "infinite_rewards", ["finite rewards"]),
    ("reward_transform", "fails", ["raised KeyError", "own_learning.py, line"]),
    ("heads", "narrow", ["(2, 12)", "shape (2, 3), (batch, outputs), not the shape (2, 2)"]),
    ("heads", "nothing", ["must make a torch.nn.Module, not None"]),
    ("heads", "Dropout", ["dropout"]),
    ("heads", "same", ["keyword arguments size, outputs"]),
    ("observation_transform", "one_number", ["into one of shape (2, 1, ...), (batch, frames, ...), not the shape ()"]),
    ("observation_transform", "without_frames", ["(batch, frames, ...), not the shape (2, 4)"]),
    ("observation_transform", "infinite", ["finite"]),
    ("observation_transform", "fails", ["raised KeyError"]),
    ("observation_transform", "Deep", ["keyword arguments observation"]),
])
def test_wrong_code_is_refused_before_the_training_begins(setting, path, words):
    with pytest.raises(SettingError) as caught:
        make_session(own(path, setting))
    assert caught.value.name == setting and "\n" not in str(caught.value)
    assert [word for word in (f"own_learning:{path}", *words) if word not in str(caught.value)] == []


@pytest.mark.parametrize(("setting", "value", "requirement"), [
    ("loss", "smooth", "none, or the import path of a function of your own"),
    ("reward_transform", "", "none, or the import path of a function of your own"),
    ("heads", "deep", "linear, or the import path of a torch.nn.Module of your own"),
    ("observation_transform", "a:b:c", "none, or the import path of a function of your own"),
])
def test_what_is_no_import_path_is_refused(setting, value, requirement):
    with pytest.raises(SettingError, match=re.escape(requirement)):
        overlay(config("unused"), {SECTION[setting]: {setting: value}})


def test_a_term_that_is_not_finite_ends_the_run_and_is_named():
    with contextlib.closing(make_session(own("not_finite", "loss"))) as session, \
         pytest.raises(LearningError, match=r"the term ratio of your loss is (nan|-?inf)"):
        iterate(session)


@pytest.mark.parametrize(("path", "names"), [("renamed", "early, not late"), ("one_more", "early, not early, late")])
def test_terms_that_change_are_refused(path, names):
    """A column of the log is one term."""
    with contextlib.closing(make_session(own(path, "loss"))) as session, \
         pytest.raises(SettingError, match=f"own_learning:{path}' must return the same terms in each call, {names}$"):
        iterate(session)


def test_terms_may_come_in_another_order():
    """Each keeps its name in the log."""
    with contextlib.closing(make_session(own("in_another_order", "loss"))) as session:
        metrics = iterate(session)
    assert (metrics["loss_one"], metrics["loss_two"]) == (1, 2)


@pytest.mark.parametrize(("game", "view", "path", "factor"), [("cartpole", "features", "signs", 2),
                                                              ("breakout", "pixels", "halves", 0.5)])
def test_a_transform_may_change_the_shape(game, view, path, factor):
    changes = {"env": {"view": view, "num_envs": 4}, "ppo": {"horizon": 16, "minibatch": 32}, "policy": {"encoder": "mlp"}}
    with contextlib.closing(make_session(own(path, "observation_transform", game, changes))) as session:
        metrics = iterate(session)
        shape, inner = session.policy.shape, session.policy.encoder.inner
    inputs = next(parameter for parameter in inner.parameters() if parameter.ndim == 2).shape[1]
    assert math.isfinite(metrics["loss_value"]) and shape == session.pipeline.source.observation_shape
    assert inputs == math.prod(shape) * factor


def test_heads_of_one_s_own_that_equal_the_built_in_ones_learn_the_same():
    """To the last bit or two: a product with a transposed copy of the weights, which the built-in heads read in a rollout, is
    rounded in another order on some CPUs (Zen 4)."""
    def weights(settings):
        with contextlib.closing(make_session(settings)) as session:
            for parameter in session.policy.parameters():
                parameter.data.copy_(torch.linspace(-0.1, 0.1, parameter.numel()).view_as(parameter))
            iterate(session)
            return {name.replace("heads.module.", "heads."): tensor for name, tensor in session.policy.state_dict().items()}
    mine, built_in = (own(None, "loss", changes={"policy": {"heads": kind}}) for kind in ("own_learning:linear", "linear"))
    torch.testing.assert_close(weights(mine), weights(built_in), rtol=0, atol=1e-7)

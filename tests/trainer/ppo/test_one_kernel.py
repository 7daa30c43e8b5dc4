"""Where one kernel computes the loss, a minibatch has the gradients and diagnostics of the operations of losses.py."""

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig
from trainer.kernels.tiled import tiles as tiled
from trainer.ppo import one_kernel
from trainer.rollout.actor import collect
from trainer.training.build import make_session

with_tiles = pytest.mark.usefixtures("unit")
WAYS = {"defaults": ("cartpole", {}, {}), "masks": ("g2048", {}, {}), "ratios": ("cartpole", {}, {"vtrace": True}),
        "weights": ("cartpole", {}, {"priority_alpha": 0.8}), "no clip": ("cartpole", {}, {"value_clip": 0.0}),
        "frames": ("cartpole", {"frame_stack": 3}, {}), "mingru": ("cartpole", {"memory": "mingru"}, {}),
        "feed-forward": ("cartpole", {"memory": "none"}, {})}


def made(game="cartpole", policy=(), ppo=(), precision="bfloat16"):
    """A learner with a rollout."""
    session = make_session(Config(
        game, EnvConfig(num_envs=16, num_threads=1),
        PolicyConfig(**{"encoder_size": 32, "lstm_size": 32, "precision": precision} | dict(policy)),
        PPOConfig(**{"horizon": 24, "minibatch": 192} | dict(ppo))))
    collect(session.actor)
    learner = session.learner
    torch.manual_seed(1)
    with torch.no_grad():  # ratios, values and advantages as in later minibatches
        learner.advantage.normal_()
        learner.sequences.copy_(torch.randperm(16)[: len(learner.sequences)])
        for one in (session.storage.log_prob, session.storage.value):
            one.add_(torch.randn_like(one) * 0.2)
    return session


@with_tiles
@pytest.mark.parametrize(("game", "policy", "ppo"), WAYS.values(), ids=WAYS.keys())
def test_one_kernel_equals_the_operations(game, policy, ppo):
    session = made(game, policy, ppo)
    learner, parameters = session.learner, session.policy.parameters
    if learner.weight is not None:
        learner.weight.uniform_()
    parts = one_kernel.add_gradients(learner, True)
    gradients = [parameter.grad for parameter in parameters()]
    ratio = None if learner.ratio is None else learner.ratio.clone()
    wanted = learner._add_step_by_step(True)
    assert list(parts) == list(wanted)
    for name, part in parts.items():
        assert part.item() == pytest.approx(wanted[name].item(), rel=1e-4, abs=1e-6), name
    for parameter, gradient in zip(parameters(), gradients, strict=True):
        assert (gradient - parameter.grad).norm() <= 0.01 * parameter.grad.norm()  # the hidden states' are in bfloat16
    assert ratio is None or torch.allclose(ratio, learner.ratio, rtol=1e-5)
    session.pipeline.close()


@pytest.mark.parametrize(("policy", "tiles"), [({"precision": "float32"}, True), ({}, False),
                                               ({"memory": "own_memories:Leaky"}, True)],
                         ids=("float32", "no tiles", "a memory of one's own"))
def test_other_learners_keep_the_operations_and_compute_nothing_twice(policy, tiles, monkeypatch):
    monkeypatch.setattr(tiled, "AVAILABLE", tiles and tiled.AVAILABLE)
    session = made(policy=policy)
    monkeypatch.setattr(type(session.policy), "unroll", None)  # not to be called
    assert one_kernel.add_gradients(session.learner, True) is None
    assert all(parameter.grad is None for parameter in session.policy.parameters())
    session.pipeline.close()

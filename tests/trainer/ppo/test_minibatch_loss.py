"""The kernel for the loss has the gradients and diagnostics of torch's operations; others than it fits never reach it."""

from types import SimpleNamespace

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig
from trainer.kernels import choose
from trainer.kernels.choose import TILED, pick
from trainer.kernels.loss import minibatch
from trainer.ppo.losses import minibatch_loss
from trainer.rollout.actor import collect
from trainer.training.build import make_session

WAYS = {"defaults": ("cartpole", {}, {}), "masks": ("g2048", {}, {}), "ratios": ("cartpole", {}, {"vtrace": True}),
        "weights": ("cartpole", {}, {"priority_alpha": 0.8}), "no clip": ("cartpole", {}, {"value_clip": 0.0}),
        "frames": ("cartpole", {"frame_stack": 3}, {}), "mingru": ("cartpole", {"memory": "mingru"}, {}),
        "feed-forward": ("cartpole", {"memory": "none"}, {}), "accumulation": ("cartpole", {}, {"accumulate": 2}),
        "a memory of one's own": ("cartpole", {"memory": "own_memories:Leaky"}, {})}


@pytest.fixture
def multiplies(monkeypatch):
    """A CPU that multiplies bfloat16, for the choice of the loss; the kernel itself runs on any."""
    def picked(kernel, like, supports=None):
        return TILED if kernel == "ppo_loss" and supports is not None and supports(TILED) else pick(kernel, like, supports)
    monkeypatch.setattr(minibatch, "pick", picked)


def made(game="cartpole", policy=(), ppo=(), precision="bfloat16"):
    """A session with a rollout."""
    session = make_session(Config(
        game, EnvConfig(num_envs=16, num_threads=1),
        PolicyConfig(**{"encoder_size": 32, "lstm_size": 32, "precision": precision} | dict(policy)),
        PPOConfig(**{"horizon": 24, "minibatch": 192} | dict(ppo))))
    collect(session.actor)
    torch.manual_seed(1)
    with torch.no_grad():  # ratios, values and advantages as in later minibatches
        session.learner.advantage.normal_()
        if session.learner.vtrace is not None:
            session.learner.value_error.normal_()
        for one in (session.storage.log_prob, session.storage.value):
            one.add_(torch.randn_like(one) * 0.2)
    return session


def loss_of(session, *, statistics=None, signal=None, own=None):
    """The loss of 8 sequences, the gradients of the parameters, and the ratios."""
    learner, policy = session.learner, session.policy
    order = torch.randperm(16, generator=torch.Generator().manual_seed(2)).view(2, 8)
    weight = None if learner.weight is None else torch.linspace(0.1, 1, 8)
    ratios = None if learner.vtrace is None else learner.vtrace.ratio.fill_(1.0)
    loss = minibatch_loss(policy, session.storage, learner.advantage, order, torch.tensor([1, 3]), session.config.ppo,
                          torch.tensor(0.02), value_error=learner.value_error, weight=weight, statistics=statistics,
                          signal=signal, ratios=ratios, own=own)
    for parameter in policy.parameters():
        parameter.grad = None
    loss.root.backward(loss.gradient)
    return loss, [parameter.grad for parameter in policy.parameters()], ratios


@pytest.mark.parametrize("joint", [False, True], ids=["its own statistics", "those of all ranks"])
@pytest.mark.parametrize(("game", "policy", "ppo"), WAYS.values(), ids=WAYS.keys())
def test_the_kernel_equals_torch_s_operations(game, policy, ppo, joint, multiplies, monkeypatch):
    session = made(game, policy, ppo)
    statistics = torch.tensor([[1.0, 0.0, 1.0], [300.0, 0.1, 2.0]]) if joint else None
    ours, gradients, ratio = loss_of(session, statistics=statistics)
    ratio = None if ratio is None else ratio.clone()
    assert ours.gradient is not None
    monkeypatch.setattr(minibatch, "_has_kernel", lambda out, precision: False)
    plain, wanted, ratios = loss_of(session, statistics=statistics)
    assert plain.gradient is None and ours.names == plain.names
    torch.testing.assert_close(ours.parts.sum(1), plain.parts.sum(1), rtol=1e-4, atol=1e-6)
    for one, other in zip(gradients, wanted, strict=True):
        assert (one - other).norm() <= 0.01 * other.norm()  # the hidden states' are in bfloat16
    assert ratio is None or torch.allclose(ratio, ratios, rtol=1e-5)
    session.pipeline.close()


def own_terms(batch, outputs, share):
    return {"more": outputs.value.mean()}


PLAIN = {"float32": ({"precision": "float32"}, {}), "a signal": ({}, {"signal": torch.tensor(1.0)}),
         "a loss of one's own": ({}, {"own": SimpleNamespace(terms=own_terms)})}


@pytest.mark.parametrize(("policy", "settings"), PLAIN.values(), ids=PLAIN.keys())
def test_losses_without_a_kernel_use_torch_s_operations(policy, settings, multiplies):
    session = made(policy=policy)
    assert loss_of(session, **settings)[0].gradient is None
    session.pipeline.close()


def test_outputs_that_are_not_one_tensor_use_torch_s_operations(multiplies, monkeypatch):
    session = made()
    unroll = session.policy.unroll
    monkeypatch.setattr(session.policy, "unroll", lambda *arguments: tuple(one * 1.0 for one in unroll(*arguments)))
    assert loss_of(session)[0].gradient is None
    session.pipeline.close()


def test_actions_of_another_kind_use_torch_s_operations(multiplies):
    session = made("gym:Pendulum-v1", {"normalize_observations": True})
    assert loss_of(session)[0].gradient is None
    session.pipeline.close()


def test_a_cpu_that_does_not_multiply_bfloat16_uses_torch_s_operations(monkeypatch):
    monkeypatch.setattr(choose.tiles, "AVAILABLE", False)
    session = made()
    assert loss_of(session)[0].gradient is None
    assert choose.picked()["ppo_loss"] == choose.REFERENCE
    session.pipeline.close()

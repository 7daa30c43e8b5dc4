"""Each option of the learner has its effect, on the CPU and captured, and is resumed bit for bit."""

import functools
import math
import operator

import gymnasium
import pytest
import torch
from learner_support import N, collected, config, watched
from trainer_support import same

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.errors import ConfigError, LearningError
from trainer.ppo import losses as losses_module
from trainer.ppo.losses import losses, select
from trainer.ppo.optimizers import entropy_coef
from trainer.ppo.prioritized import priorities
from trainer.runs import checkpoint
from trainer.training import build as build_module
from trainer.training import train
from trainer.training.build import make_session
from trainer.training.train import iterate


def test_every_sequence_is_used_once_an_epoch(monkeypatch, device):
    monkeypatch.setattr(build_module, "GRAPHS", False)  # a replay of a graph calls no Python
    made = collected(epochs=3, device=device)
    minibatches = watched(made)
    made.learner.update()
    epochs = [sorted(functools.reduce(operator.iadd, minibatches[k: k + 4], [])) for k in (0, 4, 8)]
    assert epochs == [list(range(N))] * 3
    assert len({tuple(map(tuple, minibatches[k: k + 4])) for k in (0, 4, 8)}) == 3  # in another order each time


@pytest.mark.parametrize("settings", [{}, {"vtrace": True}, {"priority_alpha": 1.0}, {"accumulate": 2}, {"optimizer": "muon"}])
def test_a_learning_rate_of_zero_keeps_every_ratio_at_one(settings, device):
    made = collected(epochs=3, device=device, **settings)
    made.learner.set_rate(0.0)
    metrics = made.learner.update()
    assert abs(metrics["kl"]) < 1e-7 and metrics["clip_fraction"] == 0
    assert metrics["grad_norm"] > 0


@pytest.mark.parametrize("settings", [{}, {"optimizer": "muon"}])
def test_a_learning_rate_of_zero_moves_no_weight(settings, device):
    """So the schedule's rate is that of every parameter."""
    made = collected(device=device, learning_rate=0.1, **settings)
    before = [parameter.detach().clone() for parameter in made.policy.parameters()]
    made.learner.set_rate(0.0)
    made.learner.update()
    assert all(map(torch.equal, before, made.policy.parameters()))


@pytest.mark.parametrize("accumulate", [2, 4])
def test_accumulated_minibatches_are_one_minibatch(accumulate):
    """Their advantages are normalized together, and every valid step counts the same, in whichever minibatch it is."""
    made = collected(accumulate=accumulate, max_grad_norm=1e9)
    made.storage.truncated[3:6, : N // 3] = 1  # minibatches with fewer valid steps than others
    made.learner.set_rate(0.0)
    minibatches = watched(made)
    policy, storage = made.policy, made.storage
    made.learner.update()
    assert len(minibatches) == 4
    together = functools.reduce(operator.iadd, minibatches[-accumulate:], [])  # those of the last step
    got = {name: parameter.grad.clone() for name, parameter in policy.named_parameters()}
    policy.zero_grad()
    batch = select(policy, storage, made.learner.advantage, torch.tensor(together))
    assert len(set(batch.valid.unflatten(1, (accumulate, -1)).sum((0, 2)).tolist())) > 1
    losses(policy, batch, made.config.ppo)[0].backward()
    for name, parameter in policy.named_parameters():
        torch.testing.assert_close(got[name], parameter.grad, msg=name)


def test_the_gradient_s_length_is_that_of_the_optimizer_s_steps():
    made = collected(accumulate=2, max_grad_norm=1e9)
    made.learner.set_rate(0.0)
    minibatches, lengths = watched(made), []
    adam = made.learner.optimizers.parts[0].torch
    steps = adam.step
    adam.step = lambda: (lengths.append(torch.nn.utils.get_total_norm(
        [one.grad for one in made.policy.parameters()]).item()), steps())
    metrics = made.learner.update()
    assert len(minibatches) == 4 and len(lengths) == 2
    assert metrics["grad_norm"] == pytest.approx(sum(lengths) / 2)


@pytest.mark.parametrize(("target", "epochs"), [(None, 5), (1e9, 5), (1e-12, 1)])
def test_epochs_end_when_the_policy_has_changed_enough(target, epochs):
    made = collected(epochs=5, target_kl=target)
    minibatches = watched(made)
    made.learner.update()
    assert len(minibatches) == 4 * epochs


def test_the_divergence_that_ends_the_epochs_is_that_of_the_last_minibatch():
    """The first minibatches of an epoch, in which the policy has hardly changed, would hide it."""
    first = collected(epochs=5, normalize_rewards=False)
    first.learner.update()
    kl = first.learner.diagnostics.table[:4, first.learner.diagnostics.names.index("kl")]
    mean, last = kl.mean().item(), kl[-1].item()
    assert mean < last
    made = collected(epochs=5, normalize_rewards=False, target_kl=(mean + last) / 2)
    minibatches = watched(made)
    made.learner.update()
    assert len(minibatches) == 4


@pytest.mark.parametrize(("final", "expected"), [(None, [0.2, 0.2, 0.2, 0.2]), (0.0, [0.2, 0.15, 0.0, 0.0]),
                                                 (0.6, [0.2, 0.3, 0.6, 0.6])])
def test_the_entropy_s_weight_follows_its_schedule(final, expected):
    settings = PPOConfig(total_steps=1000, entropy_coef=0.2, entropy_final=final)
    assert [entropy_coef(settings, step) for step in (0, 250, 1000, 5000)] == pytest.approx(expected)


def test_the_loss_uses_the_present_weight_of_the_entropy():
    made = collected(entropy_coef=0.0)
    batch = select(made.policy, made.storage, made.learner.advantage, torch.arange(4))
    plain, parts, _ = losses(made.policy, batch, made.config.ppo)
    more, _, _ = losses(made.policy, batch, made.config.ppo, torch.tensor(0.5))
    assert (plain - more).item() == pytest.approx(0.5 * parts["entropy"].item())


def test_sequences_with_large_advantages_are_drawn_more_often_with_less_weight():
    made = collected(priority_alpha=1.0, priority_beta=1.0)
    made.learner.advantage.fill_(0.1)
    made.learner.advantage[:, 3] = 1.0
    made.storage.terminated.zero_()
    made.storage.truncated.zero_()
    counts, seen, prioritized = torch.zeros(N), 0, made.learner.prioritized
    for _ in range(2000):
        prioritized.begin()
        prioritized.draw(made.learner.advantage)
        drawn, weight = prioritized.order[0], prioritized.weights[0]
        counts += torch.bincount(drawn, minlength=N)
        assert weight.mean().item() == pytest.approx(1)
        if (drawn == 3).any() and (drawn != 3).any():
            seen += 1
            assert weight[drawn == 3][0] / weight[drawn != 3][0] == pytest.approx(0.1, rel=1e-3)  # (N p)^-1
    share = counts / counts.sum()
    assert share[3] == pytest.approx(1 / (1 + 15 * 0.1), abs=0.03)   # |A|^1 over the sum
    assert share[[k for k in range(N) if k != 3]].std() < 0.01
    assert seen > 100


@pytest.mark.parametrize(("sizes", "alpha", "probabilities"), [
    ([1.0, 3.0], 1.0, [0.25, 0.75]),
    ([1e-5, 1e-5], 10.0, [0.5, 0.5]),                    # 1e-50 is 0 in float32
    ([1e4, 2e4], 10.0, [1 / 1025, 1024 / 1025]),         # 1e40 is infinite in float32
    ([1e30, 1e-30], 10.0, [1.0, 0.0]),
    ([0.0, 0.0], 0.5, [0.5, 0.5]),
    ([1.0, math.inf], 0.7, [0.0, 1.0]),                  # the loss of the minibatch then names the fault
    ([math.nan, 1.0, math.inf], 0.7, [0.5, 0.0, 0.5])])
def test_the_probability_of_a_sequence_is_that_of_its_size_to_the_power_of_alpha(sizes, alpha, probabilities):
    found = priorities(torch.tensor([sizes, sizes]), torch.ones(2, len(sizes)), alpha)
    assert found.tolist() == pytest.approx(probabilities, rel=1e-4, abs=1e-12)


def test_weights_stay_finite_where_all_drawn_sequences_only_reset():
    made = collected(priority_alpha=1.0, priority_beta=1.0)
    made.storage.truncated.fill_(1)
    prioritized = made.learner.prioritized
    prioritized.begin()
    prioritized.draw(made.learner.advantage)
    assert torch.isfinite(prioritized.weights).all() and (prioritized.weights > 0).all()


@pytest.mark.parametrize("accumulate", [1, 2])
def test_the_loss_of_drawn_sequences_has_weighted_statistics_and_is_divided_by_the_sum_of_the_weights(accumulate):
    made = collected(priority_alpha=1.0, priority_beta=0.7, accumulate=accumulate, value_clip=0.0, entropy_coef=0.0)
    made.storage.truncated[3:6, : N // 3] = 1
    made.learner.set_rate(0.0)
    made.learner.update()
    learner, storage, numbers = made.learner, made.storage, made.learner.order.flatten()
    size = ((learner.advantage.abs() * storage.valid).sum(0) / storage.valid.sum(0)).double() + 1e-6
    weight = ((size / size.sum()).pow(-0.7)[numbers] * storage.valid[:, numbers]).double()  # (T, sequences), of any scale
    advantage, total = learner.advantage[:, numbers].double(), weight.sum()
    mean = (weight * advantage).sum() / total
    normal = (advantage - mean) / (weight * (advantage - mean).square()).sum().div(total).sqrt()
    table, names = learner.diagnostics.table[:learner.diagnostics.done], learner.diagnostics.names
    policy, value = (table[-accumulate:, names.index(f"loss_{name}")].mean().item() for name in ("policy", "value"))
    assert policy == pytest.approx(-(weight * normal).sum().div(total).item(), abs=1e-5)  # the ratios are 1
    assert value == pytest.approx(0.5 * (weight * advantage.square()).sum().div(total).item(), rel=1e-4)


OPTIONS = {
    "muon": {"optimizer": "muon"},
    "v-trace": {"vtrace": True, "rho_clip": 0.9},
    "overlap": {"overlap": True, "vtrace": True},
    "priorities": {"priority_alpha": 0.8, "priority_beta": 0.5},
    "accumulation": {"accumulate": 2},
    "accumulation, four graphs": {"accumulate": 4},
    "normalized rewards": {"normalize_rewards": True},
    "rewards by the first steps": {"normalize_rewards": True, "normalize_steps": 100},
    "normalized observations": {"policy": {"normalize_observations": True}},
    "an entropy schedule": {"entropy_final": 0.001},
    "waiting for a signal": {"wait_for_signal": True},
    "all": {"optimizer": "muon", "vtrace": True, "priority_alpha": 0.8, "accumulate": 2, "normalize_rewards": True,
            "entropy_final": 0.0, "target_kl": 0.05, "policy": {"normalize_observations": True, "frame_stack": 2}},
}


@pytest.mark.parametrize("settings", OPTIONS.values(), ids=OPTIONS)
def test_a_run_with_options_is_resumed_bit_for_bit(tmp_path, settings):
    settings = config(epochs=2, **settings)
    whole, part = make_session(settings), make_session(settings)
    for _ in range(6):
        iterate(whole)
    for _ in range(3):
        iterate(part)
    resumed = make_session(settings, resume=part.save(tmp_path / "part"))
    for _ in range(3):
        iterate(resumed)
    same(*(checkpoint.load(made.save(tmp_path / name)).tensors for made, name in ((whole, "whole"), (resumed, "resumed"))))


@pytest.mark.parametrize(("settings", "captures"), [
    *(pytest.param(settings, True, id=f"{name}, captured") for name, settings in OPTIONS.items()),
    pytest.param(OPTIONS["all"], False, id="all, eager")])
def test_options_learn_the_same_on_a_slow_device(monkeypatch, slow_device, settings, captures):
    def trained():
        made = make_session(config(epochs=2, **settings))
        for _ in range(5):
            iterate(made)
        made.pipeline.settle()
        return {**made.policy.state_dict(), **made.learner.state(), **made.actor.state()}
    plain = trained()
    monkeypatch.setattr(build_module, "open_device", lambda name: slow_device(captures=captures, slowest=0.0005))
    same(plain, trained())


@pytest.mark.parametrize("number", ["the value's loss", "the gradient"])
def test_a_number_that_is_not_finite_ends_the_run_and_names_minibatch_and_checkpoint(tmp_path, monkeypatch, number):
    calls = []

    def broken(*arguments):
        loss, parts, ratio = losses(*arguments)
        calls.append(loss)
        if len(calls) == 10:  # the second minibatch of the third iteration
            if number == "the gradient":
                return loss * torch.tensor(math.nan), parts, ratio
            return loss, {**parts, "loss_value": torch.tensor(math.inf)}, ratio
        return loss, parts, ratio
    monkeypatch.setattr(losses_module, "losses", broken)
    with pytest.raises(LearningError, match=rf"{number} is (nan|inf) in minibatch 2 of 4 of an update, iteration 3; the last "
                                            r"good checkpoint is .*step_000000000256.safetensors: begin a new run"):
        train.train(config(tmp_path / "run"))
    tensors, meta, _ = checkpoint.load(checkpoint.latest(tmp_path / "run"))
    assert meta["iteration"] == 2 and all(torch.isfinite(tensor.float()).all() for tensor in tensors.values())


def test_accumulate_must_divide_the_minibatches():
    with pytest.raises(ConfigError, match="accumulate must divide the rollout's 4 minibatches, which 3 does not"):
        config(accumulate=3)


class OneAction(gymnasium.Env):
    """One action, a reward of a million in each step, episodes of four steps."""

    observation_space, action_space = gymnasium.spaces.Box(-1, 1, (3,)), gymnasium.spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.observation_space.sample(), {}

    def step(self, action):
        self.steps += 1
        return self.observation_space.sample(), 1e6, self.steps == 4, False, {}


EXTREMES = {  # game, number of environments, horizon, minibatch, other settings
    "a batch of one": ("cartpole", 1, 1, 1, {}),
    "one environment": ("cartpole", 1, 8, 8, {"epochs": 2}),
    "rewards of a million": ("cartpole", 4, 8, 16, {"reward_scale": 1e6}),
    "rewards of a million, V-trace": ("cartpole", 4, 8, 16, {"reward_scale": 1e6, "vtrace": True, "epochs": 2}),
    "rewards of a million, normalized": ("cartpole", 4, 8, 16, {"reward_scale": 1e6, "normalize_rewards": True}),
    "a single action": ("gym:OneAction-v0", 4, 8, 16, {}),
    "a single action, Muon": ("gym:OneAction-v0", 1, 1, 1, {"optimizer": "muon"}),
}


@pytest.mark.parametrize(("game", "num_envs", "horizon", "minibatch", "settings"), EXTREMES.values(), ids=EXTREMES.keys())
def test_extremes_stay_finite(game, num_envs, horizon, minibatch, settings, device):
    if "OneAction-v0" not in gymnasium.registry:
        gymnasium.register("OneAction-v0", OneAction)
    made = make_session(Config(game, EnvConfig(num_envs=num_envs, num_threads=1), PolicyConfig(encoder_size=8, lstm_size=8),
                          PPOConfig(horizon=horizon, minibatch=minibatch, **settings), RunConfig(device=device)))
    for _ in range(12):
        metrics = iterate(made)
        assert all(math.isfinite(value) for value in metrics.values() if value is not None)
    assert all(parameter.isfinite().all() for parameter in made.policy.parameters())
    made.pipeline.close()

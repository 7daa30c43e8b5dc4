"""With `noise_hold`, every fourth environment keeps its random numbers for some steps; the others draw as without it."""

import numpy as np
import pytest
import torch

from bridge.actions import Actions
from trainer import Session, kernels, preset
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.sections import SEEDS
from trainer.play import evaluate
from trainer.policy.distributions import make_distribution
from trainer.rollout.actor import collect
from trainer.rollout.held_noise import note_ends
from trainer.training.build import make_session

ENVIRONMENTS, STEPS, HOLD = 9, 24, 4
KINDS = {"box": (Actions("box", low=(-1.0, -1.0), high=(1.0, 1.0)), 2), "discrete": (Actions("discrete", (5,)), 5),
         "multi_discrete": (Actions("multi_discrete", (3, 2)), 5)}


def drawn(kind: str, first: int = 0, hold: int = HOLD, masked: bool = False, tensor_steps: bool = False, ends=None, seed=3):
    """Actions (STEPS, ENVIRONMENTS, ...) and their log-probabilities, with the same outputs in each step. hold 0: not held.

    ends: of steps, as (environment, "terminated" or "truncated"), for noise that is held after truncations only.
    """
    actions, width = KINDS[kind]
    distribution = make_distribution(actions)
    may = None if ends is None else torch.ones(ENVIRONMENTS)
    held = kernels.Held(hold, may) if hold else kernels.DRAWN_ANEW
    out = torch.randn(1, width + 1, generator=torch.Generator().manual_seed(1)).repeat(ENVIRONMENTS, 1)
    action_mask = torch.ones(ENVIRONMENTS, width, dtype=torch.uint8) if masked else None
    if masked:
        action_mask[:, 0] = 0
    shape, dtype = ((actions.columns,), torch.float32) if kind == "box" else ((2,) if "multi" in kind else (), torch.int32)
    taken = torch.zeros(STEPS, ENVIRONMENTS, *shape, dtype=dtype)
    log_probs, value = torch.zeros(STEPS, ENVIRONMENTS), torch.zeros(ENVIRONMENTS)
    for step in range(STEPS):
        number = torch.tensor([step]) if tensor_steps else step
        if ends is not None:
            flags = {"terminated": torch.zeros(ENVIRONMENTS), "truncated": torch.zeros(ENVIRONMENTS)}
            for environment, kind_of_end in ends.get(step, ()):
                flags[kind_of_end][environment] = 1
            note_ends(may, **flags)
        distribution.sample(out, action_mask, seed, first, number, taken[step], log_probs[step], value, held)
        assert torch.equal(value, out[:, -1])
        outputs, mask = out[None, :, :-1].contiguous(), None if action_mask is None else action_mask[None]
        wanted, _ = distribution.evaluate(outputs, mask, taken[step][None])
        torch.testing.assert_close(log_probs[step], wanted[0])
    return taken, log_probs


@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_every_fourth_environment_keeps_its_noise_and_the_others_draw_as_before(kind, first):
    held, plain = drawn(kind, first)[0], drawn(kind, first, hold=0)[0]
    for index in range(ENVIRONMENTS):
        if (first + index) % 4:
            assert torch.equal(held[:, index], plain[:, index])
            continue
        groups = held[:, index].unflatten(0, (-1, HOLD))
        assert torch.equal(groups, groups[:, :1].expand_as(groups))      # the same outputs and noise: the same actions
        assert len(groups[:, 0].unique(dim=0)) > 1


def test_the_noise_of_an_environment_does_not_depend_on_its_batch():
    whole, part = drawn("box", first=0)[0], drawn("box", first=4)[0]
    assert torch.equal(whole[:, 8], part[:, 4])


def test_a_step_in_memory_gives_the_same_actions():
    for one, other in zip(drawn("discrete"), drawn("discrete", tensor_steps=True), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_held_before_the_first_end_and_after_a_truncation_if_so_set(kind):
    ends = {8: [(0, "terminated"), (4, "truncated"), (8, "terminated"), (8, "truncated")], 12: [(4, "terminated")],
            16: [(0, "truncated"), (1, "truncated")]}
    mixed, held, plain = drawn(kind, ends=ends)[0], drawn(kind)[0], drawn(kind, hold=0)[0]
    fresh = {0: range(8, 16), 4: range(12, 24), 8: range(8, 24)}
    for index in range(ENVIRONMENTS):
        for step in range(STEPS):
            wanted = plain if step in fresh.get(index, ()) else held
            assert torch.equal(mixed[step, index], wanted[step, index])


def test_a_resumed_run_knows_which_environments_hold_their_noise(tmp_path):
    settings = {"num_envs": 8, "horizon": 32, "minibatch": 64, "time_limit": 15, "noise_hold": 8,
                "noise_hold_after": "truncation",
                "memory": "none", "encoder_size": 8, "lstm_size": 8, "precision": "float32", "device": "cpu", "num_threads": 1}
    config = preset("cartpole", **settings)
    with Session(config) as whole, Session(config) as first:
        for session in (whole, first):
            next(iter(session))
            next(iter(session))
        assert whole.actor.held.unique().tolist() == [0, 1]      # some have fallen
        first.save(tmp_path)
        with Session(resume=tmp_path) as second:
            assert torch.equal(second.actor.held, whole.actor.held)
            next(iter(second))
            next(iter(whole))
            for name, one in whole.policy.state_dict().items():
                assert torch.equal(one, second.policy.state_dict()[name])


def test_illegal_actions_are_not_drawn():
    taken, _ = drawn("discrete", masked=True)
    assert (taken != 0).all()


def test_training_holds_noise_and_evaluation_draws_it_anew():
    config = Config("gym:MountainCarContinuous-v0", EnvConfig(num_envs=4, num_threads=1),
                    PolicyConfig(memory="none", encoder_size=8, lstm_size=8, noise_hold=16, precision="float32"),
                    PPOConfig(horizon=16, minibatch=64), RunConfig(seed=2, device="cpu"))
    session = make_session(config)
    try:
        collect(session.actor)
        trained = session.storage.action[:16, 0]
        played = evaluate.play(session.policy, config.game, config.env, episodes=2, seed=1, filmed=1.0)
    finally:
        session.close()
    evaluated = torch.as_tensor(np.array(played.actions[:16]))[:, 0]
    assert trained.diff(dim=0).abs().median() < 0.02      # the mean moves a little, the noise (deviation 1) stays
    assert evaluated.diff(dim=0).abs().median() > 0.2


def test_the_largest_seed_of_a_run_holds_noise_too():
    held = drawn("discrete", seed=SEEDS - 1)[0]
    assert torch.equal(held[:HOLD, 0], held[0, 0].expand(HOLD))
    assert not torch.equal(held, drawn("discrete")[0])

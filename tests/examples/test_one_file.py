"""examples/training/one_file.py: its first iteration is the trainer's, and it learns."""

from collections import deque

import pytest
import torch

from examples.training import one_file
from trainer import Session

SETTINGS = {"breakout": one_file.Settings(num_envs=32, minibatch=512, size=32),
            # both kinds of ends, and limits that this iteration reaches
            "cartpole": one_file.Settings("cartpole", num_envs=32, minibatch=512, size=32, time_limit=15, clip=0.01,
                                          value_clip=0.01, entropy_coef=0.5)}
NAMES = {"lstm.weight_ih_l0": "input", "lstm.weight_hh_l0": "recurrent", "lstm.bias_ih_l0": "bias",
         **{name: name for name in ("encoder.weight", "encoder.bias", "heads.weight", "heads.bias")}}
SEED = 3
# The trainer's LSTM adds in another order and has its own exp and tanh, so last bits differ. A weight moves by about 0.01.
VALUES, WEIGHTS = 1e-6, 3e-6


def trainers_iteration(settings):
    """The trainer's first iteration: its session, the weights before it, and a copy of its rollout."""
    kept = {}

    def keep(session):
        kept.update({name: tensor.clone() for name, tensor in session.storage.state().items()})
    common = {name: value for name, value in settings._asdict().items() if name not in ("game", "size")}
    session = Session(settings.game, **common, encoder_size=settings.size, lstm_size=settings.size, reward_clip=1.0, epochs=1,
                      normalize_rewards=False, precision="float32", device="cpu", num_threads=1, seed=SEED, on_rollout=keep)
    before = {name: tensor.clone() for name, tensor in session.policy.state_dict().items()}
    next(iter(session))
    return session, before, kept


def examples_rollout(weights, actions, settings) -> tuple[one_file.Agent, one_file.Rollout]:
    """The example's agent with the trainer's weights, and its rollout with these actions (T, N)."""
    envs, now = one_file.begin(settings, SEED)
    agent = one_file.Agent(envs.single_observation_space.shape[0], int(envs.single_action_space.n), settings.size)
    with torch.no_grad():
        for ours, theirs in NAMES.items():
            agent.get_parameter(ours).copy_(weights[theirs])
    chosen = iter(actions.long())
    agent.choose = lambda policy: next(chosen)[None]
    state = torch.zeros(1, settings.num_envs, settings.size), torch.zeros(1, settings.num_envs, settings.size)
    return agent, one_file.play(agent, envs, now, state, settings.horizon, deque())[0]


def learn(agent, rollout, settings):
    """The example's update, with the trainer's order of the environments."""
    order = torch.randperm(settings.num_envs, generator=torch.Generator().manual_seed(SEED))
    one_file.learn(agent, torch.optim.Adam(agent.parameters(), lr=settings.learning_rate, eps=1e-5), rollout, order, settings)


@pytest.mark.parametrize("game", SETTINGS)
def test_from_equal_weights_and_actions_the_first_iteration_is_the_trainers(game):
    settings = SETTINGS[game]
    session, before, kept = trainers_iteration(settings)
    agent, rollout = examples_rollout(before, kept["action"], settings)
    for name in ("observation", "reward", "terminated", "truncated", "start"):
        assert torch.equal(getattr(rollout, name), getattr(session.storage, name)), name
    for name in ("value", "log_prob"):
        torch.testing.assert_close(getattr(rollout, name), kept[name], rtol=0, atol=VALUES)
    assert game == "breakout" or (rollout.terminated.sum() > 20 and rollout.truncated.sum() > 20 and rollout.start.sum() > 40)

    learn(agent, rollout, settings)
    after = session.policy.state_dict()
    for ours, theirs in NAMES.items():
        assert (after[theirs] - before[theirs]).abs().max() > 1000 * WEIGHTS, ours
        torch.testing.assert_close(agent.get_parameter(ours).detach(), after[theirs], rtol=0, atol=WEIGHTS)


@pytest.mark.parametrize("change", [{"gamma": 0.98}, {"clip": 0.02}, {"value_clip": 0.02}, {"entropy_coef": 0.4}])
def test_another_setting_gives_other_weights(change):
    settings = SETTINGS["cartpole"]
    session, before, kept = trainers_iteration(settings)
    agent, rollout = examples_rollout(before, kept["action"], settings)
    learn(agent, rollout, settings._replace(**change))
    after = session.policy.state_dict()
    assert max((agent.get_parameter(ours) - after[theirs]).abs().max() for ours, theirs in NAMES.items()) > 10 * WEIGHTS


@pytest.mark.learn
def test_it_learns():
    settings = one_file.Settings("cartpole", num_envs=64, minibatch=256, size=32, total_steps=120_000, time_limit=500)
    scores = [score for _, score in one_file.train(settings)]
    assert scores[0] < 40 and scores[-1] > 3 * scores[0]

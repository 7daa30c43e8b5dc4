"""`life_loss_info`: for learning, an episode ends with each life, while the game goes on."""

from dataclasses import replace

import pytest
import torch

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.environments import make_source
from trainer.errors import TrainerError
from trainer.play import evaluate
from trainer.rollout.actor import collect
from trainer.training.build import make_session

LIVES = 5


def config(game="breakout", life_loss_info=True):
    env = EnvConfig(num_envs=8, num_threads=1, life_loss_info=life_loss_info)
    return Config(game, env, PolicyConfig(encoder_size=16, lstm_size=12), PPOConfig(horizon=512, minibatch=4096),
                  RunConfig(seed=5, device="cpu"))


@pytest.fixture(scope="module")
def session():
    """A session of Breakout after a rollout of 512 steps, in which random play loses more than one life."""
    made = make_session(config())
    collect(made.actor)
    made.actor.pipeline.settle()
    return made


def test_each_life_is_an_episode_for_learning_and_each_game_one_for_the_scores(session):
    ends = session.storage.terminated.sum().item()
    games = session.actor.pipeline.take_episodes()
    assert len(games.returns) >= 4
    assert LIVES * len(games.returns) <= ends < LIVES * (len(games.returns) + 8)
    assert games.lengths.min() > 100  # a life of random play has about 40 steps


def test_the_memory_forgets_and_the_step_after_a_lost_life_is_not_learned_from(session):
    over = session.storage.terminated[:-1] > 0
    assert torch.equal(session.storage.start[1:-1] > 0, over[:-1])
    assert torch.equal(session.storage.valid == 0, over)


def test_what_follows_a_lost_life_does_not_change_the_advantages_before_it(session):
    storage = session.storage
    end = int(storage.terminated[:, 0].nonzero()[0])
    before = storage.advantages(storage.reward[1:], 0.99, 0.95)[:end, 0].clone()
    changed = replace(storage, value=storage.value.clone())
    changed.value[end:, 0] += 1
    assert torch.equal(changed.advantages(storage.reward[1:], 0.99, 0.95)[:end, 0], before)


def test_an_evaluation_plays_whole_games(session):
    told, plain = (evaluate.play(session.policy, session.config.game, config(life_loss_info=told).env, episodes=4, seed=3)
                   for told in (True, False))
    assert torch.equal(torch.tensor(told.returns), torch.tensor(plain.returns))
    assert told.fingerprints.tolist() == plain.fingerprints.tolist()


@pytest.mark.parametrize(("game", "message"), [
    ("cartpole", "life_loss_info must be False, not True: cartpole has no lives"),
    ("gym:CartPole-v1", "life_loss_info must be left out for gym:CartPole-v1"),
])
def test_a_game_without_lives_is_named(game, message):
    settings = config(game)
    with pytest.raises((TrainerError, ValueError), match=message):
        make_source(settings.game, settings.env, 8, 1)

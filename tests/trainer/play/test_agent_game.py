"""Watching an agent: pace, captions, and scores."""

import numpy as np
import pytest

from trainer.config import Config, EnvConfig, PPOConfig, RunConfig
from trainer.environments import make_source
from trainer.play import agent_game
from trainer.policy.make import MEMORIES


class Screen:
    """Records its pictures and captions; is closed after a number of waits."""

    def __init__(self, waits=10_000):
        self.pictures, self.captions, self.waited, self.left = [], [], [], waits

    def show(self, picture, caption):
        self.pictures.append(picture)
        self.captions.append(caption)

    def wait(self, seconds):
        self.waited.append(seconds)
        self.left -= 1
        return self.left > 0


def config(game="cartpole", **env) -> Config:
    return Config(game, EnvConfig(num_envs=4, num_threads=1, **env), ppo=PPOConfig(horizon=8, minibatch=32),
                  run=RunConfig(device="cpu"))


def agent(settings, seed=3, **more):
    source = make_source(settings.game, settings.env, 1, 0)
    policy = MEMORIES["lstm"](source.observation_shape, source.num_actions, 8, 8)
    return agent_game.AgentGame(settings.game, settings.env, policy, seed=seed, **more)


@pytest.mark.parametrize("reward_clip", [None, 0.5])
def test_an_agents_episodes_are_shown_to_their_ends_with_raw_scores(reward_clip):
    screen = Screen()
    ended = list(agent_game.show(agent(config(reward_clip=reward_clip)), screen, episodes=3))
    assert len(ended) == 3
    assert all(one.score == one.length >= 8 for one in ended)  # CartPole gives 1 a step
    first = ended[0].length
    assert screen.captions[0] == "cartpole  episode 1  score 0  step 0"
    assert screen.captions[first - 1:first + 2] == [
        f"cartpole  episode 1  score {first - 1}  step {first - 1}", f"cartpole  episode 1 over  score {first}  steps {first}",
        "cartpole  episode 2  score 0  step 0"]
    assert len(screen.pictures) == sum(one.length + 1 for one in ended)
    assert all(picture.shape == screen.pictures[0].shape and picture.dtype == np.uint8 for picture in screen.pictures)


def test_one_seed_shows_one_game():
    def lengths(seed):
        return [one.length for one in agent_game.show(agent(config(), seed), Screen(), episodes=4)]
    assert lengths(3) == lengths(3) != lengths(4)


@pytest.mark.parametrize(("speed", "seconds"), [(1, 1 / 50), (4, 1 / 200)])
def test_the_pace_is_the_games_times_speed(speed, seconds):
    screen = Screen(5)
    assert list(agent_game.show(agent(config()), screen, speed=speed, clock=lambda: 7.0)) == []
    assert screen.waited == pytest.approx([seconds * k for k in range(1, 6)])


def test_a_delay_is_not_made_up_for_by_steps_in_haste():
    screen, now = Screen(6), [7.0]

    def wait(seconds):
        now[0] += seconds + 5.0 * (len(screen.waited) == 1)
        return Screen.wait(screen, seconds)

    screen.wait = wait
    assert list(agent_game.show(agent(config()), screen, clock=lambda: now[0])) == []
    assert screen.waited == pytest.approx([1 / 50, 1 / 50, 0.0, 1 / 50, 1 / 50, 1 / 50])


def test_a_screen_that_is_closed_ends_it():
    screen = Screen(1)
    assert list(agent_game.show(agent(config()), screen)) == []
    assert len(screen.pictures) == 1

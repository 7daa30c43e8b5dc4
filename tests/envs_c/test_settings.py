"""Settings of the engine, tested with the toy game: sticky actions, no-op starts, seeds, masks and options."""

import numpy as np
import pytest
from support import vector

import envs_c
from envs_c.game import Game, Option
from envs_c.testing.play import actions_of

N = 4000
RIGHT = 2


def action_of(observation):
    return observation[:, 0, 2]


def frames_of(observation):
    return observation[:, 1, 0]


@pytest.mark.parametrize("probability", [0.0, 0.25, 0.9])
def test_sticky_repeats_the_previous_action_with_its_probability(toy, probability):
    env = vector(toy, N, sticky=probability, frame_skip=1, seed=1, options={"length": 20})
    env.reset()
    noise = 5 * np.sqrt(probability * (1 - probability) / N)
    previous = np.zeros(N, int)  # the action before an episode's first is 0
    for action in (3, 1, 2):
        taken = action_of(env.step(np.full(N, action))[0])
        assert np.array_equal(taken != action, taken == previous)
        assert abs((taken == previous).mean() - probability) <= noise
        previous = taken


def test_sticky_is_drawn_for_every_frame(toy):
    """After a step of 4 frames the previous action is still taken only if all 4 frames were sticky."""
    env = vector(toy, N, sticky=0.5, frame_skip=4, seed=1, options={"length": 20, "wind": 0})
    env.reset()
    assert abs((action_of(env.step(np.full(N, 1))[0]) == 0).mean() - 0.5**4) <= 5 * np.sqrt(0.5**4 / N)


def test_sticky_at_1_never_takes_another_action(toy):
    env = vector(toy, 50, sticky=1.0, seed=1)
    env.reset()
    for actions in actions_of(toy, 30, 50):
        assert not action_of(env.step(actions)[0]).any()


def test_a_sticky_action_is_not_one_of_the_episode_before(toy):
    env = vector(toy, N, sticky=0.5, frame_skip=1, time_limit=2, autoreset="same_step", seed=1, options={"length": 20})
    env.reset()
    for action in (1, 1, 3):  # the second one ends an episode
        taken = action_of(env.step(np.full(N, action))[0])
    assert set(taken.tolist()) == {0, 3}


@pytest.mark.parametrize("most", [0, 1, 6])
def test_no_op_starts_take_1_to_noop_max_frames_evenly(toy, most):
    env = vector(toy, N, noop_max=most, seed=1)
    frames = frames_of(env.reset()[0])
    values, counts = np.unique(frames, return_counts=True)
    assert values.tolist() == (list(range(1, most + 1)) or [0])
    assert np.abs(counts / N - 1 / len(values)).max() < 5 * np.sqrt(1 / N)


def test_an_episode_that_ends_in_its_no_op_start_begins_again_without_one(toy):
    """So the engine does not hang if a game always ends there."""
    env = vector(toy, N, noop_max=10, autoreset="same_step", time_limit=0, seed=1, options={"length": 4, "wind": 1})
    observation, _ = env.reset()
    assert (observation[:, 0, 0] < 3).all()
    for _ in range(5):
        observation, _, terminated, _, infos = env.step(np.zeros(N, int))
        assert (observation[:, 0, 0] < 3).all()
        assert set(frames_of(observation[terminated]).tolist()) > {0, 1, 2}
        assert (infos["episode_stats"]["r"][terminated] == 10 - 0.25 * (infos["episode_stats"]["l"][terminated] - 1)).all()


def test_frames_after_an_end_in_a_no_op_start_are_none(toy):
    """Each number of frames is drawn with equal chance, and an end before it leaves 0 frames, so none is more frequent."""
    frames = frames_of(vector(toy, N, noop_max=10, seed=1, options={"length": 4, "wind": 1}).reset()[0])
    counts = np.bincount(frames, minlength=11) / N
    assert counts[0] > 0.2 and (counts[1:] <= 0.1 + 5 * np.sqrt(0.1 / N)).all()


def test_environments_with_equal_seeds_are_equal(toy):
    env = vector(toy, 4)
    first, _ = env.reset(seed=[5, 9, 5, None])
    again, _ = env.reset(seed=[9, None, 5, 9])
    assert np.array_equal(first[0], first[2]) and np.array_equal(first[0], again[2])
    assert np.array_equal(first[1], again[0]) and np.array_equal(again[0], again[3])
    alone, _ = vector(toy, 1).reset(seed=5)
    assert np.array_equal(alone[0], first[0])


def test_a_seed_left_out_at_the_start_is_random(toy):
    pairs = [vector(toy, 2, seed=[None, 3]).reset()[0] for _ in range(8)]
    assert len({pair[0].tobytes() for pair in pairs}) > 1
    assert len({pair[1].tobytes() for pair in pairs}) == 1


def test_a_reset_without_a_seed_continues_with_the_generators(toy):
    env = vector(toy, 16, seed=1)
    first, second = env.reset()[0], env.reset()[0]
    assert not np.array_equal(first, second)
    other = vector(toy, 16, seed=1)
    assert np.array_equal(other.reset()[0], first) and np.array_equal(other.reset()[0], second)


def test_seeding_some_environments_does_not_change_the_others(toy):
    mask = np.array([True, False, True, False])
    env, other = vector(toy, 4, seed=1), vector(toy, 4, seed=1)
    env.reset()
    other.reset()
    one, _ = env.reset(seed=77, options={"reset_mask": mask})
    two, _ = other.reset(options={"reset_mask": mask})
    assert np.array_equal(one[~mask], two[~mask]) and not np.array_equal(one[mask], two[mask])
    assert np.array_equal(one[mask], vector(toy, 4).reset(seed=77)[0][mask])
    later, other_later = env.reset()[0], other.reset()[0]
    assert np.array_equal(later[~mask], other_later[~mask]) and not np.array_equal(later[mask], other_later[mask])


def legal_moves(observation):
    """The mask by the toy's rules, from its features: (N, 4)."""
    cell, length, jumps = observation[:, 0, 0].astype(int), observation[:, 0, 1], observation[:, 1, 1]
    return np.stack([np.ones(len(cell), int), cell > 0, cell < length - 1, jumps > 0], axis=1)


def test_masks_belong_to_the_observation_beside_them(toy, autoreset):
    env = vector(toy, 60, autoreset=autoreset, time_limit=30, seed=1, options={"length": 6})
    observation, infos = env.reset()
    over, ends = np.zeros(60, bool), 0
    assert np.array_equal(infos["action_mask"], legal_moves(observation))
    for actions in actions_of(toy, 100, 60):
        if over.any() and autoreset == "disabled":
            observation, infos = env.reset(options={"reset_mask": over})
            assert np.array_equal(infos["action_mask"], legal_moves(observation))
        observation, _, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        ends += terminated.sum()
        assert np.array_equal(infos["action_mask"], legal_moves(observation))
        if autoreset == "same_step" and over.any():
            final = np.stack(infos["final_obs"][over])
            assert np.array_equal(infos["final_info"]["action_mask"][over], legal_moves(final))
            assert np.array_equal(infos["final_info"]["_action_mask"], over)
            assert (infos["final_info"]["action_mask"][terminated, RIGHT] == 0).all()
    assert ends > 60


def test_action_spaces_sample_with_masks(toy):
    env = vector(toy, 8, seed=1)
    _, infos = env.reset()
    space = env.single_action_space
    space.seed(1)
    for row in infos["action_mask"]:
        assert all(row[space.sample(mask=row)] for _ in range(20))


@pytest.mark.parametrize("length", [4, 20])
def test_options_reach_the_rules(toy, length):
    env = vector(toy, 3, seed=1, options={"length": length, "wind": 0})
    observation, _ = env.reset()
    assert (observation[:, 0, 1] == length).all()
    steps = 0
    while not (over := env.step(np.full(3, RIGHT))[2]).any():
        steps += 1
    assert over.any() and length - 4 <= steps <= length - 2


def test_options_accept_every_type_of_number(toy):
    for wind in (0, 1, 0.5, np.float32(0.5), np.int64(1)):
        for length in (9, 9.0, np.int32(9), np.float64(9)):
            env = vector(toy, options={"wind": wind, "length": length})
            assert env.core.options["wind"] == wind and env.core.options["length"] == 9


def test_settings_have_the_games_own_defaults():
    env = envs_c.make("cartpole")
    assert (env.core.time_limit, env.core.frame_skip, env.num_envs) == (500, 1, 1)
    assert envs_c.make("cartpole", time_limit=0).core.time_limit == 0


def test_actions_and_features_can_depend_on_options():
    game = Game(name="board", title="Board", summary="A board.", version=1, feature_dtype="uint8", feature_low=0,
                feature_high=lambda options: options["size"], options={"size": Option(9, 5, 19, "points a side")},
                actions=lambda options: [f"P{k}" for k in range(int(options["size"]) ** 2)],
                feature_shape=lambda options: (2, int(options["size"]), int(options["size"])))
    assert (len(game.actions), game.feature_shape, game.feature_high) == (81, (2, 9, 9), 9)
    actions, shape, low, high = game.describe(game.check_options({"size": 5}))
    assert (len(actions), shape, low, high) == (25, (2, 5, 5), 0, 5)


@pytest.mark.parametrize("value", [True, np.True_, 1])
def test_an_option_from_0_to_1_may_be_a_bool(value):
    env, other = (envs_c.make("pong", 4, seed=1, random_serve=one) for one in (value, 1))
    assert env.core.options["random_serve"] == 1 and type(env.core.options["random_serve"]) is float
    assert np.array_equal(env.reset()[0], other.reset()[0])
    assert envs_c.make("pong", random_serve=False).core.options["random_serve"] == 0

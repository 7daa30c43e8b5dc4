"""The engine's promises, with games of each kind: outputs, statistics, limits, frame skip, stacks, resets, masks of steps."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support import restart, vector

import envs_c
from envs_c.testing.play import Play, actions_of, bind

N = 12
STEPS = 120
LIMIT = 23  # steps: short, for many ends in every game, some of them in the same step
MODES = {"next_step": AutoresetMode.NEXT_STEP, "same_step": AutoresetMode.SAME_STEP, "disabled": AutoresetMode.DISABLED}


@pytest.fixture
def game(each_kind):
    return each_kind


def test_games_are_listed_by_their_own_names():
    assert list(envs_c.games()) == sorted(envs_c.games())
    assert [envs_c.game(name).name for name in envs_c.games()] == list(envs_c.games())
    assert all(f"Arcade/{envs_c.game(name).title}-v0" in gymnasium.registry for name in envs_c.games())


@pytest.mark.parametrize("frame_stack", [1, 3])
def test_outputs_lie_in_their_spaces(game, view, autoreset, frame_stack):
    env = vector(game, N, view=view, autoreset=autoreset, frame_stack=frame_stack, time_limit=LIMIT, seed=3)
    shape = (N, *([frame_stack] if frame_stack > 1 else []), *((84, 84) if view == "pixels" else game.feature_shape))
    over, ends = np.zeros(N, bool), 0
    assert env.metadata["autoreset_mode"] is MODES[autoreset]
    observation, infos = env.reset()
    assert observation in env.observation_space
    check_mask(game, infos)
    for actions in actions_of(game, STEPS, N):
        restart(env, over)
        observation, reward, terminated, truncated, infos = env.step(actions)
        over = terminated | truncated
        ends += over.sum()
        assert observation in env.observation_space
        assert observation.shape == shape and observation.dtype == env.observation_space.dtype
        assert reward.shape == (N,) and reward.dtype == np.float64 and np.isfinite(reward).all()
        assert terminated.shape == truncated.shape == (N,) and terminated.dtype == truncated.dtype == np.bool_
        assert ("episode_stats" in infos) == over.any()
        assert ("final_obs" in infos) == ("final_info" in infos) == (autoreset == "same_step" and over.any())
        check_mask(game, infos)
        for i in np.flatnonzero(over) if "final_obs" in infos else ():
            assert infos["final_obs"][i] in env.single_observation_space
    assert ends > N


def check_mask(game, infos):
    """infos has "action_mask" exactly if the game has masks, in the form for spaces.Discrete.sample."""
    assert ("action_mask" in infos) == game.has_mask
    if game.has_mask:
        mask = infos["action_mask"]
        assert mask.shape == (N, len(game.actions)) and mask.dtype == np.int8
        assert np.isin(mask, (0, 1)).all()
        assert infos["_action_mask"].all()


@pytest.mark.parametrize("clip", [None, 0.5, (-0.125, 0.25)], ids=str)
def test_episode_statistics_equal_a_plain_sum_of_raw_rewards(game, autoreset, clip):
    raw = vector(game, N, autoreset=autoreset, seed=5, time_limit=4 * LIMIT)
    env = vector(game, N, autoreset=autoreset, seed=5, time_limit=4 * LIMIT, reward_clip=clip)
    low, high = (-np.inf, np.inf) if clip is None else clip if isinstance(clip, tuple) else (-clip, clip)
    returns, lengths, over, ends = np.zeros(N), np.zeros(N, int), np.zeros(N, bool), 0
    raw.reset()
    env.reset()
    for actions in actions_of(game, 3 * STEPS, N):
        resets = over if autoreset == "next_step" else np.zeros(N, bool)
        restart(raw, over)
        restart(env, over)
        _, reward, *_ = raw.step(actions)
        _, clipped, terminated, truncated, infos = env.step(actions)
        assert np.array_equal(clipped, np.clip(reward, low, high))
        over = terminated | truncated
        returns, lengths = returns + reward, lengths + ~resets
        if over.any():
            ends += over.sum()
            episode = infos["episode_stats"]
            assert np.array_equal(infos["_episode_stats"], over)
            assert np.array_equal(episode["r"], np.where(over, returns, 0.0))
            assert np.array_equal(episode["l"], np.where(over, lengths, 0))
            assert (episode["t"][over] >= 0).all() and not episode["t"][~over].any()
        returns[over], lengths[over] = 0.0, 0
    assert ends >= N


def test_the_time_limit_truncates_at_exactly_that_step(game, autoreset):
    env = vector(game, N, autoreset=autoreset, time_limit=9, seed=2)
    age, over = np.zeros(N, int), np.zeros(N, bool)
    env.reset()
    truncations = 0
    for actions in actions_of(game, STEPS, N):
        restart(env, over)
        _, _, terminated, truncated, _ = env.step(actions)
        age += ~over if autoreset == "next_step" else 1
        assert np.array_equal(truncated, age == 9)
        over = terminated | truncated
        truncations += truncated.sum()
        age[over] = 0
    assert truncations > N


def test_both_flags_are_set_if_an_episode_terminates_in_the_step_of_its_limit(toy):
    env = vector(toy, 300, time_limit=3, seed=1, options={"length": 5})
    env.reset()
    flags = set()
    for actions in actions_of(toy, 3, 300):
        _, reward, terminated, truncated, _ = env.step(actions)
        flags |= set(zip(terminated.tolist(), truncated.tolist(), strict=True))
        assert np.array_equal(terminated, reward == 10)
    assert flags == {(False, False), (True, False), (False, True), (True, True)}


@pytest.mark.parametrize("skip", [2, 5])
def test_frame_skip_is_that_many_steps_of_one_frame_until_the_end(game, skip):
    ends = 0
    for seed in range(10):
        held = vector(game, frame_skip=skip, seed=seed, autoreset="disabled", time_limit=0)
        single = vector(game, frame_skip=1, seed=seed, autoreset="disabled", time_limit=0)
        assert np.array_equal(held.reset()[0], single.reset()[0])
        for action in actions_of(game, 60, 1, seed):
            total = np.float32(0)
            for _ in range(skip):
                observation, reward, over, _, infos = single.step(action)
                total += np.float32(reward[0])
                if over:
                    break
            same, reward, end, _, held_infos = held.step(action)
            assert np.array_equal(same, observation) and reward[0] == total and end == over
            if end:
                ends += 1
                assert held_infos["episode_stats"]["r"] == pytest.approx(infos["episode_stats"]["r"], rel=1e-6)
                break
    assert ends or game.name not in ("cartpole", "toy")


def test_stacked_frames_are_the_single_ones_since_the_start(game, view, autoreset):
    """Frames from before an episode's start are zeros."""
    depth, settings = 4, {"view": view, "autoreset": autoreset, "time_limit": LIMIT, "seed": 8}
    plain, stacked = vector(game, N, **settings), vector(game, N, frame_stack=depth, **settings)
    space, over = plain.single_observation_space, np.zeros(N, bool)
    frames = np.zeros((N, depth, *space.shape), space.dtype)

    def push(frames, observation, began):
        frames = np.concatenate([frames[:, 1:], observation[:, None]], axis=1)
        frames[began, :-1] = 0
        return frames

    frames = push(frames, plain.reset()[0], np.ones(N, bool))
    assert np.array_equal(stacked.reset()[0], frames)
    for actions in actions_of(game, 2 * LIMIT, N):
        observation, by_hand = restart(plain, over), restart(stacked, over)
        if by_hand is not None:
            frames[over] = push(frames, observation, over)[over]
            assert np.array_equal(by_hand, frames)
        began = over if autoreset == "next_step" else np.zeros(N, bool)
        observation, _, terminated, truncated, infos = plain.step(actions)
        over = terminated | truncated
        stack, *_, stacked_infos = stacked.step(actions)
        if autoreset == "same_step":
            for i in np.flatnonzero(over):
                expected = np.concatenate([frames[i, 1:], infos["final_obs"][i][None]])
                assert np.array_equal(stacked_infos["final_obs"][i], expected)
            began = over
        frames = push(frames, observation, began)
        assert np.array_equal(stack, frames)


def test_a_seeded_reset_forgets_the_past(game, view):
    """The outputs after a seeded reset do not depend on the play before it, bit for bit."""
    settings = {"view": view, "frame_stack": 3, "time_limit": 50, "autoreset": "same_step", "sticky": 0.25}
    fresh, used = vector(game, N, seed=1, **settings), vector(game, N, seed=2, **settings)
    used.reset()
    for actions in actions_of(game, 37, N, seed=6):
        used.step(actions)
    assert np.array_equal(fresh.reset(seed=11)[0], used.reset(seed=11)[0])
    for actions in actions_of(game, STEPS, N):
        *ours, infos = fresh.step(actions)
        *theirs, other_infos = used.step(actions)
        assert all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
        assert ("episode_stats" in infos) == ("episode_stats" in other_infos)
        if "episode_stats" in infos:
            assert np.array_equal(infos["episode_stats"]["r"], other_infos["episode_stats"]["r"])


def test_resetting_some_environments_does_not_change_the_others(game, view):
    env = vector(game, N, view=view, frame_stack=2, seed=4)
    before, _ = env.reset()
    for actions in actions_of(game, 5, N):
        before, *_ = env.step(actions)
    chosen, options = np.arange(N) % 3 == 0, {"reset_mask": np.arange(N) % 3 == 0}
    states = [env.get_state([i]) for i in range(N)]
    after, _ = env.reset(options=options)
    assert [env.get_state([i]) != states[i] for i in range(N)] == chosen.tolist()
    assert np.array_equal(after[~chosen], before[~chosen])
    assert not after[chosen, 0].any()
    assert list(options) == ["reset_mask"] and np.array_equal(options["reset_mask"], chosen)


def test_without_copies_each_step_returns_the_same_array(game):
    env, copied = (vector(game, 2, copy=copy, seed=1) for copy in (False, True))
    assert env.reset()[0] is env.step(np.zeros(2, int))[0]
    first = copied.reset()[0]
    kept = first.copy()
    for actions in actions_of(game, 9, 2):
        copied.step(actions)
    assert np.array_equal(first, kept)


def test_held_environments_do_not_change(game, autoreset):
    """Compared with environments stepped one by one, without those held."""
    settings = {"autoreset": autoreset, "time_limit": LIMIT, "seed": 4, "num_threads": 1}
    together, single = (Play(game, N, **settings) for _ in range(2))
    batches = [bind(single.core, single.arrays, i, i + 1) for i in range(N)]
    together.reset()
    single.reset()
    rng, ends = np.random.RandomState(1), 0
    for actions in actions_of(game, STEPS, N):
        over = together.core.over()
        if autoreset == "disabled" and over.any():
            together.batch.reset(mask=over)
            single.batch.reset(mask=over)
        mask = rng.rand(N) < 0.6
        mask[rng.randint(N)] = True
        together.arrays["actions"][...] = single.arrays["actions"][...] = actions
        single.core.ended[...] = 0
        for name in ("reward", "terminated", "truncated"):
            single.arrays[name][...] = 0
        ended = sum(batches[i].step() for i in np.flatnonzero(mask))
        assert together.batch.step(mask) == ended
        assert together.outputs() == single.outputs() and together.core.get_state() == single.core.get_state()
        ends += ended
    assert ends > N


def test_a_mask_holds_for_one_call_only(each_kind):
    play, mask = Play(each_kind, 2, seed=4), np.array([False, True])
    play.reset()
    for masked, whole in ((lambda: play.batch.step(mask), lambda: play.step(0)),
                          (lambda: play.batch.reset(mask=mask), play.batch.reset)):
        held, other = (play.core.get_state([i]) for i in range(2))
        masked()
        assert play.core.get_state([0]) == held and play.core.get_state([1]) != other
        whole()
        assert play.core.get_state([0]) != held


@pytest.mark.parametrize("mask", [[True, False], np.ones(3, bool), np.ones(2), np.zeros(2, bool)], ids=repr)
def test_a_wrong_mask_changes_nothing(mask):
    play = Play(envs_c.game("breakout"), 2)
    play.reset()
    state = play.core.get_state()
    with pytest.raises(envs_c.InvalidArgument, match="mask"):
        play.batch.step(mask)
    assert play.core.get_state() == state
    play.step(0)
    assert play.core.get_state() != state


def test_an_ended_environment_can_be_held_under_autoreset_disabled():
    play = Play(envs_c.game("cartpole"), 2, autoreset="disabled", time_limit=3)
    play.reset()
    for mask in ([True, False], [True, True], [True, False]):
        play.batch.step(np.array(mask))
    assert play.core.over().tolist() == [True, False]
    play.batch.step(np.array([False, True]))
    with pytest.raises(envs_c.NotReset, match="environment 0"):
        play.batch.step(np.array([True, False]))
    with pytest.raises(envs_c.NotReset, match="environment 0"):
        play.batch.step()

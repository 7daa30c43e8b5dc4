"""Lives: every game that has them reports them, and `episodic_life` and `life_loss_info` mean what they mean in ale-py."""

import gymnasium
import numpy as np
import pytest
from ale_py import AtariVectorEnv

import envs_c
from envs_c.gymnasium_env.ale import CARTRIDGES
from envs_c.gymnasium_env.infos import row_of

GAMES = [name for name in envs_c.games() if envs_c.game(name).has_lives]
SERVE = [1, 0, 0]  # actions that lose Breakout's balls, again and again


def test_every_game_with_an_option_of_lives_has_lives():
    assert [name for name in envs_c.built_in() if "lives" in envs_c.game(name).options] == GAMES


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("lives", [1, 3])
def test_episodes_begin_with_the_games_lives_and_lose_them(game, lives):
    env = envs_c.make(game, 4, lives=lives, seed=1, frame_skip=8)
    left = env.reset()[1]["lives"]
    assert left.dtype == np.int32 and left.tolist() == [lives] * 4
    env.action_space.seed(1)
    lost = 0
    for _ in range(800):
        _, _, terminated, truncated, infos = env.step(env.action_space.sample())
        assert infos["_lives"].all() and (infos["lives"] >= 0).all()
        assert (infos["lives"][~(terminated | truncated)] > 0).all()
        lost += int((infos["lives"] < left).sum())
        left = infos["lives"]
    assert lost > 3


@pytest.mark.parametrize("game", [game for game in GAMES if game in CARTRIDGES])
def test_the_lives_at_first_are_the_cartridges(game):
    cartridge = AtariVectorEnv(game, 1)
    assert envs_c.make(game).reset()[1]["lives"].tolist() == cartridge.reset(seed=1)[1]["lives"].tolist()


@pytest.mark.parametrize("mode", ["next_step", "same_step"])
@pytest.mark.parametrize("settings", [{}, {"episodic_life": True}, {"life_loss_info": True},
                                      {"episodic_life": True, "life_loss_info": True}])
def test_breakout_reports_lives_and_ends_as_ale_does(settings, mode):
    modes = {"next_step": "NextStep", "same_step": "SameStep"}
    theirs = AtariVectorEnv("breakout", 2, noop_max=0, use_fire_reset=False, autoreset_mode=modes[mode], **settings)
    ours = envs_c.make("breakout", 2, autoreset=mode, **settings)
    their_lives, our_lives = (env.reset(seed=1)[1]["lives"] for env in (theirs, ours))
    for t in range(300):
        assert our_lives.dtype == their_lives.dtype and our_lives.tolist() == their_lives.tolist(), t
        actions = np.full(2, SERVE[t % 3])
        *_, their_terminated, their_truncated, their_infos = theirs.step(actions)
        *_, terminated, truncated, infos = ours.step(actions)
        assert terminated.dtype == their_terminated.dtype and terminated.tolist() == their_terminated.tolist(), t
        assert truncated.tolist() == their_truncated.tolist(), t
        our_lives, their_lives = infos["lives"], their_infos["lives"]


@pytest.mark.parametrize("settings", [{}, {"frame_stack": 2, "copy": False}, {"view": "both"}], ids=repr)
def test_a_lost_life_reported_as_an_end_has_the_present_observation_as_its_last(settings):
    """As ale-py has it under "same_step"; "final_info" is only of episodes that ended."""
    env = envs_c.make("breakout", 2, autoreset="same_step", life_loss_info=True, **settings)
    env.reset(seed=1)
    lost = ended = 0
    for t in range(300):
        observations, _, terminated, _, infos = env.step([SERVE[t % 3], 0])
        over = infos.get("_final_info", np.zeros(2, bool))
        assert infos.get("_final_obs", np.zeros(2, bool)).tolist() == terminated.tolist(), t
        assert not over.any() or over.tolist() == infos["_episode_stats"].tolist()
        for i in np.flatnonzero(terminated):
            last, present = infos["final_obs"][i], row_of(observations, i)
            same = all(map(np.array_equal, parts(last), parts(present)))
            assert same != over[i] and not any(map(np.shares_memory, parts(last), parts(observations))), t
        lost, ended = lost + (terminated & ~over).sum(), ended + over.sum()
    assert lost > 2 * ended > 0


def parts(observations) -> list[np.ndarray]:
    return list(observations.values()) if isinstance(observations, dict) else [observations]


@pytest.mark.parametrize("game", GAMES)
def test_an_episode_of_one_life_ends_with_the_frame_that_loses_it(game):
    """The plain form: steps of one frame, up to four of them, until a life is lost."""
    whole = envs_c.make(game, 1, frame_skip=4, episodic_life=True, autoreset="disabled", seed=3)
    frames = envs_c.make(game, 1, frame_skip=1, autoreset="disabled", seed=3)
    _, infos = whole.reset()
    left = frames.reset()[1]["lives"][0]
    ends = []
    rng = np.random.default_rng(0)
    for _ in range(3000):
        action = rng.integers(0, whole.action_space.nvec)
        observation, reward, terminated, _, infos = whole.step(action)
        total, over = 0.0, False
        for _ in range(4):
            plain, part, ended, _, plain_infos = frames.step(action)
            total += part[0]
            lost = 0 < plain_infos["lives"][0] < left
            left = plain_infos["lives"][0]
            over = ended[0] or lost
            if over:
                ends.append(lost)
                break
        assert np.array_equal(observation, plain) and reward[0] == total
        assert terminated[0] == over and infos["lives"][0] == left
        if over:
            whole.reset()
            left = frames.reset()[1]["lives"][0]
            if len(ends) == 3:
                break
    assert True in ends


@pytest.mark.parametrize("make", [envs_c.make, envs_c.make_async])
def test_the_last_infos_of_same_step_have_the_lives_at_the_end(make):
    env = make("breakout", 1, autoreset="same_step", episodic_life=True)
    env.reset(seed=1)
    for t in range(100):
        *_, terminated, _, infos = env.step([SERVE[t % 3]])
        if terminated[0]:
            break
    assert infos["lives"].tolist() == [5] and infos["final_info"]["lives"].tolist() == [4]
    env.close()


def test_the_last_infos_of_same_step_have_the_lives_at_a_time_limit():
    env = envs_c.make("breakout", 1, autoreset="same_step", time_limit=5, lives=3)
    env.reset(seed=1)
    for _ in range(5):
        *_, truncated, infos = env.step([0])
    assert truncated[0] and infos["lives"].tolist() == infos["final_info"]["lives"].tolist() == [3]


def test_lost_lives_that_end_no_episode_change_neither_statistics_nor_stacked_frames():
    runs = []
    for settings in ({}, {"life_loss_info": True}):
        env = envs_c.make("breakout", 2, view="pixels", frame_stack=2, **settings)
        env.reset(seed=1)
        steps = [env.step(np.full(2, SERVE[t % 3])) for t in range(160)]
        runs.append(([step[0] for step in steps], [step[4]["episode_stats"]["l"].tolist() for step in steps
                                                   if "episode_stats" in step[4]]))
    assert np.array_equal(runs[0][0], runs[1][0]) and runs[0][1] == runs[1][1] != []


def test_the_engine_counts_lives_only_on_request():
    assert envs_c.VecEnv(envs_c.game("breakout"), 2).lives is None
    assert envs_c.VecEnv(envs_c.game("pong"), 2, count_lives=True).lives is None
    assert envs_c.VecEnv(envs_c.game("breakout"), 2, count_lives=True).lives.tolist() == [0, 0]


def test_games_without_lives_report_none_and_refuse_their_settings():
    env = gymnasium.make("Arcade/Pong-v0")
    assert "lives" not in env.reset()[1] and env.unwrapped.ale.lives() == 0
    for name in ("episodic_life", "life_loss_info"):
        with pytest.raises(envs_c.InvalidArgument, match=f"{name} must be False, not True: pong has no lives"):
            envs_c.make("pong", **{name: True})
    with pytest.raises(envs_c.InvalidArgument, match="episodic_life must be True or False, not 2"):
        envs_c.make("breakout", episodic_life=2)


@pytest.mark.parametrize("make", [gymnasium.make, lambda *args, **settings: gymnasium.make_vec(
    *args, num_envs=2, vectorization_mode="sync", **settings)], ids=["make", "sync"])
def test_a_single_environment_refuses_lost_lives_without_an_end_since_its_caller_resets_it(make):
    with pytest.raises(envs_c.InvalidArgument, match=r"life_loss_info must be False, not True: gymnasium\.make gives one"):
        make("Arcade/Breakout-v0", life_loss_info=True)


def test_stable_baselines3_reports_lives_and_refuses_ends_without_a_reset():
    sb3 = pytest.importorskip("envs_c.sb3")
    env = sb3.make("breakout", 2, lives=1, seed=1)
    env.reset()
    assert env.reset_infos == [{"lives": 1}] * 2
    for t in range(100):
        _, _, dones, infos = env.step(np.full(2, SERVE[t % 3]))
        if dones[0]:
            break
        assert infos[0]["lives"] == 1
    assert infos[0]["lives"] == 0 and env.reset_infos[0] == {"lives": 1}
    with pytest.raises(envs_c.InvalidArgument, match="life_loss_info must be False with stable-baselines3"):
        sb3.make("breakout", 2, life_loss_info=True)

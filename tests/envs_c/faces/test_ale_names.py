"""ALE's names: settings, actions and the object `ale` mean what they mean in ale-py, and wrappers for Atari work."""

import ale_py
import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import AtariPreprocessing

import envs_c
from envs_c.gymnasium_env.ale import ACTIONS, CARTRIDGES, game_actions

gymnasium.register_envs(ale_py)
TITLES = {name: envs_c.game(name).title for name in CARTRIDGES}
OWN = [name for name in envs_c.built_in() if name not in CARTRIDGES]


@pytest.mark.parametrize(("given", "ours"), [
    ({"frameskip": 3}, {"frame_skip": 3}), ({"frameskip": (2, 5)}, {"frame_skip": (2, 5)}),
    ({"repeat_action_probability": 0.25}, {"sticky": 0.25}), ({"mode": 0, "difficulty": 0}, {}),
    ({"obs_type": "rgb"}, {"view": "rgb"}), ({"obs_type": "grayscale"}, {"view": "pixels", "picture_size": (210, 160)}),
    ({"mode": None, "difficulty": None, "full_action_space": False}, {}),
    ({"frameskip": None, "max_num_frames_per_episode": None}, {})])
def test_a_setting_by_ales_name_is_our_setting(given, ours):
    pairs = [envs_c.make("breakout", 2, seed=1, **settings) for settings in (given, ours)]
    for env in pairs:
        env.reset(seed=1)
        env.action_space.seed(1)
    for _ in range(50):
        ones, others = (env.step(env.action_space.sample()) for env in pairs)
        assert all(np.array_equal(a, b) for a, b in zip(ones[:4], others[:4], strict=True))


@pytest.mark.parametrize("mode", range(8))
@pytest.mark.parametrize("difficulty", [0, 1])
def test_freeways_modes_and_difficulties_are_its_games(mode, difficulty):
    options = envs_c.make("freeway", mode=mode, difficulty=difficulty).core.options
    assert (options["game"], options["difficulty"]) == (mode + 1, difficulty)


@pytest.mark.parametrize(("difficulty", "ufos"), [(None, 0), (0, 0), (3, 1)])
def test_asteroids_sends_ufos_at_ales_difficulty_3(difficulty, ufos):
    assert envs_c.make("asteroids", difficulty=difficulty).core.options["ufos"] == ufos


def test_a_game_with_an_own_option_of_ales_name_keeps_it():
    assert envs_c.make("platformer", difficulty=3).core.options["difficulty"] == 3


@pytest.mark.parametrize(("game", "settings", "message"), [
    ("pong", {"obs_type": "ram"}, "obs_type must be 'rgb' or 'grayscale', not 'ram': the games are no emulation"),
    ("pong", {"obs_type": "text"}, "obs_type must be one of 'grayscale', 'rgb', not 'text'"),
    ("pong", {"obs_type": "rgb", "view": "pixels"}, "obs_type and view or picture_size must not be given together"),
    ("pong", {"frameskip": 4, "frame_skip": 4}, "frameskip and frame_skip must not be given together"),
    ("pong", {"frameskip": (4, 4)}, r"^frameskip must be an integer from 1 to 1,000, or \(low, high\) with .*, not \(4, 4\)"),
    ("pong", {"frameskip": "4"}, "^frameskip must be an integer from 1 to 1,000, not '4'"),
    ("pong", {"repeat_action_probability": 2}, "^repeat_action_probability must be a number from 0 to 1, not 2"),
    ("pong", {"repeat_action_probability": None}, "^repeat_action_probability must be a number from 0 to 1, not None"),
    ("pong", {"max_num_frames_per_episode": "x"}, "^max_num_frames_per_episode must be an integer from 0 to .*, not 'x'"),
    ("pong", {"max_num_frames_per_episode": 4, "frameskip": 3}, "a multiple of frameskip, .*, not 4 with frameskip=3"),
    ("pong", {"max_num_frames_per_episode": 4, "frame_skip": 3}, "a multiple of frame_skip, .*, not 4 with frame_skip=3"),
    ("pong", {"obs_type": np.zeros(2)}, "^obs_type must be one of 'grayscale', 'rgb', not array"),
    ("pong", {"mode": 1}, "mode must be 0 for pong, not 1: the game is the cartridge's mode 0; games with others: freeway"),
    ("pong", {"difficulty": 1}, "difficulty must be 0 for pong, not 1: .*; games with others: asteroids, freeway"),
    ("asteroids", {"difficulty": 1}, "difficulty must be 0 or 3 for asteroids, not 1: .* ufos=0 to 1"),
    ("asteroids", {"difficulty": 4}, "difficulty must be an integer from 0 to 3, not 4"),
    ("asteroids", {"difficulty": 3, "ufos": 1}, "difficulty and ufos must not be given together"),
    ("freeway", {"mode": 8}, "mode must be an integer from 0 to 7, not 8"),
    ("freeway", {"mode": 1, "game": 2}, "mode and game must not be given together"),
    ("snake", {"mode": 1}, "mode must be left out for snake, not 1: .*; its options are size, wrap, patience"),
    ("cartpole", {"difficulty": 0}, "difficulty must be left out for cartpole, not 0: .*; it has no options"),
    ("snake", {"full_action_space": True}, "full_action_space must be False for snake, not True: .* asterix, asteroids"),
    ("pong", {"full_action_space": 2}, "full_action_space must be True or False, not 2")])
def test_settings_that_a_game_cannot_have_are_refused(game, settings, message):
    with pytest.raises(envs_c.InvalidArgument, match=message) as caught:
        envs_c.make(game, **settings)
    assert "\n" not in str(caught.value)


def test_a_random_frame_skip_has_every_length_up_to_the_bound():
    lengths = set()
    env, *plain = (envs_c.make("pong", 1, frame_skip=skip, time_limit=0) for skip in ((2, 5), 1, 2, 3, 4, 5))
    env.reset(seed=1)
    for _ in range(100):
        state = env.get_state()
        frames = []
        for other in plain:
            other.reset(seed=1)
            other.set_state(state)
            frames.append(other.step([2])[0])
        observation = env.step([2])[0]
        fitting = [k for k, plainly in enumerate(frames, 1) if np.array_equal(observation, plainly)]
        assert fitting
        lengths |= set(fitting) if len(fitting) == 1 else set()  # several fit while nothing moves
    assert lengths == {2, 3, 4}


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("game", CARTRIDGES)
def test_spaces_and_meanings_are_those_of_ale(game, full):
    theirs, ours = (gymnasium.make(name, obs_type=obs_type, full_action_space=full) for name, obs_type in (
        (f"ALE/{TITLES[game]}-v5", "rgb"), (f"Arcade/{TITLES[game]}-v0", "rgb")))
    assert ours.action_space == theirs.action_space
    assert ours.unwrapped.get_action_meanings() == theirs.unwrapped.get_action_meanings()
    grey = gymnasium.make(f"Arcade/{TITLES[game]}-v0", obs_type="grayscale")
    assert ours.observation_space == theirs.observation_space and grey.observation_space.shape == (210, 160)
    for env in (ours, grey):
        observation, info = env.reset(seed=1)
        assert observation in env.observation_space
        assert ("lives" in info) == (theirs.reset(seed=1)[1]["lives"] > 0)
        assert env.unwrapped.ale.lives() == theirs.unwrapped.ale.lives() and type(info.get("lives", 0)) is int
        picture = env.unwrapped.ale.getScreenRGB() if env is ours else env.unwrapped.ale.getScreenGrayscale()
        assert np.array_equal(picture, observation)
    assert ours.unwrapped.ale.getScreenDims() == theirs.unwrapped.ale.getScreenDims()


def test_our_own_games_have_the_meanings_of_their_actions():
    for game in OWN:
        env = gymnasium.make(f"Arcade/{envs_c.game(game).title}-v0")
        assert env.unwrapped.get_action_meanings() == list(env.unwrapped.vector.core.actions)


@pytest.mark.parametrize("game", CARTRIDGES)
def test_each_of_the_18_actions_does_what_the_cartridge_does_with_it(game):
    """From 40 states of a random play, the cartridge's pictures are the same under the action and under the game's one."""
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(ale_py.roms.get_rom_path(game))
    ale.reset_game()
    legal = ale.getLegalActionSet()
    names = envs_c.game(game).actions
    assert tuple(action.name for action in legal) == ACTIONS

    def pictures(name):
        ale.restoreState(state)
        return [(ale.act(getattr(ale_py.Action, name)), ale.getScreen().tobytes()) for _ in range(6)]

    rng = np.random.default_rng(0)
    for _ in range(40):
        held = legal[rng.integers(18)]
        for _ in range(int(rng.integers(1, 12))):
            ale.act(held)
            if ale.game_over():
                ale.reset_game()
        state = ale.cloneState()
        for action, ours in zip(ACTIONS, game_actions(names), strict=True):
            serves_and_moves = game == "breakout" and action.endswith(("RIGHTFIRE", "LEFTFIRE"))  # no action of the game does
            if action != names[ours] and not serves_and_moves:
                assert pictures(action) == pictures(names[ours]), action
        ale.restoreState(state)


@pytest.mark.parametrize("game", ["breakout", "pacman"])
def test_of_parts_that_no_action_of_the_game_has_together_the_horizontal_one_counts(game):
    names = envs_c.game(game).actions
    for action, ours in zip(ACTIONS, game_actions(names), strict=True):
        for turn in ("RIGHT", "LEFT"):
            assert turn not in action or turn in names[ours], action


@pytest.mark.parametrize("game", ["freeway", "asteroids"])
def test_environments_with_all_18_actions_step_as_with_the_games_own(game):
    full, own = envs_c.make(game, 18, full_action_space=True), envs_c.make(game, 18)
    assert full.single_action_space.n == 18
    for env in (full, own):
        env.reset(seed=1)
    table = game_actions(own.core.actions)
    for step in range(60):
        actions = (np.arange(18) + step) % 18
        assert np.array_equal(full.step(actions)[0], own.step(table[actions])[0])
    for wrong in (18, -1):
        with pytest.raises(envs_c.InvalidArgument, match=f"action of environment 0 must be from 0 to 17 .*, not {wrong}"):
            full.step([wrong] + [0] * 17)


@pytest.mark.parametrize("settings", [{}, {"grayscale_obs": False}, {"terminal_on_life_loss": True},
                                      {"scale_obs": True, "grayscale_newaxis": True, "screen_size": (60, 40)}])
@pytest.mark.parametrize("game", ["breakout", "pong", "freeway", "pacman"])
def test_gymnasiums_preprocessing_works(game, settings):
    pytest.importorskip("cv2")
    env = AtariPreprocessing(gymnasium.make(f"Arcade/{envs_c.game(game).title}-v0", obs_type="rgb", frameskip=1,
                                            repeat_action_probability=0.0), noop_max=5, **settings)
    observation, _ = env.reset(seed=1)
    env.action_space.seed(1)
    for _ in range(30):
        assert observation in env.observation_space and observation.any()
        observation, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            observation, _ = env.reset()


@pytest.mark.parametrize("name", ["lives", "game_over", "getScreenRGB", "cloneState"])
def test_a_call_of_ale_after_close_is_an_error(name):
    env = gymnasium.make("Arcade/Breakout-v0").unwrapped
    env.reset(seed=1)
    env.close()
    with pytest.raises(envs_c.Closed, match="these breakout environments were closed"):
        getattr(env.ale, name)()


@pytest.mark.parametrize(("out", "given"), [(np.zeros(118, np.uint8), r"\(118,\)"), ([1], r"\[1\]"), ("a", "'a'")], ids=str)
@pytest.mark.parametrize(("name", "shape"), [("getScreenGrayscale", r"\(210, 160\)"), ("getScreenRGB", r"\(210, 160, 3\)")])
def test_a_screen_that_does_not_fit_the_observations_is_refused_with_the_setting_to_change(name, shape, out, given):
    env = gymnasium.make("Arcade/Breakout-v0", frameskip=1).unwrapped
    env.reset(seed=1)
    with pytest.raises(envs_c.InvalidArgument, match=rf"must have shape {shape}, not {given}: .*obs_type='rgb'"):
        getattr(env.ale, name)(out)


def test_preprocessing_ends_breakouts_episodes_where_it_ends_ales():
    pytest.importorskip("cv2")
    ends = []
    for name in ("ALE/Breakout-v5", "Arcade/Breakout-v0"):
        env = AtariPreprocessing(gymnasium.make(name, obs_type="rgb", frameskip=1, repeat_action_probability=0.0), noop_max=0,
                                 terminal_on_life_loss=True)
        env.reset(seed=1)
        ends.append([])
        for t in range(200):
            *_, terminated, _, info = env.step([1, 0, 0][t % 3])
            if terminated:
                ends[-1].append((t, info["lives"]))
                env.reset()
    assert ends[0] == ends[1] != []


def test_stable_baselines3s_atari_environments_work():
    pytest.importorskip("cv2")
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.env_util import make_atari_env
    env = make_atari_env("Arcade/Breakout-v0", n_envs=2, seed=1, env_kwargs={"obs_type": "rgb", "frameskip": 1})
    assert env.reset().shape == (2, 84, 84, 1)
    ended = []
    for t in range(400):
        _, rewards, dones, infos = env.step([0, t % 4])
        ended += [info["lives"] for info, done in zip(infos, dones, strict=True) if done]
        assert set(rewards) <= {-1.0, 0.0, 1.0}
    assert len(ended) > 2 and max(ended) > 0

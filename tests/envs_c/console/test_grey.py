"""Grey pictures of 84x84: those of ale-py's AtariVectorEnv, byte for byte."""

import numpy as np
import pytest

pytest.importorskip("ale_py")

from ale_py import ALEInterface, AtariVectorEnv, roms

import envs_c
from envs_c.console import cartridges

# the 250 rows of PAL; air_raid's frames have an odd number of lines, and so other greys; laser_gates has the colour whose grey
# other weights round up
PAL = [game for game, row in cartridges.table().items() if row["last_line"] > 300]
# carnival, pooyan and journey_escape have 214, 220 and 230 rows
GAMES = ["amidar", "bank_heist", "breakout", "carnival", "chopper_command", "frostbite", "journey_escape", "kaboom", "pong",
         "pooyan", "seaquest", "space_invaders", *PAL]


def pair(name: str, frame_skip: int = 4):
    """ale-py's vector environment and ours, with the same game and settings."""
    theirs = AtariVectorEnv(name, 1, stack_num=1, frameskip=frame_skip, noop_max=0, reward_clipping=False, use_fire_reset=False,
                            repeat_action_probability=0.0)
    return theirs, envs_c.make(f"atari:{name}", view="pixels", frame_skip=frame_skip)


def check(theirs, ours, steps: int, seed: int = 0) -> int:
    """Compare the pictures of random play through ends and resets. Returns the number of pictures."""
    draw, seen = np.random.default_rng(seed), 0
    pictures = theirs.reset(seed=0)[0][:, 0], ours.reset(seed=0)[0]
    ended = False
    for step in range(steps + 1):
        if not ended:  # an episode's last picture is an earlier one there
            assert np.array_equal(*pictures), f"step {step}"
            seen += 1
        actions = draw.integers(ours.single_action_space.n, size=1)
        (picture, reward, terminated, *_), ours_now = theirs.step(actions), ours.step(actions)
        assert reward == ours_now[1] and terminated == ours_now[2]
        ended, pictures = terminated[0], (picture[:, 0], ours_now[0])
    return seen


@pytest.mark.parametrize("name", GAMES)
def test_pictures_are_those_of_atari_vector_env(name):
    assert check(*pair(name), 100) > 90


@pytest.mark.parametrize("name", [*PAL, "pong", "seaquest"])
def test_whole_screens_in_grey_are_those_of_the_interface(name):
    ale, draw = ALEInterface(), np.random.default_rng(1)
    ale.setFloat("repeat_action_probability", 0.0)
    ale.loadROM(roms.get_rom_path(name))
    ale.reset_game()
    height, width = ale.getScreenDims()
    ours = envs_c.make(f"atari:{name}", view="pixels", picture_size=(height, width), frame_skip=1, full_action_space=True)
    picture = ours.reset()[0]
    for frame in range(60):
        assert np.array_equal(picture[0], ale.getScreenGrayscale()), f"frame {frame}"
        assert np.array_equal(ours.core.render(0, grey=True), picture[0])
        action = draw.integers(18)
        ale.act(action)
        picture = ours.step([action])[0]


@pytest.mark.parametrize("frame_skip", [1, 2, 3])
def test_a_step_of_one_frame_shows_it_alone_and_others_the_brighter_of_two(frame_skip):
    assert check(*pair("seaquest", frame_skip), 80) > 70


@pytest.mark.parametrize("frame_skip", [1, 2, 3])
def test_rows_of_an_older_frame_are_grey_too(frame_skip):
    assert check(*pair("qbert", frame_skip), 4) == 5  # its second frame ends before its picture


def test_a_later_episode_begins_with_its_own_picture():
    theirs, ours = pair("kaboom")
    assert check(theirs, ours, 220, seed=2) > 210
    assert ours.core.ended_length[0] > 0, "an episode has ended"


def test_an_episode_that_begins_with_noops_shows_the_last_of_them_alone():
    single = envs_c.make("atari:assault", view="both", frame_skip=1)
    seen = [single.reset()[0], *(single.step([0])[0] for _ in range(9))]
    for seed in range(6):
        first = envs_c.make("atari:assault", view="both", noop_max=9, seed=seed).reset()[0]
        same = [k for k, one in enumerate(seen) if np.array_equal(one["features"], first["features"])]
        assert len(same) == 1 and same[0] > 0
        assert np.array_equal(seen[same[0]]["pixels"], first["pixels"])


def test_a_snapshot_keeps_both_frames():
    ours = envs_c.make("atari:seaquest", view="pixels")
    ours.reset()
    for action in (1, 5, 3, 4) * 8:
        picture = ours.step([action])[0]
    assert np.array_equal(envs_c.make("atari:seaquest", view="pixels").set_state(ours.get_state()), picture)


@pytest.mark.parametrize("frame_skip", [4, 7, 16])
def test_the_last_picture_of_an_episode_shows_its_last_frames_wherever_it_ends_in_a_step(frame_skip):
    settings = {"view": "pixels", "frame_skip": frame_skip, "autoreset": "disabled"}
    ours, draw, terminated = envs_c.make("atari:kaboom", **settings), np.random.default_rng(2), [False]
    ours.reset()
    while not terminated[0]:
        picture, _, terminated, *_ = ours.step(draw.integers(ours.single_action_space.n, size=1))
    assert np.array_equal(envs_c.make("atari:kaboom", **settings).set_state(ours.get_state()), picture)

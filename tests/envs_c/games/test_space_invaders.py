"""Space Invaders' rules, one by one and against a twin in plain Python. The cartridge: test_space_invaders_cartridge.py."""

import numpy as np
import pytest
from space_machine import FIRE, NOOP, REST, RIGHT, RIGHT_FIRE, Space, begun

import envs_c

SHOW, BURN, CLEAR = 1, 2, 3
OPTIONS = [{}, {"first_wave": 4}, {"shields": 0}, {"saucer": 0}, {"bombs": 0}, {"aimed_bombs": 0}]


@pytest.fixture
def space():
    """Our game after its first rest, without bombs."""
    return begun(bombs=0)


def test_has_its_actions_features_and_screen():
    game = envs_c.game("space_invaders")
    assert game.actions == ("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE")
    assert game.feature_shape == (94,) and game.screen == (160, 210) and game.frame_skip == 4


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_frame_of_random_play_equals_the_twin_in_plain_python(options):
    machine, random = Space(3, **options), np.random.default_rng(1)
    machine.change(clock=2, saucer_wait=1)
    twin = machine.twin()
    for frame in range(420):
        if frame == 150:  # a few invaders that march fast, and a saucer soon
            machine.leave([0, 0, 0, 6, 12, 4])
            machine.change(saucer_wait=1, clock=9)
            twin = machine.twin()
        action = int(random.integers(6)) if random.random() < 0.7 else FIRE
        assert machine.step(action) == twin.step(action)
        state = machine.read()
        for name in set(state.dtype.names) - set(machine.SHOWN):
            assert np.array_equal(state[name], getattr(twin, name)), f"frame {frame}: {name}"


def test_rests_before_the_first_wave():
    machine = Space()
    machine.play(*[RIGHT_FIRE] * (REST - 1))
    assert machine.cannon == 34 and machine.shot_y == 0 and machine.x == 22
    machine.step(NOOP)
    assert machine.x == 23


@pytest.mark.parametrize("row", range(6))
def test_an_invader_gives_5_points_a_row_from_below(space, row):
    for column in range(3):
        space.change(shot_x=space.x + 16 * column + 3, shot_y=30 + 18 * row if row % 2 == 0 else 32 + 18 * row, clock=40)
        points = [space.step(NOOP)[0] for _ in range(4)]
        assert sum(points) == 5 * (6 - row) and space.shot_y == 0
    assert space.row[row] == 0b111000 and space.count == 33


def test_one_shot_at_a_time_which_rises_by_4_every_other_frame(space):
    space.remove_shields()
    space.leave([0b100000, 0, 0, 0, 0, 0])
    heights = []
    for _ in range(200):
        space.change(clock=62 + space.clock % 2)
        space.step(FIRE)
        heights.append(space.shot_y)
    falls = np.diff(heights)
    assert max(heights) == 174 and set(falls[falls < 0].tolist()) == {-4, -10} and (falls > 100).sum() >= 2


@pytest.mark.parametrize("way", [1, -1])
def test_the_saucer_gives_200_and_crosses_by_a_pixel_every_4_frames(space, way):
    space.change(saucer_x=75, saucer_way=way, clock=255)
    space.play(*[NOOP] * 40)
    assert space.saucer_x == 75 + 10 * way
    space.change(shot_x=space.saucer_x + 3, shot_y=22, clock=160)
    assert space.play(NOOP, NOOP) == 200 and space.blast_row == 6
    x = space.saucer_x
    space.play(*[NOOP] * 12)
    assert space.saucer_x == x  # it stays where it was hit, and then is gone
    space.play(*[NOOP] * 20)
    assert space.saucer_x == -1


def test_the_saucer_comes_after_832_frames_of_play_if_7_invaders_are_left(space):
    space.change(bomb_y=[0, 0])
    for left in (7, 6):
        space.leave([2**left - 1 if left < 7 else 63, left == 7, 0, 0, 0, 0])
        space.change(saucer_wait=1, clock=2, saucer_x=-1, y=31)
        space.step(NOOP)
        assert space.saucer_x == -1
        space.step(NOOP)
        assert (space.saucer_x in (0, 150)) == (left == 7)


def test_a_wave_begins_lower_by_10_up_to_40_with_whole_shields(space):
    tops = []
    for _ in range(7):
        space.remove_shields()
        space.change(row=[0] * 6, count=0, phase=CLEAR, clock=1)
        space.step(NOOP)
        tops.append(space.y)
        assert space.count == 36 and np.array(space.shield)[:, -1].tolist() == [195] * 3 and space.phase == SHOW
    assert tops == [41, 51, 61, 71, 71, 71, 71]


def test_bombs_take_shields_away_from_above_and_shots_from_below(space):
    space.change(bomb_x=[44, 0], bomb_y=[148, 0], clock=40, seed=0)
    space.play(NOOP, NOOP)
    assert space.bomb_y[0] == 0 and space.shield[0][0] & 32 == space.shield[0][1] & 32 == 0 and space.shield[0][2] == 126
    space.change(shot_x=110, shot_y=174, clock=40, bomb_y=[0, 0])
    space.play(*[NOOP] * 4)
    assert space.shield[2][7] & 8 == space.shield[2][6] & 8 == 0 and space.shot_y > 200


def test_the_shields_are_gone_once_the_invaders_are_low(space):
    space.change(y=31 + 24)
    space.step(NOOP)
    assert space.sheltered == 0 and (space.seen[36:60] == 1).all()


def test_a_bomb_takes_a_life_and_the_last_one_ends_the_episode():
    space = begun(bombs=0)
    for left in reversed(range(space.lives)):
        space.change(bomb_x=[space.cannon + 3, 0], bomb_y=[182, 0], clock=60)
        space.play(NOOP, NOOP)
        assert space.phase == BURN
        ends = [space.step(NOOP)[1] for _ in range(128)]
        assert space.lives == left and ends == [False] * 127 + [left == 0]
        if left:
            assert space.cannon == 34 and space.phase == SHOW
            space.play(*[RIGHT] * 64)
            assert space.phase == 0 and space.cannon == 35


def test_of_two_bombs_the_upper_one_comes_first_and_they_are_32_apart():
    machine, gaps = begun(5), []
    for _ in range(600):
        machine.step(NOOP)
        upper, lower = machine.bomb_y
        if lower:
            gaps.append(lower - upper)
    assert min(gaps) == 32


@pytest.mark.parametrize("option, holds", [
    ("bombs", lambda games: all(max(game.bomb_y) == 0 for game in games)),
    ("saucer", lambda games: all(game.saucer_x == -1 for game in games)),
    ("shields", lambda games: all(not np.any(game.shield) and (game.seen[36:60] > 0).all() for game in games)),
], ids=["bombs", "saucer", "shields"])
def test_an_option_takes_one_thing_away(option, holds):
    seen = {}
    for value in (0, 1):
        machine = begun(1, **{option: value})
        machine.change(saucer_wait=1, clock=20)
        games = []
        for _ in range(24):
            machine.step(NOOP)
            games.append(machine.twin())
            games[-1].seen = machine.seen
        seen[value] = holds(games)
    assert seen == {0: True, 1: False}


def test_without_aim_bombs_fall_from_all_columns_alike():
    """Shares of the columns of 500 bombs each: the cannon stands below the last one."""
    shares = {}
    for aimed in (0, 1):
        machine, columns = begun(2, aimed_bombs=aimed), []
        for seed in range(250):
            machine.change(seed=seed, cannon=105, bomb_y=[0, 0], clock=39)
            machine.step(NOOP)
            columns.append((machine.bomb_x[0] - 3 - machine.x) // 16)
        shares[aimed] = np.bincount(columns, minlength=6) / 250
    assert np.ptp(shares[0]) < 0.06 and shares[1][5] > 0.4


@pytest.mark.parametrize("clock", [40, 41])
def test_flicker_shows_bombs_in_even_frames_and_the_shot_in_odd_ones(clock):
    silver = {}
    for flicker in (0, 1):
        machine = begun(bombs=0, flicker=flicker)
        machine.change(bomb_x=[20, 0], bomb_y=[100, 0], shot_x=64, shot_y=166, clock=clock + 1)
        machine.step(NOOP)
        picture = (machine.picture() == 142).all(-1)
        silver[flicker] = picture[:, 20].any(), picture[:, 64].any()
    assert silver == {0: (True, True), 1: (clock % 2 == 0, clock % 2 == 1)}


def test_an_episode_begins_with_a_number_of_its_own_unless_scatter_is_0():
    assert len({Space(seed).seed for seed in range(40)}) > 25 and {Space(seed, scatter=0).seed for seed in range(5)} == {21}

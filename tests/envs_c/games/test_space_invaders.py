"""Space Invaders' rules, one by one. test_space_invaders_cartridge.py compares the game with the cartridge."""

import numpy as np
import pytest
from space_machine import FIRE, NOOP, REST, RIGHT, RIGHT_FIRE, Space, begun

import envs_c


@pytest.fixture
def space():
    """Our game after its first rest."""
    return begun()


def test_has_its_actions_features_and_screen():
    game = envs_c.game("space_invaders")
    assert game.actions == ("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE")
    assert game.feature_shape == (94,) and game.screen == (160, 210) and game.frame_skip == 4


def test_rests_before_the_first_wave():
    machine = Space()
    machine.play(*[RIGHT_FIRE] * (REST - 1))
    assert machine.cannon == 34 and machine.shot_y == 0 and machine.x == 22
    machine.play(NOOP, NOOP)
    assert machine.x == 23


@pytest.mark.parametrize("row", range(6))
def test_an_invader_gives_5_points_a_row_from_below(space, row):
    for column in range(3):
        space.calm()
        space.change(shot_x=space.x + 16 * column + 5, shot_y=31 + 18 * row + 12, odd=1)
        assert space.step(NOOP) == (5 * (6 - row), False) and space.shot_y == 0
    assert space.row[row] == 0b111000 and space.count == 33


def test_one_shot_at_a_time(space):
    space.remove_shields()
    space.leave([0b100000, 0, 0, 0, 0, 0])
    heights = []
    for _ in range(200):
        space.calm()
        space.change(march=32)
        space.step(FIRE)
        heights.append(space.shot_y)
    assert max(heights) <= 174 and min(heights) == 0
    falls = np.diff(heights)
    assert set(falls[falls < 0].tolist()) >= {-4}
    assert (falls > 100).sum() >= 2  # fired again, each time after the last shot was gone


@pytest.mark.parametrize("way", [1, -1])
def test_the_saucer_gives_200_and_crosses_by_a_pixel_every_4_frames(space, way):
    space.change(saucer_x=75, saucer_way=way, saucer_wait=0, quarter=0)
    for _ in range(40):
        space.change(bomb_y=[0, 0], bomb_age=0, bomb_rest=0)
        space.step(NOOP)
    assert space.saucer_x == 75 + 10 * way
    space.change(shot_x=space.saucer_x + 3, shot_y=22, odd=1)
    assert space.step(NOOP)[0] == 200 and space.saucer_x == -1


def test_the_saucer_comes_after_832_frames_of_play(space):
    for _ in range(831):
        space.change(bomb_y=[0, 0], bomb_age=0, bomb_rest=0)
        space.step(NOOP)
        assert space.saucer_x == -1
    space.step(NOOP)
    assert space.saucer_x in (0, 149)


def test_a_wave_begins_lower_by_10_up_to_40_with_whole_shields(space):
    tops = []
    for _ in range(7):
        space.remove_shields()
        space.change(row=[0] * 6, count=0, phase=1, rest=1)
        space.step(NOOP)
        tops.append(space.y)
        assert space.count == 36 and np.array(space.shield)[:, -1].tolist() == [195] * 3
    assert tops == [41, 51, 61, 71, 71, 71, 71]


def test_bombs_take_shields_away_from_above_and_shots_from_below(space):
    space.change(bomb_x=[44, 0], bomb_y=[148, 0], odd=1)
    space.step(NOOP)
    assert space.shield[0][:2] == [60 - 32, 126 - 32]
    space.change(shot_x=110, shot_y=174, odd=1, bomb_y=[0, 0])
    space.step(NOOP)
    assert space.shield[2][5:7] == [255 - 8, 255 - 8] and space.shot_y == 0


def test_a_bomb_takes_a_life_and_the_last_one_ends_the_episode(space):
    lives = space.lives
    for left in reversed(range(lives)):
        space.change(bomb_x=[space.cannon + 3, 0], bomb_y=[178, 0], odd=1)
        assert space.step(NOOP) == (0, False) and space.phase == 2
        ends = [space.step(NOOP)[1] for _ in range(REST)]
        assert space.lives == left and ends == [False] * (REST - 1) + [left == 0]
        if left:
            assert space.cannon == 34 and space.phase == 3
            space.play(*[RIGHT] * 64)
            assert space.phase == 0 and space.cannon == 34


def test_bombs_fall_from_the_lowest_invader_and_mostly_near_the_cannon():
    columns, near = [], []
    for seed in range(60):
        machine = begun(seed)
        machine.change(cannon=101)
        machine.leave([63, 63, 63, 63, 63, 0b111110])
        machine.play(*[NOOP] * 3)
        column = (machine.bomb_x[0] - 3 - machine.x) // 16
        columns.append(column)
        near.append(column == 5)
        assert 122 - 18 * (column == 0) <= machine.bomb_y[0] <= 126 - 18 * (column == 0)
    assert 0.3 < np.mean(near) < 0.75 and len(set(columns)) > 3


def test_the_older_bomb_is_left_to_fall_before_a_third_one(space):
    space.change(bomb_x=[10, 20], bomb_y=[60, 100], bomb_age=60, bomb_rest=0)
    heights = []
    while not heights or space.bomb_y[1] > heights[-1]:
        heights.append(space.bomb_y[1])
        space.play(NOOP, NOOP)
    assert heights[-1] >= 184 and space.bomb_age < 4

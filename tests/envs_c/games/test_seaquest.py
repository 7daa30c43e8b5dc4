"""Seaquest's rules, one by one. cartridges/ compares the game with the cartridge."""

import numpy as np
import pytest
from sea import ACTIONS, DIES, DOWN, FILLING, FIRE, LEFT, NOOP, PLAYS, RIGHT, UP, Sea, empty, start
from support import assert_grey_is_average, play_core

import envs_c
from benchmarks.cartridges.open_state import write


@pytest.fixture
def sea():
    """Our game with a full tank and no enemy in sight."""
    return start()


def test_has_its_actions_features_and_screen():
    game = envs_c.game("seaquest")
    assert list(game.actions) == ACTIONS
    assert game.feature_shape == (69,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (160, 210)


def test_the_tank_is_filled_before_anything_moves():
    sea = Sea()
    levels = [sea.oxygen]
    for _ in range(FILLING - 1):
        sea.step(RIGHT)
        levels.append(sea.oxygen)
    assert levels[0] == 0 and levels[-1] == 63 and max(np.diff(levels)) == 1
    assert (sea.x_ship, sea.y, sea.alive) == (76, 13, [0] * 4)
    sea.step()
    assert sea.oxygen == 64 and all(sea.alive) and sea.phase == PLAYS


@pytest.mark.parametrize("action", range(18))
def test_the_submarine_moves_by_1_and_stays_in_the_sea(sea, action):
    across = ("RIGHT" in ACTIONS[action]) - ("LEFT" in ACTIONS[action])
    down = ("DOWN" in ACTIONS[action]) - ("UP" in ACTIONS[action])
    for frames, x, y in ((1, 70 + across, 60 + down), (150, (21, 70, 134)[across + 1], (13, 60, 108)[down + 1])):
        empty(sea, x_ship=70, y=60, crew=3)
        for _ in range(frames):
            sea.step(action)
        assert (sea.x_ship, sea.y) == (x, y)


@pytest.mark.parametrize("action, places", [("FIRE", range(83, 160, 5)), ("LEFTFIRE", range(72, 0, -5))])
def test_a_torpedo_flies_at_5_and_the_next_one_waits_for_it(sea, action, places):
    empty(sea, x_ship=70, y=60)
    seen = []
    for _ in range(len(places) + 2):
        sea.step(ACTIONS.index(action))
        seen.append(sea.torpedo)
    assert seen[: len(places)] == list(places) and seen[-2] == 0 and seen[-1] > 0


def test_fires_only_below_the_surface(sea):
    for y, fires in ((13, False), (17, False), (18, True)):
        empty(sea, y=y, torpedo=0)
        sea.step(FIRE)
        assert (sea.torpedo > 0) == fires


def test_oxygen_lasts_32_frames_a_unit_below_the_surface_only(sea):
    for y, used in ((13, 0), (19, 0), (20, 3)):
        empty(sea, y=y, oxygen=64)
        for _ in range(96):
            sea.step()
            empty(sea)
        assert 64 - sea.oxygen == used


def test_the_end_of_the_oxygen_takes_a_life(sea):
    empty(sea, y=60, oxygen=1, crew=2)
    while sea.phase == PLAYS:
        sea.step()
    sea.play(NOOP, 92)
    assert (sea.lives, sea.crew, sea.x_ship, sea.y, sea.oxygen, sea.phase) == (3, 1, 76, 13, 0, 0)


@pytest.mark.parametrize("crew", range(1, 6))
def test_at_the_surface_the_tank_is_filled_for_a_diver(sea, crew):
    empty(sea, y=14, oxygen=40, crew=crew)
    sea.step(UP)
    for _ in range(48):
        if sea.oxygen == 64:
            break
        assert sea.crew == crew and sea.y == 13
        sea.step(DOWN)
        empty(sea)
    assert (sea.oxygen, sea.crew, sea.pace, sea.y) == (64, crew - 1, 1, 14)


def test_a_torpedo_rests_while_the_tank_is_filled(sea):
    empty(sea, y=14, oxygen=60, crew=1, torpedo=90, torpedo_right=1)
    sea.play(UP, 5)
    assert sea.torpedo == 95 and sea.oxygen < 64
    sea.play(UP, 6)
    assert sea.torpedo > 95


def test_at_the_surface_without_divers_is_death_unless_the_tank_is_full(sea):
    for oxygen, phase in ((64, PLAYS), (63, DIES)):
        empty(sea, y=14, oxygen=oxygen, crew=0)
        sea.play(UP, 2)
        assert sea.phase == phase


def test_six_divers_are_the_most(sea):
    for crew, taken in ((5, 6), (6, 6)):
        empty(sea, y=35, crew=crew)
        sea.change(guest=[0, 0, 0, 76], diver=[2, 2, 0, 1])
        sea.step()
        assert sea.crew == taken


def test_a_lane_brings_no_diver_until_all_four_were_taken(sea):
    empty(sea, y=35)
    sea.change(guest=[0, 0, 0, 76], diver=[2, 2, 1, 1])
    sea.step()
    assert sea.diver == [2, 2, 1, 2]
    sea.change(guest=[0, 0, 76, 0], y=59)
    sea.step()
    assert sea.diver == [0, 0, 0, 0] and sea.crew == 2


def test_the_episode_ends_with_the_last_life():
    for lives in (1, 4):
        sea, ends = start(lives=lives), 0
        for _ in range(lives):
            assert not ends
            empty(sea, y=14, oxygen=9)
            ends = [sea.step(UP)[1] for _ in range(96)].count(True)
            if not ends:
                sea.play(NOOP, FILLING + 1)
        assert ends == 1


def test_an_enemy_that_is_run_into_counts_and_kills(sea):
    empty(sea, y=32)
    sea.change(x=[215, 215, 215, 80])
    reward, _ = sea.step()
    assert reward == 20 and sea.phase == DIES and sea.crew == 0


def test_a_shot_kills(sea):
    for y, phase in ((50, PLAYS), (35, DIES)):
        empty(sea, y=y)
        sea.change(sub=[0, 0, 0, 1], guest=[0, 0, 0, 80])
        sea.step()
        assert sea.phase == phase


@pytest.mark.parametrize("pace", [0, 3, 5, 10, 29])
def test_everything_gets_faster_by_pace(sea, pace):
    empty(sea, pace=pace)
    sea.change(sub=[0, 1, 0, 0], guest=[120, 120, 0, 0], diver=[1, 2, 2, 2])
    sea.play(NOOP, 16)
    assert sea.x[2] == 215 - 6 - pace and sea.guest[0] == 120 - 3 - pace // 2 and sea.guest[1] == 120 - 16 - pace


@pytest.mark.parametrize("pace, formations", [(0, (4, 1)), (1, (4, 1)), (2, (6, 3)), (4, (5, 5)), (6, (7, 7)), (8, (4, 1))])
def test_formations_by_pace(pace, formations):
    seen = set()
    for seed in range(6):
        sea = Sea(seed=seed)
        sea.change(pace=pace)
        sea.play(NOOP, FILLING)
        assert sea.alive == [formations[right] for right in sea.right]
        seen |= set(sea.right)
    assert seen == {0, 1}


def test_waves_that_pass_alternate_and_keep_their_losses(sea):
    kinds = []
    for _ in range(4):
        empty(sea)
        sea.change(alive=[4, 2, 1, 4], sub=[len(kinds) % 2] * 4, x=[-32] * 4, enemy_part=15)
        sea.step()
        kinds.append(sea.sub)
        assert sea.alive == [4, 2, 1, 4] and set(sea.x) <= {215, -88}
    assert kinds == [[1] * 4, [0] * 4] * 2


@pytest.mark.parametrize("sub", [0, 1])
def test_a_wave_that_was_shot_is_followed_by_sharks(sea, sub):
    empty(sea, y=32, x_ship=30, facing=1)
    sea.change(x=[215, 215, 215, 80], sub=[0, 0, 0, sub], guest=[0, 0, 0, 60 if sub else 0])
    assert sea.play(FIRE, 12) == 20
    while sub and sea.sub[3]:
        assert sea.alive[3] == 0
        sea.play(NOOP, 1)
        sea.change(y=100)
    assert sea.sub[3] == 0 and sea.alive[3] in (1, 4)


def test_the_patrol_kills_where_it_touches_the_submarine():
    sea = start(first_level=2)
    for y, phase in ((20, PLAYS), (19, DIES)):
        empty(sea, y=y, patrol=80, crew=1)
        sea.step()
        assert sea.phase == phase


def test_features_show_torpedo_and_lanes(sea):
    empty(sea, x_ship=70, y=60)
    seen = sea.env.step([FIRE])[0][0]
    assert seen[7] == 1 and np.isclose(seen[8], 13 / 40) and seen[9] == 1
    assert np.isclose(seen[17 + 13 * 3], (65 - 93) / 28) and seen[17 + 3] == 1 and np.isclose(seen[17 + 4], 145 / 40)


def test_starts_differ_by_frame_and_random_number_unless_scatter_is_0():
    starts = {(sea.frame, sea.chance) for sea in map(Sea, range(20))}
    assert len(starts) > 15 and all(frame % 2 for frame, _ in starts)
    assert {(sea.frame, sea.chance) for sea in (Sea(seed, scatter=0) for seed in range(3))} == {(67, 204)}


def differences(option, mend=lambda after, without: {}, frames=1500, **fields):
    """Play a changed game and, from each of its states, the plain one; returns how often the plain one's frame differed.

    mend: of the states after the frame with the option and without, the fields that may differ, with their values.
    """
    changed, plain, random, action, differed = Sea(3, **{option: 1}), Sea(3), np.random.default_rng(1), 0, 0
    changed.play(NOOP, FILLING)
    for frame in range(frames):
        if frame % 150 == 0 and changed.phase == PLAYS:
            changed.change(y=60, **fields)
        before = changed.read()
        start = before.copy()
        start["rules"] = 0
        write(plain.core, start.reshape(1))
        if random.random() < 0.2:
            action = int(random.choice([FIRE, RIGHT, LEFT, DOWN, 8, 9, 16, 17]))
        over = changed.step(action)[1], plain.step(action)[1]
        assert over[0] == over[1]
        if over[0]:
            break
        after, without = changed.read(), plain.read()
        mended = {name: np.asarray(value) for name, value in mend(after, without, before).items()}
        for name in set(after.dtype.names) - {"rules"}:
            assert np.array_equal(after[name], mended.get(name, without[name])), f"frame {frame}: {name}"
        differed += any(not np.array_equal(value, without[name]) for name, value in mended.items())
    return differed


def keep_oxygen(after, without, before):
    used = before["phase"] == PLAYS and without["oxygen"] < before["oxygen"] and without["phase"] == PLAYS
    return {"oxygen": before["oxygen"]} if used else {}


def no_shots(after, without, before):
    fired = (without["sub"] == 1) & (before["guest"] == 0)
    return {"guest": np.where(fired, 0, without["guest"])}


def moved_patrol(after, without, before):
    moves = before["phase"] < DIES and after["phase"] != DIES and after["frame"] % 4 == 0
    return {"patrol": (before["patrol"] - 1) % 256} if moves else {}


@pytest.mark.parametrize("option, mend, fields", [
    ("endless_oxygen", keep_oxygen, {}),
    ("silent_submarines", no_shots, {"sub": [1] * 4, "guest": [0] * 4, "x": [60] * 4, "alive": [4] * 4}),
    ("early_patrol", moved_patrol, {})])
def test_an_option_changes_just_what_it_says(option, mend, fields):
    assert differences(option, mend, **fields) >= 3


def test_off_the_options_change_no_bit():
    game, options = envs_c.game("seaquest"), ("endless_oxygen", "silent_submarines", "early_patrol")
    for view in ("features", "pixels"):
        play = [play_core(game, 8, 300, view=view, seed=7, options=chosen) for chosen in ({}, dict.fromkeys(options, 0))]
        assert play[0] == play[1]


@pytest.mark.parametrize("option", [{"lives": 0}, {"lives": 8}, {"first_level": 21}, {"first_level": 0.5}])
def test_refuses_wrong_options(option):
    with pytest.raises(envs_c.InvalidArgument, match=next(iter(option))):
        envs_c.make("seaquest", **option)


@pytest.mark.parametrize("level", [0, 3, 6, 20])
def test_the_grey_picture_is_the_area_average_of_the_coloured_one(level):
    env = envs_c.make("seaquest", 8, view="pixels", seed=2, first_level=level)
    assert_grey_is_average(env, np.random.default_rng(1).choice([DOWN, 8, 9, 13, 16, 17, RIGHT, LEFT, UP], (300, 8)), every=20)

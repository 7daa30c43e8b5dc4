"""Seaquest: its rules as its file states them, and side by side with the cartridge under ale-py."""

import numpy as np
import pytest
from sea import Sea

import envs_c
from envs_c.testing.rules import area_average

NOOP, FIRE, UP, RIGHT, LEFT, DOWN = range(6)
ACTIONS = [
    "NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
    "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE"]
FILLING, PLAYS, DIES = 128, 1, 2


@pytest.fixture
def sea():
    """Our game, its tank just filled, no enemy in sight yet."""
    return start()


@pytest.fixture
def cartridge():
    pytest.importorskip("ale_py")
    from ale_seaquest import Cartridge
    return Cartridge


def fill(**settings):
    """Our game as an episode begins."""
    return Sea(**settings)


def start(**settings):
    sea = fill(**settings)
    sea.play(NOOP, FILLING)
    return sea


def empty(sea, **fields):
    """As it is, but with lanes in which nothing comes for a while."""
    sea.change(x=[215] * 4, right=[0] * 4, alive=[4] * 4, guest=[0] * 4, sub=[0] * 4, diver=[2, 2, 2, 0], **fields)


# --- the rules -------------------------------------------------------------------------------------------------------

def test_says_what_it_is():
    game = envs_c.game("seaquest")
    assert list(game.actions) == ACTIONS
    assert game.feature_shape == (69,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (160, 210)


def test_the_tank_is_filled_before_anything_moves():
    sea = fill()
    levels = [sea.oxygen]
    for _ in range(FILLING - 1):
        sea.step(RIGHT)
        levels.append(sea.oxygen)
    assert levels[0] == 0 and levels[-1] == 64 and max(np.diff(levels)) == 1
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


def test_does_not_fire_at_the_surface(sea):
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
    for _ in range(50):
        assert sea.crew == crew
        sea.step(DOWN)
        empty(sea)
        if not sea.docked:
            break
    assert (sea.oxygen, sea.crew, sea.pace, sea.y) == (64, crew - 1, 1, 13)
    sea.step(DOWN)
    assert sea.y == 14


def test_at_the_surface_without_divers_is_death_unless_the_tank_is_full(sea):
    for oxygen, phase in ((64, PLAYS), (63, DIES)):
        empty(sea, y=14, oxygen=oxygen, crew=0)
        sea.step(UP)
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
            ends = [sea.step(UP)[1] for _ in range(93)].count(True)
            if not ends:
                sea.play(NOOP, FILLING)
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
def test_all_get_faster_by_pace(sea, pace):
    empty(sea, pace=pace)
    sea.change(sub=[0, 1, 0, 0], guest=[120, 120, 0, 0], diver=[1, 2, 2, 2])
    sea.play(NOOP, 16)
    assert sea.x[2] == 215 - 6 - pace and sea.guest[0] == 120 - 3 - pace // 2 and sea.guest[1] == 120 - 16 - pace


@pytest.mark.parametrize("pace, formations", [(0, (4, 1)), (1, (4, 1)), (2, (6, 3)), (4, (5, 5)), (6, (7, 7)), (8, (4, 1))])
def test_formations_by_pace(pace, formations):
    seen = set()
    for seed in range(6):
        sea = fill(seed=seed)
        sea.change(pace=pace)
        sea.play(NOOP, FILLING)
        assert sea.alive == [formations[right] for right in sea.right]
        seen |= set(sea.right)
    assert seen == {0, 1}


def test_waves_that_pass_alternate_and_keep_their_losses(sea):
    kinds = []
    for _ in range(4):
        empty(sea)
        sea.change(alive=[4, 2, 1, 4], sub=[len(kinds) % 2] * 4, x=[-31] * 4, enemy_part=15)
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


def test_the_patrol_kills_at_the_surface_only():
    sea = start(first_level=2)
    for y, phase in ((15, PLAYS), (14, DIES)):
        empty(sea, y=y, patrol=80, crew=1)
        sea.step()
        assert sea.phase == phase


def test_features_stay_in_their_space_and_tell_of_torpedo_and_lanes(sea):
    empty(sea, x_ship=70, y=60)
    seen = sea.env.step([FIRE])[0][0]
    assert seen[7] == 1 and np.isclose(seen[8], 13 / 40) and seen[9] == 1
    assert np.isclose(seen[17 + 13 * 3], (65 - 93) / 28) and seen[17 + 3] == 1 and np.isclose(seen[17 + 4], 145 / 40)


@pytest.mark.parametrize("option", [{"lives": 0}, {"lives": 8}, {"first_level": 21}, {"first_level": 0.5}])
def test_refuses_other_options(option):
    with pytest.raises(envs_c.InvalidArgument, match=next(iter(option))):
        envs_c.make("seaquest", **option)


@pytest.mark.parametrize("level", [0, 3, 6, 20])
def test_the_grey_picture_is_the_area_average_of_the_coloured_one(level):
    env = envs_c.make("seaquest", 8, view="pixels", seed=2, first_level=level)
    env.reset()
    rng = np.random.default_rng(1)
    for step in range(300):
        seen = env.step(rng.choice([DOWN, 8, 9, 13, 16, 17, RIGHT, LEFT, UP], 8))[0]
        if step % 20 == 0:
            for picture, grey in zip(env.render(), seen, strict=True):
                assert np.abs(area_average(picture) - grey).max() <= 1


# --- the cartridge ---------------------------------------------------------------------------------------------------

def test_has_the_cartridges_actions(cartridge):
    assert [action.name for action in cartridge().actions] == ACTIONS


def test_begins_as_the_cartridge(cartridge):
    theirs, ours = cartridge(), start()
    assert theirs.ale.lives() == ours.lives == 4
    theirs.play(NOOP, 127)
    assert ours.oxygen == theirs.ram[102] == 64 and [ours.x_ship, ours.y] == theirs.ram[[70, 97]].tolist()
    assert set(theirs.ram[30:34] - 256 * (theirs.ram[30:34] == 168)) | set(ours.x) <= {-88, 215}


@pytest.mark.parametrize("sub", [0, 1])
@pytest.mark.parametrize("rescues", [0, 1, 3, 7, 8, 15])
def test_an_enemy_gives_the_cartridges_points(cartridge, rescues, sub):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 420)
    theirs.poke({97: 32, 70: 25, 86: 0, 60: rescues, 47: 8 if sub else 200, 74: 0, 116: 0, 118: 0})
    empty(ours, y=32, x_ship=25, facing=1, rescues=rescues)
    ours.change(x=[215, 215, 215, 50], sub=[0, 0, 0, sub])
    assert theirs.play(FIRE, 20) == ours.play(FIRE, 20) == 10 * min(rescues + 2, 9)


@pytest.mark.parametrize("rescues", [0, 1, 2, 5, 7, 18, 19, 25])
def test_a_rescue_gives_the_cartridges_points_and_pace(cartridge, rescues):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 420)
    theirs.poke({97: 14, 61: rescues // 2, 60: rescues, 62: 6, 102: 30, 118: 200})
    empty(ours, y=14, pace=rescues // 2, rescues=rescues, crew=6, oxygen=30, patrol=200)
    assert theirs.play(UP, 190) == ours.play(UP, 190)
    assert theirs.ram[60] == ours.rescues == rescues + 1 and theirs.ram[61] == ours.pace


@pytest.mark.parametrize("score, lives", [(9_990, 4), (9_990, 7), (4_990, 4), (19_990, 3), (99_990, 6)])
def test_ten_thousand_points_give_a_life_as_on_the_cartridge(cartridge, score, lives):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 420)
    digits = f"{score:06d}"
    theirs.poke({97: 32, 70: 25, 86: 0, 59: lives - 1, **{56 + k: int(digits[2 * k : 2 * k + 2], 16) for k in range(3)}})
    empty(ours, y=32, x_ship=25, facing=1, score=score, lives=lives)
    ours.change(x=[215, 215, 215, 50])
    theirs.play(FIRE, 10)
    ours.play(FIRE, 10)
    assert theirs.bcd(56, 57, 58) == ours.score == score + 20
    assert theirs.ram[59] + 1 == ours.lives


@pytest.mark.parametrize("crew", [0, 1, 3, 5])
def test_the_surface_does_what_the_cartridges_does(cartridge, crew):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 200)
    theirs.poke({97: 16, 62: crew, 102: 40})
    empty(ours, y=16, crew=crew, oxygen=40)
    for _ in range(250):
        theirs.step(UP)
        ours.step(UP)
    assert theirs.ram[[102, 62, 61, 59]].tolist() == [ours.oxygen, ours.crew, ours.pace, ours.lives - 1]


def test_the_cartridge_too_ends_with_the_last_life(cartridge):
    theirs = cartridge()
    theirs.play(NOOP, 420)
    theirs.poke({59: 0, 97: 15, 62: 0, 102: 40})
    ends = [theirs.step(UP)[1] for _ in range(100)]
    assert ends.index(True) in range(90, 97)


@pytest.mark.parametrize("frame", [200, 300, 850, 950, 1200, 1500, 1600, 2200, 2400])
def test_goes_like_the_cartridge_for_150_frames(cartridge, frame):
    """From its state; the random choices of the next waves aside."""
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, frame)
    ours.change(**theirs.read(), phase=PLAYS)
    away = []
    for step in range(150):
        action = DOWN if step < 4 else NOOP
        assert theirs.step(action)[0] == ours.step(action)[0] == 0
        seen = theirs.read()
        assert (seen["x_ship"], seen["y"], seen["oxygen"]) == (ours.x_ship, ours.y, ours.oxygen), f"frame {step}"
        same = np.abs(seen["x"] - ours.x) < 100  # it came from the same side
        away += [*np.abs(seen["x"] - ours.x)[same], *np.abs(seen["guest"] - ours.guest)[same]]
    assert np.mean(away) < 0.6


@pytest.mark.parametrize("frame", [201, 300, 420, 952, 1200, 1500, 2000, 2400])
def test_looks_like_the_cartridge(cartridge, frame):
    theirs, ours = cartridge(), start()
    theirs.play(NOOP, 140)
    theirs.play(8, 60)
    theirs.poke({97: 13, 59: 5, 62: 4, 56: 1, 57: 0x23, 58: 0x70})
    theirs.play(NOOP, frame - 200)
    theirs.poke({97: 97})
    ours.change(**{**theirs.read(), "y": 97}, phase=PLAYS)
    theirs.step(NOOP)
    ours.step(NOOP)
    same = (theirs.screen() == ours.env.render()[0]).all(axis=2)
    assert same[:45].all() and same[188:].all() and same[153:188].mean() > 0.98
    assert same[56:153].mean() > 0.985

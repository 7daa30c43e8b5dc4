"""Freeway: the rules that its file states, and a comparison with the cartridge under ale-py, frame by frame."""

import numpy as np
import pytest
from by_features import Featured
from support import assert_grey_is_average, assert_in_space

import envs_c
from benchmarks.cartridges.twins import TWINS

NOOP, UP, DOWN = range(3)
FRAMES, LANES, STUNNED = 8192, 10, 64


class Road(Featured):
    """Freeway; the attributes are in pixels, frames and points."""

    GAME = "freeway"

    def read(self, seen):
        self.y, self.rival, self.counter, self.score = np.rint(seen[:4] * [50, 1, 28, 32] + [90, 6, 0, 0]).astype(int)
        self.left = round((seen[4] + 1) * FRAMES / 2)
        self.x = np.rint(seen[5:15] * 46 + 46).astype(int) % 160
        self.speed, self.meets, self.risk = seen[15:25], seen[25:35] * 46, seen[35:]
        self.pace = np.where(np.abs(self.speed) > 1.5, 0, np.rint(1 / np.abs(self.speed))).astype(int)

    def state(self) -> dict:
        return {name: getattr(self, name) for name in ("y", "counter", "score", "x", "pace")}


def walk(rng, action: int) -> int:
    """The next action of a player that keeps an action for 20 frames on average and mostly goes up."""
    return int(rng.choice([NOOP, UP, UP, UP, DOWN])) if rng.random() < 0.05 else action


# --- the rules -------------------------------------------------------------------------------------------------------

def test_has_its_actions_features_and_screen():
    game = envs_c.game("freeway")
    assert game.actions == ("NOOP", "UP", "DOWN")
    assert game.feature_shape == (25,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (160, 210)


@pytest.mark.parametrize("frame_skip, steps", [(1, 8192), (4, 2048)])
def test_ends_after_8192_frames(frame_skip, steps):
    env = envs_c.make("freeway", 1, frame_skip=frame_skip)
    env.reset()
    ends = [env.step([UP])[2][0] for _ in range(steps)]
    assert ends.index(True) == steps - 1


def test_the_chicken_moves_by_1_and_stays_on_its_side_of_the_pavement():
    road = Road(scatter=0)
    heights = []
    for action in [DOWN, UP, UP, UP, NOOP, DOWN, DOWN, DOWN, DOWN]:
        road.step(action)
        heights.append(road.y)
    assert heights == [6, 7, 8, 9, 9, 8, 7, 6, 6] and road.rival == 6


def test_the_far_side_gives_a_point_and_a_rest_below():
    road, rewards = Road(scatter=0), []
    while road.score == 0:
        before = road.y
        rewards.append(road.step(UP)[0])
    assert before == 177 and road.y == 6 and sum(rewards) == rewards[-1] == 1
    rest = 0
    while road.y == 6:
        road.step(UP)
        rest += 1
    assert rest in (28, 29)


@pytest.mark.parametrize("difficulty, lost", [(0, 23), (1, None)])
def test_a_hit_throws_the_chicken_back(difficulty, lost):
    road = Road(scatter=0, difficulty=difficulty)
    hits = 0
    for _ in range(3000):
        counter, y = road.counter, road.y
        road.step(UP)
        if road.counter >= 27 > counter and y > 60:
            at, lowest, hits = road.y, road.y, hits + 1
            while road.counter > 0:
                again = road.counter
                road.step(UP)
                lowest = min(lowest, road.y)
                if road.counter > again:
                    break  # another hit during the fall
            else:
                assert lowest == 6 if difficulty else at - lowest in (lost, lost + 1, lost + 2)
    assert hits > 2


@pytest.mark.parametrize("game, paces", [
    (1, [5, 4, 3, 2, 1, 1, 2, 3, 4, 5]), (2, [4, 3, 2, 1, 0, 1, 1, 2, 3, 4]),
    (3, [4, 3, 2, 1, 0, 0, 1, 2, 3, 4]), (4, [0, 1, 2, 1, 0, 0, 1, 2, 1, 0]),
])
def test_lanes_drive_at_the_paces_of_the_game(game, paces):
    road = Road(game=game)
    start = road.x
    for _ in range(60):
        road.step(NOOP)
    assert (road.pace == paces).all() and (np.sign(road.speed) == [1] * 5 + [-1] * 5).all()
    gone = (road.x - start) * np.sign(road.speed) % 160
    assert (np.abs(gone - [120 if pace == 0 else 60 // pace for pace in paces]) <= 1).all()


def test_paces_change_in_games_5_to_8_only():
    for game in range(1, 9):
        road = Road(game=game, seed=4)
        before = road.pace
        for _ in range(400):
            road.step(NOOP)
        assert (road.pace != before).any() == (game >= 5)


def test_cars_start_anywhere_but_at_the_edge_without_scatter():
    assert (Road(scatter=0).x == 0).all()
    x = np.array([Road(seed=seed).x for seed in range(40)])
    assert len(np.unique(x)) > 120


@pytest.mark.parametrize("option", [{"game": 0}, {"game": 9}, {"difficulty": 2}, {"scatter": 0.5}])
def test_refuses_wrong_options(option):
    with pytest.raises(envs_c.InvalidArgument, match=next(iter(option))):
        envs_c.make("freeway", **option)


@pytest.mark.parametrize("forecast", [0, 1])
def test_features_stay_in_their_space(forecast):
    env = envs_c.make("freeway", 64, seed=0, game=7, forecast=forecast)
    assert_in_space(env, np.random.default_rng(0).choice([NOOP, UP, UP, DOWN], (2_100, 64)))


@pytest.mark.parametrize("difficulty", [0, 1])
@pytest.mark.parametrize("game", range(1, 9))
def test_the_grey_picture_is_the_area_average_of_the_coloured_one(game, difficulty):
    env = envs_c.make("freeway", 4, view="pixels", seed=2, game=game, difficulty=difficulty, num_threads=1)
    assert_grey_is_average(env, np.random.default_rng(1).choice([NOOP, UP, UP, UP, DOWN], (300, 4)), every=5)


@pytest.mark.parametrize("game", [1, 6])
def test_the_forecast_says_where_cars_will_be_when_the_chicken_is_there(game):
    road, rng, action, highest = Road(game=game, forecast=1, seed=4), np.random.default_rng(0), NOOP, 0
    assert road.env.single_observation_space.shape == (45,)
    for _ in range(1_500):
        action = walk(rng, action)
        road.step(action)
        away = (road.x - 46 + road.speed * (21 + 16 * np.arange(LANES) - road.y) + 80) % 160 - 80
        around = np.abs(road.meets - away) % 160
        assert np.minimum(around, 160 - around).max() < 1e-2
        np.testing.assert_allclose(road.risk, np.maximum(0, 1 - ((away - 1) / 20) ** 2) ** 2, atol=1e-3)
        highest = max(highest, road.y)
    assert highest > 100


def test_the_forecast_tells_a_free_way_from_a_hit():
    """In game 1, for a chicken that goes up all the time from the start."""
    free = hit = 0
    for seed in range(40):
        road = Road(seed=seed, forecast=1)
        risk = road.risk.max()
        while road.counter == 0:
            road.step(UP)
        free, hit = free + (risk < 0.6), hit + (risk > 0.7)
        assert not (risk < 0.6 and road.score == 0) and not (risk > 0.7 and road.score == 1)
    assert free > 5 and hit > 5


def test_the_forecast_changes_nothing_in_the_game():
    plain, told = Road(seed=3), Road(seed=3, forecast=1)
    rng, action = np.random.default_rng(5), UP
    for _ in range(1_000):
        action = walk(rng, action)
        assert plain.step(action) == told.step(action)
        np.testing.assert_equal(plain.state(), told.state())
    assert plain.score > 0


# --- the cartridge ---------------------------------------------------------------------------------------------------

@pytest.fixture
def cartridge():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.freeway import Cartridge
    return Cartridge


def test_has_the_cartridges_actions(cartridge):
    assert [action.name for action in cartridge().actions] == list(envs_c.game("freeway").actions)


@pytest.mark.parametrize("game, difficulty, frames", [
    (1, 0, FRAMES), (1, 1, 1200), (2, 1, 1200), (3, 0, 1200), (4, 1, 1200), (5, 0, 1200), (6, 1, 1200), (7, 0, 1200),
    (8, 0, 1200), *(pytest.param(game, game % 2, 5000, marks=pytest.mark.slow) for game in range(2, 9)),
])
def test_every_frame_equals_the_cartridge(cartridge, game, difficulty, frames):
    road, theirs = Road(scatter=0, game=game, difficulty=difficulty), cartridge(game, difficulty)
    rng, action = np.random.default_rng(game), UP
    for frame in range(frames):
        action = walk(rng, action)
        assert road.step(action) == theirs.step(action), f"frame {frame}"
        for name, value in theirs.read().items():
            assert np.array_equal(road.state()[name], value), f"frame {frame}: {name}"
        if frame > 1 and frame % 5 == 0:
            assert (road.env.render()[0][:195] == theirs.screen()[:195]).all(), f"frame {frame}"
    assert road.left == FRAMES - frames


def test_every_frame_of_a_player_that_only_goes_up_equals_the_cartridge(cartridge):
    road, theirs = Road(scatter=0), cartridge()
    for frame in range(3000):
        assert road.step(UP) == theirs.step(UP), f"frame {frame}"
    assert road.score == theirs.read()["score"] > 5


def assert_equal_stuns(theirs, seed: int, frames: int) -> int:
    """Play on from an episode's first frame; returns the number of stuns that began."""
    ours, rng, action, stuns = TWINS["freeway"](scatter=0), np.random.default_rng(seed), UP, 0
    ours.change(frame=theirs.state()["frame"])
    for frame in range(frames):
        action, before = walk(rng, action), ours.timer
        over = ours.step(action), theirs.step(action)
        assert over[0] == over[1], f"frame {frame}"
        if over[0][1]:
            break
        assert all(ours.read()[name] == theirs.state()[name] for name in ("timer", "y", "score", "frame")), f"frame {frame}"
        stuns += before == 0 and ours.timer > STUNNED
    return stuns


@pytest.mark.parametrize("first", [0, 1])
def test_stuns_keep_to_the_cartridges_frames_also_if_its_counter_begins_at_1(cartridge, first):
    theirs = cartridge()
    theirs.poke({1: first})
    theirs.first = first
    assert assert_equal_stuns(theirs, 1, 900) >= 3


@pytest.mark.slow
def test_stuns_keep_to_the_cartridges_frames_in_one_episode_after_another(cartridge):
    """After some episodes the cartridge's counter of frames begins at 1."""
    theirs, began = cartridge(), set()
    for seed in range(5):
        theirs.new_episode()
        began.add(theirs.state()["frame"])
        assert_equal_stuns(theirs, seed, FRAMES)
        if began == {0, 1}:
            break
    assert began == {0, 1}

"""Asterix: the rules that its file states, and a comparison with the cartridge under ale-py, frame by frame."""

import numpy as np
import pytest
from by_features import Featured
from support import assert_grey_is_average, assert_in_space

import envs_c
from benchmarks.cartridges.twins import TWINS
from benchmarks.likeness.players import player_of

NOOP, UP, RIGHT, LEFT, DOWN = range(5)
NOTHING, LYRE, TREASURE, POINTS = range(4)
PRICES = [50, 100, 200, 300, 400, 500]


class Village(Featured):
    """Asterix; the attributes are in pixels, lanes and points."""

    GAME = "asterix"

    def read(self, seen):
        self.hero = round(seen[0] * 36 + 76)
        self.lane = round((seen[1] * 5 + 7) / 2)
        self.stun, self.stage, self.lives, self.score = (
            np.rint(seen[[3, 5, 6, 7]] * [126, 8, 2, 20_000] + [0, 0, 3, 0]).astype(int))
        slots = seen[8:].reshape(15, 4)[7 - self.lane : 15 - self.lane]
        self.x = np.rint(slots[:, 2] * 40 + self.hero).astype(int)
        self.speed = np.rint(slots[:, 3] * 2).astype(int)
        waits = slots[:, 3] == 0
        self.kind = np.where(slots[:, 0] > 0, TREASURE, np.where(slots[:, 1] > 0, LYRE, np.where(waits, POINTS, NOTHING)))


def hold(rng, action: int, often: float) -> int:
    """The next action of a player that draws a new one with probability `often` a frame."""
    return int(rng.integers(9)) if rng.random() < often else action


# --- the rules -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("points", [0, 1_000_000_000])
def test_the_score_of_a_game_without_end_never_leaves_what_can_be_restored(points):
    """At 2,000,000,000 points 1,000,000,000 are taken off: rewards, lives and the picture stay as they were."""
    village = TWINS["asterix"](scatter=0, first_stage=5)
    following = 999_990_000 + points     # 110,000 + 40,000 k
    village.change(score=following - 500, next_bonus=following, bonus=5, lives=1, touch=1)
    assert village.step(NOOP) == (500, False)
    assert (village.score, village.next_bonus, village.lives) == (999_990_000, 1_000_030_000, 2)
    village.core.set_state(village.core.get_state())
    assert village.seen[7] == 50


def test_has_its_actions_features_and_screen():
    game = envs_c.game("asterix")
    assert game.actions == ("NOOP", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT")
    assert game.feature_shape == (68,) and game.frame_skip == 4 and game.screen == (160, 210)


@pytest.mark.parametrize("stage, speed", [(0, 1), (3, 1), (4, 2), (15, 2), (16, 3), (24, 3)])
def test_things_and_hero_are_faster_in_later_stages(stage, speed):
    village = Village(first_stage=stage, scatter=0)
    x, hero = village.x, village.hero
    village.step(RIGHT)
    assert (village.x - x == [speed, -speed] * 4).all() and village.hero - hero == 2 * speed
    assert (village.speed == [speed, -speed] * 4).all()


def test_the_hero_keeps_to_its_lanes_and_to_24_and_128():
    village = Village(scatter=0)
    for action, frames, lane, hero in [(UP, 16, 0, 76), (DOWN, 32, 7, 76), (LEFT, 28, 7, 24), (RIGHT, 54, 7, 128)]:
        for _ in range(frames):
            village.step(action)
        assert (village.lane, village.hero) == (lane, hero)


@pytest.mark.parametrize("stage", [0, 1, 2, 3, 4, 5, 8, 24])
def test_a_treasure_gives_the_points_of_its_stage(stage):
    village, rewards = Village(first_stage=stage, scatter=0), []
    for _ in range(70):
        rewards.append(village.step(NOOP)[0])
    assert rewards.count(PRICES[min(stage, 5)]) == 1 and sum(rewards) == PRICES[min(stage, 5)]


@pytest.mark.parametrize("lives", [1, 3])
def test_each_lyre_costs_a_life_and_the_last_ends_the_episode(lives):
    village, rng, action, over, stuns = Village(lives=lives, seed=3), np.random.default_rng(0), NOOP, False, 0
    while not over:
        action, stun = hold(rng, action, 0.05), village.stun
        _, over = village.step(action)
        stuns += village.stun == 126 and stun == 0
        assert over or village.lives == lives - stuns + (village.stun > 0)
    assert stuns == lives and village.lives == 0


def test_50_treasures_make_a_stage_and_10000_points_a_life():
    env = envs_c.make("asterix", 64, frame_skip=1, seed=2, first_stage=8, lives=2, autoreset="disabled")
    seen, rng, taken = env.reset()[0], np.random.default_rng(1), np.zeros(64, int)
    for _ in range(150):  # after each round of random play all environments go on from the best one
        for action in np.repeat(rng.integers(9, size=(2, 64)), 12, axis=0):
            seen, rewards, *_ = env.step(action)
            taken += rewards > 0
        best = np.argmax(np.where(seen[:, 3] == 0, taken + 100 * seen[:, 6], -1000))
        assert round(seen[best, 5] * 8) == 8 + taken[best] // 50
        assert round(seen[best, 6] * 2 + 3) <= 2 + (taken[best] >= 20) + (taken[best] >= 60)
        state = env.get_state([int(best)])
        for k in range(64):
            env.set_state(state, [k])
        taken[:] = taken[best]
        if taken[0] > 60:
            break
    assert taken[0] > 60 and round(seen[best, 6] * 2 + 3) == 4


def test_starts_differ_but_not_without_scatter():
    assert (Village(scatter=0).x == [4, 145] * 4).all()
    x = np.array([Village(seed=seed).x for seed in range(40)])
    assert len(np.unique(x[:, 0])) > 20 and len(np.unique(x[:, 1])) > 20


@pytest.mark.parametrize("option", [{"lives": 0}, {"lives": 9}, {"first_stage": 25}, {"scatter": 0.5}])
def test_refuses_wrong_options(option):
    with pytest.raises(envs_c.InvalidArgument, match=next(iter(option))):
        envs_c.make("asterix", **option)


@pytest.mark.parametrize("stage", [0, 3, 4, 16, 24])
def test_features_stay_in_their_space(stage):
    env = envs_c.make("asterix", 64, seed=0, first_stage=stage)
    assert_in_space(env, np.random.default_rng(0).integers(0, 9, (500, 64)))


@pytest.mark.parametrize("stage", [0, 2, 5, 7, 16, 24])
def test_the_grey_picture_is_the_area_average_of_the_coloured_one(stage):
    env = envs_c.make("asterix", 4, view="pixels", seed=2, first_stage=stage, num_threads=1)
    assert_grey_is_average(env, np.random.default_rng(1).integers(0, 9, (200, 4)), every=20)


# --- the cartridge ---------------------------------------------------------------------------------------------------

@pytest.fixture
def cartridge():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.asterix import Cartridge
    return Cartridge


def test_has_the_cartridges_actions_and_lives(cartridge):
    theirs = cartridge()
    assert [action.name for action in theirs.actions] == list(envs_c.game("asterix").actions)
    assert theirs.ale.lives() == Village().lives


@pytest.mark.parametrize("stage, often", [(stage, 0.03 if stage % 2 else 0.1) for stage in (0, 1, 2, 4, 7, 8, 13, 16, 19, 24)])
def test_every_frame_equals_the_cartridge(cartridge, stage, often):
    village, theirs, over, frame = Village(scatter=0, first_stage=stage), cartridge(), False, 0
    theirs.start_stage(stage)
    rng, action = np.random.default_rng(stage), NOOP
    while not over and frame < 2000:
        action = hold(rng, action, often)
        assert village.step(action) == theirs.step(action), f"frame {frame}"
        over = theirs.ale.game_over()
        for name, value in theirs.read().items():
            if not over and not (name == "hero" and theirs.ram[71]):  # in a stun the byte holds the column of the wide hero
                assert np.array_equal(getattr(village, name), value), f"frame {frame}: {name}"
        if frame % 5 == 2 and not over:
            assert (village.env.render()[0] == theirs.screen()).all(), f"frame {frame}"
        frame += 1
    assert frame > 300


@pytest.mark.parametrize("stage", [0, 1])
def test_points_that_wait_when_a_stage_ends_have_the_cartridges_wait(cartridge, stage):
    """Both begin with 46 treasures taken, and play on until the next stage has lasted for some time."""
    village, theirs = TWINS["asterix"](scatter=0, first_stage=stage), cartridge()
    theirs.start_stage(stage, taken=46)
    village.change(taken=46)
    player, rng, waiting, since, action = player_of("asterix"), np.random.default_rng(stage + 1), 0, 0, NOOP
    for frame in range(3000):
        action = player(village.read(), rng) if frame % 4 == 0 else action
        before = village.read()
        assert village.step(action) == theirs.step(action), f"frame {frame}"
        after, read = village.read(), theirs.read()
        assert np.array_equal(after["x"], read["x"]) and after["stage"] == read["stage"], f"frame {frame}"
        if after["stage"] != before["stage"]:
            waiting += ((before["kind"] >= POINTS) & (before["wait"] > 1)).any()
        since += after["stage"] != stage
        if (after["lives"] == 1 and after["stun"] > 0) or since > 300:
            break
    assert waiting and since > 100

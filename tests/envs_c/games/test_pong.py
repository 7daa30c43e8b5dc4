"""Pong: its rules one by one, and every frame beside the cartridge under ale-py."""

import numpy as np
import pytest
from by_features import Featured
from support import assert_grey_is_average, assert_in_space

import envs_c

NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE = range(6)
WITH_FIRE = {NOOP: FIRE, RIGHT: RIGHT_FIRE, LEFT: LEFT_FIRE}
REACH = range(-2, 17)  # ball y less paddle y when they meet


class Table(Featured):
    """Pong; the attributes are in pixels and points."""

    GAME = "pong"

    def read(self, seen):
        whole = np.rint(seen * [50, 50, 40, 50, 1, 1, 21, 21] + [126, 126, 128, 0, 0, 0, 0, 0]).astype(int).tolist()
        self.paddle, self.enemy, self.x, self.y, self.vx, self.vy, *scores = whole
        self.y += self.paddle + 7
        self.scores = tuple(scores)
        self.ball = bool(self.vx)

    def state(self) -> dict:
        """The values of `Cartridge.read`."""
        names = ("paddle", "scores", "enemy", "x", "y", "vx", "vy") if self.ball else ("paddle", "scores")
        return {name: getattr(self, name) for name in names}


class Player:
    """Follows the ball with a part of the paddle, chosen again at random from time to time.

    seed: of its random numbers.
    fire: probability of holding FIRE in a frame.
    parts: values of ball y less paddle y to choose from.
    """

    def __init__(self, seed, fire=0.0, parts=REACH):
        self.rng, self.fire, self.parts = np.random.default_rng(seed), fire, parts
        self.aim, self.paddle = 7, 109

    def act(self, table) -> int:
        if self.rng.random() < 0.03:
            self.aim = int(self.rng.choice(self.parts))
        rest = 2 * table.paddle - self.paddle  # about the knob's target
        self.paddle = table.paddle
        away = table.y - self.aim - rest if table.ball else 0
        action = NOOP if abs(away) < 4 else LEFT if away > 0 else RIGHT
        return WITH_FIRE[action] if self.rng.random() < self.fire else action


class Fidget:
    """Random actions, each held for five frames on average."""

    def __init__(self, seed):
        self.rng, self.action = np.random.default_rng(seed), NOOP

    def act(self, table) -> int:
        if self.rng.random() < 0.2:
            self.action = int(self.rng.integers(6))
        return self.action


@pytest.fixture(scope="module")
def long_play():
    """Frames with a ball of 8 games: (held, shown, before, after, reward).

    held, shown: action and paddle's y of the previous frame.
    before, after: `Table.state` before and after the frame.
    """
    frames = []
    for seed in range(8):
        table, player = Table(seed=seed), Player(seed, fire=seed % 3 / 3)
        held, shown = NOOP, 109
        for _ in range(5_000):
            before, ball = table.state(), table.ball
            action = player.act(table)
            reward, over = table.step(action)
            if ball and table.ball:
                frames.append((held, shown, before, table.state(), reward))
            held, shown = action, before["paddle"]
            if over:
                break
    return frames


# --- the rules -------------------------------------------------------------------------------------------------------

def test_has_its_actions_features_and_screen():
    game = envs_c.game("pong")
    assert game.actions == ("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE")
    assert game.feature_shape == (8,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (160, 210)


def test_the_first_serve_is_random():
    serves = []
    for seed in range(80):
        table, waited = Table(seed=seed), 0
        while not table.ball:
            table.step(NOOP)
            waited += 1
        serves.append((table.vx, table.vy, waited))
        assert (table.x, table.y) == (128 + table.vx, 128 + table.vy)
    vx, vy, waits = map(set, zip(*serves, strict=True))
    assert vx == vy == {-1, 1} and len(waits) > 25 and min(waits) >= 28 and max(waits) <= 59


def test_without_random_serve_all_seeds_begin_equal():
    tables = [Table(seed=seed, random_serve=0) for seed in range(4)]
    for _ in range(300):
        for table in tables:
            table.step(LEFT)
        assert all(table.state() == tables[0].state() for table in tables)


@pytest.mark.parametrize("points", [1, 3, 21])
def test_ends_when_a_side_has_the_points(points):
    table, total, over = Table(points=points), 0, False
    while not over:
        before = table.scores
        reward, over = table.step(NOOP)
        total += reward
        assert reward == (table.scores[0] - before[0]) - (table.scores[1] - before[1])
        assert over == (max(table.scores) == points)
    assert total == table.scores[0] - table.scores[1]


@pytest.mark.parametrize("side", [0, 1])
def test_the_ball_is_gone_for_62_frames_after_a_point_and_goes_to_the_losing_side(side):
    table, player = Table(seed=3), Player(3, fire=0.5) if side == 0 else Fidget(1)
    for _ in range(40_000):
        before, vy = table.scores, table.vy
        table.step(player.act(table))
        if table.scores[side] > before[side]:
            break
    gone = 0
    table.step(NOOP)
    while not table.ball:
        table.step(NOOP)
        gone += 1
    assert gone == 62
    assert (table.vx, table.vy) == (-1 if side == 0 else 1, 1 if vy >= 0 else -1)
    assert (table.x, table.y) == (128 + table.vx, 128 + table.vy)


def test_the_place_on_the_paddle_decides_the_balls_direction(long_play):
    met = {(before["y"] - shown, after["vy"]) for _, shown, before, after, _ in long_play if before["vx"] > 0 > after["vx"]}
    assert met == {(away, (away + 3) // 4 - 2) for away in REACH}


def test_fire_makes_the_ball_faster_up_to_4(long_play):
    changes = set()
    for held, _, before, after, _ in long_play:
        if before["vx"] > 0 > after["vx"]:
            changes.add((held in WITH_FIRE.values(), before["vx"], -after["vx"]))
        elif before["vx"] < 0 < after["vx"]:
            assert after["vx"] == -before["vx"]
    assert changes == {(fire, v, min(v + fire, 4)) for fire in (False, True) for v in (1, 2, 3, 4)}


def test_the_walls_turn_the_ball(long_play):
    turns = [(before, after) for _, _, before, after, reward in long_play if not (45 < before["y"] < 206 or reward)]
    assert len(turns) > 100
    for before, after in turns:
        up = before["y"] >= 206
        assert after["vy"] == abs(before["vy"]) * (-1 if up else 1)
        assert after["y"] == before["y"] + after["vy"] + (-1 if up else 1)


def test_the_enemy_follows_the_ball_by_2_and_rests_every_eighth_frame(long_play):
    steps = np.array([abs(after["enemy"] - before["enemy"]) for _, _, before, after, _ in long_play])
    far = np.array([abs(after["y"] - before["enemy"]) > 2 for _, _, before, after, _ in long_play])
    assert set(steps) == {0, 2}
    assert 0.11 < (steps[far] == 0).mean() < 0.14


@pytest.mark.parametrize("turn, end, way", [(LEFT, 203, 1), (RIGHT, 38, -1)])
def test_the_knob_leads_the_paddle_to_its_ends(turn, end, way):
    table, places = Table(), []
    for _ in range(60):
        table.step(turn)
        places.append(table.paddle)
    assert places[-1] == end and (np.diff(places) * way >= 0).all() and max(abs(np.diff(places))) <= 12
    for _ in range(20):
        table.step(NOOP)
    assert table.paddle == end


def test_fire_does_not_move_the_paddle():
    table = Table()
    for _ in range(40):
        table.step(FIRE)
        assert table.paddle == 109


@pytest.mark.parametrize("option", [{"points": 0}, {"points": 22}, {"random_serve": 0.5}])
def test_refuses_wrong_options(option):
    with pytest.raises(envs_c.InvalidArgument, match=next(iter(option))):
        envs_c.make("pong", **option)


def test_features_stay_in_their_space():
    env = envs_c.make("pong", 64, seed=0, frame_skip=1)
    steps = np.random.default_rng(0).integers(0, 6, (400, 64)).repeat(10, axis=0)  # each action is held for 10 frames
    assert_in_space(env, steps)


@pytest.mark.parametrize("frame_skip", [1, 4])
def test_the_grey_picture_is_the_area_average_of_the_coloured_one(frame_skip):
    env = envs_c.make("pong", 16, view="pixels", seed=2, frame_skip=frame_skip)
    assert_grey_is_average(env, np.random.default_rng(1).integers(0, 6, (1_000, 16)), every=50)


# --- the cartridge ---------------------------------------------------------------------------------------------------

@pytest.fixture
def cartridge():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.pong import Cartridge
    return Cartridge()


def test_has_the_cartridges_actions(cartridge):
    assert tuple(action.name for action in cartridge.actions) == envs_c.game("pong").actions


PLAYERS = {
    "random-1": Fidget(1), "random-2": Fidget(2),
    "player-1": Player(1), "player-2": Player(2, parts=range(2, 12)),
    "fire-1": Player(3, fire=1.0), "fire-2": Player(4, fire=0.5), "fire-3": Player(5, fire=0.1),
    "both-score": Player(0, fire=0.3, parts=[2, 13]),
}


@pytest.mark.parametrize("player, frames", [
    (player, 12_000 if name == "both-score" else 5_000) for name, player in PLAYERS.items()], ids=PLAYERS)
def test_every_frame_equals_the_cartridge(cartridge, player, frames):
    table = Table(random_serve=0)
    for frame in range(frames):
        action = player.act(table)
        ours, theirs = table.step(action), cartridge.step(action)
        assert ours == theirs, f"frame {frame}"
        assert table.state() == cartridge.read(), f"frame {frame}"
        if frame % 3 == 1:
            assert (table.env.render()[0] == cartridge.screen()).all(), f"frame {frame}"
        if ours[1]:
            break
    if player is PLAYERS["both-score"]:
        assert min(table.scores) >= 10  # both sides have shown all digits

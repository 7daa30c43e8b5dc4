"""Breakout: the rules that its file states, and a comparison with the cartridge under ale-py, frame by frame."""

import numpy as np
import pytest
from support import assert_in_space

import envs_c

NOOP, FIRE, RIGHT, LEFT = range(4)
POINTS = np.repeat([7, 7, 4, 4, 1, 1], 18)
SERVES = [(78, -1), (80, 1), (142, -1), (16, 1)]  # x and horizontal velocity by the turn
SPEEDS = {(0, 0), (1, 1), (1, 1.5), (1.5, 1), (0.5, 2), (1.5, 2), (2, 1), (2, 2), (2, 3.375)}  # pixels a frame


class Court:
    """Environments at frame skip 1. The features are turned back into pixels, (N,), and bricks, (N, 6, 18)."""

    def __init__(self, num_envs=1, **settings):
        self.env = envs_c.make("breakout", num_envs, frame_skip=1, copy=False, **settings)
        self.read(self.env.reset()[0])

    def step(self, actions):
        seen, reward, terminated, _, infos = self.env.step(np.broadcast_to(actions, self.env.num_envs))
        self.read(seen)
        return reward, terminated, infos

    def read(self, seen):
        scale, middle = [36, 36 * 256, 48 * 256, 256, 432, 5, 864, 216, -4, 1], [72, 80 * 256, 120 * 256, 0, 0, 0, 0, 0, 16, 0]
        whole = np.rint(seen[:, :10] * scale + middle).astype(int)
        self.paddle, self.lives, self.score, self.gone, self.width = whole[:, [0, 5, 6, 7, 8]].T
        self.x, self.y = (whole[:, 1:3] * whole[:, 9:10] >> 8).T
        self.vx, self.vy = whole[:, 3] / 256, whole[:, 4] / 256
        self.in_play = whole[:, 9] == 1
        self.bricks = 1 - seen[:, 10:].reshape(-1, 6, 18)

    def view(self):
        """The arguments of `Player.act`."""
        return self.x, self.y, self.vx, self.vy, self.paddle, self.in_play


class Player:
    """A player that meets the ball with a random part of the paddle, drawn for each flight of the ball."""

    def __init__(self, num_envs, seed=0):
        self.rng = np.random.default_rng(seed)
        self.aim = np.full(num_envs, 7)
        self.turned = np.zeros(num_envs, int)
        self.paddle = None

    def act(self, x, y, vx, vy, paddle, in_play):
        """The next actions, (N,).

        x, y: place of the ball, in pixels.
        vx, vy: its velocity, in pixels a frame.
        paddle: x of the paddle, in pixels.
        in_play: whether there is a ball.
        """
        self.aim = np.where(y < 120, self.rng.integers(0, 12, len(self.aim)), self.aim)
        ahead = x + vx * np.where(vy > 0, (186 - y) / np.maximum(vy, 0.5), 0) - 8  # from the left wall, without walls
        meets = 8 + np.abs((ahead + 143) % 286 - 143)                              # folded back at both walls
        rest = 2 * paddle - (paddle if self.paddle is None else self.paddle) + 6 * self.turned  # x at rest
        away = np.clip(meets - self.aim, 8, 144) - rest
        self.paddle = paddle
        self.turned = np.where(in_play & (np.abs(away) > 3), np.sign(away), 0).astype(int)
        return np.where(in_play, np.array([LEFT, NOOP, RIGHT])[self.turned + 1], FIRE)


def court_of_turn(turn, **settings):
    """A court of one environment in which a serve in the first frame is the serve of `turn`."""
    for seed in range(100):
        court = Court(seed=seed, **settings)
        court.step(FIRE)
        if court.x[0] == SERVES[turn][0]:
            return Court(seed=seed, **settings)
    raise AssertionError(f"none of 100 seeds serves from x {SERVES[turn][0]}")


@pytest.fixture(scope="module")
def long_play():
    """Facts collected in 32 environments under a player until the first of them clears both walls.

    speeds: pairs of absolute velocities.
    widths: widths of the paddle.
    rewards: reward, points of the bricks, number of bricks and change of the score, for each frame with one of these.
    seconds: bricks gone, bricks before and after, vertical velocity and y, for each second wall.
    end: return, lives and bricks of the first environment to win, or None.
    frames: number of frames played.
    """
    court, player = Court(32, seed=3), Player(32)
    speeds, widths, rewards, seconds, end = set(), set(), [], [], None
    for frame in range(60_000):
        bricks, score, gone, vy = court.bricks.copy(), court.score, court.gone, court.vy
        before = court.lives
        reward, terminated, infos = court.step(player.act(*court.view()))
        taken = (bricks > court.bricks).reshape(-1, 108)
        begun = court.score < score  # a new episode began
        for i in np.flatnonzero((taken.any(axis=1) | (reward != 0)) & ~begun):
            rewards.append((reward[i], POINTS[taken[i]].sum(), taken[i].sum(), court.score[i] - score[i]))
        for i in np.flatnonzero((court.bricks > bricks).any(axis=(1, 2)) & ~begun):
            seconds.append((gone[i], bricks[i].sum(), court.bricks[i].sum(), vy[i], court.y[i]))
        speeds |= set(zip(np.abs(court.vx), np.abs(court.vy), strict=True)) if frame % 8 == 0 else set()
        widths |= set(court.width)
        won = terminated & (court.score == 864)
        if won.any():
            i = int(won.argmax())
            end = {"return": infos["episode_stats"]["r"][i], "lives": before[i], "bricks": court.bricks[i].sum()}
            break
    return {"speeds": speeds, "widths": widths, "rewards": rewards, "seconds": seconds, "end": end, "frames": frame}


# --- the rules -------------------------------------------------------------------------------------------------------

def test_has_its_actions_features_and_screen():
    game = envs_c.game("breakout")
    assert game.actions == ("NOOP", "FIRE", "RIGHT", "LEFT")
    assert game.feature_shape == (118,) and game.feature_dtype == np.float32
    assert game.frame_skip == 4 and game.screen == (160, 210)


def test_begins_with_a_whole_wall_and_no_ball():
    court = Court(8, seed=1)
    for _ in range(50):
        court.step(NOOP)
    assert (court.bricks == 1).all() and not court.in_play.any()
    assert (court.lives == 5).all() and (court.score == 0).all() and (court.paddle == 99).all()


@pytest.mark.parametrize("turn", range(4))
def test_fire_serves_at_once_from_the_place_of_the_turn(turn):
    court = court_of_turn(0)
    for _ in range(turn):
        court.step(NOOP)
    court.step(FIRE)
    assert (court.x[0], court.y[0], court.vx[0], court.vy[0]) == (SERVES[turn][0], 122, SERVES[turn][1], 1)
    court.step(FIRE)
    assert (court.x[0], court.y[0]) == (SERVES[turn][0] + SERVES[turn][1], 123)


def test_the_first_serve_is_random():
    court = Court(400, seed=5)
    court.step(FIRE)
    counts = [(court.x == x).sum() for x, _ in SERVES]
    assert sum(counts) == 400 and min(counts) > 70


@pytest.mark.parametrize("lives", [1, 2, 3, 4, 5])
def test_ends_with_the_last_of_its_lives(lives):
    court = Court(seed=2, lives=lives)
    lost = terminated = 0
    while not terminated:
        before = court.lives[0]
        action = FIRE if not court.in_play[0] else LEFT if court.x[0] > 80 else RIGHT
        _, (terminated,), _ = court.step(action)
        lost += before - court.lives[0]
        assert terminated == (court.lives[0] == 0)
    assert lost == lives


@pytest.mark.parametrize("lives", [0, 6, 2.5])
def test_refuses_wrong_options(lives):
    with pytest.raises(envs_c.InvalidArgument, match="lives"):
        envs_c.make("breakout", lives=lives)


def test_clearing_both_walls_ends_the_episode_at_864_points(long_play):
    assert long_play["end"] is not None, f"no environment cleared both walls in {long_play['frames']} frames"
    assert long_play["end"]["return"] == 864 and long_play["end"]["bricks"] == 0
    assert long_play["end"]["lives"] > 0


def test_the_second_wall_comes_with_the_paddles_next_return(long_play):
    assert long_play["seconds"]
    for gone, before, after, vy, y in long_play["seconds"]:
        assert (gone, before, after) == (108, 0, 108) and vy < 0 and y >= 178


def test_a_hit_takes_one_brick_and_gives_the_points_of_its_row(long_play):
    assert len(long_play["rewards"]) > 1000
    for reward, points, bricks, scored in long_play["rewards"]:
        assert reward == points == scored and bricks == 1


def test_the_ball_has_the_speeds_of_the_table_and_no_others(long_play):
    assert long_play["speeds"] == SPEEDS


def test_the_paddle_is_16_or_12_wide(long_play):
    assert long_play["widths"] == {16, 12}


def test_features_stay_in_their_space():
    env = envs_c.make("breakout", 64, seed=0)
    assert_in_space(env, np.random.default_rng(0).integers(0, 4, (2_000, 64)))


# --- the cartridge ---------------------------------------------------------------------------------------------------

@pytest.fixture
def cartridge():
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.breakout import Cartridge
    return Cartridge()


def assert_equal_state(court, cartridge, frame):
    theirs = cartridge.read()
    ours = {
        "paddle": court.paddle[0], "width": court.width[0], "lives": court.lives[0], "score": court.score[0],
        "ball": (court.x[0], court.y[0]) if court.in_play[0] else None,
    }
    assert ours == {name: theirs[name] for name in ours}, f"frame {frame}"
    assert (court.bricks[0] == theirs["bricks"]).all(), f"frame {frame}"


def test_has_the_cartridges_actions_and_lives(cartridge):
    assert [action.name for action in cartridge.actions] == list(envs_c.game("breakout").actions)
    assert_equal_state(court_of_turn(0), cartridge, 0)


def test_the_first_screen_is_the_cartridges_pixel_for_pixel(cartridge):
    assert (Court().env.render()[0] == cartridge.screen()).all()


@pytest.mark.parametrize("seed", range(3))
def test_every_frame_of_random_play_equals_the_cartridge(cartridge, seed):
    court, rng, action = court_of_turn(0), np.random.default_rng(seed), NOOP
    for frame in range(4_000):
        if rng.random() < 0.2:
            action = rng.integers(4)
        _, (terminated,), _ = court.step(action)
        assert cartridge.step(action)[1] == terminated
        assert_equal_state(court, cartridge, frame)
        if terminated:
            break


@pytest.mark.parametrize("seed, frames, points", [(1, 10_000, 400), pytest.param(120, 30_000, 864, marks=pytest.mark.slow)])
def test_every_frame_of_a_player_equals_the_cartridge(cartridge, seed, frames, points):
    court, player = court_of_turn(0), Player(1, seed)
    for frame in range(frames):
        action = int(player.act(*court.view())[0])
        (ours,), (terminated,), _ = court.step(action)
        theirs, over = cartridge.step(action)
        assert (ours, terminated) == (theirs, over or court.score[0] == 864)  # the cartridge plays on at 864
        assert_equal_state(court, cartridge, frame)
        if frame % 5 == 0 or ours:
            assert (court.env.render()[0] == cartridge.screen()).all(), f"frame {frame}"
        if terminated:
            break
    assert court.score[0] >= points


@pytest.mark.parametrize("score, after", [(0x431, 108), (0x863, 0)])
def test_the_cartridge_has_two_walls_too(cartridge, score, after):
    """The ball is set below the last brick of a wall. Bricks are counted after the paddle's next return."""
    for _ in range(60):
        cartridge.step(NOOP)
    cartridge.step(FIRE)
    for _ in range(30):
        cartridge.step(NOOP)
    cartridge.poke(dict.fromkeys(range(36), 0) | {12: 48})  # the brick in the middle of the bottom row
    cartridge.poke({76: score >> 8, 77: score & 255})
    cartridge.poke({99: 128, 101: 91, 103: 254, 104: 0, 105: 255, 106: 0, 107: 64 + 8})  # ball: x, y, velocity, hits
    walls = []
    for _ in range(150):
        seen = cartridge.read()
        walls.append(seen["bricks"].sum())
        away = seen["ball"][0] - 7 - seen["paddle"]
        cartridge.step(RIGHT if away > 3 else LEFT if away < -3 else NOOP)
    assert walls[0] == 1 and 0 in walls and walls[-1] == after

"""The platformer's rules, one by one, its features and its picture. test_platformer_levels.py tests the levels."""

import numpy as np
import pytest
from platformer_search import COLUMNS, ENEMIES, MARGIN, Levels, first_states

import envs_c

NOOP, LEFT, RIGHT, JUMP, JUMPLEFT, JUMPRIGHT = range(6)
NOBODY, SLIME, URCHIN, BAT = range(4)
TILE, WIDTH, HEIGHT, GRACE = 256, 183, 256, 4
GROUND = 9  # the row of the ground's top in `plain`


# --- the player ------------------------------------------------------------------------------------------------------

def plain(column=10, row=GROUND, **fields):
    """A game on flat, empty ground.

    column: the player's.
    row: the ground's top row.
    fields: other fields of STATE.
    """
    env = Levels()
    ground = np.full(COLUMNS + 2 * MARGIN, 0xFFF & -(1 << row), np.uint16)
    ground[:MARGIN] = ground[-MARGIN:] = 0xFFF
    env.change(**{"solid": ground, "spike": 0, "coin": 0, "kind": 0, "enemies": 0, "ex": 30000, "edx": 0, "edy": 0, "ey": 0,
                  "x": column * TILE, "y": (row - 1) * TILE, "vx": 0, "vy": 0, "grace": GRACE, "time": 1000, **fields})
    return env


def put(env, name, column, row, value=1):
    """Set or clear one tile of `solid`, `spike` or `coin`."""
    bits = env.read()[name]
    bits[0, column + MARGIN] = int(bits[0, column + MARGIN]) & ~(1 << row) | value << row
    env.change(**{name: bits})


def play(env, actions):
    """Play actions until the end; returns the states, the rewards, and whether the episode has ended."""
    states, rewards = [], []
    for action in actions:
        reward, over = env.step(action)
        states.append(env.read()[0])
        rewards.append(float(reward[0]))
        if over[0]:
            return states, rewards, True
    return states, rewards, False


@pytest.mark.parametrize("action, sign", [(RIGHT, 1), (LEFT, -1)])
def test_runs_faster_up_to_his_top_speed_and_comes_to_rest(action, sign):
    states, _, _ = play(plain(30), [action] * 14 + [NOOP] * 8)
    assert [s["vx"] * sign for s in states] == [6 * k for k in range(1, 13)] + [72, 72, 60, 48, 36, 24, 12, 0, 0, 0]
    assert [s["facing"] for s in states] == [sign < 0] * 22
    assert states[-1]["x"] == 30 * TILE + sum(int(s["vx"]) for s in states)


@pytest.mark.parametrize("held, height", [(1, 1.17), (4, 1.9), (8, 2.7), (30, 3.3)])
def test_jumps_higher_the_longer_jump_is_held(held, height):
    states, _, _ = play(plain(), [JUMP] * held + [NOOP] * 30)
    top = (GROUND - 1) - min(s["y"] for s in states) / TILE
    assert abs(top - height) < 0.15
    assert states[-1]["y"] == (GROUND - 1) * TILE and states[-1]["grace"] == GRACE


def test_jumps_up_to_seven_tiles_far():
    states, _, _ = play(plain(3), [RIGHT] * 20 + [JUMPRIGHT] * 40)
    air = [int(s["x"]) for s in states if s["y"] < (GROUND - 1) * TILE]
    assert 7 * TILE < air[-1] - air[0] < 7.5 * TILE


def test_a_held_jump_counts_once():
    states, _, _ = play(plain(), [JUMP] * 60)
    ups = sum(s["vy"] < 0 and (k == 0 or states[k - 1]["vy"] >= 0) for k, s in enumerate(states))
    assert ups == 1


@pytest.mark.parametrize("frames, jumps", [(0, True), (3, True), (4, False)])
def test_jumps_until_three_frames_after_the_edge(frames, jumps):
    env = plain(10, vx=72)
    for column in range(12, 20):
        put(env, "solid", column, GROUND, 0)
        put(env, "solid", column, GROUND + 1, 0)
        put(env, "solid", column, GROUND + 2, 0)
    while env.read()["grace"][0] == GRACE:
        assert not play(env, [RIGHT])[2]
    states, _, _ = play(env, [RIGHT] * (frames - 1 if frames else 0) + [JUMPRIGHT])
    assert (states[-1]["vy"] < 0) == jumps


@pytest.mark.parametrize("frames, jumps", [(0, True), (3, True), (4, False)])
def test_jump_counts_from_three_frames_before_the_ground(frames, jumps):
    fall = [NOOP] * 30
    env = plain(y=(GROUND - 4) * TILE, grace=0)
    lands = next(k for k, s in enumerate(play(env, fall)[0]) if s["grace"] == GRACE) + 1  # the first frame in which he can jump
    env = plain(y=(GROUND - 4) * TILE, grace=0)
    states, _, _ = play(env, [NOOP] * (lands - frames) + [JUMP] + [NOOP] * 6)
    assert any(s["vy"] < 0 for s in states) == jumps


@pytest.mark.parametrize("action, column, x", [(RIGHT, 13, 13 * TILE - WIDTH), (LEFT, 8, 9 * TILE)])
def test_a_wall_stops_him(action, column, x):
    env = plain(10)
    put(env, "solid", column, GROUND - 1)
    state = play(env, [action] * 30)[0][-1]
    assert state["x"] == x and state["vx"] == 0


def test_the_levels_start_and_a_ceiling_stop_him():
    assert play(plain(1), [LEFT] * 40)[0][-1]["x"] == 0
    env = plain(10)
    put(env, "solid", 10, GROUND - 3)
    states, _, over = play(env, [JUMP] * 40)
    assert min(s["y"] for s in states) == (GROUND - 2) * TILE and not over


def test_coins_are_taken_once_for_a_point_each():
    env = plain(10)
    for column in (11, 12, 14):
        put(env, "coin", column, GROUND - 1)
    _, rewards, _ = play(env, [RIGHT] * 30 + [LEFT] * 60)
    assert sum(rewards) == 3 and set(rewards) == {0, 1} and env.read()["score"][0] == 3
    assert not env.read()["coin"].any()


@pytest.mark.parametrize("aside", [0, TILE - WIDTH, TILE - WIDTH + 1])
def test_a_coin_on_which_he_falls_is_one_point(aside):
    """In one column he touches it with both sides."""
    env = plain(10, x=10 * TILE + aside, y=(GROUND - 3) * TILE)
    put(env, "coin", 10, GROUND - 1)
    _, rewards, _ = play(env, [NOOP] * 30)
    assert sum(rewards) == 1 and env.read()["score"][0] == 1


def test_spikes_and_pits_end_the_episode():
    env = plain(10)
    put(env, "spike", 13, GROUND - 1)
    states, rewards, over = play(env, [RIGHT] * 40)
    assert over and sum(rewards) == 0
    assert states[-1]["x"] + WIDTH - 1 >= 13 * TILE + 48 > states[-2]["x"] + WIDTH - 1
    states, _, over = play(plain(10, 12), [NOOP] * 60)
    assert over and states[-1]["y"] >= 12 * TILE > states[-2]["y"]


def test_the_time_limit_and_the_flag_end_the_episode():
    states, rewards, over = play(plain(), [NOOP] * 1001)
    assert over and len(states) == 1000 and sum(rewards) == 0
    states, rewards, over = play(plain(55), [RIGHT] * 40)
    assert over and rewards[-1] == 10 and states[-1]["x"] >= 60 * TILE > states[-2]["x"]


# --- enemies ---------------------------------------------------------------------------------------------------------

def meet(kind, above, vy=60):
    """One frame of a player whose feet are `above` units above an enemy's top and who falls at vy: reward, end, state."""
    ey = 6 * TILE
    env = plain(10, ex=[10 * TILE] + [30000] * 7, ey=[ey] + [0] * 7, kind=[kind] + [0] * 7, enemies=1, left=50, span=50,
                y=ey - HEIGHT - above, vy=vy, grace=0)
    reward, over = env.step(NOOP)
    return reward[0], over[0], env.read()[0]


@pytest.mark.parametrize("kind, above, stomped", [
    (SLIME, 10, True), (SLIME, -60, True), (SLIME, -80, False), (BAT, 10, True), (URCHIN, 10, False)])
def test_slimes_and_bats_are_stomped_and_urchins_are_not(kind, above, stomped):
    reward, over, state = meet(kind, above)
    assert (reward, over) == ((1, False) if stomped else (0, True))
    assert state["kind"][0] == (NOBODY if stomped else kind)
    assert (state["vy"] == -90) == stomped


def test_an_enemy_touched_from_below_hurts():
    reward, over, _ = meet(SLIME, -100, vy=-80)
    assert (reward, over) == (0, True)
    assert meet(SLIME, 300)[:2] == (0, False)


@pytest.mark.parametrize("difficulty", [1, 2, 3])
def test_enemies_depend_only_on_time_and_keep_to_their_places(difficulty):
    """Their places are computed a second time; slimes and urchins must have ground below them."""
    starts = first_states(60, difficulty=difficulty)
    env = Levels(60, difficulty=difficulty)
    env.write(starts)
    alive = np.ones(60, bool)
    for frame in range(1, 201):
        _, over = env.step(NOOP)
        alive &= ~over
        states = env.read()[alive]
        begun = starts[alive]
        for k in range(ENEMIES):
            there = begun["kind"][:, k] > 0
            span, left = (np.where(there, begun[name][:, k].astype(int), 1) for name in ("span", "left"))
            # Frames moved forwards less frames moved back: a triangle wave whose first edge is `left` long.
            phase = (frame + span - left) % (2 * span)
            gone = np.where(phase <= span, phase, 2 * span - phase) - (span - left)
            assert np.array_equal(states["ex"][there, k], (begun["ex"][:, k] + gone * begun["edx"][:, k])[there])
            assert np.array_equal(states["ey"][there, k], (begun["ey"][:, k] + gone * begun["edy"][:, k])[there])
            walks = there & (begun["kind"][:, k] != BAT)
            for state in states[walks]:
                x, row = int(state["ex"][k]), (int(state["ey"][k]) + 183) // TILE
                under = [state["solid"][MARGIN + (side >> 8)] for side in (x, x + 218)]
                assert all(bits >> row & 1 and not bits >> (row - 1) & 1 for bits in under)
    assert alive.sum() > 30


# --- features and pictures -------------------------------------------------------------------------------------------

def features_of(state):
    """The features, computed a second time from the state."""
    s = {name: state[name].astype(int) for name in STATE_NAMES}
    seen = [s["vx"] / 72, s["vy"] / 80, s["grace"] == GRACE, s["grace"] / 4, s["buffer"] / 4, s["held"],
            (s["x"] % TILE - 128) / 128, s["y"] % TILE / 128, (7 * TILE - s["y"]) / (2 * TILE),
            (30 * TILE - s["x"]) / (16 * TILE), (1000 - s["time"]) / 500, s["facing"]]
    near = [k for k in range(ENEMIES) if s["ex"][k] >= s["x"] - 3 * TILE][:3]
    for k in near:
        away = s["ex"][k] - s["x"]
        seen += [0] * 6 if not s["kind"][k] or away > 12 * TILE else [
            1, away / 1024, (s["ey"][k] - s["y"]) / 1024, s["edx"][k] / 16, s["edy"][k] / 32, s["kind"][k] == URCHIN]
    seen += [0] * 6 * (3 - len(near))
    column, row = s["x"] // TILE, (s["y"] + 128) // TILE
    for plane in ("solid", "spike", "coin"):
        seen += [r >= 0 and s[plane][MARGIN + c] >> r & 1
                 for r in range(row - 4, row + 5) for c in range(column - 3, column + 9)]
    return np.array(seen, float)


STATE_NAMES = ("vx", "vy", "grace", "buffer", "held", "x", "y", "time", "facing", "ex", "ey", "edx", "edy", "kind", "solid",
               "spike", "coin")


@pytest.mark.parametrize("difficulty", range(4))
def test_features_equal_a_second_computation(difficulty):
    env, random = Levels(20, difficulty=difficulty), np.random.default_rng(0)
    for frame in range(200):
        env.step(random.choice([RIGHT, RIGHT, JUMPRIGHT, JUMPRIGHT, LEFT, NOOP, JUMP], 20) if frame % 5 == 0 else
                 env.arrays["actions"].copy())
        if frame % 7 == 0:
            for state, seen in zip(env.read(), env.arrays["observation"], strict=True):
                assert np.abs(features_of(state) - seen).max() < 1e-5


def test_the_grey_picture_is_the_colour_one_in_grey():
    env, random = envs_c.make("platformer", 16, view="pixels", difficulty=3, seed=3), np.random.default_rng(1)
    env.reset()
    for _ in range(150):
        grey = env.step(random.choice([RIGHT, JUMPRIGHT, LEFT, JUMP], 16))[0]
        for picture, seen in zip(env.render()[:4], grey, strict=False):
            small = picture[1::3, 1::3].astype(int)
            assert np.array_equal(np.repeat(np.repeat(small, 3, 0), 3, 1), picture)
            assert np.array_equal((small @ [299, 587, 114] + 500) // 1000, seen)


def test_the_flag_flies_at_the_top_of_its_pole():
    picture = plain(55).core.render()[1::3, 1::3]
    pole, flag = ((picture == colour).all(2) for colour in ((0xC8, 0xC8, 0xC8), (0x60, 0xF0, 0x60)))
    (top, *_), columns = np.flatnonzero(pole.any(1)), np.flatnonzero(pole.any(0))
    assert columns.size == 1 and pole.sum() == 28 and top == 7 * (GROUND - 4)
    assert np.flatnonzero(flag.any(1)).tolist() == list(range(top, top + 5))
    assert np.flatnonzero(flag.any(0)).tolist() == [columns[0] + k for k in range(1, 7)]


@pytest.mark.parametrize("option, value", [
    ("levels", -1), ("levels", 1_000_001), ("level_seed", -1), ("level_seed", 2**31), ("difficulty", 4), ("difficulty", -1),
    ("difficulty", 0.5), ("stages", 0), ("stages", 101),
])
def test_refuses_wrong_options(option, value):
    with pytest.raises(envs_c.InvalidArgument, match=option):
        envs_c.make("platformer", **{option: value})


def test_an_error_names_the_whole_range_of_a_seed():
    with pytest.raises(envs_c.InvalidArgument, match="must be an integer from 0 to 2,147,483,647 "):
        envs_c.make("platformer", level_seed=2**31)

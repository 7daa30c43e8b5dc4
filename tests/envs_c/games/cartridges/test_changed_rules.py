"""Options that change one rule of a cartridge game each: off, nothing changes; on, only what the option says.

In each frame the changed game's state is also put into the game without the option. Both play the frame. The states after it
must be equal but for the fields that a row names; a row's function says what these are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from support import play_core

import envs_c
from benchmarks.cartridges import open_state
from benchmarks.cartridges.twins import TWINS

OPTIONS = {
    "breakout": ("keep_width", "fast_ball", "hidden_bricks"),
    "pong": ("lazy_enemy", "fast_serve", "hidden_enemy"),
    "freeway": ("frozen_traffic", "fast_traffic", "harmless_cars"),
    "asterix": ("harmless_lyres", "random_things", "quick_points"),
}
NOTHING, LYRE, TREASURE, POINTS = range(4)
LEFT, RIGHT = 3, 2
GONE, MANY_HITS, RESTING, STUNNED = 2, 12, 8, 64


@dataclass(frozen=True)
class Row:
    """An option of a game.

    act: the player's action from the state, which is a record with the fields of the struct, and a random generator.
    expect: from the state before the frame and that after it without the option: fields with their values under the option,
        and whether the rule mattered in this frame.
    free: fields that are not compared.
    put: fields that are put into the changed game every 200 frames.
    """

    game: str
    option: str
    act: Callable
    expect: Callable
    free: tuple[str, ...] = ()
    put: dict = field(default_factory=dict)


def follow_ball(state, random) -> int:
    """Breakout: serve, and follow the ball with a part of the paddle."""
    if not state["in_play"]:
        return 1
    away = int(state["x"]) // 256 - 7 - int(state["paddle"]) + int(random.integers(-6, 7))
    return RIGHT if away > 3 else LEFT if away < -3 else 0


def meet_ball(state, random) -> int:
    """Pong: follow the ball with a part of the paddle."""
    away = int(state["y"]) - 7 - int(state["paddle"]) + int(random.integers(-7, 8))
    return 0 if state["y"] == 0 or abs(away) < 4 else LEFT if away > 0 else RIGHT


def go_up(state, random) -> int:
    return 1


def wander(state, random) -> int:
    """Asterix: an action that lasts for some frames."""
    return int(np.random.default_rng(int(state["clock"]) // 8 + 1000 * int(state["score"])).integers(9))


def wide(before, after):
    return {"width": 16}, after["width"] == 12


def fast(before, after):
    lost = after["lives"] < before["lives"]
    return ({"hits": MANY_HITS} if lost else {}), lost


def same(before, after):
    return {}, True


def lazy(before, after):
    rests = after["vx"] > 0 and after["phase"] != GONE
    enemy = before["enemy"] if rests else after["enemy"]
    return {"rest": RESTING * rests, "enemy": enemy}, enemy != after["enemy"]


def serve(before, after):
    served = before["phase"] == GONE and after["phase"] != GONE
    return ({"vx": 2 * after["vx"]} if served else {}), served


def unhit(before, after):
    """`met` would let the next frame begin a stun."""
    return {"met": 0}, after["met"]


def no_stun(before, after):
    return {"stun": 0}, after["stun"] > 0


def entered(before, after):
    """Lanes whose thing left in this frame."""
    return np.abs(after["x"].astype(int) - before["x"]) > 50


def drawn(before, after):
    return {}, entered(before, after).any()


def short_wait(before, after):
    taken = (after["kind"] >= POINTS) & (before["kind"] < POINTS)
    return {"wait": np.where(taken, 7, after["wait"])}, taken.any()


ROWS = [
    Row("breakout", "keep_width", follow_ball, wide,
        put={"in_play": 1, "x": 80 * 256, "y": 40 * 256, "vx": 256, "vy": -256, "met": 0}),
    Row("breakout", "fast_ball", lambda state, random: int(random.integers(4)), fast),
    Row("breakout", "hidden_bricks", follow_ball, same),
    Row("pong", "lazy_enemy", meet_ball, lazy),
    Row("pong", "fast_serve", meet_ball, serve, free=("x", "free")),
    Row("pong", "hidden_enemy", meet_ball, same),
    Row("freeway", "harmless_cars", go_up, unhit, free=("changing",)),
    Row("asterix", "harmless_lyres", wander, no_stun),
    Row("asterix", "random_things", wander, drawn, free=("kind", "touch")),
    Row("asterix", "quick_points", wander, short_wait, put={"kind": TREASURE, "wait": 0, "lives": 8, "stun": 0}),
]
NAMES = [f"{row.game}-{row.option}" for row in ROWS]


def frames(row: Row, count: int = 3000):
    """Play; yields for each frame the changed game, the plain one, and the states before the frame and after it in each."""
    changed, plain, random = TWINS[row.game](1, **{row.option: 1}), TWINS[row.game](1), np.random.default_rng(0)
    for number in range(count):
        if row.put and number % 200 == 100:
            changed.change(**row.put)
        before = changed.read()
        start = before.copy()
        for name in {"rules", "rest", "changing"} & set(start.dtype.names):
            start[name] = 0
        open_state.write(plain.core, start.reshape(1))
        action = row.act(before, random)
        over = changed.step(action), plain.step(action)
        assert over[0] == over[1]
        if over[0][1]:
            return
        yield changed, plain, before, changed.read(), plain.read()


def hash_of(game: str, view: str = "features", **options) -> str:
    """The hash of all outputs of random play."""
    return play_core(envs_c.game(game), 16, 1000, view=view, seed=7, options=options)


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_an_option_changes_just_what_it_says(row):
    mattered = 0
    for number, (_, _, before, after, without) in enumerate(frames(row)):
        expected, matters = row.expect(before, without)
        mattered += bool(matters)
        for name in set(after.dtype.names) - {"rules", *row.free}:
            value = expected.get(name, without[name])
            assert np.array_equal(after[name], value), f"frame {number}: {name} is {after[name]}, not {value}"
    assert mattered >= 3


@pytest.mark.parametrize("game", OPTIONS)
def test_off_they_change_no_bit(game):
    """The golden checksums of test_determinism.py hold for the default options."""
    for view in ("features", "pixels"):
        assert hash_of(game, view, **dict.fromkeys(OPTIONS[game], 0)) == hash_of(game, view)


def test_a_served_ball_goes_2_pixels_and_keeps_its_speed():
    played = [after for *_, after, _ in frames(ROWS[NAMES.index("pong-fast_serve")])]
    assert {abs(int(after["vx"])) for after in played if after["phase"] != GONE} == {2}


def test_the_wall_of_hidden_bricks_is_not_painted_but_hit():
    for number, (changed, plain, *_) in enumerate(frames(ROWS[NAMES.index("breakout-hidden_bricks")], 1500)):
        assert np.array_equal(changed.seen[:10], plain.seen[:10]) and (changed.seen[10:] == 1).all()
        if number % 100 == 99:
            ours, theirs = changed.picture(), plain.picture()
            assert np.array_equal(ours[:57], theirs[:57]) and np.array_equal(ours[93:], theirs[93:])
            assert (ours[57:93, 8:152] != 0).any(-1).sum() <= 8  # nothing, or the ball
            assert (theirs[57:93, 8:152] != 0).any(-1).sum() > 1000
    assert plain.score > 0


def test_the_hidden_enemy_is_neither_painted_nor_a_feature():
    shown = 0
    for number, (changed, plain, *_) in enumerate(frames(ROWS[NAMES.index("pong-hidden_enemy")], 600)):
        assert np.array_equal(np.delete(changed.seen, 1), np.delete(plain.seen, 1)) and changed.seen[1] == 0
        if number % 20 == 0:
            ours, theirs = changed.picture(), plain.picture()
            shown += (ours != theirs).any()
            assert np.array_equal(np.delete(ours, range(16, 20), 1), np.delete(theirs, range(16, 20), 1))
            assert len(np.unique(ours[34:194, 16:18].reshape(-1, 3), axis=0)) <= 2  # the court, and perhaps the ball
    assert shown > 10


def test_what_comes_in_by_chance_is_of_one_kind_in_a_frame_and_both_kinds_are_as_likely():
    kinds, ruled = [], []
    for seed in range(20):
        game = TWINS["asterix"](seed, random_things=1, harmless_lyres=1)
        for _ in range(600):
            before = game.read()
            game.step(0)
            after = game.read()
            came = after["kind"][entered(before, after)]
            if came.size:
                assert set(came) in ({LYRE}, {TREASURE})
                kinds.append(came[0] == TREASURE)
                ruled.append((before["clock"] ^ before["held"]) & 1 == 0)
    assert len(kinds) > 150
    assert abs(np.mean(kinds) - 0.5) < 0.13
    assert abs(np.mean(np.equal(kinds, ruled)) - 0.5) < 0.13


@pytest.mark.parametrize("game, settings", [(1, {}), (2, {"scatter": 0}), (4, {}), (7, {"difficulty": 1})])
def test_frozen_cars_stay_and_are_in_nobodys_way(game, settings):
    road, points = TWINS["freeway"](3, game=game, frozen_traffic=1, **settings), 0
    for _ in range(1000):
        points += road.step(1)[0]
        state = road.read()
        assert not state["x"].any() and not state["timer"] & STUNNED and not road.seen[15:].any()
    assert points == 5


def test_harmless_cars_do_not_stop_the_chicken():
    road = TWINS["freeway"](3, game=8, harmless_cars=1)
    assert sum(road.step(1)[0] for _ in range(1000)) == 5


@pytest.mark.parametrize("game", [1, 4, 6])
def test_fast_cars_drive_2_pixels_a_frame(game):
    road = TWINS["freeway"](3, game=game, fast_traffic=1)
    for _ in range(100 if game < 5 else 1):
        before = road.read()["x"][:10].astype(int)
        road.step(0)
        inside = (before > 1) & (before < 158)
        assert (road.read()["x"][:10] - before == [2] * 5 + [-2] * 5)[inside].all()
        assert road.seen[15:].tolist() == [2] * 5 + [-2] * 5 or game > 4


def test_both_traffic_options_together_are_frozen_traffic():
    states = [TWINS["freeway"](3, **options).read()[["x", "pace", "move"]] for options in (
        {"frozen_traffic": 1, "fast_traffic": 1}, {"frozen_traffic": 1})]
    assert states[0] == states[1]

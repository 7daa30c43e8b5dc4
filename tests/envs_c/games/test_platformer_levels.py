"""The platformer's levels: a search solves all of them, a plain twin plays them the same, and their layout keeps the rules."""

import numpy as np
import pytest
from platformer_search import COLUMNS, MARGIN, Levels, arrives, first_states, search
from platformer_twin import Twin

NOOP, LEFT, RIGHT, JUMP = range(4)
WAYS = (0, -1, 1, 0, -1, 1)  # by action
NOBODY, SLIME, URCHIN, BAT = range(4)
TILE = 256
DIFFICULTIES = range(4)
EFFORTS = [(24, 800), (128, 1500), (512, 3000)]  # width and luck of the first, second and third search


# --- every level can be solved ---------------------------------------------------------------------------------------

def unsolved(count, difficulty, **options):
    """The levels among 0 .. count - 1 that no search solves. Each solution is checked: it is played from the start."""
    options["difficulty"] = difficulty
    starts, left = first_states(count, **options), np.arange(count)
    for width, luck in EFFORTS:
        pieces = [left[k : k + 1200 // width] for k in range(0, len(left), 1200 // width)]
        left = np.array([k for piece in pieces
                         for k, way in zip(piece, search(starts[piece], width, luck, **options), strict=True)
                         if way is None or not arrives(starts[k], way, **options)], int)
    return left.tolist()


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_search_solves_20_levels(difficulty):
    assert unsolved(20, difficulty) == []


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_search_solves_1000_levels(difficulty):
    assert unsolved(1000, difficulty) == []


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_search_solves_1000_levels_of_another_seed(difficulty):
    assert unsolved(1000, difficulty, level_seed=2**31 - 1) == []


# --- against the twin ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("count, effort", [(6, (64, 1200)), pytest.param(24, EFFORTS[1], marks=pytest.mark.slow)])
@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_every_frame_equals_the_plain_twin(difficulty, count, effort):
    """Each solution of a search is played to the flag; then its first third is played again, with random actions after it."""
    starts, random, ends = first_states(count, difficulty=difficulty), np.random.default_rng(difficulty), set()
    for start, solution in zip(starts, search(starts, *effort, difficulty=difficulty), strict=True):
        noise = np.repeat(random.integers(0, 6, 300), random.integers(1, 8, 300))
        for actions in (solution, np.concatenate([solution[: len(solution) // 3], noise])):
            env, twin = Levels(1, difficulty=difficulty), Twin(start)
            env.write(start[None])
            for frame, action in enumerate(actions):
                reward, over = env.step(action)
                assert twin.step(WAYS[action], action >= JUMP) == (reward[0], over[0]), f"frame {frame}"
                state = env.read()[0]
                if over[0]:
                    ends.add(reward[0] >= 10)
                    break
                assert tuple(int(state[name]) for name in ("x", "y", "vx", "vy")) == (
                    twin.x, twin.y, twin.vx, twin.vy), f"frame {frame}"
                assert [(e["x"], e["y"], e["kind"]) for e in twin.enemies] == list(
                    zip(*(state[name][: len(twin.enemies)].tolist() for name in ("ex", "ey", "kind")), strict=True))
    assert ends == {True, False}


# --- the set of levels and their layout ------------------------------------------------------------------------------

LAYOUT = ("solid", "spike", "coin", "ex", "ey", "edx", "edy", "left", "span", "kind", "y")


def layouts(states):
    """One bytes object a level, equal for equal levels."""
    return [b"".join(state[name].tobytes() for name in LAYOUT) for state in states]


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_level_is_a_function_of_seed_number_and_difficulty(difficulty):
    ours = first_states(40, difficulty=difficulty, seed=1)
    theirs = first_states(40, difficulty=difficulty, seed=2)
    assert layouts(ours) == layouts(theirs) and len(set(layouts(ours))) == 40
    assert layouts(first_states(60, difficulty=difficulty))[:40] == layouts(ours)
    others = [first_states(40, difficulty=difficulty, level_seed=5), first_states(40, difficulty=(difficulty + 1) % 4)]
    assert not any(set(layouts(states)) & set(layouts(ours)) for states in others)


@pytest.mark.parametrize("levels", [1, 7, 200])
def test_the_option_levels_bounds_the_number_of_levels(levels):
    env, seen = Levels(256, levels=levels), set()
    for _ in range(20):
        seen |= set(layouts(env.read()))
        env.batch.reset()
    assert len(seen) == levels


def test_without_a_bound_no_level_occurs_twice():
    assert len(set(layouts(Levels(2000).read()))) == 2000


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_levels_have_the_dangers_of_their_difficulty(difficulty):
    states = first_states(300, difficulty=difficulty)
    kinds = set(np.unique(states["kind"]))
    assert kinds == {0: {NOBODY}, 1: {NOBODY, SLIME}}.get(difficulty, {NOBODY, SLIME, URCHIN, BAT})
    inner = slice(MARGIN, MARGIN + COLUMNS)
    assert (states["solid"][:, :MARGIN] == 0xFFF).all() and (states["solid"][:, -MARGIN:] == 0xFFF).all()
    assert not (states["solid"] & (states["spike"] | states["coin"])).any()
    assert not (states["spike"] & ~(states["solid"] >> 1)).any(), "spikes stand on something"
    empty = states["solid"][:, inner] == 0
    assert not empty[:, :5].any() and not empty[:, -7:].any()
    assert states["coin"][:, inner].any(1).all()
    runs = [len(run) for row in empty for run in "".join("x" if e else " " for e in row).split()]
    assert max(runs) == max(3 if difficulty else 2, (2, 3, 4, 5)[difficulty])


@pytest.mark.parametrize("difficulty", DIFFICULTIES)
def test_a_pit_has_as_many_islands_as_its_difficulty_allows(difficulty):
    """Islands are tiles over nothing; ground and the floors of pits reach down to the last row."""
    solid = first_states(300, difficulty=difficulty)["solid"][:, MARGIN:MARGIN + COLUMNS]
    rows = ["".join("g" if bits >> 10 == 3 else "i" if bits & 0x7FF else " " for bits in row) for row in solid]
    assert max(len(pit.replace("g", " ").split()) for row in rows for pit in row.split("g")) == (0, 1, 2, 3)[difficulty]


def test_the_flag_leads_to_another_level_until_the_last_stage():
    env = Levels(1, stages=3, seed=4)
    for stage in range(3):
        level = env.read()["level"][0]
        env.change(x=60 * TILE - 1, y=0, vx=72, vy=0)
        reward, over = env.step(RIGHT)
        assert reward[0] == 10 and over[0] == (stage == 2)
        state = env.read()[0]
        if stage < 2:
            assert state["level"] != level and state["x"] == 2 * TILE and state["time"] == 1000

"""Space Invaders beside the cartridge under ale-py."""

import numpy as np
import pytest
from space_machine import FIRE, LEFT, LEFT_FIRE, NOOP, REST, RIGHT, RIGHT_FIRE, Space, begun, without_bombs

import envs_c

OLIVE = (0x86, 0x86, 0x1D)  # colour of invaders
NO_BOMBS, NO_SAUCER = {81: 246, 82: 246}, {30: 180}  # RAM


@pytest.fixture
def space():
    """Our game after its first rest."""
    return begun()


@pytest.fixture
def cartridge():
    """The cartridge after its first rest; skips without ale-py."""
    pytest.importorskip("ale_py")
    from benchmarks.cartridges.space_invaders import Cartridge
    return Cartridge()


def test_has_the_cartridges_actions_and_lives(cartridge):
    assert [action.name for action in cartridge.actions] == list(envs_c.game("space_invaders").actions)
    assert cartridge.ale.lives() == Space().lives == 3


def test_the_first_picture_is_the_cartridges_but_for_the_digits(cartridge):
    machine = Space()
    machine.play(*[NOOP] * (REST - 1))
    assert np.array_equal(machine.picture()[25:], cartridge.screen()[25:])


@pytest.mark.parametrize("steps", [1, 2])
def test_poses_are_the_cartridges(cartridge, space, steps):
    for _ in range(1 + 32 * (steps - 1)):
        cartridge.step(NOOP)
        cartridge.poke(NO_BOMBS)
    without_bombs(space, NOOP, 1 + 32 * (steps - 1))
    ours, theirs = ((picture[25:140] == OLIVE).all(-1) for picture in (space.picture(), cartridge.screen()))
    assert space.x == cartridge.read()["x"] == 22 + steps and np.array_equal(ours, theirs)


@pytest.mark.parametrize("count", [36, 22, 21, 8, 7, 5, 4, 3, 2, 1])
def test_marches_as_fast_as_on_the_cartridge(cartridge, space, count):
    """Pixels in 240 frames, within 7 %: the cartridge's marches are uneven within 64 frames, ours are even."""
    order = [(row, column) for column in (0, 5, 1, 4, 2, 3) for row in range(6)][:count]
    rows = [sum(1 << column for r, column in order if r == row) for row in range(6)]
    travelled = {}
    for name, game in (("ours", space), ("theirs", cartridge)):
        game.leave(rows)
        places = []
        for _ in range(240):
            if name == "ours":
                without_bombs(game, NOOP, 1)
                places.append(game.x)
            else:
                game.step(NOOP)
                game.poke(NO_BOMBS | NO_SAUCER)
                places.append(game.read()["x"])
        moved = np.abs(np.diff(places))
        travelled[name] = moved[moved < 10].sum()
    assert travelled["ours"] == pytest.approx(travelled["theirs"], rel=0.07, abs=1)


@pytest.mark.parametrize("columns", [0b111111, 0b100001, 0b001100, 0b000001])
def test_turns_at_the_cartridges_places(cartridge, space, columns):
    rows = [columns] * 6
    turns = {"ours": [], "theirs": []}
    first = (columns & -columns).bit_length() - 1
    for name, game in (("ours", space), ("theirs", cartridge)):
        game.leave(rows)
        for _ in range(2400):
            if name == "ours":
                before = (game.x, game.y)
                game.change(lives=3)
                without_bombs(game, NOOP, 1)
                x, y = game.x + 16 * first, game.y
            else:
                before = (0, 31 + 2 * game.ram[16])
                game.step(NOOP)
                game.poke(NO_BOMBS | NO_SAUCER)
                x, y = game.read()["x"], game.read()["y"]
            if y != before[1]:
                turns[name].append((int(x), int(y)))
    shorter = min(4, *map(len, turns.values()))  # at the landing the cartridge drops them farther
    assert shorter >= 1 and turns["ours"][:shorter] == turns["theirs"][:shorter]


@pytest.mark.parametrize("actions", [[RIGHT] * 200, [RIGHT] * 60 + [LEFT] * 90, [RIGHT_FIRE] * 40 + [LEFT_FIRE] * 10])
def test_the_cannon_moves_as_on_the_cartridge(cartridge, space, actions):
    ours, theirs = [], []
    for action in actions:
        without_bombs(space, action, 1)
        cartridge.step(action)
        cartridge.poke(NO_BOMBS)
        ours.append(space.cannon)
        theirs.append(cartridge.read()["cannon"])
    assert np.abs(np.subtract(ours, theirs)).max() <= 1 and ours[-1] == pytest.approx(theirs[-1], abs=1)


def test_a_hit_cannon_costs_a_life_after_as_many_frames_as_on_the_cartridge(cartridge, space):
    cartridge.poke({81: 88, 83: int(cartridge.ram[28]) + 3})
    space.change(bomb_x=[space.cannon + 3, 0], bomb_y=[178, 0], odd=1)
    frames = {}
    for name, game in (("ours", space), ("theirs", cartridge)):
        for frame in range(200):
            game.step(NOOP)
            if (game.lives if name == "ours" else game.read()["lives"]) == 2:
                frames[name] = frame
                break
    assert frames["ours"] == pytest.approx(frames["theirs"], abs=2)


@pytest.mark.parametrize(("rows", "y", "lands"), [
    ([63] * 6, 18, False), ([63] * 6, 19, True), ([0] * 5 + [63], 18, False), ([0] * 5 + [63], 19, True),
    ([63] + [0] * 5, 63, False), ([63] + [0] * 5, 64, True)])
def test_invaders_land_at_the_cartridges_height(cartridge, space, rows, y, lands):
    """At the next turn at the latest. y: of their top row, in the cartridge's units of 2 pixels."""
    cartridge.leave(rows)
    cartridge.poke({16: y, 30: 180})
    space.leave(rows)
    space.change(y=31 + 2 * y)
    theirs = ours = False
    for _ in range(1000):
        cartridge.poke(NO_BOMBS)
        theirs = theirs or cartridge.step(NOOP)[1]
        if not ours:
            space.calm()
            ours = space.step(NOOP)[1]
        if theirs or cartridge.ram[16] != y:
            theirs = theirs or any(cartridge.step(NOOP)[1] for _ in range(3))
            break
    while not ours and space.y == 31 + 2 * y:
        space.calm()
        ours = space.step(NOOP)[1]
    assert ours == theirs == lands


@pytest.mark.parametrize("episodes", [6, pytest.param(24, marks=pytest.mark.slow)])
def test_random_play_scores_and_lasts_as_on_the_cartridge(cartridge, episodes):
    """Mean score and length of episodes of random play, each action held for 4 frames."""
    random = np.random.default_rng(0)
    scores, lengths = [0.0], [0]
    while len(scores) <= episodes:
        action = int(random.integers(6))
        for _ in range(4):
            reward, over = cartridge.step(action)
            scores[-1] += reward
        lengths[-1] += 1
        if over:
            cartridge.ale.reset_game()
            scores.append(0.0)
            lengths.append(0)
    env = envs_c.make("space_invaders", 100, seed=1, autoreset="same_step")
    env.reset()
    ours = {"r": [], "l": []}
    while len(ours["r"]) < 300:
        infos = env.step(random.integers(0, 6, 100))[-1]
        for name in ours if "episode_stats" in infos else ():
            ours[name] += infos["episode_stats"][name][infos["_episode_stats"]].tolist()
    assert np.mean(ours["r"]) == pytest.approx(np.mean(scores[:-1]), rel=0.35)
    assert np.mean(ours["l"]) == pytest.approx(np.mean(lengths[:-1]), rel=0.2)


@pytest.mark.parametrize("row", range(6))
def test_gives_the_cartridges_points(cartridge, row):
    rows = [0] * 6
    rows[row] = 63
    cartridge.leave(rows)
    cartridge.poke({28: 52, 30: 180, **{43 + k: 0 for k in range(27)}})
    points = []
    for frame in range(400):
        cartridge.poke(NO_BOMBS)
        points.append(cartridge.step(FIRE if frame % 2 else NOOP)[0])
        if points[-1]:
            break
    assert points[-1] == 5 * (6 - row)

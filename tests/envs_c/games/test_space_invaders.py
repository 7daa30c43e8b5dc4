"""Space Invaders: its rules as its file states them, and beside the cartridge under ale-py."""

import numpy as np
import pytest
from open_state import Machine, struct

import envs_c

NOOP, FIRE, RIGHT, LEFT, RIGHT_FIRE, LEFT_FIRE = range(6)
REST = 128
OLIVE, RUST = (0x86, 0x86, 0x1D), (0xB5, 0x53, 0x28)


class Space(Machine):
    GAME = "space_invaders"
    STATE = struct(
        ("score", "i4"), ("x y saucer_x saucer_wait cannon shot_x shot_y", "i2"), ("bomb_x bomb_y", "i2", 2), ("row", "u1", 6),
        ("shield", "u1", (3, 9)), ("gone", "u1", 24), ("count wave lives march", "u1"), ("way saucer_way", "i1"),
        ("pose odd quarter bomb_age bomb_rest phase rest blast blast_row blast_column", "u1"))

    def leave(self, rows):
        """Only these invaders: six bytes, a bit an invader, from the top."""
        self.change(row=rows, count=sum(map(int.bit_count, rows)))

    def calm(self):
        """No bombs, no saucer for a while."""
        self.change(bomb_y=[0, 0], bomb_age=0, bomb_rest=0, saucer_wait=832)


@pytest.fixture
def space():
    """Our game when the first rest is over."""
    machine = Space()
    machine.play(*[NOOP] * REST)
    return machine


@pytest.fixture
def cartridge():
    pytest.importorskip("ale_py")
    from ale_space_invaders import Cartridge
    return Cartridge()


def without_bombs(space, action, frames):
    """The rewards' sum, with the sky kept free."""
    total = 0
    for _ in range(frames):
        space.calm()
        total += space.step(action)[0]
    return total


# --- the rules -------------------------------------------------------------------------------------------------------

def test_says_what_it_is():
    game = envs_c.game("space_invaders")
    assert game.actions == ("NOOP", "FIRE", "RIGHT", "LEFT", "RIGHTFIRE", "LEFTFIRE")
    assert game.feature_shape == (94,) and game.screen == (160, 210) and game.frame_skip == 4


def test_rests_before_the_first_wave():
    machine = Space()
    machine.play(*[RIGHT_FIRE] * (REST - 1))
    assert machine.cannon == 34 and machine.shot_y == 0 and machine.x == 22
    machine.play(NOOP, NOOP)
    assert machine.x == 23


@pytest.mark.parametrize("row", range(6))
def test_an_invader_gives_5_points_a_row_from_below(space, row):
    for column in range(3):
        space.calm()
        space.change(shot_x=space.x + 16 * column + 5, shot_y=31 + 18 * row + 12, odd=1)
        assert space.step(NOOP) == (5 * (6 - row), False) and space.shot_y == 0
    assert space.row[row] == 0b111000 and space.count == 33


def test_one_shot_at_a_time(space):
    space.change(shield=np.zeros((3, 9)), row=[0b100000, 0, 0, 0, 0, 0], count=1)
    heights = []
    for _ in range(200):
        space.calm()
        space.change(march=100)
        space.step(FIRE)
        heights.append(space.shot_y)
    assert max(heights) <= 174 and min(heights) == 0
    falls = np.diff(heights)
    assert set(falls[falls < 0].tolist()) >= {-4}
    assert (falls > 100).sum() >= 2  # it was fired anew, each time after the last one was gone


@pytest.mark.parametrize("way", [1, -1])
def test_the_saucer_gives_200_and_crosses_by_a_pixel_every_4_frames(space, way):
    space.change(saucer_x=75, saucer_way=way, quarter=0)
    for _ in range(40):
        space.change(bomb_y=[0, 0], bomb_age=0, bomb_rest=0)
        space.step(NOOP)
    assert space.saucer_x == 75 + 10 * way
    space.change(shot_x=space.saucer_x + 3, shot_y=22, odd=1)
    assert space.step(NOOP)[0] == 200 and space.saucer_x == -1


def test_the_saucer_comes_after_832_frames_of_play(space):
    for _ in range(831):
        space.change(bomb_y=[0, 0], bomb_age=0, bomb_rest=0)
        space.step(NOOP)
        assert space.saucer_x == -1
    space.step(NOOP)
    assert space.saucer_x in (0, 149)


def test_a_wave_begins_lower_by_10_up_to_40_with_whole_shields(space):
    tops = []
    for _ in range(7):
        space.change(row=[0] * 6, count=0, phase=1, rest=1, shield=np.zeros((3, 9)))
        space.step(NOOP)
        tops.append(space.y)
        assert space.count == 36 and np.array(space.shield)[:, -1].tolist() == [195] * 3
    assert tops == [41, 51, 61, 71, 71, 71, 71]


def test_bombs_take_shields_away_from_above_and_shots_from_below(space):
    space.change(bomb_x=[44, 0], bomb_y=[148, 0], odd=1)
    space.step(NOOP)
    assert space.shield[0][:2] == [60 - 32, 126 - 32]
    space.change(shot_x=110, shot_y=174, odd=1, bomb_y=[0, 0])
    space.step(NOOP)
    assert space.shield[2][5:7] == [255 - 8, 255 - 8] and space.shot_y == 0


def test_a_bomb_takes_a_life_and_the_last_one_ends_the_episode(space):
    lives = space.lives
    for left in reversed(range(lives)):
        space.change(bomb_x=[space.cannon + 3, 0], bomb_y=[178, 0], odd=1)
        assert space.step(NOOP) == (0, False) and space.phase == 2
        ends = [space.step(NOOP)[1] for _ in range(REST)]
        assert space.lives == left and ends == [False] * (REST - 1) + [left == 0]
        if left:
            assert space.cannon == 34 and space.phase == 3
            space.play(*[RIGHT] * 64)
            assert space.phase == 0 and space.cannon == 34


def test_bombs_fall_from_the_lowest_invader_and_mostly_near_the_cannon():
    columns, near = [], []
    for seed in range(60):
        machine = Space(seed)
        machine.play(*[NOOP] * REST)
        machine.change(cannon=101, row=[63, 63, 63, 63, 63, 0b111110])
        machine.play(*[NOOP] * 3)
        column = (machine.bomb_x[0] - 3 - machine.x) // 16
        columns.append(column)
        near.append(column == 5)
        assert 122 - 18 * (column == 0) <= machine.bomb_y[0] <= 126 - 18 * (column == 0)
    assert 0.3 < np.mean(near) < 0.75 and len(set(columns)) > 3


# --- the cartridge ---------------------------------------------------------------------------------------------------

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
        cartridge.poke({81: 246, 82: 246})
    without_bombs(space, NOOP, 1 + 32 * (steps - 1))
    ours, theirs = ((picture[25:140] == OLIVE).all(-1) for picture in (space.picture(), cartridge.screen()))
    assert space.x == cartridge.read()["x"] == 22 + steps and np.array_equal(ours, theirs)


@pytest.mark.parametrize("count", [36, 22, 21, 8, 7, 5, 4, 3, 2, 1])
def test_marches_as_fast_as_on_the_cartridge(cartridge, space, count):
    """Pixels in 240 frames, to 7%: the cartridge spaces its marches out within 64 frames, ours are even."""
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
                game.poke({81: 246, 82: 246, 30: 180})
                places.append(game.read()["x"])
        moved = np.abs(np.diff(places))
        travelled[name] = moved[moved < 10].sum()
    assert travelled["ours"] == pytest.approx(travelled["theirs"], rel=0.07, abs=1)


@pytest.mark.parametrize("columns", [0b111111, 0b100001, 0b001100, 0b000001])
def test_turns_where_the_cartridge_does(cartridge, space, columns):
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
                game.poke({81: 246, 82: 246, 30: 180})
                x, y = game.read()["x"], game.read()["y"]
            if y != before[1]:
                turns[name].append((int(x), int(y)))
    shorter = min(4, *map(len, turns.values()))  # where it lands, the cartridge drops them farther
    assert shorter >= 1 and turns["ours"][:shorter] == turns["theirs"][:shorter]


@pytest.mark.parametrize("actions", [[RIGHT] * 200, [RIGHT] * 60 + [LEFT] * 90, [RIGHT_FIRE] * 40 + [LEFT_FIRE] * 10])
def test_the_cannon_moves_as_on_the_cartridge(cartridge, space, actions):
    ours, theirs = [], []
    for action in actions:
        without_bombs(space, action, 1)
        cartridge.step(action)
        cartridge.poke({81: 246, 82: 246})
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
def test_invaders_land_where_they_do_on_the_cartridge(cartridge, space, rows, y, lands):
    """With their top row at this y in the cartridge's units of 2 pixels, after the next turn at the latest."""
    cartridge.leave(rows)
    cartridge.poke({16: y, 30: 180})
    space.leave(rows)
    space.change(y=31 + 2 * y)
    theirs = ours = False
    for _ in range(1000):
        cartridge.poke({81: 246, 82: 246})
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


def test_the_older_bomb_is_left_to_fall_before_a_third_one(space):
    space.change(bomb_x=[10, 20], bomb_y=[60, 100], bomb_age=60, bomb_rest=0)
    heights = []
    while not heights or space.bomb_y[1] > heights[-1]:
        heights.append(space.bomb_y[1])
        space.play(NOOP, NOOP)
    assert heights[-1] >= 184 and space.bomb_age < 4


def test_a_random_player_fares_as_on_the_cartridge(cartridge):
    """Mean score and length of its episodes, held for 4 frames each; the cartridge's over 24 of them."""
    random = np.random.default_rng(0)
    scores, lengths = [0.0], [0]
    while len(scores) < 25:
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
        for name in ours if "episode" in infos else ():
            ours[name] += infos["episode"][name][infos["_episode"]].tolist()
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
        cartridge.poke({81: 246, 82: 246})
        points.append(cartridge.step(FIRE if frame % 2 else NOOP)[0])
        if points[-1]:
            break
    assert points[-1] == 5 * (6 - row)

"""2048: rules worked out by hand, and every step of many games compared with a plain Python board."""

import numpy as np
import pytest
from pcg32 import Pcg32

import envs_c
from benchmarks.cartridges.open_state import read, struct, write
from envs_c.testing.play import actions_of

UP, RIGHT, DOWN, LEFT = range(4)
STATE = struct(("cells", "u1", 16), ("legal", "u1"))


class Board:
    """One environment in plain Python. `cells` holds the exponents, row by row."""

    def __init__(self, seed: int, index: int = 0):
        self.random = Pcg32(seed, index)
        self.reset()

    def reset(self):
        self.cells = [0] * 16
        self.add_tile()
        self.add_tile()

    def add_tile(self):
        empty = [i for i in range(16) if not self.cells[i]]
        chosen = empty[self.random.below(len(empty))]
        self.cells[chosen] = 2 if self.random.below(10) == 0 else 1

    def pushed(self, action):
        """Cells and points after a push, without a new tile."""
        cells, points = list(self.cells), 0
        for line in range(4):
            places = [4 * line + i if action in (LEFT, RIGHT) else 4 * i + line for i in range(4)]
            if action in (RIGHT, DOWN):
                places.reverse()
            row, gained = slide([cells[place] for place in places])
            points += gained
            for place, value in zip(places, row, strict=True):
                cells[place] = value
        return cells, points

    def legal(self):
        return [int(self.pushed(action)[0] != self.cells) for action in range(4)]

    def step(self, action):
        cells, points = self.pushed(action)
        if cells == self.cells:
            return 0, False
        self.cells = cells
        self.add_tile()
        return points, not any(self.legal())


def slide(row):
    """A line after a push to its front, and the points."""
    tiles, done, points = [value for value in row if value], [], 0
    while tiles:
        value = tiles.pop(0)
        if tiles and tiles[0] == value:
            tiles.pop(0)
            value += 1
            points += 2**value
        done.append(value)
    return done + [0] * (4 - len(done)), points


def lay(env, boards, legal):
    """Set the boards of all environments.

    boards: (N, 16) exponents.
    legal: (N, 4), 1 for each legal action.
    """
    state = read(env.core, STATE)
    state["cells"], state["legal"] = boards, np.asarray(legal) @ [1, 2, 4, 8]
    write(env.core, state)


def play_all(boards, action, seed=0):
    """Play one move from each board in an environment of its own; returns new boards, points and ends."""
    env = envs_c.make("g2048", len(boards), seed=seed)
    env.reset()
    board, legal = Board(0), []
    for board.cells in boards:
        legal.append(board.legal())
    lay(env, boards, legal)
    seen, reward, over, _, _ = env.step(np.full(len(boards), action))
    return seen, reward, over


def played(cells, action):
    """The board after one move from these cells, the points of the move, and whether the episode ended."""
    (seen,), (reward,), (over,) = play_all([list(cells)], action)
    return seen.tolist(), reward, over


# --- the rules -------------------------------------------------------------------------------------------------------

LINES = [  # a line before and after a push to its front, and the points
    ([0, 0, 0, 1], [1, 0, 0, 0], 0), ([1, 0, 0, 1], [2, 0, 0, 0], 4), ([1, 1, 1, 1], [2, 2, 0, 0], 8),
    ([1, 1, 1, 0], [2, 1, 0, 0], 4), ([2, 1, 1, 0], [2, 2, 0, 0], 4), ([1, 1, 2, 0], [2, 2, 0, 0], 4),
    ([0, 3, 0, 3], [4, 0, 0, 0], 16), ([1, 2, 3, 3], [1, 2, 4, 0], 16), ([10, 10, 0, 0], [11, 0, 0, 0], 2048),
    ([14, 0, 14, 1], [15, 1, 0, 0], 32768), ([14, 14, 14, 14], [15, 15, 0, 0], 65536), ([15, 1, 1, 0], [15, 2, 0, 0], 4),
    ([16, 0, 16, 1], [17, 1, 0, 0], 131072), ([15, 15, 14, 14], [16, 15, 0, 0], 65536 + 32768),
]


@pytest.mark.parametrize("action", [UP, RIGHT, DOWN, LEFT])
@pytest.mark.parametrize(("before", "after", "points"), LINES)
def test_a_line_is_pushed_and_merged(before, after, points, action):
    def board(line):
        cells = np.zeros((4, 4), int)
        cells[2] = line
        cells = cells[:, ::-1] if action in (RIGHT, DOWN) else cells
        return (cells.T if action in (UP, DOWN) else cells).ravel()

    seen, reward, over = played(board(before), action)
    assert reward == points and not over
    (new,) = np.flatnonzero(np.array(seen) != board(after))
    assert board(after)[new] == 0 and seen[new] in (1, 2)


@pytest.mark.parametrize("largest", [3, 14, 15, 16])
@pytest.mark.parametrize("action", [UP, RIGHT, DOWN, LEFT])
def test_any_board_is_pushed_as_the_plain_one(largest, action):
    random, moved = np.random.default_rng(largest), 0
    boards = random.integers(0, largest + 1, (200, 16)) * (random.random((200, 16)) < 0.7)
    boards = boards[np.where(boards, 1 << boards, 0).sum(1) < 1 << 18].tolist()  # no game reaches the others
    for before, seen, reward in zip(boards, *play_all(boards, action)[:2], strict=True):
        board = Board(0)
        board.cells = before
        after, points = board.pushed(action)
        assert reward == points
        new = [i for i in range(16) if seen[i] != after[i]]
        assert (len(new) == 1 and after[new[0]] == 0) if after != before else new == []
        moved += len(new)
    assert moved > 100


def test_an_illegal_move_does_nothing():
    cells = [1, 2, 0, 0, *[0] * 12]
    assert played(cells, LEFT) == (cells, 0, False)
    assert played(cells, UP) == (cells, 0, False)


def test_the_episode_ends_when_no_move_is_left():
    """The move leaves only the corner below a 4 empty. A 4 that appears there can be merged, a 2 cannot."""
    seen, _, over = play_all([[1, 2, 1, 2, 2, 1, 2, 1, 1, 2, 1, 2, 0, 4, 5, 6]] * 50, LEFT)
    assert set(zip(seen[:, 15].tolist(), over.tolist(), strict=True)) == {(1, True), (2, False)}


def test_new_tiles_lie_anywhere_that_is_empty_and_one_in_ten_is_a_4():
    seen = np.array(play_all([[0] * 15 + [3]] * 2000, UP)[0])
    seen[:, 3] = 0  # the old tile, pushed up
    assert (np.count_nonzero(seen, axis=1) == 1).all()
    counts = np.count_nonzero(seen, axis=0)
    assert counts[3] == 0 and np.delete(counts, 3).min() > 90
    assert 0.07 < (seen.max(1) == 2).mean() < 0.13


# --- the plain board -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(4))
def test_every_step_equals_the_plain_board(seed):
    n = 16
    env = envs_c.make("g2048", n, seed=seed, autoreset="disabled")
    seen, infos = env.reset()
    boards = [Board(seed, i) for i in range(n)]
    ends = 0
    for actions in actions_of(env.game, 250, n, seed):
        masks = np.array([board.legal() for board in boards])
        assert np.array_equal(infos["action_mask"], masks)
        assert np.array_equal(seen, [board.cells for board in boards])
        seen, reward, over, _, infos = env.step(actions)
        expected = [board.step(action) for board, action in zip(boards, actions, strict=True)]
        assert np.array_equal(reward, [points for points, _ in expected])
        assert np.array_equal(over, [end for _, end in expected])
        if over.any():
            ends += over.sum()
            seen, infos = env.reset(options={"reset_mask": over})
            for i in np.flatnonzero(over):
                boards[i].reset()
    assert ends > n


def test_every_step_of_a_better_player_equals_the_plain_board():
    """The player prefers LEFT and DOWN, which leads to larger tiles and fuller boards than random play."""
    env, board = envs_c.make("g2048", 1, seed=5, autoreset="disabled"), Board(5)
    seen, over, largest = env.reset()[0], False, 0
    for turn in range(3000):
        if over:
            seen = env.reset()[0]
            board.reset()
        action = next(a for a in [(LEFT, DOWN), (DOWN, LEFT)][turn % 2] + (RIGHT, UP) if board.legal()[a])
        seen, reward, over, _, _ = env.step([action])
        assert (reward[0], over[0]) == board.step(action)
        assert seen[0].tolist() == board.cells
        largest = max(largest, seen.max())
    assert largest >= 8


# --- the picture -----------------------------------------------------------------------------------------------------

def test_every_tile_has_a_picture_of_its_own():
    env = envs_c.make("g2048", 1, view="pixels", seed=1)
    env.reset()
    pictures, greys = set(), set()
    for value in range(18):
        board = Board(0)
        board.cells = [value] + [0] * 14 + [1]
        lay(env, [board.cells], [board.legal()])
        pictures.add(env.render()[0].tobytes())
        greys.add(env.set_state(env.get_state())[0, 1, 1])
    assert len(pictures) == len(greys) == 18


def test_the_number_of_a_tile_stands_in_its_middle():
    env = envs_c.make("g2048", 1, view="pixels", seed=1)
    env.reset()
    for value in range(1, 18):
        board = Board(0)
        board.cells = [value] + [0] * 14 + [1]
        lay(env, [board.cells], [board.legal()])
        tile = env.render()[0][2:40:2, 2:40:2]
        columns = np.flatnonzero((tile != tile[0, 0]).any((0, 2)))
        assert columns.size and abs(columns[0] - (18 - columns[-1])) <= 1, 2**value

"""Tetris: its rules one by one, and every step of many games beside a plain Python board with the same random numbers."""

import numpy as np
import pytest
from tetris_board import ACTIONS, NAMES, Board, cells_of

import envs_c
from envs_c.testing.play import actions_of

NOOP, LEFT, RIGHT, ROTATE, DOWN, DROP = range(6)
ENTRY = {"I": (3, -1), **dict.fromkeys("OTSZJL", (3, 0))}
PARTS = {"stack": 200, "landing": 200, "piece": 7, "rotation": 4, "x": 11, "y": 21, "next": 7, "stands": 1, "level": 15,
         "gaps": 4, "clears": 4}


class Table:
    """One environment of our game, read through its features."""

    def __init__(self, seed=0, **options):
        self.env = envs_c.make("tetris", 1, seed=seed, autoreset="disabled", **options)
        self.over, self.points = False, 0
        self.look(self.env.reset()[0][0])

    def look(self, seen):
        """Set the attributes from the features."""
        part = dict(zip(PARTS, np.split(seen, np.cumsum(list(PARTS.values()))[:-1]), strict=True))
        self.stack, self.landing = ({(int(x), int(y)) for y, x in np.argwhere(part[name].reshape(20, 10))}
                                    for name in ("stack", "landing"))
        self.piece, self.next = (NAMES[part[name].argmax()] for name in ("piece", "next"))
        self.rotation, self.level = int(part["rotation"].argmax()), 1 + int(part["level"].argmax())
        self.stands = part["stands"][0]
        self.x, self.y = int(part["x"].argmax()) - 2, int(part["y"].argmax()) - 2
        assert all(part[name].sum() == 1 for name in ("piece", "rotation", "x", "y", "next", "level", "gaps"))

    def play(self, *actions):
        """Play actions; returns the table."""
        for action in actions:
            assert not self.over, "the episode has ended"
            seen, reward, over, _, _ = self.env.step([action])
            self.over, self.points = over[0], reward[0]
            self.look(seen[0])
        return self

    @property
    def cells(self):
        """{(x, y)} of the falling piece."""
        return {(self.x + x, self.y + y) for x, y in cells_of(self.piece, self.rotation)}


def table_with(pieces, **options):
    """A new game whose first pieces are these."""
    for seed in range(20_000):
        board = Board(seed)
        if board.piece == pieces[0] and board.next == pieces[1]:
            for name in pieces[2:]:
                board.enter()
                if board.next != name:
                    break
            else:
                return Table(seed, **options)
    raise AssertionError(f"no seed for {pieces}")


# --- the rules -------------------------------------------------------------------------------------------------------

def test_actions_and_features_are_named_and_sized():
    game = envs_c.game("tetris")
    assert game.actions == ACTIONS and game.feature_shape == (sum(PARTS.values()),) and game.feature_dtype == np.uint8


@pytest.mark.parametrize("option, value", [("level", 0), ("level", 16), ("level", 1.5), ("drop_points", 2), ("lives", 1)])
def test_refuses_wrong_options(option, value):
    with pytest.raises(envs_c.InvalidArgument, match=option):
        envs_c.make("tetris", **{option: value})


@pytest.mark.parametrize("name", NAMES)
def test_a_piece_enters_flat_in_the_top_rows(name):
    table = next(table for table in map(Table, range(100)) if table.piece == name)
    assert (table.x, table.y) == ENTRY[name] and table.rotation == 0
    rows = {y for _, y in table.cells}
    assert rows == ({0} if name == "I" else {0, 1}) and not table.stack and not table.stands
    assert {x for x, _ in table.landing} == {x for x, _ in table.cells} and max(y for _, y in table.landing) == 19


def test_every_seven_pieces_are_all_seven():
    for seed in range(20):
        table, seen = Table(seed), ""
        while not table.over:
            seen += table.piece
            announced = table.next
            table.play(LEFT, LEFT, LEFT, LEFT, DROP) if len(seen) % 2 else table.play(*[RIGHT] * 5, DROP)
            assert table.piece == announced
        assert len(seen) > 7
        assert all(len(set(seen[k : k + 7])) == len(seen[k : k + 7]) for k in range(0, len(seen), 7))


def test_each_piece_is_equally_often_the_first():
    first = envs_c.make("tetris", 7000, seed=1).reset()[0][:, 400:407].sum(0, int)
    assert first.sum() == 7000 and np.abs(first - 1000).max() < 5 * 1000**0.5


@pytest.mark.parametrize("actions, x", [([LEFT], 2), ([RIGHT], 4), ([LEFT] * 9, 0), ([RIGHT] * 9, 7), ([NOOP] * 9, 3)])
def test_a_piece_moves_by_a_column_as_far_as_the_walls(actions, x):
    assert table_with("TO").play(*actions).x == x


@pytest.mark.parametrize("pieces, actions, place", [
    ("TO", [ROTATE], (1, 3, 0)), ("TO", [ROTATE] * 4, (0, 3, 0)),
    ("TO", [ROTATE, *[LEFT] * 9], (1, -1, 0)),
    ("TO", [ROTATE, *[LEFT] * 9, ROTATE], (2, 0, 0)),             # a kick off the left wall
    ("TO", [*[ROTATE] * 3, *[RIGHT] * 9, ROTATE], (0, 7, 0)),     # off the right wall
    ("IO", [ROTATE], (1, 3, -1)), ("IO", [ROTATE, *[LEFT] * 9], (1, -2, -1)),
    ("IO", [ROTATE, *[LEFT] * 9, ROTATE], (2, 0, -1)),            # by two columns
    ("IO", [ROTATE, *[RIGHT] * 9, ROTATE], (2, 6, -1)),
    ("OT", [ROTATE], (1, 3, 0)),
])
def test_rotation_is_that_of_srs(pieces, actions, place):
    table = table_with(pieces).play(*actions)
    assert (table.rotation, table.x) == place[:2] and 0 <= table.y - place[2] <= 1  # gravity may add a row


@pytest.mark.parametrize("level, rows", [(1, 1), (3, 1), (6, 3), (9, 10), (12, 18), (15, 18)])
def test_gravity_is_the_guidelines(level, rows):
    """rows: number of rows that a T falls in 15 steps, which are a second; 18 is the floor."""
    table = table_with("TO", level=level).play(*[NOOP] * 7)
    for _ in range(8):
        if table.y < 18:
            table.play(NOOP)
    exact = 1 / (0.8 - 0.007 * (level - 1)) ** (level - 1)
    assert abs(table.y - min(exact, 18)) <= 1 and abs(rows - min(exact, 18)) <= 1


def test_down_moves_a_row_for_a_point():
    table = table_with("TO")
    ys = []
    for _ in range(5):
        table.play(DOWN)
        ys.append(table.y)
        assert table.points == 1
    assert ys == [1, 2, 3, 4, 5]
    table.play(*[DOWN] * 13)
    assert table.stands and table.y == 18
    assert table.play(DOWN).points == 0 and not table.stack


@pytest.mark.parametrize("pieces, points", [("TO", 36), ("IO", 38), ("OT", 36)])
def test_drop_locks_at_once_for_two_points_a_row(pieces, points):
    table = table_with(pieces)
    landing = table.landing
    table.play(DROP)
    assert table.points == points and table.stack == landing
    assert table.piece == pieces[1] and not table.stands


def test_a_standing_piece_locks_after_8_steps():
    table = table_with("TO").play(*[DOWN] * 17)
    while not table.stands:
        table.play(DOWN)
    table.play(*[NOOP] * 6)
    assert not table.stack
    assert table.play(NOOP).stack


def test_moving_delays_the_lock_15_times_and_no_more():
    table = table_with("TO")
    while not table.stands:
        table.play(DOWN)
    steps = 0
    while not table.stack:
        table.play(RIGHT if steps % 2 else LEFT)
        steps += 1
    assert steps == 15 + 7


@pytest.mark.parametrize("seed, well, counts", [(0, False, {0, 1, 2}), (0, True, {0, 1, 2, 3, 4})])
def test_full_rows_vanish_for_the_guidelines_points_and_levels_rise(seed, well, counts):
    """A game with planned drops: each reward and each level follows from the number of cells removed."""
    env, board = envs_c.make("tetris", 1, seed=seed, autoreset="disabled"), Board(seed)
    seen, lines, made = env.reset()[0], 0, set()
    for _ in range(120):
        for action in actions_to(board, well):
            cells, before = int(seen[0, :200].sum()), board.level
            fallen = board.landing()[0][1] - board.cells()[0][1]
            board.step(action)
            seen, reward, over, _, _ = env.step([action])
            if action == DROP:
                gone = (cells + 4 - int(seen[0, :200].sum())) // 10
                made.add(gone)
                lines += gone
                assert reward[0] == 2 * fallen + (0, 100, 300, 500, 800)[gone] * before
            assert not over[0] and seen[0, -23:-8].argmax() == min(lines // 10, 14)
    assert lines > 30 and counts <= made


def actions_to(board, well=False):
    """The actions of the plain board's `plan`: turns, moves and a drop."""
    rotation, x = board.plan(well)
    turns = [ROTATE] * ((rotation - board.rotation) % 4)
    return [*turns, *[LEFT if x < board.x else RIGHT] * abs(x - board.x), DROP]


def test_the_episode_ends_when_the_next_piece_has_no_room():
    table = Table(3)
    while not table.over:
        table.play(DROP)
    assert table.cells & table.stack or any(y < 0 for _, y in table.cells)
    assert min(y for _, y in table.stack) <= 1


# --- against the plain board -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", [{}, {"drop_points": 0}, *({"level": level} for level in (6, 10, 13, 15))], ids=str)
@pytest.mark.parametrize("play", ["random", "planned"])
def test_every_step_equals_the_plain_board(options, play):
    envs, steps = (16, 250) if play == "random" else (6, 250)
    env = envs_c.make("tetris", envs, seed=5, **options)
    boards, rng = [Board(5, i, **options) for i in range(envs)], np.random.default_rng(1)
    seen, over, ends, lines = env.reset()[0], np.zeros(envs, bool), 0, 0
    queues = [[] for _ in boards]
    for actions in actions_of(env.core.game, steps, envs):
        assert np.array_equal(seen, [board.features() for board in boards])
        for i in range(envs if play == "planned" else 0):
            queues[i] = queues[i] or actions_to(boards[i])
            actions[i] = queues[i].pop(0) if rng.random() < 0.97 else actions[i]
        expected = [(0, False) if over[i] and board.reset() is None else board.step(action)
                    for i, (board, action) in enumerate(zip(boards, actions.tolist(), strict=True))]
        seen, reward, over, _, _ = env.step(actions)
        assert np.array_equal(reward, [points for points, _ in expected])
        assert np.array_equal(over, [end for _, end in expected])
        ends, lines = ends + over.sum(), max(lines, *(board.lines for board in boards))
    assert ends > 10 if play == "random" else lines > 3


def test_srs_kicks_equal_the_plain_boards():
    """Random play with many turns, in which most of the 40 kicks occur (20 of I, 20 of the other pieces)."""
    envs, rng = 48, np.random.default_rng(3)
    env = envs_c.make("tetris", envs, seed=6, autoreset="same_step")
    boards = [Board(6, i) for i in range(envs)]
    env.reset()
    for step in range(500):
        actions = rng.choice(6, envs, p=[0.05, 0.15, 0.15, 0.45, 0.15, 0.05])
        expected = [board.step(action) for board, action in zip(boards, actions.tolist(), strict=True)]
        seen, reward, over, _, _ = env.step(actions)
        assert list(zip(reward, over, strict=True)) == [(points, end) for points, end in expected]
        for i in np.flatnonzero(over):
            boards[i].reset()
        if step % 25 == 0:
            assert np.array_equal(seen, [board.features() for board in boards])
    kicked = set().union(*(board.kicked for board in boards))
    assert len(kicked) >= 30


# --- the picture -----------------------------------------------------------------------------------------------------

def test_the_picture_shows_every_cell_at_its_place():
    features, pixels = (envs_c.make("tetris", 1, seed=4, view=view) for view in ("features", "pixels"))
    board = Board(4)
    seen, picture = features.reset()[0], pixels.reset()[0]
    for action in actions_of(features.core.game, 300, 1, seed=2)[:, 0].tolist():
        shown = picture[0, 2:82, 6:46].reshape(20, 4, 10, 4)
        assert not shown[:, 3].any() and not shown[:, :, :, 3].any()
        assert (shown[:, :3, :, :3] == shown[:, :1, :, :1]).all()
        shadow, colours = set(board.landing()) - set(board.cells()) - set(board.stack), {}
        for (x, y), name in [*board.stack.items(), *((cell, board.piece) for cell in board.cells())]:
            if y >= 0:
                assert shown[y, 0, x, 0] == colours.setdefault(name, shown[y, 0, x, 0])
        filled = {cell for cell in {*board.stack, *board.cells(), *shadow} if cell[1] >= 0}
        assert {(x, y) for y, x in np.argwhere(shown[:, 0, :, 0])} == filled
        assert len(set(colours.values())) == len(colours)
        colour = features.render()[0][4:164:8, 12:92:8].any(2)
        assert np.array_equal(colour, shown[:, 0, :, 0] > 0)
        if board.step(action)[1]:
            break
        seen, picture = features.step([action])[0], pixels.step([action])[0]
    assert seen[0, :200].sum() > 12


def test_the_picture_shows_score_level_and_lines():
    """Digits are known from the pictures of games that begin at each level, and from the score at first."""
    def place(picture, y, k):
        return picture[y:y + 5, 79 - 4 * k:82 - 4 * k].tobytes()

    digits = {place(envs_c.make("tetris", 1, view="pixels", level=level).reset()[0][0], 40, 0): level for level in range(1, 10)}
    env, board, score = envs_c.make("tetris", 1, seed=0, view="pixels"), Board(0), 0
    picture = env.reset()[0][0]
    digits[place(picture, 28, 0)] = 0
    assert len(digits) == 10
    blank = place(picture, 28, 5)
    while board.lines < 105:
        for action in actions_to(board):
            board.step(action)
            seen, reward, _, _, _ = env.step([action])
            score += int(reward[0])
        for y, number in ((28, score), (40, board.level), (52, board.lines)):
            places = [place(seen[0], y, k) for k in range(6)]
            assert sum(10**k * digits[part] for k, part in enumerate(places) if part != blank) == number

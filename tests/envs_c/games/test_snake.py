"""Snake: its rules one by one, and every step of many games beside a plain Python board with the same random numbers."""

from itertools import cycle

import numpy as np
import pytest
from snake_board import BACK, DOWN, LEFT, RIGHT, UP, Board

import envs_c
from envs_c.testing.play import actions_of

LETTERS = {"U": UP, "L": LEFT, "D": DOWN, "R": RIGHT}


class Table:
    """One environment of our game, read through its features."""

    def __init__(self, seed=0, **options):
        self.size = options.get("size", 10)
        self.env = envs_c.make("snake", 1, seed=seed, autoreset="disabled", **options)
        self.seen = self.env.reset()[0][0]
        self.score, self.over = 0, False

    def play(self, moves):
        """Play a string of letters of LETTERS; returns the table."""
        for letter in moves:
            assert not self.over, "the episode has ended"
            seen, reward, over, _, _ = self.env.step([LETTERS[letter]])
            self.seen, self.over = seen[0], over[0]
            self.score += reward[0]
        return self

    def cells(self, plane):
        """{(x, y)} of a plane: 0 the snake, 1 its head, 2 the food."""
        board = self.seen[12:].reshape(3, self.size, self.size)[plane]
        return {(int(x), int(y)) for y, x in np.argwhere(board)}

    @property
    def heading(self):
        return int(self.seen[:4].argmax())


def table_with_food_at(cell, **options):
    """A new game whose first food lies in a cell (x, y)."""
    return next(table for table in (Table(seed, **options) for seed in range(10_000)) if table.cells(2) == {cell})


def away_from_food(**options):
    """A new game whose food lies in the top left corner, out of the way."""
    return table_with_food_at((0, 0), **options)


def chase(features, heading, rng):
    """An action towards the food if that is not deadly at once; sometimes any action."""
    safe = [way for way in range(4) if not features[4 + way] and way != BACK[heading]]
    good = [way for way in safe if features[8 + way]]
    return int(rng.choice(good or safe or [0])) if rng.random() < 0.97 else int(rng.integers(4))


# --- the rules -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [4, 5, 10, 20])
def test_the_snake_begins_3_long_in_the_middle_heading_right(size):
    table, middle = Table(size=size), size // 2
    assert table.seen.shape == (12 + 3 * size * size,) and table.seen.dtype == np.uint8
    assert table.cells(0) == {(middle - 2, middle), (middle - 1, middle), (middle, middle)}
    assert table.cells(1) == {(middle, middle)} and table.heading == RIGHT
    assert len(table.cells(2)) == 1 and not table.cells(2) & table.cells(0)


@pytest.mark.parametrize("option, value", [
    ("size", 3), ("size", 21), ("size", 7.5), ("wrap", 2), ("wrap", -1), ("patience", 0), ("patience", 101), ("speed", 1),
])
def test_refuses_wrong_options(option, value):
    with pytest.raises(envs_c.InvalidArgument, match=option):
        envs_c.make("snake", **{option: value})


@pytest.mark.parametrize("moves, head, heading", [
    ("R", (6, 5), RIGHT), ("U", (5, 4), UP), ("D", (5, 6), DOWN), ("L", (6, 5), RIGHT), ("UD", (5, 3), UP),
    ("ULR", (3, 4), LEFT), ("DLU", (4, 5), UP),
])
def test_an_action_turns_the_head_unless_it_is_opposite(moves, head, heading):
    table = away_from_food().play(moves)
    assert table.cells(1) == {head} and table.heading == heading and len(table.cells(0)) == 3


@pytest.mark.parametrize("moves", ["RRRR", "UUUUU", "DDDD", "ULLLLL"])
def test_a_wall_ends_the_episode_and_the_snake_does_not_move(moves):
    table = table_with_food_at((9, 9)).play(moves)
    before = [table.cells(plane) for plane in range(3)]
    assert not table.over
    assert table.play(moves[-1]).over
    assert [table.cells(plane) for plane in range(3)] == before and table.score == 0


@pytest.mark.parametrize("moves, head", [
    ("RRRRR", (0, 5)), ("UUUUUU", (5, 9)), ("DDDDD", (5, 0)), ("ULLLLLL", (9, 4)),
])
def test_with_wrap_it_enters_at_the_opposite_side(moves, head):
    table = table_with_food_at((9, 9) if head != (5, 9) else (0, 0), wrap=1).play(moves)
    assert table.cells(1) == {head} and not table.over


def test_food_gives_1_grows_the_snake_and_is_placed_again():
    table = table_with_food_at((7, 5)).play("R")
    assert table.score == 0 and len(table.cells(0)) == 3
    table.play("R")
    assert table.score == 1 and table.cells(0) == {(4, 5), (5, 5), (6, 5), (7, 5)}
    assert len(table.cells(2)) == 1 and not table.cells(2) & table.cells(0)


def test_the_head_may_follow_the_tail_but_not_enter_the_rest():
    four = table_with_food_at((6, 5)).play("R")
    assert len(four.cells(0)) == 4
    four.play("DLU")  # into the cell that the tail leaves in the same move
    assert not four.over and len(four.cells(0)) == 4
    five = next(table for table in map(table_with_two_foods, range(5000)) if table)
    assert len(five.cells(0)) == 5 and not five.over
    assert five.play("DLU").over


def table_with_two_foods(seed):
    """A game that has eaten two foods straight ahead; None if they are not there under this seed."""
    table = Table(seed)
    return table if table.cells(2) == {(6, 5)} and table.play("RR").score == 2 else None


@pytest.mark.parametrize("patience", [1, 2, 3])
def test_it_starves_without_food(patience):
    table = away_from_food(patience=patience, wrap=1).play("R" * (patience * 100 - 1))
    assert not table.over and table.play("R").over


def test_covering_the_board_ends_the_episode():
    """A lap over all cells of a 4x4 board reaches every food in time."""
    table, lap = Table(seed=5, size=4, patience=1), cycle("ULLURRRDDDLLLURR")
    while not table.over:
        table.play(next(lap))
    assert table.score == 13 and len(table.cells(0)) == 16 and not table.cells(2)


def test_food_lies_on_every_free_cell_equally_often():
    env = envs_c.make("snake", 65_536, seed=2, size=5)
    foods = env.reset()[0][:, 12 + 50 :].sum(0).reshape(5, 5)
    free = np.ones((5, 5), bool)
    free[2, :3] = False
    assert not foods[~free].any()
    assert np.abs(foods[free] - 65_536 / 22).max() < 5 * (65_536 / 22) ** 0.5


# --- against the plain board -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", [
    {}, {"size": 4}, {"size": 5, "wrap": 1, "patience": 1}, {"size": 7, "patience": 1}, {"wrap": 1}, {"size": 20, "wrap": 1},
    {"size": 4, "wrap": 1}, {"size": 20},
], ids=str)
@pytest.mark.parametrize("play", ["random", "chasing"])
def test_every_step_equals_the_plain_board(options, play):
    steps, envs = (400, 5) if play == "chasing" else (150, 16)
    env = envs_c.make("snake", envs, seed=8, **options)
    boards, rng = [Board(8, i, **options) for i in range(envs)], np.random.default_rng(1)
    seen, over, ends, longest = env.reset()[0], np.zeros(envs, bool), 0, 0
    for actions in actions_of(env.core.game, steps, envs):
        assert np.array_equal(seen, [board.features() for board in boards])
        if play == "chasing":
            actions = np.array([chase(seen[i], boards[i].heading, rng) for i in range(envs)])
        expected = [(0, False) if over[i] and board.reset() is None else board.step(action)
                    for i, (board, action) in enumerate(zip(boards, actions.tolist(), strict=True))]
        seen, reward, over, _, _ = env.step(actions)
        assert np.array_equal(reward, [points for points, _ in expected])
        assert np.array_equal(over, [end for _, end in expected])
        ends, longest = ends + over.sum(), max(longest, *(len(board.snake) for board in boards))
    assert longest > (3 if play == "random" else 8) and (ends > 3 or options.get("size") == 20)


# --- the picture -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("size", [4, 10, 19, 20])
@pytest.mark.parametrize("wrap", [0, 1])
def test_the_picture_shows_every_cell_at_its_place(size, wrap):
    features = envs_c.make("snake", 1, seed=4, size=size, wrap=wrap)
    pixels = envs_c.make("snake", 1, seed=4, size=size, wrap=wrap, view="pixels")
    seen, picture = features.reset()[0], pixels.reset()[0]
    side, rng = 82 // size, np.random.default_rng(0)
    start = (84 - side * size) // 2
    board, body, head, food = 31, 104, 219, 159
    for _ in range(300):
        planes = seen[0, 12:].reshape(3, size, size)
        cells = picture[0, start : start + side * size, start : start + side * size]
        expected = np.where(planes[2] > 0, food, np.where(planes[1] > 0, head, np.where(planes[0] > 0, body, board)))
        assert np.array_equal(cells[side // 2 :: side, side // 2 :: side], expected)
        colour = features.render()[0][2 * start + side :: 2 * side, 2 * start + side :: 2 * side][:size, :size]
        grey = np.rint(colour @ np.array([0.299, 0.587, 0.114]))
        assert np.array_equal(grey, expected)
        action = np.array([chase(seen[0], int(seen[0, :4].argmax()), rng)])
        seen, picture = features.step(action)[0], pixels.step(action)[0]

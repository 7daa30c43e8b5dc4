"""Keys for the actions of games."""

import numpy as np
import pytest

import envs_c
from envs_c import built_in
from envs_c.gymnasium_env import ArcadeVectorEnv
from envs_c.play import keyboard


@pytest.mark.parametrize(("game", "keys", "action"), [
    ("breakout", "", "NOOP"), ("breakout", "left", "LEFT"), ("breakout", "d", "RIGHT"), ("breakout", "space", "FIRE"),
    ("breakout", "up", "NOOP"), ("breakout", "x", "NOOP"),
    ("seaquest", "up space", "UPFIRE"), ("seaquest", "w d space", "UPRIGHTFIRE"), ("seaquest", "left space", "LEFTFIRE"),
    ("asterix", "down right", "DOWNRIGHT"), ("enduro", "left down", "DOWNLEFT"), ("enduro", "left up", "LEFT"),
    ("platformer", "space", "JUMP"), ("platformer", "up right", "JUMPRIGHT"),
    ("tetris", "up", "ROTATE"), ("tetris", "space", "DROP"), ("tetris", "s", "DOWN"),
    ("g2048", "", None), ("g2048", "down", "DOWN"), ("snake", "a", "LEFT"), ("cartpole", "right", "RIGHT"),
])
def test_keys_give_the_actions_of_their_names(game, keys, action):
    names = envs_c.game(game).actions
    index = keyboard.Keyboard(names).action(keys.split())
    assert (None if index is None else names[index]) == action


@pytest.mark.parametrize(("keys", "action"), [("up", "RIGHT"), ("w", "RIGHT"), ("down", "LEFT"), ("down space", "LEFTFIRE"),
                                              ("left", "NOOP"), ("", "NOOP")])
def test_pongs_keys_follow_the_screen(keys, action):
    """RIGHT turns the knob so that the paddle goes up."""
    names = envs_c.game("pong").actions
    chosen = keyboard.for_actions(names, "pong")
    assert names[chosen.action(keys.split())] == action
    assert chosen.legend().startswith("arrows or WASD: up, down; space: fire; P pauses")
    env = envs_c.make("pong", 1, seed=1)
    before = env.reset()[0][0, 0]
    for _ in range(10):
        after = env.step([names.index(action)])[0][0, 0]  # the paddle's y, positive is lower
    assert np.sign(after - before) == {"RIGHT": -1, "NOOP": 0}.get(action, 1)


def test_the_cartridge_of_pong_has_the_keys_of_pong():
    names = envs_c.game("pong").actions
    chosen = keyboard.for_actions(names, "atari_pong")
    assert [names[chosen.action([key])] for key in ("up", "down", "left")] == ["RIGHT", "LEFT", "NOOP"]


def test_with_all_18_actions_right_and_left_still_turn_pongs_knob():
    """UP and DOWN are actions of their own there, and do nothing."""
    chosen = keyboard.for_actions(ALE, "atari_pong")
    assert [ALE[chosen.action([key])] for key in ("right", "left", "up")] == ["RIGHT", "LEFT", "UP"]


ALE = ("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
       "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE")
WITH_KEYS = [game for game in built_in() if isinstance(keyboard.for_actions(envs_c.game(game).actions), keyboard.Keyboard)]


@pytest.mark.parametrize("names", [ALE, *(envs_c.game(game).actions for game in WITH_KEYS)], ids=["ale", *WITH_KEYS])
def test_every_action_can_be_pressed(names):
    keys = keyboard.for_actions(names)
    of = {word: key for key, word in keys.meaning.items() if word}
    for index, words in enumerate(keys.actions):
        assert keys.choose([of[word] for word in words], []) == index, names[index]


def test_all_games_but_go_have_keys():
    assert set(built_in()) - set(WITH_KEYS) == {"go"}


def go(size: int) -> tuple[str, ...]:
    with_pass = ArcadeVectorEnv(envs_c.game("go"), options={"size": size})
    names = with_pass.core.actions
    with_pass.close()
    return names


@pytest.mark.parametrize("size", [5, 9, 19])
def test_the_cursor_reaches_every_point_of_a_board_and_the_pass(size):
    names = go(size)
    cursor = keyboard.for_actions(names)
    cursor.choose(set(), ["up"] * size + ["left"] * size)
    reached = []
    for row in range(size + 1):
        for _ in range(size if row < size else 1):
            reached.append(cursor.selected)
            assert cursor.choose(set(), ["return"]) == names.index(cursor.selected)
            cursor.choose(set(), ["d"])
        cursor.choose(set(), ["s", *["a"] * size])
    assert reached == list(names)


def test_the_cursor_takes_an_action_only_by_space_or_enter():
    cursor = keyboard.for_actions(("FOLD", "CALL", "RAISE"))
    assert [cursor.choose({"space"}, pressed) for pressed in ([], ["right"], ["x"], ["right", "right", "space"])] == [
        None, None, None, 2]


@pytest.mark.parametrize(("size", "row", "column"), [(9, 0, 0), (9, 8, 8), (19, 3, 15), (5, 2, 2), (13, 12, 0)])
def test_the_cursor_is_drawn_around_its_point(size, row, column):
    """The stone of a move lies within the mark."""
    names = go(size)
    cursor = keyboard.for_actions(names)
    cursor.row, cursor.column = row, column
    env = ArcadeVectorEnv(envs_c.game("go"), seed=1, autoreset="disabled", options={"size": size, "opponent": 2})
    env.reset()
    before = env.render()[0]
    marked = (cursor.marked(before) != before).any(2)
    env.step(np.array([cursor.choose(set(), ["space"])]))
    stone = (env.render()[0] == 0x10).all(2)  # black; the bar of the side to move is white now
    env.close()
    (top, bottom), (left, right) = (np.flatnonzero(marked.any(axis))[[0, -1]] for axis in (1, 0))
    for length, low, high in ((1, top, bottom), (0, left, right)):
        place = np.flatnonzero(stone.any(length))
        assert low - 2 <= place[0] and place[-1] <= high + 2 and high - low < 168 // size + 1

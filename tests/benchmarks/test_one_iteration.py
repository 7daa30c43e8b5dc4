"""The count of an iteration's source: which lines of a function count, and that a training's own functions are found."""

import envs_c
from benchmarks.speed.one_iteration import Entered, compiled_files, lines_of, modules_of
from trainer.kernels.loss import cpu

SOURCE = '''"""A module."""


def outer(x):
    """Two lines
    of text."""
    # a comment

    def inner(y):
        return [y,
                x]
    return inner(lambda: 1)


def other():
    return 2
'''


def test_lines_are_counted_with_and_without_docstrings_comments_and_blank_lines(tmp_path):
    (tmp_path / "some.py").write_text(SOURCE)
    assert lines_of(tmp_path / "some.py", {4}) == (set(range(4, 13)), {4, 9, 10, 11, 12})
    assert lines_of(tmp_path / "some.py", {9, 15}) == ({9, 10, 11, 15, 16}, {9, 10, 11, 15, 16})
    assert lines_of(tmp_path / "some.py", {1}) == (set(), set())


def called():
    return [1]


def not_called():
    return [2]


def test_only_functions_that_are_called_are_entered():
    entered = {(str(path), line) for path, line in Entered(called).code}
    assert (__file__, called.__code__.co_firstlineno) in entered
    assert (__file__, not_called.__code__.co_firstlineno) not in entered


def test_a_cython_module_is_counted_with_its_headers():
    names = {path.name for path in compiled_files({cpu})}
    assert {"cpu.pyx", "cpu.h", "row.h", "rows.h"} <= names


def test_of_the_games_only_the_one_that_is_played_is_counted():
    names = {path.name for path in compiled_files(modules_of(envs_c.VecEnv(envs_c.game("breakout"), 2)))}
    assert {"engine.pyx", "vecenv.pyx", "team.h", "breakout.pyx"} <= names
    assert not names & {"pong.pyx", "go.pyx", "console.pyx"}
    assert modules_of(None) == set()

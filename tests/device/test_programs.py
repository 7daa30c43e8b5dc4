"""The programs that a self-test starts: how they end is said in words."""

import sys

import pytest

from trainer.selftest import programs


@pytest.mark.parametrize(("arguments", "seconds", "output", "problem"), [
    (("-m", "json.tool", "--help"), 30, "usage: ", ""),
    (("-m", "json.tool", "nowhere.json"), 30, "", "-m json.tool nowhere.json ended with code "),
    (("-c", "print('one', flush=True); import time; time.sleep(60)"), 3, "one", "-c print('one', flush=True); import time; "
     "time.sleep(60) was ended after 3 seconds"),
])
def test_a_program_that_fails_or_hangs_is_a_problem(arguments, seconds, output, problem):
    printed, why = programs.program([sys.executable, *arguments], seconds)
    assert printed.startswith(output) and why.startswith(problem) and bool(why) == bool(problem)

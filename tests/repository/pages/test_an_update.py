"""docs/an_update.md: every function stands in the named file with these arguments, and an iteration runs them in this order."""

import ast
import re
import sys

import pytest
from setup_support import ROOT

PAGE = (ROOT / "docs" / "an_update.md").read_text(encoding="utf-8")
NAMED = re.findall(r"^`(?P<file>[\w/]+\.py)`: `(?P<name>[\w.]+)\((?P<arguments>.*)\)`$", PAGE, re.MULTILINE)


def definition(file: str, name: str) -> ast.FunctionDef:
    """The function `name`, such as Learner.update, in a file."""
    found = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    for part in name.split("."):
        found = next(node for node in found.body if getattr(node, "name", None) == part)
    return found


@pytest.mark.parametrize(("file", "name", "arguments"), NAMED)
def test_a_function_has_the_arguments_of_the_page(file, name, arguments):
    taken = definition(file, name).args
    words = [one.arg for one in (*taken.posonlyargs, *taken.args) if one.arg != "self"]
    words += ["*", *(one.arg for one in taken.kwonlyargs)] if taken.kwonlyargs else []
    words += [f"**{taken.kwarg.arg}"] if taken.kwarg else []
    wanted = arguments.split(", ") if arguments else []
    if wanted[-1:] == ["..."]:
        words, wanted = words[: len(wanted) - 1], wanted[:-1]
    assert words == wanted


def test_an_iteration_calls_them_in_this_order():
    from trainer import Session
    lines = {(str(ROOT / file), definition(file, name).name): name for file, name, _ in NAMED}
    called = []

    def note(frame, event, _):
        name = lines.get((frame.f_code.co_filename, frame.f_code.co_name))
        if event == "call" and name and name not in called:
            called.append(name)
    with Session("breakout", num_envs=8, horizon=4, minibatch=16, encoder_size=16, lstm_size=16, total_steps=1000,
                 precision="float32", device="cpu", num_threads=1) as session:
        turns = iter(session)
        sys.setprofile(note)
        try:
            next(turns)
        finally:
            sys.setprofile(None)
    assert called == [name for _, name, _ in NAMED] and len(called) == 10

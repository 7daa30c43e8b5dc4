"""Views are one table, envs_c/views.py: no other file of the packages compares a view with a name or lists their names."""

import ast
import re
from pathlib import Path

import pytest

from envs_c.views import VIEWS

ROOT = Path(__file__).resolve().parents[2]
NAME = rf"""["']({"|".join(VIEWS)})["']"""
# A comparison of something called view with a name, in the order of either; for Cython and JavaScript, which ast cannot read.
COMPARED = re.compile(rf"""\bview\b["')\]]*\s*(?:[!=]==?|(?:not )?in)\s*[(\[{{]?\s*{NAME}|"""
                      rf"""{NAME}\s*(?:[!=]==?)\s*[\w.]*\bview\b""")
LISTED = re.compile(rf"[(\[{{]\s*{NAME}\s*,\s*{NAME}")
SOURCES = [path for folder in ("envs_c", "bridge", "trainer") for path in sorted((ROOT / folder).rglob("*"))
           if path.suffix in (".py", ".pyx", ".pxd", ".js") and path != ROOT / "envs_c" / "views.py"]


def named(text: str) -> list[str]:
    """The lines of Cython or JavaScript that compare a view with a name, or list names of views."""
    return [line.strip() for line in text.splitlines() if COMPARED.search(line) or LISTED.search(line)]


def named_in_python(text: str) -> list[str]:
    """The same for Python."""
    found = []
    for node in ast.walk(ast.parse(text)):
        sides = [node.left, *node.comparators] if isinstance(node, ast.Compare) else []
        about_view = any(re.search(r"\bview\b", ast.unparse(side)) for side in sides)
        if about_view and any(names_in(side) for side in sides):
            found.append(ast.unparse(node))
        if isinstance(node, ast.Tuple | ast.List | ast.Set) and 1 < len(names_in(node)) == len(node.elts):
            found.append(ast.unparse(node))
    return found


def names_in(node: ast.AST) -> list[str]:
    """The names of views that stand in an expression as texts."""
    return [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and one.value in VIEWS]


def test_no_file_compares_a_view_with_a_name():
    found = {}
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if lines := named_in_python(text) if path.suffix == ".py" else named(text):
            found[str(path.relative_to(ROOT))] = lines
    assert len(SOURCES) > 300 and found == {}


@pytest.mark.parametrize("line", [
    'if self.view == "rgb": pass', 'pixels = core.view in ("pixels", "rgb")', 'if settings["view"] != "features": pass',
    'VIEWS = ("features", "pixels")', 'wide = "both" == env.view'])
def test_such_a_line_is_found(line):
    assert named_in_python(line) and named(line)


def test_such_a_line_of_javascript_is_found():
    assert named('const bytes = view === "pixels" || wide;') and named('if (view !== "features") return;')


@pytest.mark.parametrize("line", ['env = make("pong", view="pixels")', 'if kind == "pixels": pass', 'row = {"view": "pixels"}'])
def test_a_view_may_be_chosen_by_its_name(line):
    assert not named_in_python(line) and not named(line)

"""Docstrings become reStructuredText for the site's API reference."""

import pytest
from setup_support import TOOLS, load

docstrings = load(TOOLS / "docstrings.py")


@pytest.mark.parametrize(("written", "made"), [
    ("Returns `x` and 2 * y_.", [r"Returns ``x`` and 2 \* y\_."]),
    ("name: one of\n    them.", [":param name: one of", "    them."]),
    ("lo, hi: both.\nReturns them.", [":param lo,hi: both.", "", "Returns them."]),
    ("Some prose with\nname: in a line.", ["Some prose with", "name: in a line."]),
    ("Attributes:\nseconds: of work.", ["Attributes:", "", ":param seconds: of work."]),
    ("A list:\n\n- one,\n  two\n- three", ["A list:", "", "- one,", "  two", "- three"]),
    ("    >>> 1 + 1", [".. code-block:: pycon", "", "    >>> 1 + 1"]),
    ("    a_    *b*", [".. code-block:: none", "", "    a_    *b*"]),
])
def test_a_docstring_keeps_its_meaning(written, made):
    assert docstrings.restructured(written.split("\n")) == [*made, ""]


def test_the_table_of_files_of_a_package_is_left_out():
    text = "A package.\n\n    >>> 1 + 1\n\n    errors.py   the errors\n\nThe end."
    lines = text.split("\n")
    docstrings.process(None, "module", "name", None, None, lines)
    assert "    >>> 1 + 1" in lines and "The end." in lines and "    errors.py   the errors" not in lines

"""The line at the end of `make test` about tests that wait for CuPy (tests/conftest.py)."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
TESTS = """
import pytest

@pytest.fixture
def compiler():
    pytest.importorskip("a_package_that_is_missing", reason="{reason}")

@pytest.mark.parametrize("number", range(3))
def test_of_a_kernel(compiler, number):
    pass

def test_of_a_program():
    pytest.importorskip("a_package_that_is_missing", reason="{reason}")

def test_of_another_program():
    pytest.skip("no GNU Go")
"""


@pytest.mark.parametrize(("reason", "lines"), [
    ("CuPy, of the extra cuda, compiles the kernels",
     ["tests that wait for CuPy: 4; to run them: make cuda, then make test (no GPU is needed)"]),
    ("needs ale-py", [])])
def test_skips_because_of_cupy_are_counted_and_others_are_not(pytester, request, reason, lines):
    class Summary:
        pytest_terminal_summary = staticmethod(request.config.pluginmanager.getplugin(str(CONFTEST)).pytest_terminal_summary)
    pytester.makepyfile(TESTS.format(reason=reason))
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[Summary()])
    assert result.parseoutcomes() == {"skipped": 5}
    assert [line for line in result.outlines if "CuPy" in line] == lines

"""The code on the pages: environments are reset before they are stepped, and short programs run."""

import re
import subprocess
import sys

import pytest
from setup_support import ROOT

PLACES = ("*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/results/*.md")
PAGES = sorted(file for place in PLACES for file in ROOT.glob(place))
SOURCES = sorted(file for folder in ("envs_c", "bridge", "trainer", "insertcoin") for file in (ROOT / folder).rglob("*.py*")
                 if file.suffix in (".py", ".pyx", ".pyi"))
BLOCK = re.compile(r"^```\w*\n(.*?)^```$|((?:^ {4,}[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"\b(?!policy\b)(\w+)\.(?:step|recv)\(")
PROGRAMS = [pytest.param(code, id=f"{page.stem}-{number}") for page in PAGES if page.parent.name != "coming_from"
            for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S), 1)
            if STEP.search(code) or ".rollout(" in code]


def blocks(page) -> list[str]:
    """The blocks of code of a page; of a source, the lines of its docstrings that begin with >>>."""
    text = page.read_text(encoding="utf-8")
    if page.suffix != ".md":
        return ["\n".join(re.findall(r"^ *>>> (.*)", text, re.MULTILINE))]
    return [fenced or indented for fenced, indented in BLOCK.findall(text)]


def not_reset(code: str) -> list[str]:
    """The names on which a block calls `step` or `recv` without a call of `reset` or `async_reset` in front of it."""
    return [step[1] for step in STEP.finditer(code) if not re.search(rf"\b{step[1]}\.(async_)?reset\(", code[:step.start()])]


def test_every_block_resets_an_environment_before_it_steps_it():
    wrong = {str(page.relative_to(ROOT)): names for page in [*PAGES, *SOURCES] for block in blocks(page)
             if (names := not_reset(block))}
    assert wrong == {}


@pytest.mark.parametrize(("code", "names"), [
    ("env.reset()\nenv.step(a)", []), ("env.step(a)\nenv.reset()", ["env"]), ("env.async_reset()\nenv.recv()", []),
    ("one.reset()\ntwo.step(a)", ["two"])])
def test_a_missing_reset_is_found(code, names):
    assert not_reset(code) == names


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_programs_that_step_run(code, tmp_path):
    """Each in a process of its own, in which nothing is imported before."""
    if "torch" in code:
        pytest.importorskip("torch")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []

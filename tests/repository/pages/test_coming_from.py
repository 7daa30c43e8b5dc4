"""docs/coming_from: every block of code runs, also the lines of the other library if that library is installed."""

import importlib.util
import re

import pytest
from setup_support import ROOT

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = {"ale_py": "ale_py", "atari": "ale_py", "Atari": "ale_py", "envpool": "envpool", "pufferlib": "pufferlib",
            "stable_baselines3": "stable_baselines3",
            "make_atari_env": "cv2", "ResizeObservation": "cv2"}  # a word of a block, and the package that it needs
PAGES = sorted((ROOT / "docs" / "coming_from").glob("*.md"))
BLOCKS = [pytest.param(*found, id=f"{page.stem}-{number}") for page in PAGES
          for number, found in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)]
DIFFS = [block for block in BLOCKS if block.values[0] == "diff"]


def side(kind: str, code: str, sign: str) -> str:
    """The program of a block: of a diff the lines with `sign` and those that stay."""
    if kind != "diff":
        return code
    lines = code.splitlines()
    assert all(line[:1] in ("", " ", "+", "-") for line in lines), "a line of a diff begins with a space, + or -"
    return "\n".join(line[1:] for line in lines if line[:1] in ("", " ", sign))


def play(code: str):
    """Run a program; skip the test if a package that it needs is not installed."""
    words = set(re.findall(r"\w+", code))
    needed = {package for word, package in PACKAGES.items() if word in words}
    if missing := sorted(package for package in needed if importlib.util.find_spec(package) is None):
        pytest.skip(f"not installed: {', '.join(missing)}")
    if "make_atari_env" in words:
        importlib.import_module("ale_py")  # it registers the games that make_atari_env names
    exec(compile(code, "<page>", "exec"), {"__name__": "page"})


@pytest.mark.parametrize(("kind", "code"), BLOCKS)
def test_the_lines_that_a_page_recommends_run(kind, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert kind in ("python", "diff"), f"a block of {kind!r} is not tried"
    play(side(kind, code, "+"))


@pytest.mark.parametrize(("kind", "code"), DIFFS)
def test_the_lines_to_change_run_with_the_other_library(kind, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = side(kind, code, "-")
    assert before != side(kind, code, "+"), "nothing changes"
    play(before)


def test_every_library_has_a_page_with_lines_to_change():
    assert {"ale", "sb3", "cleanrl", "envpool", "pufferlib"} == {page.stem for page in PAGES}
    assert {block.id.partition("-")[0] for block in DIFFS} == {page.stem for page in PAGES}

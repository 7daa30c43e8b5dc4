"""What the sanitizers build: a copy of the sources, complete and without what was made from them."""

import sys

from setup_support import TOOLS, load, run


def test_the_copy_has_every_source_and_nothing_that_was_built(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    module = load(TOOLS / "sanitize.py")
    root = tmp_path / "sources"
    kept = "trainer/runs/folder.py", "envs_c/game.pyx", "docs/build/page.md"
    left = "runs/breakout/config.json", "build/a.c", ".git/config", "envs_c/game.so", "trainer/runs/__pycache__/folder.pyc"
    for name in (*kept, *left):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("", encoding="utf-8")
    monkeypatch.setattr(module, "ROOT", root)
    module.copy_sources(tmp_path / "tree")
    copied = {str(path.relative_to(tmp_path / "tree")) for path in (tmp_path / "tree").rglob("*") if path.is_file()}
    assert copied == set(kept)


def test_it_finds_its_neighbours_under_pythonsafepath():
    done = run(sys.executable, TOOLS / "sanitize.py", "memory", PYTHONSAFEPATH="1")
    assert done.stderr == "insertcoin: SANITIZER must be one of address, undefined, thread, not 'memory'\n"

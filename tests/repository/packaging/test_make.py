"""The Makefile's own shell: what `make clean` removes, tried in folders of the test's."""

import shutil
from pathlib import Path

import pytest
from setup_support import ROOT, run


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder with our Makefile, one source, and what builds leave beside it."""
    folder = tmp_path / "checkout"
    for name in ("envs_c/game.pyx", "envs_c/game.so", "envs_c/game.so.new", "__pycache__/setup.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    shutil.copy(ROOT / "Makefile", folder)
    return folder


def files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("cache", [".", "./", "{checkout}", "{checkout}/..", "{link}"])
def test_make_clean_never_removes_sources_whatever_the_cache_folder_is(checkout, tmp_path, cache):
    (tmp_path / "link").symlink_to(checkout)
    (tmp_path / "envs_c").symlink_to(checkout)  # a checkout of that name in the cache folder
    cache = cache.format(checkout=checkout, link=tmp_path / "link")
    environment = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": cache}
    removed = run("make", "-n", "clean", cwd=checkout, **environment).stdout.partition("\nfind ")[0]
    assert removed.startswith("rm ") and "envs_c" not in removed
    done = run("make", "clean", cwd=checkout, **environment)
    assert done.returncode == 0, done.stderr
    assert files(checkout) == {"Makefile", "envs_c/game.pyx"}


@pytest.mark.parametrize(("system", "xdg", "removed"), [
    ("Linux", None, {"home/.cache"}), ("Linux", ".", {"home/.cache"}), ("Linux", "{tmp}/a b", {"a b"}),
    ("Darwin", None, {"home/Library/Caches"}), ("Darwin", "{tmp}/a b", {"home/Library/Caches", "a b"}),
])
def test_make_clean_removes_the_compiled_games_where_the_system_has_its_caches(checkout, tmp_path, system, xdg, removed):
    places = {"home/.cache", "home/Library/Caches", "a b"}
    for place in places:
        (tmp_path / place / "envs_c").mkdir(parents=True)
        (tmp_path / place / "others").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "uname").write_text(f"#!/bin/sh\necho {system}\n", encoding="utf-8")
    (tmp_path / "bin" / "uname").chmod(0o755)
    run("make", "clean", cwd=checkout, HOME=str(tmp_path / "home"), XDG_CACHE_HOME=xdg and xdg.format(tmp=tmp_path),
        PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin")
    assert {place for place in places if not (tmp_path / place / "envs_c").exists()} == removed
    assert all((tmp_path / place / "others").exists() for place in places)

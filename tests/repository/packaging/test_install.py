"""The commands that error messages and pages give for installing extras work before the package is on an index."""

import json
import re
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from setup_support import ROOT

from envs_c import install

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
GIT = {"url": "https://example.org/games.git", "vcs_info": {"vcs": "git", "commit_id": "0123abc"}}
BARE = re.compile(r"pip install ['\"]?insertcoin\b(?!\[\w+\] @ )")  # by name alone, which asks an index
FILES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"),
         *(file for name in ("insertcoin", "envs_c", "bridge", "trainer", "examples", "benchmarks", "tools")
           for file in (ROOT / name).rglob("*.*") if file.suffix in (".py", ".pyx", ".pxd", ".md", ".txt"))]


class Installed:
    """A distribution with this direct_url.json; None is none, as after an installation from an index."""

    def __init__(self, record):
        self.record = record

    def read_text(self, name):
        assert name == "direct_url.json"
        return None if self.record is None else json.dumps(self.record)


def test_in_a_checkout_the_command_installs_the_checkout(monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(install, "ROOT", tmp_path)
    assert install.hint("sb3") == f"pip install -e '{tmp_path}[sb3]'"


@pytest.mark.parametrize(("record", "requirement"), [
    (GIT, "insertcoin[sb3] @ git+https://example.org/games.git@0123abc"),
    ({"url": "file:///home/me/insertcoin-0.1.0.whl", "archive_info": {}}, "insertcoin[sb3] @ file:///home/me/insertcoin-0.1.0.whl"),
    ({"url": "file:///home/me/insertcoin", "dir_info": {}}, "insertcoin[sb3] @ file:///home/me/insertcoin"),
    (None, "insertcoin[sb3]"),
], ids=["git", "wheel", "folder", "index"])
def test_the_command_names_the_place_that_the_installation_came_from(monkeypatch, tmp_path, record, requirement):
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(metadata, "distribution", lambda name: Installed(record))
    assert install.hint("sb3") == f"pip install '{requirement}'"
    assert Requirement(requirement).extras == {"sb3"}


def test_without_any_installation_the_command_names_the_package(monkeypatch, tmp_path):
    def absent(name):
        raise metadata.PackageNotFoundError(name)
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(metadata, "distribution", absent)
    assert install.hint("play") == "pip install 'insertcoin[play]'"


def test_a_path_with_a_quote_stays_one_argument(monkeypatch, tmp_path):
    folder = tmp_path / "the player's"
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    monkeypatch.setattr(install, "ROOT", folder)
    assert install.shlex.split(install.hint("sb3")) == ["pip", "install", "-e", f"{folder}[sb3]"]


def test_no_page_and_no_message_installs_the_package_by_its_name_from_an_index():
    found = [f"{file.relative_to(ROOT)}: {line.strip()}" for file in FILES
             for line in file.read_text(encoding="utf-8").splitlines() if BARE.search(line)]
    assert found == []


def test_every_extra_that_a_message_names_exists():
    named = {extra for file in FILES for extra in re.findall(r"hint\(['\"](\w+)['\"]\)", file.read_text(encoding="utf-8"))}
    assert named >= {"train", "sb3", "cuda", "sweep", "export"} and named <= set(EXTRAS)

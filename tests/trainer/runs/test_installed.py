"""What counts as installed, and so needs no permission: also packages that pip has put into a folder of PYTHONPATH."""

import importlib.util
from pathlib import Path

import pytest

from trainer import imports


@pytest.fixture
def target(tmp_path):
    """A folder as `pip install --target` makes it, with a package, and a module that pip does not know."""
    folder = tmp_path / "target"
    (folder / "tracker").mkdir(parents=True)
    (folder / "tracker" / "__init__.py").touch()
    (folder / "stray.py").touch()
    (folder / "tracker-1.0.dist-info").mkdir()
    (folder / "tracker-1.0.dist-info" / "RECORD").write_text('tracker/__init__.py,sha256=x,0\n"a,b.py",,\n../up.py,,\n')
    return folder


def spec(path: Path):
    return importlib.util.spec_from_file_location(path.stem, path)


def test_a_package_in_a_folder_of_pythonpath_is_installed(target, monkeypatch):
    package = spec(target / "tracker" / "__init__.py")
    assert not imports.is_installed(package)
    monkeypatch.setenv("PYTHONPATH", f"/nowhere:{target}")
    assert imports.is_installed(package)
    assert not imports.is_installed(spec(target / "stray.py"))


def test_the_working_folder_and_relative_paths_give_no_permission(target, monkeypatch):
    package = spec(target / "tracker" / "__init__.py")
    monkeypatch.chdir(target)
    for path in (str(target), ".", ""):
        monkeypatch.setenv("PYTHONPATH", path)
        assert not imports.is_installed(package)


def test_a_damaged_record_is_left_out(target, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(target))
    (target / "other-1.dist-info").mkdir()
    (target / "other-1.dist-info" / "RECORD").write_bytes(b"\xff\xfe")
    (target / "third-1.dist-info" / "RECORD").mkdir(parents=True)
    imports._recorded.cache_clear()
    assert imports.is_installed(spec(target / "tracker" / "__init__.py"))

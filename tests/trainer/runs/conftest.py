"""Folders with code of the user's own, for the tests of which code may run."""

import pytest
from trust_support import CODE, forget, ran, write_code
from verb_support import run


@pytest.fixture
def here(tmp_path, shared_folder, monkeypatch):
    """A working folder with crafted code, on sys.path; no training has run it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, value in {"MARKER": tmp_path / "marker", "XDG_DATA_HOME": tmp_path / "data", "ENVS_C_FLAGS": "-O0",
                        "ENVS_C_CACHE": shared_folder / "crafted", "SDL_VIDEODRIVER": "dummy"}.items():
        monkeypatch.setenv(name, str(value))
    write_code(tmp_path)
    forget()
    yield tmp_path
    forget()


@pytest.fixture
def crafted(there, here):
    """The same folder with a run of cartpole, runs/one."""
    return here


@pytest.fixture
def own(here, capsys):
    """The same folder with a training, runs/own, that was started by naming its encoder and memory, and stopped early."""
    run(capsys, f"cartpole {CODE} --encoder crafted:Small --memory crafted:Exported --run-dir runs/own --stop-at 2048")
    assert ran() == ["crafted", "helper"]
    forget()
    return here

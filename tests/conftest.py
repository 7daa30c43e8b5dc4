"""Fixtures that several files share: the games one by one, the views and autoreset modes, and a game from outside."""

import trainer.openmp  # noqa: F401  isort: skip  (before anything that loads OpenMP)

from pathlib import Path

import pytest
from device_twin import TwinDevice

import envs_c
from envs_c import outside

TOY = Path(__file__).parent / "toy" / "toy.pyx"


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """The `Game` of tests/toy, compiled in a folder of its own; not registered, so that it is none of envs_c.games()."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENVS_C_CACHE", str(tmp_path_factory.mktemp("toy")))
        return outside.load(TOY)


@pytest.fixture(params=[*envs_c.games(), "toy"])
def game(request):
    """Every game, and the one from outside."""
    return request.getfixturevalue("toy") if request.param == "toy" else envs_c.game(request.param)


@pytest.fixture(params=["features", "pixels"])
def view(request):
    """Both kinds of observation."""
    return request.param


@pytest.fixture(params=["next_step", "same_step", "disabled"])
def autoreset(request):
    """All of Gymnasium's autoreset modes."""
    return request.param


@pytest.fixture
def twin():
    """Makes devices that are slow, out of order, or fail on purpose; see device_twin.py. Ends their threads."""
    made = []

    def make(**settings) -> TwinDevice:
        made.append(TwinDevice(**settings))
        return made[-1]
    yield make
    for device in made:
        device.close()

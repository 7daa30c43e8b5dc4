"""The page of all games, and a browser that visits it."""

import fcntl

import pytest
from arcade_support import FOLDER
from browser import Watched, browser, serving

import envs_c
from envs_c.arcade import site


@pytest.fixture(scope="module")
def address():
    """The address of the whole page, compiled once for all processes of this session and later ones."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "page.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        games = [envs_c.game(name) for name in envs_c.games()]
        folder = site.make_site(FOLDER / "page", games, site.own_agents(games))
    with serving(folder) as made:
        yield made


@pytest.fixture(scope="module")
def chromium():
    with browser() as made:
        yield made


@pytest.fixture
def visit(address, chromium):
    """A function: the page at a fragment of the address, whose errors and foreign requests fail the test."""
    opened = []

    def go(fragment: str, script: str = "", **options):
        opened.append(Watched(chromium, address, **options))
        opened[-1].page.add_init_script(script)
        opened[-1].page.goto(f"{address}/{fragment}")
        return opened[-1].page

    yield go
    for each in opened:
        each.page.close()
        each.require_clean()

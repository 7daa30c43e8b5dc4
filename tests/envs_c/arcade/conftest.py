"""The page of all games, and a browser that visits it."""

import pytest
from arcade_support import whole_page
from browser import Watched, browser, serving


@pytest.fixture(scope="module")
def address():
    """The address of the whole page, compiled once for all processes of this session and later ones."""
    with serving(whole_page()) as made:
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

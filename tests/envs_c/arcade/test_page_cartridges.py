"""The page in headless Chromium plays the file of a cartridge that a person picks."""

import pytest
from arcade_support import needs_browser_tools
from browser import READY, needs_browser, until

from envs_c.console import cartridges

pytestmark = [needs_browser_tools, needs_browser, pytest.mark.slow]


def cartridge(name: str):
    """The file of a cartridge; skips the test where it is not."""
    pytest.importorskip("ale_py")
    return cartridges.present()[name]


def test_a_person_plays_the_file_of_a_cartridge_which_is_not_sent(visit):
    rom = cartridge("pong")
    page = visit("#main")
    page.get_by_role("link", name="cartridge").click(timeout=READY)
    sent = []
    page.on("request", lambda request: sent.append((request.method, request.post_data, request.url)))
    page.set_input_files("#cartridge", rom)
    page.wait_for_selector(".play canvas", timeout=READY)
    assert page.url.endswith("#play/atari_pong")
    assert "There is no sound" in page.locator(".summary").inner_text()
    picture = page.locator(".play canvas").evaluate("canvas => canvas.toDataURL()")
    page.keyboard.down("ArrowRight")
    until(page, "old => document.querySelector('.play canvas').toDataURL() !== old", picture)
    page.get_by_role("link", name="Many at once").click()
    until(page, "document.querySelector('.scores output')?.textContent")
    assert {(method, data) for method, data, _ in sent} == {("GET", None)}  # the page's own files: 200 bytes hold no cartridge
    assert all(url.startswith(page.url.partition("#")[0]) and len(url) < 200 for *_, url in sent)


def test_a_page_that_is_loaded_again_asks_for_the_cartridge_again(visit):
    rom = cartridge("breakout")
    page = visit("#inspect/atari_breakout")
    page.wait_for_selector("#cartridge", timeout=READY)
    assert "Pick the file of breakout again" in page.locator("p[role=status]").inner_text()
    page.set_input_files("#cartridge", rom)
    page.wait_for_selector(".inspect .state", timeout=READY)
    assert page.locator(".features .row").count() == 128


def test_a_wrong_option_is_named_and_the_game_goes_on(visit):
    """Not all modes between the first and the last one exist."""
    page = visit("#cartridge")
    page.wait_for_selector("#cartridge", timeout=READY)
    page.set_input_files("#cartridge", cartridge("asteroids"))
    page.locator("summary").click(timeout=READY)
    page.fill("#option-mode", "50")
    page.get_by_role("button", name="Start with these").click()
    until(page, "document.querySelector('.error').textContent.includes('option mode of atari_asteroids must be 0 or 1 or')")
    picture = page.locator(".play canvas").evaluate("canvas => canvas.toDataURL()")
    until(page, "old => document.querySelector('.play canvas').toDataURL() !== old", picture)
    page.fill("#option-mode", "128")
    page.get_by_role("button", name="Start with these").click()
    until(page, "document.querySelector('.error').textContent === ''")
    assert page.locator("#option-mode").input_value() == "128"


def test_a_file_that_is_no_cartridge_shows_one_line(visit, tmp_path):
    (tmp_path / "large.bin").write_bytes(b"x" * 40_000)
    page = visit("#cartridge", script="File.prototype.arrayBuffer = async () => { window.read = true; };")
    page.wait_for_selector("#cartridge", timeout=READY)
    page.set_input_files("#cartridge", tmp_path / "large.bin")
    until(page, "document.querySelector('.error').textContent.includes('must be a file of 1 to 32768 bytes, not 40000')")
    assert page.evaluate("window.read") is None  # a film of some gigabytes would fill the memory

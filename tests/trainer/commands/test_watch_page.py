"""The page of `insertcoin watch` in headless Chromium: what it says while an agent is made, or if there is none to play."""

import json
import shutil
import threading

import pytest
from arcade_support import compiled, needs_browser_tools
from browser import Watched, browser, needs_browser, serving, until

import envs_c
from envs_c.arcade import site
from trainer.export.follow import Follower

pytestmark = [needs_browser_tools, needs_browser, pytest.mark.slow]
# The page asks twenty times as often; `frames` counts what moves on it.
QUICK = """const later = window.setTimeout, request = window.requestAnimationFrame;
window.setTimeout = (call, ms) => later(call, ms / 20);
window.frames = 0;
window.requestAnimationFrame = (call) => request((now) => { window.frames++; call(now); });"""
NOTE = "document.querySelector('.legend')?.textContent.includes(%s)"
STATE = "document.querySelector('.scores')?.textContent.includes(%s)"
MOVED = "old => document.querySelector('.table canvas').toDataURL() !== old"


class Run:
    """A run whose answers the test chooses. checkpoint: its newest; open: set while agents may leave; asked: agents so far."""

    def __init__(self, folder):
        follower = Follower(folder)
        self.routes, self.status, self.agent = follower.routes("cartpole"), follower.status, follower.agent
        self.checkpoint, self.open, self.asked = "first", threading.Event(), 0
        self.routes = {**self.routes, "/run/status.json": self.answer, "/run/agent.safetensors": self.policy}

    def answer(self, _query):
        if self.checkpoint == "bug":
            raise RuntimeError("the compiler has left")
        found = self.status("cartpole")
        return json.dumps({**found, "checkpoint": found["checkpoint"] and self.checkpoint}).encode(), "application/json"

    def policy(self, query):
        self.asked += 1
        assert self.open.wait(60)
        if self.checkpoint == "damaged":
            raise LookupError("step_9.safetensors is damaged")
        return self.agent(query)


@pytest.fixture
def run(there):
    return Run(there / "runs" / "one")


@pytest.fixture
def watched(run, tmp_path):
    """A function: a page that follows the run. options: of playwright's new_page."""
    folder, game = tmp_path / "page", envs_c.game("cartpole")
    site.begin(folder)
    for ending in ("wasm", "json"):
        site.put(folder / "games" / f"cartpole.{ending}", (compiled(game) / f"cartpole.{ending}").read_bytes())
    site.make_site(folder, [game], {}, console=False)
    with serving(folder, run.routes) as address, browser() as chromium:
        def go(**options):
            page = Watched(chromium, address, **options).page
            page.add_init_script(QUICK)
            page.goto(f"{address}/#run")
            return page
        yield go


def test_the_page_says_what_it_has_and_why_no_agent_plays(run, watched, there):
    page = watched()
    until(page, STATE % "'not running, step '")  # while the first agent is made
    assert page.locator("canvas").count() > 0 and "opened as a file" not in page.locator("main").inner_text()
    run.checkpoint = "damaged"
    run.open.set()
    until(page, NOTE % "'step_9.safetensors is damaged'")
    while run.asked < 2:  # for each of the names
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)  # four questions later
    assert run.asked == 2
    run.checkpoint = "second"
    until(page, NOTE % "'second: score '")
    run.checkpoint = "damaged"
    until(page, NOTE % "'damaged: step_9.safetensors is damaged'")  # beside the score of the one that plays on
    run.checkpoint = "bug"
    until(page, STATE % "'the compiler has left'")
    run.checkpoint = "second"
    shutil.rmtree(there / "runs" / "one")
    until(page, STATE % "'folder is gone'")


def test_the_agent_pauses_begins_paused_for_less_motion_and_ends_with_its_view(run, watched):
    run.open.set()
    page = watched(reduced_motion="reduce")
    until(page, NOTE % "'first: score '")
    picture = page.locator(".table canvas").evaluate("canvas => canvas.toDataURL()")
    page.wait_for_timeout(500)
    assert not page.evaluate(MOVED, picture)
    page.get_by_role("button", name="Go on").click()
    until(page, MOVED, picture)
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(100)
    picture = page.locator(".table canvas").evaluate("canvas => canvas.toDataURL()")
    page.wait_for_timeout(300)
    assert not page.evaluate(MOVED, picture)
    asked = run.asked
    run.open.clear()
    run.checkpoint = "second"
    while run.asked == asked:  # the page waits for the next agent
        page.wait_for_timeout(50)
    page.evaluate("location.hash = '#cartridge'")
    page.wait_for_selector("#cartridge")
    run.open.set()
    page.wait_for_timeout(500)
    before = page.evaluate("window.frames")
    page.wait_for_timeout(300)
    assert page.evaluate("window.frames") == before

"""The page in headless Chromium, with fixed seeds and a time passed frame by frame: speeds, commands, and the ends of games."""

import itertools
import re

import pytest
from arcade_support import needs_browser_tools
from browser import READY, TIME, needs_browser, until

import envs_c
from envs_c.arcade import links

pytestmark = [needs_browser_tools, needs_browser, pytest.mark.slow]


def begin(visit, fragment: str):
    page = visit(fragment, script=TIME)
    page.wait_for_selector("canvas", timeout=READY)
    return page


def steps(page) -> int:
    """The steps in the link that the page copies."""
    page.evaluate("window.copied = ''")
    page.locator(".buttons button", has_text=re.compile("^Cop(y|ied)")).click()
    until(page, "window.copied")
    return len(links.parse(page.evaluate("window.copied")).actions)


@pytest.mark.parametrize(("name", "speed"), [("breakout", 0.5), ("breakout", 4), ("tetris", 1)])
def test_a_game_is_as_fast_as_its_own_rate_times_the_chosen_speed(visit, name, speed):
    page = begin(visit, f"#play/{name}")
    page.select_option("#speed", str(speed))
    page.evaluate("pass(120)")
    assert steps(page) == pytest.approx(2 * envs_c.game(name).fps * speed, abs=1)


@pytest.mark.parametrize("frame_skip", [1, 4])
def test_a_replay_is_as_fast_as_the_game_was(visit, frame_skip):
    game = envs_c.game("breakout")
    replay = links.Replay("breakout", game.version, 7, {"frame_skip": frame_skip}, {}, len(game.actions), [1] * 200)
    page = begin(visit, links.link_of(replay))
    page.evaluate("pass(60)")
    at, of = map(int, re.search(r"step (\d+) of (\d+)", page.locator(".scores").inner_text()).groups())
    assert of == 200 and at == pytest.approx(game.fps / frame_skip, abs=1)


def test_p_pauses_and_r_begins_anew(visit):
    page = begin(visit, "#play/breakout")
    page.evaluate("pass(30)")
    before = steps(page)
    for key, after in (("p", before), ("p", before + 20), ("r", 20)):
        page.keyboard.press(key)
        page.evaluate("pass(20)")
        assert steps(page) == pytest.approx(after, abs=1), key
    page.keyboard.press("Escape")
    page.wait_for_selector(".cabinet", timeout=READY)


def test_the_longer_game_wins_a_competition(visit):
    """A person who holds a key loses the pole at once; the agent keeps it to the end."""
    page = begin(visit, "#compete/cartpole")
    page.keyboard.down("ArrowLeft")
    until(page, "!document.querySelector('.result').textContent.includes('Press a key')")
    page.evaluate("pass(60)")
    mine, theirs = map(float, page.locator(".scores .score").all_inner_texts())
    assert mine < theirs and page.locator(".result").inner_text() == ""
    for _ in range(12):
        page.evaluate("pass(60)")
    assert page.locator(".result").inner_text() == "The agent won"


def test_a_watched_agent_plays_one_game_after_the_other(visit):
    page = begin(visit, "#watch/cartpole")
    seen = []
    for _ in range(24):
        page.evaluate("pass(60)")
        seen.append(float(page.locator(".scores .score").first.inner_text()))
    assert "last game 500" in page.locator(".scores").first.inner_text()
    assert sum(later < before for before, later in itertools.pairwise(seen)) == 2  # twice 10 seconds in 24

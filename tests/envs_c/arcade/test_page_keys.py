"""The page in headless Chromium: which presses count, of keys and of fingers, and what the cursor of a slow game shows."""

import pytest
from arcade_support import needs_browser_tools
from browser import READY, TIME, needs_browser, until

from envs_c.arcade import links

pytestmark = [needs_browser_tools, needs_browser, pytest.mark.slow]
OWN_NAMES = """const get = window.fetch;
window.fetch = async (path) => {
    const answer = await get(path);
    if (!String(path).endsWith('g2048.json')) return answer;
    return new Response(JSON.stringify({...await answer.json(), hasActionMask: false,
        actions: ['DIG', 'WAIT', 'SWIM', 'REST']}));
};"""


def begin(visit, fragment: str, script: str = "", **options):
    page = visit(fragment, script=TIME + script, **options)
    page.wait_for_selector("canvas", timeout=READY)
    return page


def taken(page) -> list[int]:
    """The actions in the link that the page copies."""
    page.evaluate("window.copied = ''")
    page.locator(".buttons button", has_text="Cop").click()
    until(page, "window.copied")
    return links.parse(page.evaluate("window.copied")).actions


def test_the_cursor_shows_its_choice_at_once_and_takes_quick_presses_in_their_order(visit):
    own, go = begin(visit, "#play/g2048", OWN_NAMES), begin(visit, "#play/go")
    assert "board" not in own.locator(".legend").inner_text() and "point of the board" in go.locator(".legend").inner_text()
    for key in ("ArrowRight", "ArrowRight", "Space", "ArrowLeft", "Space"):
        own.keyboard.press(key)
    own.evaluate("pass(1)")  # no tick of the game
    assert "WAIT" in own.locator(".scores").inner_text() and taken(own) == []
    own.evaluate("pass(60)")
    assert taken(own) == [2, 1]
    for _ in range(5):
        go.keyboard.press("ArrowDown")
    go.evaluate("pass(1)")
    assert "PASS" in go.locator(".scores").inner_text()


def test_presses_in_a_pause_or_after_the_end_do_not_count_in_the_next_game(visit):
    page = begin(visit, "#play/g2048")
    for key in ("p", "ArrowUp", "ArrowLeft", "p"):
        page.keyboard.press(key)
    page.evaluate("pass(60)")
    assert taken(page) == []
    page = begin(visit, "#compete/cartpole")
    page.keyboard.down("ArrowLeft")
    until(page, "!document.querySelector('.result').textContent.includes('Press a key')")
    page.evaluate("pass(60)")  # the person's pole has fallen
    for key in ("ArrowRight", "Space", "r"):  # while the left key is still down
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    page.evaluate("pass(30)")
    assert "Press a key" in page.locator(".result").inner_text()
    assert page.locator(".scores .score").all_inner_texts() == ["0", "0"]
    page.keyboard.press("ArrowRight")
    until(page, "!document.querySelector('.result').textContent.includes('Press a key')")


def test_a_button_that_two_fingers_held_is_free_when_both_are_gone(visit):
    page = begin(visit, "#play/breakout", viewport={"width": 360, "height": 740}, has_touch=True)
    page.locator(".pad .left").scroll_into_view_if_needed()
    box, session = page.locator(".pad .left").bounding_box(), page.context.new_cdp_session(page)
    fingers = [{"x": box["x"] + 10 + 15 * k, "y": box["y"] + 20, "id": k} for k in range(2)]
    page.evaluate("window.ended = 0; document.addEventListener('pointerup', () => window.ended++)")
    for kind, points in (("Start", fingers[:1]), ("Start", fingers), ("Move", fingers[1:]), ("End", [])):
        session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points})
    until(page, "window.ended === 2")
    page.evaluate("pass(20)")
    assert set(taken(page)[-10:]) == {0}


def test_arrows_and_space_scroll_where_an_agent_plays_and_commands_go_by_their_letter(visit):
    page = begin(visit, "#watch/breakout", viewport={"width": 360, "height": 400})
    page.keyboard.press("ArrowDown")
    until(page, "scrollY > 0", seconds=5)
    before = page.evaluate("scrollY")
    page.keyboard.press("Space")
    until(page, "before => scrollY > before", before, seconds=5)
    page.evaluate("""document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'p', code: 'KeyR', bubbles: true}))""")
    assert page.get_by_role("button", name="Go on").count() == 1

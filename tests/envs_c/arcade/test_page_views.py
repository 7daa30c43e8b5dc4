"""The page in headless Chromium: how its views follow one another, and what they say, with a time passed frame by frame."""

import pytest
from arcade_support import needs_browser_tools
from browser import READY, TIME, needs_browser, until

from envs_c.arcade import links

pytestmark = [needs_browser_tools, needs_browser, pytest.mark.slow]
# What a screen reader says: the texts of live elements, whenever they change.
SAID = """window.said = [];
new MutationObserver((changes) => {
    for (const { target } of changes) {
        const element = target instanceof Element ? target : target.parentElement;
        const live = element?.closest('output, [role=status], [role=alert], [aria-live]');
        if (live && live.getAttribute('aria-live') !== 'off') window.said.push(live.textContent);
    }
}).observe(document.querySelector('.view'), {subtree: true, childList: true, characterData: true});"""
# What the button says of a game that is longer than a link.
FULL = """(async () => {
    const { copyLink } = await import('./ui/tables.js'), button = document.createElement('button');
    await copyLink({ recorder: { full: true, actions: { length: 1e6 }, link: () => '#replay=1' } }, button);
    return button.textContent;
})()"""
NO_CONSOLE = """const get = window.fetch;
window.fetch = async (path) => String(path).endsWith('cartridges.json') ? new Response('', {status: 404}) : get(path);"""


def begin(visit, fragment: str):
    page = visit(fragment, script=TIME)
    page.wait_for_selector("canvas", timeout=READY)
    return page


def test_a_chosen_game_is_seen_from_its_top_and_the_skip_link_stays_in_it(visit):
    page = visit("", script=NO_CONSOLE, viewport={"width": 360, "height": 740})
    page.locator(".cabinet").last.click(timeout=READY)
    page.wait_for_selector(".watch canvas", timeout=READY)
    assert page.evaluate("scrollY") == 0
    address = page.url
    page.locator(".skip").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.wait_for_timeout(100)
    assert page.url == address and page.locator(".watch .table canvas").count() == 1
    page.go_back()
    page.wait_for_selector(".cabinet", timeout=READY)


def test_a_fixed_seed_is_shown_and_only_a_games_end_is_said(visit):
    page = begin(visit, "#play/cartpole")
    assert page.locator("p output").nth(1).inner_text() == "-"  # no best score before a game
    page.locator("summary").click()
    page.fill("#option-seed", "77")
    page.get_by_role("button", name="Start with these").click()
    until(page, "document.querySelector('#option-seed').value === '77'")
    page.evaluate(SAID)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.down("ArrowLeft")
    page.evaluate("pass(120)")
    assert page.evaluate("window.said") == ["over: R or Restart plays again"]
    assert page.locator("p output").nth(1).inner_text() != "-"
    page.locator("summary").click()
    page.get_by_role("button", name="Defaults").click()
    assert page.locator("#option-seed").input_value() == ""
    page = begin(visit, "#watch/breakout")
    page.evaluate(SAID)
    page.evaluate("pass(60)")
    assert page.evaluate("window.said") == []


def test_look_inside_runs_the_chosen_action(visit):
    page = begin(visit, "#inspect/breakout")
    page.select_option("#action", "2")
    page.get_by_role("button", name="Run").click()
    page.evaluate("pass(60)")
    page.locator(".buttons button", has_text="Copy a link").click()
    until(page, "window.copied")
    assert set(links.parse(page.evaluate("window.copied")).actions) == {2}
    assert page.evaluate(FULL) == "Copied: the first 1000000 steps, the most of a link"

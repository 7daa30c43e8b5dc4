"""The page in headless Chromium: people and agents play, and every game equals the native one on the same actions."""

import re

import pytest
from arcade_support import FOLDER, needs_browser_tools
from browser import READY, needs_browser, until

import envs_c
from envs_c.arcade import links

pytestmark = [needs_browser_tools, needs_browser, pytest.mark.slow]
VIEWS = ["play", "watch", "compete", "inspect", "wall"]
KEYS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Space"]
WIDTHS = [360, 1280, 2560]
CLIPBOARD = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
UNNAMED = """[...document.querySelectorAll('button, a, input, select, summary, canvas')].filter((each) =>
    !(each.textContent.trim() || each.getAttribute('aria-label') || each.labels?.length)).map((each) => each.outerHTML)"""
FROZEN = """const request = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (call) => request(() => call(0)); performance.now = () => 0;"""
GAMEPAD = """navigator.getGamepads = () => [{connected: true, buttons: [], axes: [-1, 0]}];"""
TURNS = 12  # frames a second: games with fewer wait for a key


def score(page) -> float:
    return float(page.locator(".scores .score").first.inner_text())


@pytest.mark.parametrize("width", WIDTHS)
def test_the_hall_shows_a_cabinet_for_each_game_in_which_something_moves(visit, width):
    page = visit("", viewport={"width": width, "height": 900})
    page.wait_for_selector(".cabinet canvas", timeout=READY)
    assert page.locator(".cabinet").count() == len(envs_c.games())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    first = page.locator(".cabinet canvas").first
    picture = first.evaluate("canvas => canvas.toDataURL()")
    until(page, "([canvas, old]) => canvas.toDataURL() !== old", [first.element_handle(), picture])


def test_nothing_moves_by_itself_for_people_who_ask_for_less_motion(visit):
    page = visit("", reduced_motion="reduce")
    until(page, "(document.querySelector('.cabinet .score')?.textContent ?? '') !== ''")
    picture = page.locator(".cabinet canvas").first.evaluate("canvas => canvas.toDataURL()")
    page.wait_for_timeout(1000)
    assert page.locator(".cabinet canvas").first.evaluate("canvas => canvas.toDataURL()") == picture


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_works_at_the_width_of_a_telephone(visit, view):
    page = visit(f"#{view}/pong", viewport={"width": 360, "height": 740})
    page.wait_for_selector("canvas", timeout=READY)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator(".error:not(:empty)").count() == 0


@pytest.mark.parametrize("name", envs_c.games())
def test_a_game_played_by_keys_equals_the_native_game_on_the_same_actions(visit, name):
    """About five seconds of the game; the link that the page copies is replayed natively and in the page."""
    page = visit(f"#play/{name}")
    page.wait_for_selector(".play canvas", timeout=READY)
    page.select_option("#speed", "4")
    for k in range(24):
        page.keyboard.down(KEYS[k * 7 % 5])
        page.wait_for_timeout(50)
        page.keyboard.up(KEYS[k * 7 % 5])
    page.get_by_role("button", name="Pause").click()
    page.wait_for_timeout(200)
    shown = score(page)
    replay = copied(page)
    played = links.play(replay)
    assert len(replay.actions) >= (1 if envs_c.game(name).fps < TURNS else 8)  # a pole falls soon
    assert score(page) == shown == pytest.approx(played.score, abs=0.01)
    there = visit(links.link_of(replay))
    there.get_by_role("button", name="Checksum").click(timeout=READY)
    until(there, "[...document.querySelectorAll('output')].some((each) => /^[0-9a-f]{8}$/.test(each.textContent))")
    assert played.checksum in there.locator("output").all_inner_texts()


def test_the_agent_of_breakout_passes_fifty_points_in_a_minute_of_the_game(visit):
    page = visit("#watch/breakout")
    page.select_option("#speed", "4", timeout=READY)
    until(page, "Number(document.querySelector('.scores .score').textContent) > 50")
    shares = [float(text[:-1]) for text in page.locator(".bars .value").all_inner_texts()]
    assert 97 <= sum(shares) <= 103


@pytest.mark.parametrize("view", ["watch", "compete"])
def test_the_page_says_the_agents_own_score_and_its_seed(visit, view):
    page = visit(f"#{view}/breakout")
    page.wait_for_selector(f".{view} canvas", timeout=READY)
    text = page.locator(".record").inner_text()
    assert re.fullmatch(r"one training, seed 1: mean \d+(\.\d)? of 100 games, sampled actions, without sticky actions", text)


def copied(page) -> links.Replay:
    """The replay of the link that the page copies."""
    page.evaluate(CLIPBOARD)
    page.get_by_role("button", name="Copy a link").click()
    until(page, "window.copied")
    return links.parse(page.evaluate("window.copied"))


def test_a_person_and_the_agent_begin_with_the_same_picture(visit):
    """Time stands still, so both games stay at their first picture; food lies elsewhere after most restarts."""
    page, seen = visit("#compete/snake", script=FROZEN), set()
    page.wait_for_selector(".compete canvas >> nth=1", timeout=READY)
    for _ in range(6):
        page.get_by_role("button", name="Restart").click()
        page.wait_for_timeout(200)
        mine, theirs = page.locator(".compete .table canvas").evaluate_all("all => all.map((each) => each.toDataURL())")
        assert mine == theirs
        seen.add(mine)
    assert len(seen) > 1


def test_a_person_and_the_agent_begin_together(visit):
    """Nothing moves until a key is pressed; then both do."""
    page = visit("#compete/cartpole")
    page.wait_for_selector(".compete canvas >> nth=1", timeout=READY)
    page.wait_for_timeout(700)
    assert page.locator(".scores .score").all_inner_texts() == ["0", "0"]
    assert "Press a key" in page.locator(".result").inner_text()
    page.keyboard.down("ArrowLeft")
    until(page, "[...document.querySelectorAll('.scores .score')].every((each) => Number(each.textContent) > 0)")
    assert "Press a key" not in page.locator(".result").inner_text()


@pytest.mark.parametrize(("action", "key"), [("RIGHT", "ArrowUp"), ("LEFT", "ArrowDown")])
def test_pongs_keys_follow_the_screen(visit, action, key):
    page = visit("#play/pong")
    page.wait_for_selector(".play canvas", timeout=READY)
    assert page.locator(".legend").inner_text().startswith("arrows or WASD: up, down; space: fire; P pauses")
    page.keyboard.down(key)
    page.wait_for_timeout(700)
    names = envs_c.game("pong").actions
    assert {names[chosen] for chosen in copied(page).actions} == {"NOOP", action}


@pytest.mark.parametrize("name", ["Restart", "Pause"])
def test_the_space_key_is_the_games_again_after_a_click_on_a_button(visit, name):
    page = visit("#play/breakout")
    page.get_by_role("button", name=name).click(timeout=READY)
    if name == "Pause":
        page.get_by_role("button", name="Go on").click()
    page.keyboard.down("Space")
    page.wait_for_timeout(700)
    actions = envs_c.game("breakout").actions
    assert "FIRE" in {actions[action] for action in copied(page).actions}


def test_the_arrows_are_the_games_again_after_a_speed_was_chosen_with_the_mouse(visit):
    page = visit("#play/breakout")
    page.locator("#speed").click(timeout=READY)
    for key in ("ArrowDown", "Enter"):  # in the open list
        page.keyboard.press(key)
    until(page, "document.querySelector('#speed').value === '2'")
    page.keyboard.down("ArrowLeft")
    page.wait_for_timeout(700)
    actions = envs_c.game("breakout").actions
    assert "LEFT" in {actions[action] for action in copied(page).actions}
    assert page.locator("#speed").input_value() == "2"


def test_the_button_for_a_link_has_its_name_again_after_two_clicks(visit):
    page = visit("#play/pong", script=CLIPBOARD)
    button = page.get_by_role("button", name="Copy a link").element_handle(timeout=READY)
    for _ in range(2):
        button.click()
        page.wait_for_timeout(300)
    assert button.text_content() == "Copied"
    page.wait_for_timeout(2000)
    assert button.text_content() == "Copy a link to this game"


@pytest.mark.parametrize("view", ["play", "watch"])
def test_keys_scores_and_buttons_are_seen_without_scrolling_at_1280_by_800(visit, view):
    page = visit(f"#{view}/breakout", viewport={"width": 1280, "height": 800})
    page.wait_for_selector(f".{view} canvas", timeout=READY)
    for seen in (".scores", ".buttons button", ".legend" if view == "play" else ".bars"):
        box = page.locator(seen).first.bounding_box()
        assert box["y"] + box["height"] <= 800, seen


def test_at_2560_pixels_the_content_is_wide_and_no_name_is_cut(visit):
    page = visit("#inspect/seaquest", viewport={"width": 2560, "height": 1400})
    page.wait_for_selector(".features .row", timeout=READY)
    assert page.locator("main").bounding_box()["width"] > 2400
    assert page.evaluate("[...document.querySelectorAll('.name')].every((each) => each.scrollWidth <= each.clientWidth)")
    assert page.locator(".thoughts .row").count() == 18
    assert page.locator(".thoughts .value").all_inner_texts() == [""] * 18  # before the first step


def test_the_fire_button_is_apart_from_the_arrows_on_a_telephone(visit):
    page = visit("#play/seaquest", viewport={"width": 360, "height": 740}, has_touch=True)
    page.wait_for_selector(".pad .fire", timeout=READY)
    right, fire = (page.locator(f".pad .{name}").bounding_box() for name in ("right", "fire"))
    assert fire["x"] - (right["x"] + right["width"]) >= 24


def test_titles_are_names_for_people(visit):
    page = visit("")
    page.wait_for_selector(".cabinet .title", timeout=READY)
    assert {"2048", "Pac-Man", "T-Maze", "CartPole", "Space Invaders"} <= set(page.locator(".cabinet .title").all_inner_texts())


def test_a_page_that_is_opened_as_a_file_says_how_to_serve_it(chromium):
    page = chromium.new_page()
    page.goto((FOLDER / "page" / "index.html").resolve().as_uri())
    assert "python -m http.server" in page.locator("main").inner_text()
    page.close()


def test_options_and_the_seed_of_the_form_are_those_of_the_game(visit):
    page = visit("#play/breakout")
    page.locator("summary").click(timeout=READY)
    page.fill("#option-lives", "2")
    page.fill("#option-seed", "77")
    page.get_by_role("button", name="Start with these").click()
    until(page, "document.querySelector('.scores').textContent.includes('lives 2')")
    replay = copied(page)
    assert (replay.seed, replay.options["lives"]) == (77, 2)


def test_the_best_score_stays_in_the_browser(visit):
    page = visit("#play/cartpole")
    page.wait_for_selector(".play canvas", timeout=READY)
    page.keyboard.press("ArrowLeft")
    until(page, "document.querySelector('.scores').textContent.includes('over')")
    best = page.locator("p output").nth(1).inner_text()
    assert float(best) > 0
    page.reload()
    page.wait_for_selector(".play canvas", timeout=READY)
    assert page.locator("p output").nth(1).inner_text() == best


@pytest.mark.parametrize("way", ["touch", "gamepad"])
def test_touch_and_gamepads_play_too(visit, way):
    page = visit("#play/breakout", script=GAMEPAD if way == "gamepad" else "", has_touch=True,
                 viewport={"width": 360, "height": 740})
    page.wait_for_selector(".play canvas", timeout=READY)
    if way == "touch":
        page.get_by_role("button", name="left").dispatch_event("pointerdown", {"pointerId": 1})
    page.wait_for_timeout(700)
    actions = envs_c.game("breakout").actions
    assert "LEFT" in {actions[action] for action in copied(page).actions}


def test_a_saved_state_is_restored_and_steps_show_their_features(visit):
    page = visit("#inspect/breakout")
    page.wait_for_selector(".features .row", timeout=READY)
    assert page.locator(".features .row").count() == envs_c.game("breakout").feature_shape[0]
    page.get_by_role("button", name="Save").click()
    before = page.locator(".state").inner_text()
    for _ in range(3):
        page.get_by_role("button", name="Step", exact=True).click()
    assert re.match("step 3,", page.locator("p[role=status]").inner_text())
    assert page.locator(".state mark").count() > 0
    page.get_by_role("button", name="Restore").click()
    assert page.locator(".state").inner_text() == before


def test_the_wall_steps_256_environments_and_counts_them(visit):
    page = visit("#wall/breakout")
    until(page, "/[MK]$/.test(document.querySelector('.scores output')?.textContent)")
    assert "256 environments" in page.locator(".scores").inner_text()


@pytest.mark.parametrize(("fragment", "text"), [
    ("#play/pongo", 'There is no game "pongo"'), ("#dance/pong", 'There is no view "dance"'),
    ("#replay=1&game=pong", "must have version="),
    ("#replay=1&game=pongo&version=1&seed=7&actions=BgI", "game of the link must be one of asterix, "),
    ("#constructor/pong", 'There is no view "constructor"'), ("#run", "This page follows no run")])
def test_a_wrong_address_shows_one_line(chromium, address, fragment, text):
    page = chromium.new_page()
    page.goto(f"{address}/{fragment}")
    page.wait_for_selector(".error", timeout=READY)
    assert text in page.locator(".error").inner_text()
    page.close()


def test_every_control_has_a_name_and_is_reached_by_tab(visit):
    page = visit("#play/breakout")
    page.wait_for_selector(".play canvas", timeout=READY)
    assert page.evaluate(UNNAMED) == []
    names = []
    for _ in range(12):
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert {"Skip to the content", "Pause", "Restart"} <= set(names)

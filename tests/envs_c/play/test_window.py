"""Games in a window, on SDL's dummy display."""

import numpy as np
import pytest

from envs_c.errors import NoScreen
from envs_c.play import window


@pytest.fixture
def dummy(monkeypatch):
    """pygame with SDL's dummy display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    return pytest.importorskip("pygame")


@pytest.mark.parametrize("scale", [None, 1, 7])
def test_the_window_shows_the_picture_enlarged_over_a_line_of_text(dummy, scale):
    picture = np.random.default_rng(0).integers(0, 256, (50, 30, 3), np.uint8)
    with window.Window(scale) as screen:
        screen.show(picture, "breakout  score 3")
        shown = dummy.surfarray.array3d(dummy.display.get_surface()).swapaxes(0, 1)
        factor = shown.shape[1] // 30
        assert scale in (None, factor) and shown.shape == (50 * factor + window.BAR, 30 * factor, 3)
        assert (shown[:-window.BAR] == picture.repeat(factor, 0).repeat(factor, 1)).all()
        assert (shown[-window.BAR:] > window.GROUND).any()  # the text
        assert dummy.display.get_caption()[0] == "breakout  score 3"
        assert screen.wait(0)
    assert not dummy.display.get_init()


@pytest.mark.parametrize("event", ["QUIT", "escape", "q"])
def test_the_window_closes_at_once(dummy, event):
    with window.Window() as screen:
        screen.show(np.zeros((4, 4, 3), np.uint8), "a")
        dummy.event.post(dummy.event.Event(dummy.QUIT) if event == "QUIT" else
                         dummy.event.Event(dummy.KEYDOWN, key=getattr(dummy, {"escape": "K_ESCAPE", "q": "K_q"}[event])))
        assert not screen.wait(1000)


@pytest.mark.parametrize("tiles", [False, True])
def test_keys_count_while_they_are_held_or_once_in_games_of_tiles(dummy, tiles):
    with window.Window() as screen:
        screen.tiles = tiles
        screen.show(np.zeros((4, 4, 3), np.uint8), "a")
        for key in (dummy.K_UP, dummy.K_SPACE):
            dummy.event.post(dummy.event.Event(dummy.KEYDOWN, key=key))
        dummy.event.post(dummy.event.Event(dummy.KEYUP, key=dummy.K_SPACE))
        screen.wait(0)
        assert screen.pressed() == ["up", "space"] and screen.pressed() == []
        assert screen.keys() == {"up", "space"}
        assert screen.keys() == (set() if tiles else {"up"})
        screen._held["up"] -= window.REPEAT
        assert screen.keys() == {"up"}


def test_keys_are_released_when_the_window_loses_the_focus(dummy):
    with window.Window() as screen:
        screen.show(np.zeros((4, 4, 3), np.uint8), "a")
        dummy.event.post(dummy.event.Event(dummy.KEYDOWN, key=dummy.K_UP))
        screen.wait(0)
        screen.keys()
        dummy.event.post(dummy.event.Event(dummy.WINDOWFOCUSLOST))
        screen.wait(0)
        assert screen.keys() == set()


def test_a_second_window_takes_over_the_first(dummy):
    first = window.Window()
    first.show(np.zeros((4, 4, 3), np.uint8), "first")
    with window.Window() as second:
        assert not first.wait(0)
        first.show(np.zeros((4, 4, 3), np.uint8), "first")
        second.show(np.zeros((4, 4, 3), np.uint8), "second")
        first.close()
        assert second.wait(0)
        assert dummy.display.get_caption()[0] == "second"
    assert not dummy.display.get_init()


@pytest.mark.parametrize(("size", "area"), [
    ((160, 210 + window.BAR), (0, 0, 160, 210)), ((500, 420 + window.BAR), (90, 0, 320, 420)),
    ((320, 500 + window.BAR), (0, 40, 320, 420)), ((80, 300 + window.BAR), (0, 97, 80, 105)), ((10, 1), (4, 0, 1, 1))])
def test_a_picture_lies_in_the_middle_of_a_window_of_another_size(size, area):
    assert window.picture_area(160, 210, *size) == area


@pytest.mark.parametrize(("driver", "instead"), [("offscreen", "use --terminal"), ("dummy", "use render_mode='rgb_array'")])
def test_without_a_display_the_error_says_what_to_do(dummy, monkeypatch, driver, instead):
    monkeypatch.setattr(dummy.display, "get_driver", lambda: driver)
    monkeypatch.setenv("DISPLAY", ":99")
    dummy.display.quit()
    dummy.display.init()  # on the dummy driver, which is then no wish of the user
    monkeypatch.delenv("SDL_VIDEODRIVER")
    with pytest.raises(NoScreen, match=rf"a window needs a display \(none was found\): {instead}"):
        window.Window(instead=instead)


def test_without_any_display_no_library_is_asked(dummy, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    for name in window.DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(dummy.display, "init", None)  # it would print lines of its own
    with pytest.raises(NoScreen, match="a window needs a display"):
        window.Window()

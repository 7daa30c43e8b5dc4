"""A window for games, made with pygame."""

import os
import sys
import time

import numpy as np

from envs_c import install
from envs_c.errors import NoScreen

SLICE = 0.01   # seconds between polls of the keyboard
REPEAT = 0.2   # seconds after which a held key counts again, in games with movement by tiles
BAR = 22       # pixels of the line of text under the picture
SHARE = 0.8    # of the desktop, which the window is no larger than
DESKTOP = 1280, 800  # pixels, if the system does not say
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER")  # variables on Linux, one of which is set if there is a display
NO_DISPLAYS = ("offscreen", "dummy")  # SDL's drivers if there is no display
TEXT, GROUND = (230, 230, 230), (24, 24, 24)


class Window:
    """A window with a picture and a line of text. Its button, Escape, Q, or the end of the context closes it.

    scale: pixels of the window for each pixel of the picture; None for as many as the desktop has room for. The user can
        change the window's size later.
    instead: for errors, what to do without a window.
    tiles: True if a key counts once when it is pressed, and again after it was held for REPEAT; False if it counts as long as
        it is held.

    A process has one window: a second `Window` takes it over, and the first one is closed.

    Raises NoScreen if pygame or a display is missing.
    """

    _owner = None  # the Window that has the process's window

    def __init__(self, scale: int | None = None, instead: str = "use --terminal"):
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ModuleNotFoundError:
            raise NoScreen(f"a window needs pygame: {install.hint('play')}, or {instead}") from None
        self.pygame, self.scale, self.tiles = pygame, scale, False
        self._open(instead)
        self._shape = None                 # of the picture
        self._held: dict[str, float] = {}  # by key: time of pressing
        self._new: set[str] = set()        # keys pressed since the last call of `keys`
        self._pressed: list[str] = []      # keys pressed since the last call of `pressed`
        self._closed = False
        Window._owner = self

    def _open(self, instead: str):
        if sys.platform == "linux" and not any(map(os.environ.get, DISPLAYS)):
            raise NoScreen(_no_display("none was found", instead))  # SDL's libraries would print lines of their own
        try:
            self.pygame.display.init()
            driver = self.pygame.display.get_driver()
        except self.pygame.error as error:
            raise NoScreen(_no_display(error, instead)) from None
        if driver in NO_DISPLAYS and not os.environ.get("SDL_VIDEODRIVER"):
            self.pygame.display.quit()
            raise NoScreen(_no_display("none was found", instead))
        self.pygame.font.init()
        self._font = self.pygame.font.Font(None, BAR)

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Close the window."""
        self._closed = True
        if Window._owner is self:
            Window._owner = None
            self.pygame.display.quit()

    def show(self, picture: np.ndarray, caption: str):
        """Show a picture (height, width, 3) uint8, and a line of text under it and in the title."""
        if self._gone():
            return
        pygame, (height, width) = self.pygame, picture.shape[:2]
        if self._shape != picture.shape:
            self._shape = picture.shape
            factor = self.scale or self._room(width, height)
            pygame.display.set_mode((round(width * factor), round(height * factor) + BAR), pygame.RESIZABLE)
        window = pygame.display.get_surface()
        area = picture_area(width, height, *window.get_size())
        window.fill(GROUND)
        window.blit(pygame.transform.scale(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), area[2:]), area[:2])
        text, room = self._font.render(caption, True, TEXT), window.get_width() - 8
        if text.get_width() > room > 0:
            text = pygame.transform.smoothscale(text, (room, text.get_height()))
        window.blit(text, (4, window.get_height() - BAR + 4))
        pygame.display.set_caption(caption)
        pygame.display.flip()

    def _room(self, width: int, height: int) -> float:
        """The largest factor by which a picture fits the desktop, a whole one if it is at least 1."""
        sizes = self.pygame.display.get_desktop_sizes()
        across, down = (SHARE * length for length in (sizes[0] if sizes else DESKTOP))
        factor = min(across / width, (down - BAR) / height)
        return int(factor) if factor >= 1 else factor

    def wait(self, seconds: float) -> bool:
        """Wait until the time has passed or the window is closed; False if it is closed."""
        until = time.perf_counter() + seconds
        while True:
            self._listen()
            rest = until - time.perf_counter()
            if self._closed or rest <= 0:
                return not self._closed
            time.sleep(min(rest, SLICE))

    def keys(self) -> set[str]:
        """The names of the keys to count now: those pressed since the last call, and those held."""
        now = time.perf_counter()
        counted = self._new | {key for key, since in self._held.items() if not self.tiles or now - since >= REPEAT}
        self._new = set()
        return counted

    def pressed(self) -> list[str]:
        """The names of the keys pressed since the last call, in their order."""
        pressed, self._pressed = self._pressed, []
        return pressed

    def _gone(self) -> bool:
        """True if the window is closed, or is another Window's."""
        self._closed |= Window._owner is not self
        return self._closed

    def _listen(self):
        """Handle all events since the last call."""
        pygame = self.pygame
        for event in () if self._gone() else pygame.event.get():
            if event.type == pygame.QUIT:
                self._closed = True
            elif event.type == pygame.KEYDOWN:
                name = pygame.key.name(event.key)
                self._closed |= name in ("escape", "q")
                self._held[name] = time.perf_counter()
                self._new.add(name)
                self._pressed.append(name)
            elif event.type == pygame.KEYUP:
                self._held.pop(pygame.key.name(event.key), None)
            elif event.type == pygame.WINDOWFOCUSLOST:
                self._held.clear()  # their releases go elsewhere


def picture_area(width: int, height: int, across: int, down: int) -> tuple[int, int, int, int]:
    """x, y, width and height of a picture in a window of across x down: in the middle above the bar, as large as it fits.

    Enlarged by a whole factor if there is room, so that all its pixels have one size.
    """
    factor = min(across / width, max(down - BAR, 1) / height)
    factor = int(factor) if factor >= 1 else factor
    shown = max(1, int(width * factor)), max(1, int(height * factor))
    return max(0, (across - shown[0]) // 2), max(0, (down - BAR - shown[1]) // 2), *shown


def _no_display(why, instead: str) -> str:
    return f"a window needs a display ({why}): {instead}"

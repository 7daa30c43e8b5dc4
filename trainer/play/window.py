"""A window for watching games, made with pygame."""

import os
import time
import warnings

import numpy as np

from trainer.errors import RunError

SLICE = 0.01   # seconds between polls of the keyboard
REPEAT = 0.2   # seconds after which a held key counts again, in games with movement by tiles
NO_DISPLAYS = ("offscreen", "dummy")  # SDL's drivers if there is no display


class Window:
    """A window of the picture's size, scaled to the desktop. Its button, Escape, or the end of the context closes it.

    tiles: True if a key counts once when it is pressed, and again after it was held for REPEAT; False if it counts as long as
        it is held.

    Raises RunError if pygame or a display is missing.
    """

    def __init__(self):
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        try:
            import pygame
        except ModuleNotFoundError:
            raise RunError("a window needs pygame: pip install 'insertcoin[play]', or use --terminal") from None
        self.pygame, self.tiles = pygame, False
        self._open()
        self._size = None
        self._held: dict[str, float] = {}  # by key: time of pressing
        self._new: set[str] = set()        # keys pressed since the last call of `keys`
        self._closed = False

    def _open(self):
        try:
            self.pygame.display.init()
            driver = self.pygame.display.get_driver()
        except self.pygame.error as error:
            raise RunError(_no_display(error)) from None
        if driver in NO_DISPLAYS and not os.environ.get("SDL_VIDEODRIVER"):
            self.pygame.display.quit()
            raise RunError(_no_display("none was found"))

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_):
        self.pygame.display.quit()

    def show(self, picture: np.ndarray, caption: str):
        """Show a picture (height, width, 3) uint8; `caption` is the window's title."""
        height, width = picture.shape[:2]
        if self._size != (width, height):
            self._size = width, height
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scaling is slow without a GPU
                self._surface = self.pygame.display.set_mode(self._size, self.pygame.SCALED | self.pygame.RESIZABLE)
        self.pygame.surfarray.blit_array(self._surface, picture.swapaxes(0, 1))
        self.pygame.display.set_caption(f"{caption}  (Escape closes)")
        self.pygame.display.flip()

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

    def _listen(self):
        """Handle all events since the last call."""
        for event in self.pygame.event.get():
            if event.type == self.pygame.QUIT:
                self._closed = True
            elif event.type == self.pygame.KEYDOWN:
                name = self.pygame.key.name(event.key)
                self._closed |= name == "escape"
                self._held[name] = time.perf_counter()
                self._new.add(name)
            elif event.type == self.pygame.KEYUP:
                self._held.pop(self.pygame.key.name(event.key), None)


def _no_display(why) -> str:
    return f"a window needs a display ({why}): use --terminal, or film an episode with `record`"

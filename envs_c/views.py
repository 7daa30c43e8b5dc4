"""The views: what an observation shows. Each is one row of `VIEWS`, and no other file compares a view with a name.

An observation is one array or two. The first is written into the buffer `observation`; the second, a picture, into `picture`.
"""

from collections.abc import Callable
from dataclasses import dataclass

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Part:
    """One array of an observation.

    name: its key in an observation of two arrays.
    shape: its shape, from that of the game's features and the (height, width) of pictures.
    dtype: its dtype, whose whole range the values may have. None: dtype and bounds are those of the game's features.
    channels: of a picture: 1 for grey, 3 for colour. 0: it is no picture.
    whole: of a picture: True if its default size is the game's screen, False if it is SMALL x SMALL.
    """

    name: str
    shape: Callable[[Shape, tuple[int, int]], Shape]
    dtype: str | None = None
    channels: int = 0
    whole: bool = False


FEATURES = Part("features", lambda features, size: features)
RAM = Part("ram", lambda features, size: features)  # the features of a cartridge are its console's RAM
GREY = Part("pixels", lambda features, size: size, "uint8", channels=1)
COLOUR = Part("rgb", lambda features, size: (*size, 3), "uint8", channels=3, whole=True)


@dataclass(frozen=True)
class View:
    """A view.

    name: the value of the setting `view`.
    parts: the arrays of an observation, one or two.
    obs_type: ALE's name of the view, or None.
    trained: True if it is a value of the trainer's setting `view`.
    of_ram: True if only a game with `has_ram`, a cartridge of the console, has it.
    """

    name: str
    parts: tuple[Part, ...]
    obs_type: str | None = None
    trained: bool = False
    of_ram: bool = False

    @property
    def main(self) -> Part:
        """The array in the buffer `observation`."""
        return self.parts[0]

    @property
    def beside(self) -> Part | None:
        """The picture in the buffer `picture`, or None."""
        return self.parts[1] if len(self.parts) > 1 else None

    @property
    def picture(self) -> Part | None:
        """The part that is a picture, or None."""
        return next((part for part in self.parts if part.channels), None)

    @property
    def plain(self) -> bool:
        """True if each game's own compiled loop writes it, also in browsers; other views need the loop for all games."""
        return self.parts in ((FEATURES,), (GREY,))


VIEWS = {view.name: view for view in (
    View("features", (FEATURES,), trained=True),
    View("pixels", (GREY,), obs_type="grayscale", trained=True),
    View("rgb", (COLOUR,), obs_type="rgb"),
    View("both", (FEATURES, GREY)),
    View("ram", (RAM,), obs_type="ram", trained=True, of_ram=True),
)}
DEFAULT = next(iter(VIEWS))


def of_game(game) -> tuple[View, ...]:
    """The views that a `Game` has."""
    return tuple(view for view in VIEWS.values() if game.has_ram or not view.of_ram)


def names(holds: Callable[[View], object]) -> tuple[str, ...]:
    """The names of the views for which `holds` is true."""
    return tuple(view.name for view in VIEWS.values() if holds(view))


def listed(holds: Callable[[View], object]) -> str:
    """The same names for a message: 'pixels', 'rgb' or 'both'."""
    *first, last = map(repr, names(holds))
    return f"{', '.join(first)} or {last}" if first else last

"""`Game`: what a game says of itself, checked once when its module is imported. The contract stands in game.pxd."""

import math
from typing import NamedTuple

import numpy as np

from envs_c.errors import ContractError, InvalidArgument
from envs_c.screen cimport SMALL


class Option(NamedTuple):
    """A number that `make` takes for one game: its default, the range it must lie in, and what it means."""

    default: float
    low: float
    high: float
    help: str
    integer: bool = True

    def check(self, game: str, name: str, value) -> float:
        """`value` as a float; raises InvalidArgument if it is not a number of this option's kind in its range."""
        kind = "a whole number" if self.integer else "a number"
        wanted = f"{kind} from {self.low:g} to {self.high:g} ({self.help})"
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise InvalidArgument(f"option {name!r} of {game} is {value!r}; it takes {wanted}")
        if not self.low <= value <= self.high or (self.integer and value != int(value)):
            raise InvalidArgument(f"option {name!r} of {game} is {value!r}; it takes {wanted}")
        return float(value)


class Feature(NamedTuple):
    """`count` neighbouring features with one meaning, for the game's page: each lies in [low, high]."""

    name: str
    low: float
    high: float
    count: int = 1
    help: str = ""  # units, and what single values mean


class TwoPlayers(NamedTuple):
    """How one caller plays a game whose two sides move in turn, step by step, and one of which wins what the other loses."""

    both: dict  # options under which each step is one side's move: it sees the board as its own, and its is the reward
    opponents: dict  # name -> options under which that built-in opponent has the other side, the weakest first


cdef class Game:
    def __init__(self, *, str name, str title, str summary, int version, actions, feature_shape,
                 feature_dtype="float32", feature_low=-np.inf, feature_high=np.inf, screen=(160, 210),
                 int frame_skip=1, time_limit=None, options=None, int fps=60, two_players=None,
                 features=(), str compared_with=""):
        """Describe a game; raises ContractError where the description does not hold together.

        actions, feature_shape, feature_low and feature_high may be functions of the options, a dict name -> float, for
        games whose board is as large as an option says. The attributes of these names are those of the default options.

        features: rows of `Feature` in the order of the vector under the default options; () leaves it undescribed.
        compared_with: what the game's tests compare it with.
        """
        self.name = name
        self.title = title
        self.summary = summary
        self.version = version
        self.feature_dtype = np.dtype(feature_dtype)
        self.screen = tuple(screen)
        self.frame_skip = frame_skip
        self.fps = fps
        self.time_limit = time_limit
        self.options = dict(options or {})
        self.two_players = two_players
        self.described = (actions, feature_shape, feature_low, feature_high)
        self.actions, self.feature_shape, self.feature_low, self.feature_high = self.describe(
            {name: float(option.default) for name, option in self.options.items()})
        if not name.isidentifier() or not name.islower():
            raise ContractError(f"a game's name is a lower-case identifier, not {name!r}")
        if not self.actions:
            raise ContractError(f"game {name!r} has no actions; name at least one")
        if self.feature_dtype not in (np.dtype("float32"), np.dtype("uint8")):
            raise ContractError(f"game {name!r}: features are float32 or uint8, not {self.feature_dtype}")
        self.features, self.compared_with = tuple(features), compared_with
        described = sum(feature.count for feature in self.features)
        if self.features and described != math.prod(self.feature_shape):
            raise ContractError(f"game {name!r}: features describes {described} values; the feature shape "
                                f"{self.feature_shape} has {math.prod(self.feature_shape)}")
        if len(self.screen) != 2 or min(self.screen) < SMALL:
            raise ContractError(f"game {name!r}: screen is (width, height), each {SMALL} or more, not {screen}")
        width, height = (length // math.gcd(length, SMALL) for length in self.screen)
        if 255 * width * height >= 1 << 24:  # the sums of a grey pixel, in whole units; see screen.pxd
            raise ContractError(f"game {name!r}: a screen of {self.screen} is too fine to average exactly in float32; "
                                f"take sides that share factors with {SMALL}, as 160 x 210 do")

    cdef Game bind(self, chunk_fn chunk, backdrop_fn backdrop, draw_fn draw, size_t state_size, bint has_mask=False):
        """Tie the compiled functions to the description; returns the game itself."""
        self.chunk = chunk
        self.backdrop = backdrop
        self.draw = draw
        self.state_size = state_size
        self.has_mask = has_mask
        return self

    def describe(self, options):
        """(actions, feature_shape, feature_low, feature_high) under these options, a whole dict of `check_options`."""
        actions, shape, low, high = (part(options) if callable(part) else part for part in self.described)
        return tuple(actions), tuple(shape), low, high

    def check_options(self, given):
        """All options as a dict name -> float, defaults filled in; raises InvalidArgument naming a wrong one."""
        for name in given:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise InvalidArgument(f"unknown option {name!r} for {self.name}; its options: {known}")
        return {name: option.check(self.name, name, given.get(name, option.default))
                for name, option in self.options.items()}

    def __repr__(self):
        return f"Game({self.name!r}, actions={len(self.actions)}, features={self.feature_shape})"

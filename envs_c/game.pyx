"""`Game`: the description of a game, checked when the game's module is imported. game.pxd states the contract."""

import math
from numbers import Real
from typing import NamedTuple

import numpy as np

from envs_c.engine import checks
from envs_c.errors import ContractError, InvalidArgument, UnknownSetting
from envs_c.numbers import is_boolean
from libc.stdint cimport INT16_MAX
from libc.string cimport memset
from envs_c.screen cimport SMALL


class Option(NamedTuple):
    """An option of one game for `make`, a number.

    default, low, high: its default value and its range.
    help: a few words about its meaning.
    integer: False if fractions are allowed.
    """

    default: float
    low: float
    high: float
    help: str
    integer: bool = True

    @property
    def span(self) -> str:
        """The range in words."""
        low, high = (f"{end:,.0f}" if float(end).is_integer() else f"{end:g}" for end in (self.low, self.high))
        return f"{low} to {high}"

    def check(self, game: str, name: str, value) -> float:
        """`value` as a float; a switch, an integer from 0 to 1, may be a bool too.

        Raises InvalidArgument if it is not a number of this kind in the range.
        """
        switch = self.integer and (self.low, self.high) == (0, 1)
        numeric = switch if is_boolean(value) else isinstance(value, (int, float, np.integer, np.floating))
        if not numeric or not self.low <= value <= self.high or (self.integer and value != int(value)):
            kind = "an integer" if self.integer else "a number"
            raise InvalidArgument(f"option {name!r} of {game} must be {kind} from {self.span} ({self.help}), "
                                  f"not {checks.shown(value)}")
        return float(value)


class Feature(NamedTuple):
    """One row of the description of a feature vector: one feature, or several neighbours with the same meaning.

    name: a short name, unique in the game.
    low, high: each of these features lies in [low, high].
    count: the number of features.
    help: the unit, and the meaning of single values.
    """

    name: str
    low: float
    high: float
    count: int = 1
    help: str = ""


class TwoPlayers(NamedTuple):
    """The options of a game for two sides, which move in turn and have opposite rewards.

    both: options under which the caller plays both sides. Each step is the move of one side: the observation shows the game
        from this side, and the reward is this side's.
    opponents: name -> options under which that built-in opponent plays the other side; the weakest opponent first.
    """

    both: dict
    opponents: dict


def _tuple_of(str game, str argument, value, str example):
    """A sequence as a tuple. Raises ContractError, which names the argument, for anything else."""
    try:
        return tuple(value)
    except TypeError:
        raise ContractError(f"game {game!r}: {argument} must be a sequence, such as {example}, not "
                            f"{checks.shown(value)}") from None


def _checked_options(str game, options):
    """The options of a game, a dict. Raises ContractError if one is not an Option, or cannot have its default value."""
    if not isinstance(options or {}, dict):
        raise ContractError(f"game {game!r}: options must be a dict of names and Option(...), not {checks.shown(options)}")
    for name, option in dict(options or {}).items():
        if not isinstance(name, str) or not name.isidentifier() or not isinstance(option, Option):
            raise ContractError(f"game {game!r}: options must be a dict of names and Option(...), not {checks.shown(name)}: "
                                f"{checks.shown(option)}")
        try:
            option.check(game, name, option.default)
        except (TypeError, ValueError) as error:
            raise ContractError(f"game {game!r}: the default of {error}") from None
    return dict(options or {})


cdef struct Passed:
    # What a game's `chunk` passes to `run_chunk`, after the Io with which it is called.
    Io io
    size_t size  # 0: nothing was passed
    bint has_mask


cdef void note_passed(reset_fn reset, step_fn step, observe_fn observe, draw_fn draw, mask_fn mask, size_t size, char* states,
                      Io* io, int lo, int hi) noexcept nogil:
    cdef Passed* passed = <Passed*>io
    passed.size = size
    passed.has_mask = mask != NULL


cdef _check_chunk(str game, chunk_fn chunk, size_t state_size, bint has_mask):
    """Raise ContractError if `chunk` passes another size to `run_chunk` than `bind` has, or a mask without has_mask."""
    cdef Passed passed
    memset(&passed, 0, sizeof(Passed))
    passed.io.special = note_passed
    chunk(NULL, &passed.io, 0, 0)
    if passed.size == 0:
        raise ContractError(f"game {game!r}: chunk must call run_chunk, as in games/cartpole.pyx, not return without it")
    if passed.size != state_size or passed.has_mask != has_mask:
        raise ContractError(f"game {game!r}: chunk passes a struct of {passed.size} bytes and "
                            f"{'a mask' if passed.has_mask else 'NULL for the mask'} to run_chunk, but bind has {state_size} "
                            f"bytes and has_mask={has_mask}: both must have the same sizeof(State), and a mask or none")


cdef class Game:
    def __init__(self, *, str name not None, str title not None, str summary not None, version, actions, feature_shape,
                 feature_dtype="float32", feature_low=-np.inf, feature_high=np.inf, screen=(160, 210),
                 frame_skip=1, time_limit=None, options=None, fps=60, two_players=None,
                 features=(), str compared_with not None=""):
        """Describe a game. `bind` then adds the compiled functions. game.pxd documents the arguments as attributes.

        actions, feature_shape, feature_low, feature_high: values, or functions of the options (a dict name -> float) if an
            option changes the size of the board. The attributes hold the values under the default options.
        features: rows of `Feature` in the order of the vector, under the default options; () leaves it undescribed.

        Raises ContractError if the description is inconsistent.
        """
        if self.chunk != NULL:
            raise ContractError(f"__init__ must be called once, not again on the finished game {self.name!r}: make a new Game")
        for setting, value, low, high in (("frame_skip", frame_skip, 1, 1000), ("fps", fps, 1, 1000),
                                          ("version", version, 0, 1 << 30), ("time_limit", time_limit or 0, 0, 1 << 30)):
            try:
                checks.integer(setting, value, low, high)
            except InvalidArgument as error:
                raise ContractError(f"game {name!r}: {error}") from None
        self.name, self.title, self.summary, self.version = name, title, summary, version
        try:
            self.feature_dtype = np.dtype(feature_dtype)
        except TypeError:
            raise ContractError(f"game {name!r}: feature_dtype must be float32 or uint8, not "
                                f"{checks.shown(feature_dtype)}") from None
        self.screen = _tuple_of(name, "screen", screen, "(160, 210)")
        self.frame_skip = frame_skip
        self.fps = fps
        self.time_limit = time_limit
        self.options = _checked_options(name, options)
        self.two_players = two_players
        self.features = _tuple_of(name, "features", features, '(Feature("x", 0, 1), Feature("y", 0, 1))')
        self.compared_with = compared_with
        self._check_players(two_players)
        self.described = (actions, feature_shape, feature_low, feature_high)
        self.actions, self.feature_shape, self.feature_low, self.feature_high = self.describe(
            {name: float(option.default) for name, option in self.options.items()})
        self._check()

    @property
    def gym_id(self):
        """The id in Gymnasium's registry."""
        return f"Arcade/{self.title}-v0"

    @property
    def has_ram(self):
        """True for a cartridge of the console, whose features are the RAM."""
        return False

    def _check(self):
        """Raise ContractError if the description is inconsistent."""
        name = f"game {self.name!r}"
        if not self.name.isidentifier() or not self.name.islower():
            raise ContractError(f"a game's name must be a lower-case identifier, not {self.name!r}")
        if not (self.title.replace("_", "").isalnum() and self.title.isascii()):
            raise ContractError(f"{name}: title must be of letters, digits and _, as in SpaceInvaders, not {self.title!r}")
        if isinstance(self.described[0], str) or not all(isinstance(action, str) and action for action in self.actions):
            raise ContractError(f"{name}: actions must be a sequence of names, such as (\"NOOP\", \"FIRE\"), not "
                                f"{checks.shown(self.described[0])}")
        if not self.actions:
            raise ContractError(f"{name}: actions must name at least one action")
        self._check_features(name)
        self._check_screen(name)

    def _check_players(self, players):
        """Raise ContractError if `players` is no TwoPlayers, or one of its options is wrong."""
        if players is None:
            return
        if not isinstance(players, TwoPlayers):
            raise ContractError(f"game {self.name!r}: two_players must be None or TwoPlayers(...), not {checks.shown(players)}")
        try:
            for options in (players.both, *players.opponents.values()):
                self.check_options(checks.mapping("two_players' options", options))
        except (InvalidArgument, AttributeError) as error:  # opponents may be no dict
            raise ContractError(f"game {self.name!r}: in {checks.shown(players)}: {error}") from None

    def _check_features(self, name):
        """Raise ContractError if the features, their rows or their bounds do not fit each other."""
        if self.feature_dtype not in (np.dtype("float32"), np.dtype("uint8")):
            raise ContractError(f"{name}: feature_dtype must be float32 or uint8, not {self.feature_dtype}")
        if not all(isinstance(side, (int, np.integer)) and side > 0 for side in self.feature_shape):
            raise ContractError(f"{name}: feature_shape must be integers from 1 on, such as (5,), not {self.feature_shape}")
        if not all(isinstance(row, Feature) and isinstance(row.count, int) and row.count > 0 for row in self.features):
            raise ContractError(f"{name}: features must be rows of Feature(...), each of one feature or more, not "
                                f"{checks.shown(self.features)}")
        for row in self.features:
            if not all(isinstance(bound, Real) for bound in (row.low, row.high)) or not row.low <= row.high:
                raise ContractError(f"{name}: the row {row.name!r} of features must have numbers low <= high, not "
                                    f"{checks.shown(row.low)} and {checks.shown(row.high)}")
        names = [row.name for row in self.features]
        if twice := [one for one in dict.fromkeys(names) if names.count(one) > 1]:
            raise ContractError(f"{name}: each row of features must have a name of its own, and {twice[0]!r} is that of "
                                f"{names.count(twice[0])}")
        count, described = math.prod(self.feature_shape), sum(feature.count for feature in self.features)
        if self.features and described != count:
            raise ContractError(f"{name}: the rows of features must add up to {count}, the size of feature_shape, not "
                                f"{described}")
        try:
            low, high = (np.broadcast_to(np.asarray(bound, float), self.feature_shape)
                         for bound in (self.feature_low, self.feature_high))
            fits = bool((low <= high).all())  # False for NaN too
        except (TypeError, ValueError):
            fits = False
        if not fits:
            raise ContractError(f"{name}: feature_low and feature_high must be numbers, or arrays of the shape "
                                f"{self.feature_shape}, with low <= high, not {checks.shown(self.feature_low)} and "
                                f"{checks.shown(self.feature_high)}")

    def _check_screen(self, name):
        """Raise ContractError if the screen has a wrong size."""
        whole = len(self.screen) == 2 and all(isinstance(side, (int, np.integer)) for side in self.screen)
        width, height = self.screen if whole else (0, 0)
        if min(width, height) < SMALL:
            raise ContractError(f"{name}: screen must be (width, height), each at least {SMALL}, not {self.screen}")
        cells = [side // math.gcd(side, SMALL) for side in (width, height)]
        if max(cells) > INT16_MAX:
            raise ContractError(f"{name}: a screen of {self.screen} is too fine: a grey pixel has {max(cells):,} units in one "
                                f"direction, not {INT16_MAX:,} at most; choose sides that share factors with {SMALL}")
        if 255 * math.prod(cells) >= 1 << 24:
            # the sums of a grey pixel in units, which float32 must hold exactly; see screen.pxd
            raise ContractError(f"{name}: a screen of {self.screen} is too fine to average exactly in float32; choose sides "
                                f"that share factors with {SMALL}, such as 160 x 210")

    cdef Game bind(self, chunk_fn chunk, backdrop_fn backdrop, draw_fn draw, size_t state_size, bint has_mask=False,
                   valid_fn valid=NULL, lives_fn lives=NULL, prepare_fn prepare=NULL):
        """Add the compiled functions to the description. Returns the game itself.

        state_size: bytes of the game's struct, sizeof(State).
        has_mask: True if `chunk` passes a `mask` function to `run_chunk`.
        valid, lives, prepare: the game's functions of these names, or NULL. `prepare` is called here.
        """
        if state_size == 0:
            raise ContractError(f"game {self.name!r}: state_size must be sizeof(State), not 0")
        _check_chunk(self.name, chunk, state_size, has_mask)
        self.chunk = chunk
        self.backdrop = backdrop
        self.draw = draw
        self.state_size = state_size
        self.has_mask = has_mask
        self.has_valid, self.valid = valid != NULL, valid
        self.has_lives, self.lives = lives != NULL, lives
        if prepare != NULL:
            prepare()
        return self

    def describe(self, options):
        """(actions, feature_shape, feature_low, feature_high) under these options.

        options: values of all options, from `check_options`.
        """
        actions, shape, low, high = (part(options) if callable(part) else part for part in self.described)
        return (_tuple_of(self.name, "actions", actions, '("NOOP", "FIRE")'),
                _tuple_of(self.name, "feature_shape", shape, "(5,)"), low, high)

    def check_options(self, given):
        """The values of all options, a dict name -> float: the given ones and the defaults of the others.

        Raises InvalidArgument, which names the wrong option.
        """
        for name in given:
            if name not in self.options:
                known = ", ".join(self.options) or "none"
                raise UnknownSetting(f"unknown option {checks.shown(name)} for {self.name}; its options: {known}")
        return {name: option.check(self.name, name, given.get(name, option.default))
                for name, option in self.options.items()}

    def __repr__(self):
        return f"Game({self.name!r}, actions={len(self.actions)}, features={self.feature_shape})"

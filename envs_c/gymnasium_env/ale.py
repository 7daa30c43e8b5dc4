"""The names of the Arcade Learning Environment: its settings for `make`, its 18 actions, and its object `ale`.

They let scripts written for `ALE/Breakout-v5` run on our games. The meanings are those of ale-py's Gymnasium interface
(https://ale.farama.org), which the tests compare with; Machado et al., 2018, explains the settings.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from envs_c.engine import checks
from envs_c.engine.vecenv import VecEnv
from envs_c.errors import InvalidArgument
from envs_c.game import Game
from envs_c.views import DEFAULT, of_game

# in ALE's order, which its users number actions by
ACTIONS = ("NOOP", "FIRE", "UP", "RIGHT", "LEFT", "DOWN", "UPRIGHT", "UPLEFT", "DOWNRIGHT", "DOWNLEFT", "UPFIRE", "RIGHTFIRE",
           "LEFTFIRE", "DOWNFIRE", "UPRIGHTFIRE", "UPLEFTFIRE", "DOWNRIGHTFIRE", "DOWNLEFTFIRE")
# the games after cartridges: for ALE's mode and difficulty, the option and ALE's numbers for its values from the lowest on;
# without a row the game has the cartridge's mode 0 or difficulty 0 only
CARTRIDGES: dict[str, dict[str, tuple[str, tuple[int, ...]]]] = {
    "asterix": {}, "asteroids": {"difficulty": ("ufos", (0, 3))}, "breakout": {}, "enduro": {},
    "freeway": {"mode": ("game", tuple(range(8))), "difficulty": ("difficulty", (0, 1))},
    "pong": {}, "seaquest": {}, "space_invaders": {},
}
SETTINGS = ("frameskip", "repeat_action_probability", "obs_type", "full_action_space", "mode", "difficulty",
            "max_num_frames_per_episode")


def translate(game: Game, settings: dict, options: dict):
    """Replace ALE's names among `options` by our settings and options.

    settings: those of `make` by name; changed.
    options: the other arguments of `make`; changed.

    Raises InvalidArgument if a setting is given by two names, or if the game cannot have it.
    """
    given = {name: options.pop(name) for name in SETTINGS if name in options and name not in game.options}
    if given.get("frameskip") is not None:
        _use(settings, "frameskip", checks.frame_skip(given["frameskip"], "frameskip"), "frame_skip", None)
    if "repeat_action_probability" in given:
        probability = checks.number("repeat_action_probability", given["repeat_action_probability"], 0.0, 1.0)
        _use(settings, "repeat_action_probability", probability, "sticky", 0.0)
    if "obs_type" in given:
        _set_view(game, settings, given["obs_type"])
    if given.get("max_num_frames_per_episode") is not None:
        _set_limit(game, settings, given["max_num_frames_per_episode"], "frameskip" if "frameskip" in given else "frame_skip")
    if "full_action_space" in game.options and "full_action_space" in options:
        options["full_action_space"] = int(checks.boolean("full_action_space", options["full_action_space"]))
    if checks.boolean("full_action_space", given.get("full_action_space", False)):
        if game.name not in CARTRIDGES:
            raise InvalidArgument(f"full_action_space must be False for {game.name}, not True: it is for the games after "
                                  f"cartridges, {', '.join(CARTRIDGES)}")
        settings["full_action_space"] = True
    for name in ("mode", "difficulty"):
        if name in options and options[name] is None:
            del options[name]
        if given.get(name) is not None:
            _set_option(game, name, given[name], options)


def _use(settings: dict, name: str, value, ours: str, default):
    """Set our setting `ours` to `value`, which was given by ALE's name."""
    if settings[ours] != default:
        raise InvalidArgument(f"{name} and {ours} must not be given together: they are one setting; leave {name} out")
    settings[ours] = value


def _set_view(game: Game, settings: dict, value):
    if settings["view"] != DEFAULT or settings["picture_size"] is not None:
        raise InvalidArgument("obs_type and view or picture_size must not be given together: they are one setting; leave "
                              "obs_type out")
    chosen = {view.obs_type: view for view in of_game(game) if view.obs_type}
    if isinstance(value, str) and value == "ram" and value not in chosen:
        raise InvalidArgument("obs_type must be 'rgb' or 'grayscale', not 'ram': the games are no emulation and have no RAM; "
                              "view='features' is their own vector")
    view = chosen[checks.choice("obs_type", value, tuple(chosen))]
    settings["view"] = view.name
    if view.picture is not None:
        settings["picture_size"] = game.screen[::-1]


def _set_limit(game: Game, settings: dict, value, name: str):
    """Set the limit of steps for ALE's limit of frames. name: by which the frames of a step were given."""
    frames = checks.integer("max_num_frames_per_episode", value, 0, 1 << 30)
    skip = checks.frame_skip(game.frame_skip if settings["frame_skip"] is None else settings["frame_skip"])
    if isinstance(skip, tuple) or frames % skip:
        raise InvalidArgument(f"max_num_frames_per_episode must be a multiple of {name}, whole steps of one length, not "
                              f"{frames} with {name}={skip}")
    _use(settings, "max_num_frames_per_episode", frames // skip, "time_limit", None)


def _set_option(game: Game, name: str, value, options: dict):
    """Set the game's option for ALE's mode or difficulty."""
    if game.name not in CARTRIDGES:
        own = f"its options are {', '.join(game.options)}" if game.options else "it has no options"
        raise InvalidArgument(f"{name} must be left out for {game.name}, not {checks.shown(value)}: it is for the games after "
                              f"cartridges; {own}")
    if name not in CARTRIDGES[game.name]:
        if checks.integer(name, value, 0, 255) != 0:
            others = ", ".join(other for other, row in CARTRIDGES.items() if name in row)
            raise InvalidArgument(f"{name} must be 0 for {game.name}, not {value}: the game is the cartridge's {name} 0; games "
                                  f"with others: {others}")
        return
    option, numbers = CARTRIDGES[game.name][name]
    if option in options:
        raise InvalidArgument(f"{name} and {option} must not be given together: they are one option; leave {name} out")
    number = checks.integer(name, value, numbers[0], numbers[-1])
    if number not in numbers:
        raise InvalidArgument(f"{name} must be {' or '.join(map(str, numbers))} for {game.name}, not {number}: ALE "
                              f"has no others; the game's own option is {option}={game.options[option].span}")
    options[option] = int(game.options[option].low) + numbers.index(number)


def game_actions(names: tuple[str, ...]) -> np.ndarray:
    """The action of a game that does the same as each of ALE's 18 actions: (18,) int32.

    names: the game's actions, some of ACTIONS.

    A part of an action that the game does not know is dropped: in Freeway, UPRIGHTFIRE is UP. If several single parts could be
    dropped, it is the vertical one, as in Asteroids, where the turn of DOWNRIGHT counts.
    """
    parts = [(vertical, horizontal, fire) for vertical, horizontal, fire in map(_split, ACTIONS)]
    return np.array([next(names.index(name) for name in _weaker(*part) if name in names) for part in parts], np.int32)


def _split(action: str) -> tuple[str, str, str]:
    """The vertical, horizontal and fire parts of one of ACTIONS; "" for a part that it does not have."""
    return tuple(next((part for part in choices if part in action), "")
                 for choices in (("UP", "DOWN"), ("RIGHT", "LEFT"), ("FIRE",)))


def _weaker(vertical: str, horizontal: str, fire: str) -> list[str]:
    """The names of the action and of those with fewer parts, in the order in which they replace it."""
    return [vertical + horizontal + fire, horizontal + fire, vertical + horizontal, vertical + fire, horizontal, fire, vertical,
            "NOOP"]


def checked_actions(game: str, actions: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The game's actions for ALE's. Raises InvalidArgument if one of `actions` is none of the 18.

    table: from `game_actions`.
    """
    wrong = np.flatnonzero((actions < 0) | (actions >= len(ACTIONS)))
    if wrong.size:
        raise InvalidArgument(checks.wrong_action(game, ACTIONS, int(wrong[0]), int(actions[wrong[0]])))
    return table[actions]


class Interface:
    """The object `env.unwrapped.ale` of a single environment, with the methods that wrappers use of ale-py's ALEInterface."""

    def __init__(self, core: VecEnv, save: Callable[[], bytes], load: Callable[[bytes], Any]):
        self._core, self._save, self._load = core, save, load

    def lives(self) -> int:
        """The lives left; 0 in a game without lives."""
        self._core.over()  # raises Closed after `close`
        return 0 if self._core.lives is None else int(self._core.lives[0])

    def game_over(self) -> bool:
        """True if the episode has ended."""
        return bool(self._core.over()[0])

    def getScreenDims(self) -> tuple[int, int]:  # noqa: N802, these are ALE's names
        """(height, width) of the screen."""
        width, height = self._core.game.screen
        return height, width

    def getScreenRGB(self, out: np.ndarray | None = None) -> np.ndarray:  # noqa: N802
        """The screen in colour, (height, width, 3) uint8; written to `out` if it is given."""
        return _written(self._core.render(0), out)

    def getScreenGrayscale(self, out: np.ndarray | None = None) -> np.ndarray:  # noqa: N802
        """The screen in grey, (height, width) uint8: ALE's greys, or by the weights of ITU-R BT.601; also in `out`."""
        return _written(self._core.render(0, grey=True), out)

    def cloneState(self, include_rng: bool = False) -> bytes:  # noqa: N802
        """A snapshot for `restoreState`: bytes. The random generator is always in it, as with ALE's include_rng=True."""
        checks.boolean("include_rng", include_rng)
        return self._save()

    def restoreState(self, state: bytes):  # noqa: N802
        """Restore a snapshot of `cloneState`. Raises InvalidState, and changes nothing, if the bytes do not fit."""
        self._load(state)


def _written(picture: np.ndarray, out: np.ndarray | None) -> np.ndarray:
    """The picture, in `out` if that is given. Raises InvalidArgument if it does not fit there."""
    if out is None:
        return picture
    if not isinstance(out, np.ndarray) or out.shape != picture.shape:
        given = out.shape if isinstance(out, np.ndarray) else checks.shown(out)
        raise InvalidArgument(f"the array for the screen must have shape {picture.shape}, not {given}: AtariPreprocessing "
                              "takes its shape from the observations, which obs_type='rgb' or obs_type='grayscale' makes the "
                              "screen")
    np.copyto(out, picture)
    return out

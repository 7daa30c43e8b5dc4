"""The verb `play`: a person plays a game, in a window or in a terminal."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from envs_c.engine import checks
from envs_c.errors import InvalidArgument
from envs_c.play.keyboard_game import KeyboardGame, play
from envs_c.play.terminal import Terminal, check
from envs_c.play.typed import Typed
from envs_c.play.window import Window

KEYS = """\
keys:
  arrows or WASD   move; up also turns or jumps, as the game's actions say
  space            fires, drops or jumps
  P                pauses, and goes on
  R                restarts
  Q or Escape      leaves
In games such as Go, whose actions are no directions, the arrows move a cursor, and space or Enter takes the action under it.
A terminal does not report which keys are held: there a key counts for a moment, and as long as it repeats."""


def add_arguments(parser: ArgumentParser):
    """Declare the verb's arguments."""
    parser.add_argument("game", metavar="GAME", help="a name or a path to a .pyx")
    parser.add_argument("--options", nargs="+", action="extend", default=[], metavar="NAME=VALUE",
                        help="options of the game, such as lives=5")
    parser.add_argument("--seed", metavar="N", help="the same seed gives the same game (default: another game each time)")
    parser.add_argument("--frame-skip", default="1", metavar="N", help="frames for which an action is held (default: 1)")
    parser.add_argument("--speed", default="1", metavar="X", help="multiple of the game's own speed (default: 1)")
    parser.add_argument("--episodes", metavar="N", help="episodes to play (default: until you leave)")
    parser.add_argument("--scale", metavar="N", help="the window's pixels for a pixel of the game (default: as many as fit)")
    parser.add_argument("--terminal", action="store_true", help="play in the terminal, in 24-bit colours, not in a window")


def run(arguments: Namespace, find: Callable, make: Callable):
    """Play until the user leaves.

    find: `envs_c.game`.
    make: the class ArcadeVectorEnv.
    Raises InvalidArgument for a wrong option, UnknownGame, and NoScreen.
    """
    speed = _number("--speed", arguments.speed, float, 1e-3, 1e6)
    scale, episodes, seed = (None if text is None else _number(option, text, int, *bounds) for option, text, bounds in (
        ("--scale", arguments.scale, (1, 100)), ("--episodes", arguments.episodes, (1, 1 << 31)),
        ("--seed", arguments.seed, (0, checks.SEED_MAX))))
    if arguments.terminal and scale is not None:
        raise InvalidArgument(f"--scale must be left out with --terminal, not {scale}: the picture is as large as it fits")
    game, frame_skip = find(arguments.game), _number("--frame-skip", arguments.frame_skip, int, 1, 1000)
    env = make(game, 1, frame_skip=frame_skip, autoreset="disabled", options=_pairs(arguments.options))
    try:
        show(KeyboardGame(env, seed), terminal=arguments.terminal, scale=scale, speed=speed, episodes=episodes)
    finally:
        env.close()


def show(played: KeyboardGame, *, terminal: bool, scale: int | None = None, speed: float = 1.0, episodes: int | None = None):
    """Play a game in the terminal or in a window, after a line about the keys; prints a line for each episode."""
    if terminal:
        check(sys.stdout)
        keys, ended = Typed(), []
        screen, keys.tiles = Terminal(typed=keys), played.tiles
    else:
        screen = Window(scale)
        screen.tiles = played.tiles
    print(played.player.legend(), flush=True)
    try:
        with screen:
            for number, one in enumerate(play(played, screen, episodes=episodes, speed=speed), 1):
                line = f"episode {number}: score {one.score:g}, {one.length} steps"
                if terminal:
                    ended.append(line)
                else:
                    print(line, flush=True)
    finally:  # also after Ctrl-C
        if terminal:
            print("".join(f"{line}\n" for line in ended), end="")


def _number(option: str, text: str, kind: type, low: float, high: float) -> float | int:
    """The number in an option's text."""
    try:
        value = kind(text)
    except (ValueError, TypeError):  # argparse makes a list of "--seed=--"
        value = text
    return (checks.integer if kind is int else checks.number)(option, value, low, high)


def _pairs(texts: list[str]) -> dict[str, float]:
    """{"lives": 5.0} for ["lives=5"]."""
    pairs = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            pairs[name] = float(value)
        except ValueError:
            raise InvalidArgument(f"--options must be NAME=VALUE with a number, such as lives=5, not {checks.shown(text)}"
                                  ) from None
    return pairs

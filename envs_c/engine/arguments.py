"""Checks of the first arguments of `VecEnv`, and of the addresses that `Turns` is given."""

import sys

from envs_c.engine import checks
from envs_c.errors import InvalidArgument, UnknownSetting
from envs_c.game import Game
from envs_c.text import shown

LAST = 2 * sys.maxsize + 1  # the last address


def game_of(game, more: tuple, unknown: dict) -> Game:
    """The game, after a check that it is one and that there are no unknown arguments. Raises InvalidArgument or UnknownSetting.

    more: further arguments without a name.
    unknown: the arguments that are no settings, by name.
    """
    if not isinstance(game, Game):
        name = repr(game) if isinstance(game, str) else "'pong'"
        raise InvalidArgument(f"game must be a Game, not {shown(game)}: pass envs_c.game({name}), or call envs_c.make, which "
                              "takes a name")
    if more:
        raise InvalidArgument("VecEnv() takes game and num_envs without names, and further settings by name, not "
                              f"{shown(more[0])}")
    for name, value in unknown.items():
        hint = f"it is an option of {game.name}, for which write options={{{name!r}: {shown(value)}}}" if name in game.options \
            else f"{game.name} has no such option either; help(envs_c.VecEnv) lists the settings"
        raise UnknownSetting(f"VecEnv() got an unexpected keyword argument {shown(name)}: {hint}")
    return game


def addresses(name: str, value, least: int = 0) -> tuple[int, int, int]:
    """Three addresses, each at least `least`. Raises InvalidArgument."""
    try:
        graph, stream, event = (checks.integer(name, one, least, LAST) for one in value)
    except (TypeError, ValueError):  # no tuple, another number of them, or one that does not fit
        raise InvalidArgument(f"{name} must be three addresses from {least} to {LAST:,}, not {shown(value)}") from None
    return graph, stream, event

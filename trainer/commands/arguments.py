"""Arguments of several verbs."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from trainer.commands import RUN_HELP, VERBS
from trainer.config.games import checked_game, names
from trainer.errors import ConfigError, SettingError
from trainer.files import may_write
from trainer.process import program_name

Run = Annotated[Positional[str], arg(help=f"{RUN_HELP[0].upper()}{RUN_HELP[1:]}.")]
Runs = Annotated[Positional[tuple[str, ...]], arg(help=f"Two runs or more; each is {RUN_HELP}.")]
DEVICE = arg(help="Device of the policy: auto (the GPU if there is one), cpu, cuda, or cuda:1 for the second GPU.")
GREEDY = arg(help="Always take the most likely action, instead of sampling.")


def game_of(argv: list[str], command: str) -> str:
    """The game at the head of `argv`.

    command: the arguments before it, for the error message, such as "profile ".
    Raises ConfigError if there is no game, or no such game.
    """
    if not argv or argv[0].startswith("-"):
        raise ConfigError(f"GAME is missing: write {program_name()} {command}GAME, where GAME is {names()}")
    return checked_game(argv[0], () if command else VERBS)


def require_folder(option: str, file: str) -> None:
    """Raise SettingError if the folder of an output file does not exist or may not be written."""
    folder = Path(file).parent
    if not folder.is_dir():
        raise SettingError(option, f"must be in a folder that exists, not {str(folder)!r}: make it first")
    if not may_write(folder):
        raise SettingError(option, f"must be in a folder that you may write to, not {str(folder)!r}: name another")

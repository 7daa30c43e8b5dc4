"""`insertcoin arcade`: the games and their agents as a page for browsers, with games and agents of one's own."""

from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

import envs_c
from envs_c.arcade import command
from trainer.commands.arguments import CodeOptions, admitted_run
from trainer.config.fields import path_setting
from trainer.config.games import GameName
from trainer.config.options import parse
from trainer.errors import SettingError
from trainer.runs.find import find


@dataclass(frozen=True)
class ArcadeOptions(CodeOptions):
    """Options of the page."""

    games: Annotated[Positional[tuple[str, ...]], arg(metavar="[GAME.pyx ...]", help_behavior_hint="",
                                                             help="Games of your own, which join the page.")] = ()
    run: str | None = None
    """A run whose agent plays on the page, in place of the package's own. Several, of different games: with commas."""
    out: str = path_setting(str(command.OUT))
    """Folder of the page: a new one, an empty one, or an older page."""
    serve: bool = False
    """Serve the page on this machine until Ctrl-C."""
    port: int | None = None
    """Port of --serve. none: 8000, or the next that is free. 0: any that is free."""


def main(argv: list[str]) -> None:
    """Write the page."""
    options = parse(ArcadeOptions, argv, "arcade", "Write all games and their agents as a page for browsers. It needs no "
                    "server code and asks no other host; any static host can serve it.")
    agents, games = {}, list(options.games)
    for name in options.run.split(",") if options.run else ():
        run = find(name)
        with admitted_run(run, options):
            from trainer.export.agents import agent_bytes, not_in_browsers
            game, data = agent_bytes(run)
        if game.startswith("gym:"):
            raise SettingError("run", f"must name runs of games that compile for browsers, not {name} of {game}: leave it out")
        label = envs_c.game(game).name
        if GameName(game).is_cartridge and label not in command.cartridge_names():
            raise SettingError("run", f"must name runs of games in the console's table, not {name} of {game}: leave it out")
        if label in agents:
            raise SettingError("run", f"must name one run for each game, and two of them are of {game}: leave one of them out")
        if game not in envs_c.games() and game not in games and not GameName(game).is_cartridge:
            games.append(game)
        if reason := not_in_browsers(data):
            raise SettingError("run", f"must name runs of agents that browsers can play, not {name}: {reason}; leave it out")
        agents[label] = data
    command.run(Namespace(games=games, out=Path(options.out), serve=options.serve, port=options.port), agents)

"""`arcade`: writes the games and their agents as a page for browsers, and serves it on this machine.

The compiler's and the server's modules are imported by `run`: the other verbs load this file too.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import envs_c
from envs_c.errors import InvalidArgument
from envs_c.game import Game

OUT = Path("build/arcade")


def add_arguments(parser) -> None:
    """Add the arguments of `arcade` to a parser of argparse."""
    parser.add_argument("games", nargs="*", metavar="GAME.pyx", help="games of your own, which join the page")
    parser.add_argument("--out", type=Path, default=OUT, metavar="FOLDER", help=f"folder of the page (default: {OUT})")
    parser.add_argument("--serve", action="store_true", help="serve it on this machine until Ctrl-C")
    parser.add_argument("--port", type=int, metavar="N",
                        help="port of --serve; 0 for any (default: 8000, or the next that is free)")


def run(arguments, agents: Mapping[str, bytes] | None = None) -> None:
    """Write the page of all games and the user's own, and serve it if the arguments say so.

    agents: exported policies by game, in place of the package's own.
    """
    if arguments.port is not None and not arguments.serve:
        raise InvalidArgument(f"--port must be left out without --serve, not {arguments.port}: nothing is served")
    from envs_c.arcade.serve import serve, server
    from envs_c.arcade.site import own_agents
    from envs_c.bare.emit import has_source
    names = envs_c.games()
    own = [envs_c.game(name) for name in arguments.games]  # first: a file replaces an installed game of its name
    found = dict.fromkeys([*map(envs_c.game, names), *own])  # a file that is named twice, once
    games = [game for game in found if game in own or has_source(game)]
    if left := [game.name for game in found if game not in games]:
        print(f"left out: {', '.join(left)} (of installed packages): name a .pyx to have its game on the page")
    agents = {**own_agents(games), **(agents or {})}
    if not arguments.serve:
        write(arguments.out, games, agents)
        print(f"to look at it here: python -m http.server -d {shlex.quote(str(arguments.out))}")
        return
    with server(arguments.out, arguments.port) as running:  # first: a port that cannot be had is an error before the work
        write(arguments.out, games, agents)
        serve(running, "")


def cartridge_names() -> set[str]:
    """The names of the games of cartridges, which a page can have agents for."""
    from envs_c.console.cartridges import table
    return {f"atari_{name}" for name in table()}


def write(folder: Path, games: Sequence[Game], agents: Mapping[str, bytes]) -> None:
    """Write the page to a folder, with a line before and after."""
    from envs_c.arcade.site import make_site, size
    print(f"compiling {len(games)} games for browsers into {folder}", flush=True)
    make_site(folder, games, agents)
    print(f"{folder}/index.html and its files: {size(folder) / 1e6:.2f} MB, for any static host")

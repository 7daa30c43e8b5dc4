"""`insertcoin watch RUN`: a page that follows a run in a browser: its curves, its stages, and its newest checkpoint playing."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import envs_c
from envs_c.arcade.serve import serve, server
from envs_c.arcade.site import make_site
from envs_c.bare.emit import has_source
from envs_c.text import say
from trainer.commands.arguments import CodeOptions, Run, admitted_run
from trainer.config.games import GameName
from trainer.config.options import parse
from trainer.errors import RunError
from trainer.runs.find import find, folder_of
from trainer.runs.folder import CONFIG


@dataclass(frozen=True)
class WatchOptions(CodeOptions):
    """Options of the page."""

    run: Run
    port: int | None = None
    """Port of the page on this machine. none: 8000, or the next that is free. 0: any that is free."""


def main(argv: list[str]) -> None:
    """Serve the page until Ctrl-C."""
    options = parse(WatchOptions, argv, "watch", "Follow a run in a browser: curves, stages, and the newest checkpoint "
                    "playing. The page is served to this machine only; it reads the run's files and writes nothing.")
    run = _folder(find(options.run))
    with admitted_run(run, options, begun=True), tempfile.TemporaryDirectory() as scratch:
        from trainer.export.follow import Follower
        follower = Follower(run)
        games = [envs_c.game(follower.game)] if _playable(follower.game) else []
        with server(Path(scratch, "page"), options.port, follower.routes(games[0].name if games else None)) as running:
            say(f"{follower.game}: {'compiling for browsers' if games else 'curves only, no game for browsers'}")
            make_site(Path(scratch, "page"), games, {}, console=False)
            serve(running, "#run")


def _playable(game: GameName) -> bool:
    """True if the game can be compiled for browsers: its .pyx is known. A game of an installed package has none."""
    return not game.is_gym and not game.is_cartridge and has_source(envs_c.game(game))


def _folder(path: Path) -> Path:
    """The run's folder for a path returned by `find`. Raises CheckpointError, and RunError if a checkpoint is in no run."""
    folder = folder_of(path)
    if path.is_file():
        from trainer.runs.checkpoint import read_config
        read_config(path)  # the error about a damaged file names it
        if not (folder / CONFIG).is_file():
            raise RunError(f"{path} is in no run's folder, which has a {CONFIG}, and watch follows a whole run: name such a "
                           "folder")
    return folder

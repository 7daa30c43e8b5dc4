"""`python -m trainer profile GAME`: where a training's time goes."""

from dataclasses import dataclass
from pathlib import Path

from trainer.config.games import checked_game, names
from trainer.config.options import PROG, parse_new, parse_some, refuse_run_options
from trainer.errors import ConfigError

HELP = f"""\
usage: {PROG} profile GAME [--iterations N] [--out FILE] [options of training]

Train for N iterations (default: 3), write their trace to FILE (default: trace.json.gz; open it at
ui.perfetto.dev) and print how long every stage took."""


@dataclass(frozen=True)
class ProfileOptions:
    """What is profiled."""

    iterations: int = 3
    """Iterations to trace."""
    out: str = "trace.json.gz"
    """The trace's file."""

    def check(self):
        """Raises ConfigError for a value that it may not have."""
        if self.iterations < 1:
            raise ConfigError(f"iterations is {self.iterations}; it may be an integer from 1 up")
        if not self.out.endswith((".json", ".json.gz")):
            raise ConfigError(f"out is {self.out!r}; it may be a file that ends in .json or .json.gz")
        if not Path(self.out).parent.is_dir():
            raise ConfigError(f"the trace's folder {str(Path(self.out).parent)!r} is not there; make it first")


def main(argv: list[str]) -> None:
    if argv and argv[0] in ("-h", "--help"):
        print(HELP)
        return
    if not argv or argv[0].startswith("-"):
        raise ConfigError(f"no game is named; write {PROG} profile GAME, where GAME is {names()}")
    game = checked_game(argv[0])
    options, rest = parse_some(ProfileOptions, argv[1:], f"profile {game}")
    options.check()
    config = parse_new(game, rest)
    refuse_run_options(config, "profile, which trains a new agent and keeps none of it")
    from trainer.training.profile import profile_run
    print(profile_run(config, options.iterations, Path(options.out)))
    print(f"{options.out}: the trace; open it at ui.perfetto.dev")

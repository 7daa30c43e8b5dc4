"""`python -m trainer profile GAME`: the duration of each stage of a training."""

import os
from dataclasses import dataclass
from pathlib import Path

from envs_c.text import say
from trainer.commands.arguments import admitted_training, game_of, spaces_for
from trainer.config.fields import Section, matching, within
from trainer.config.options import parse_new, parse_some, refuse_run_options
from trainer.files import require_folder
from trainer.process import program_name

HELP = """\
usage: {program} profile GAME [--iterations N] [--out FILE] [options of training]

Train for N iterations (default: 3), write a trace of them to FILE (default: trace.json.gz; open it at
ui.perfetto.dev), and print the duration of each stage. `{program} GAME --help all` lists the options of training."""


@dataclass(frozen=True)
class ProfileOptions(Section):
    """Options of a profile."""

    iterations: int = within(3, 1)
    """Iterations to trace."""
    out: str = matching("trace.json.gz", r".*\.json(\.gz)?", "a file that ends in .json or .json.gz", path=True)
    """The file of the trace."""

    def check(self) -> None:
        super().check()
        require_folder("out", self.out)


def main(argv: list[str]) -> None:
    """Write the trace and print the table."""
    if {"-h", "--help"} & set(argv):
        print(HELP.format(program=program_name()))
        return
    # torch reads it when it is imported. Its default, 4, prints two lines of its profiler among the errors.
    os.environ.setdefault("KINETO_LOG_LEVEL", "6")
    game = game_of(argv, "profile ")
    options, rest = parse_some(ProfileOptions, argv[1:], f"profile {game}")
    config = parse_new(game, rest, verb="profile ", options=ProfileOptions, spaces=spaces_for(game, rest, trains=False))
    refuse_run_options(config, "profile, which trains a new agent and keeps nothing of it")
    with admitted_training(config, game, rest, trains=False):
        from trainer.training.profile import profile_run
        print(profile_run(config, options.iterations, Path(options.out)))
    say(f"{options.out}: the trace; open it at ui.perfetto.dev")

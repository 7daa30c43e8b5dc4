"""Scores of trained policies on the cartridges and in our games: `python -m benchmarks.transfer [GAME or RUN ...]`.

The cartridges run under ale-py. For a game, the arcade's agent plays, which comes with the package, so the table needs no
training. A RUN is a folder or a checkpoint of a policy of features or pixels, also of a cartridge of the console (atari:NAME),
whose episodes are the same if points, RAM and end are. Both sides begin with 1 to 30 frames of NOOP;
actions are sampled; an episode ends after 108,000 frames. The cartridge always begins in the same state: "here" is our game
with that start, "random start" as it is trained by default. "same in our game" counts the cartridge's episodes that our game
repeats: with the same actions it gives the same points in each frame, and ends after the same frame.

Groups of episodes are kept in --scores: a command that was stopped goes on, and the same command with another --out plays
nothing.
"""

import sys
from pathlib import Path

import torch

from benchmarks.cartridges.twins import TWINS
from benchmarks.common import new_parser
from benchmarks.likeness.table import END, has_lines, write
from benchmarks.transfer import table
from envs_c.console.cartridges import PREFIX
from envs_c.console.cartridges import table as console_table

BEGIN = "<!-- written by python -m benchmarks.transfer -->"
NAMES = 4  # columns that name a row: game, agent, view, sticky


def main(argv: list[str] | None = None) -> list[list[str]]:
    """Print the table; returns its rows."""
    parser = new_parser("transfer", __doc__)
    parser.add_argument("runs", nargs="*", metavar="GAME or RUN", help=f"what plays (default: all of {', '.join(TWINS)})")
    table.add_options(parser)
    parser.add_argument("--scores", type=Path, default=Path("benchmarks/results/transfer.jsonl"),
                        help="file for the episodes (default: %(default)s)")
    parser.add_argument("--out", type=Path, help=f"Markdown file whose lines between {BEGIN} and {END} become the table; other "
                                                 "rows stay")
    parser.set_defaults(episodes=100, sticky=[0.0, 0.25], noops=30)
    options = parser.parse_args(sys.argv[1:] if argv is None else argv)
    table.check_options(parser, options)
    if options.scores.is_dir() or not options.scores.absolute().parent.is_dir():
        parser.error(f"--scores must be a file in a folder that exists, not {options.scores}")
    if options.out and not has_lines(options.out, BEGIN):
        parser.error(f"--out must be a file with a line {BEGIN}, not {options.out}: add this line and {END}")
    options.runs = options.runs or list(TWINS)
    torch.set_num_threads(1)  # the policies are small
    cartridges = [f"{PREFIX}{name}" for name in console_table()]

    def put(rows: list[list[str]]) -> None:
        if options.out:  # after each row: a command that is stopped loses nothing
            write(options.out, table.COLUMNS, rows, [*TWINS, *cartridges], names=NAMES, begin=BEGIN)
    return table.print_rows(options, options.scores, put)


if __name__ == "__main__":
    main()

"""Plays trained policies on the cartridges under ale-py, and in our games for comparison, and prints one table.

    python -m examples.play_the_cartridge runs/breakout-... runs/pong-... --episodes 100 --sticky 0 0.25 --out scores.jsonl

RUN is a run's folder, one of its checkpoints, or one of the eight games that were written after cartridges: then the arcade's
agent plays, which comes with the package. A policy of features gets the features that benchmarks/cartridges/features.py reads
from the cartridge's RAM. A policy of pixels gets the cartridge's screen, without the maker's name. Actions are sampled, as in
training. On both sides an episode ends after 27,000 steps, or as trained if that is earlier.

The cartridge always begins in the same state. "here" is our game with that start, "random start" as it is trained by default.
"same in our game" counts the cartridge's episodes that our game repeats: with the same actions it gives the same points in
each frame, and ends after the same frame. With --out each group of episodes is written as soon as it has ended; the same
command then goes on where it was stopped. ale-py brings the ROMs: `pip install ale-py`.
"""

import argparse
from pathlib import Path

from benchmarks.transfer import table


def main(argv: list[str] | None = None) -> list[list[str]]:
    """Print the table; returns its rows."""
    parser = argparse.ArgumentParser(prog="python -m examples.play_the_cartridge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", metavar="RUN", nargs="+")
    table.add_options(parser)
    parser.add_argument("--out", type=Path, help="file for the scores, a JSON line a group; what it has is not played again")
    options = parser.parse_args(argv)
    table.check_options(parser, options)
    if options.out and (options.out.is_dir() or not options.out.absolute().parent.is_dir()):
        parser.error(f"--out must be a file in a folder that exists, not {options.out}: make the folder, or name another file")
    return table.print_rows(options, options.out, lambda rows: None)


if __name__ == "__main__":
    main()

"""Compare each game with its cartridge under ale-py: `python -m benchmarks.likeness [GAME ...]`.

From random starts our game and the cartridge play on with the same random actions, frame by frame. The table says in which
share of the starts all frames are identical (every compared object and count), how far the objects are apart, and how the
pictures differ. Where a cartridge shows its maker's name, the pictures are not compared. Scores of random play and of a
scripted player, which plays both sides, show how like the games are over whole episodes.
"""

import sys
from pathlib import Path

import numpy as np

from benchmarks.common import at_least, new_parser
from benchmarks.likeness import pictures
from benchmarks.likeness.games import GAMES
from benchmarks.likeness.pairs import Comparison, compare_all
from benchmarks.likeness.players import player_of
from benchmarks.likeness.scores import both_sides
from benchmarks.likeness.table import BEGIN, END, has_lines, write
from trainer.log.text import markdown

COLUMNS = ["game", "starts", "frames into the game", "identical", "first difference", "mean distance, px", "grey", "colour",
           "equal pixels", "random play, cartridge", "random play, here", "scripted player, cartridge", "scripted player, here"]


def options_of(argv: list[str]):
    """The parsed command line."""
    parser = new_parser("likeness", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"games to compare (default: all of {', '.join(GAMES)})")
    parser.add_argument("--starts", type=at_least(1), default=60, help="random starts of each game (default: 60)")
    parser.add_argument("--frames", type=at_least(1), default=150, help="frames from each start (default: 150)")
    parser.add_argument("--episodes", type=at_least(0), default=20, help="random episodes on each side; 0: none (default: 20)")
    parser.add_argument("--scripted", type=at_least(0), default=20,
                        help="episodes of the scripted player on each side; 0: none (default: 20)")
    parser.add_argument("--seed", type=at_least(0), default=0, help="of starts and actions (default: 0)")
    parser.add_argument("--pictures", type=Path, help="folder for GAME.png: both sides and the difference")
    parser.add_argument("--film", type=Path, help="folder for GAME.gif: four seconds of both sides and the difference")
    parser.add_argument("--out", type=Path, help=f"Markdown file whose lines between {BEGIN} and {END} become the table; rows "
                                                 "of other games stay")
    options = parser.parse_args(argv)
    for game in options.games:
        if game not in GAMES:
            parser.error(f"GAME must be one of {', '.join(GAMES)}, not {game}: only these have a cartridge")
    if options.out and not has_lines(options.out):
        parser.error(f"--out must be a file with a line {BEGIN}, not {options.out}: add this line and {END}")
    return options


def row_of(game: str, found: list[Comparison], options) -> list[str]:
    """The table's row of a game."""
    first = [comparison.first for comparison in found]
    differ = sorted(value for value in first if value)
    names = {name: None for comparison in found for name in comparison.away}
    away = {name: [value for comparison in found for value in comparison.away.get(name, [])] for name in names}
    shown = np.array([row for comparison in found for row in comparison.pictures]).reshape(-1, 3)
    grey, colour, equal = shown.mean(0) if len(shown) else [np.nan] * 3
    return [game, str(len(found)), f"up to {max(comparison.start for comparison in found):,}",
            f"{np.mean([not value for value in first]):.0%}",
            f"frame {differ[0]} to {differ[-1]}, median {differ[len(differ) // 2]}" if differ else "none",
            ", ".join(f"{name} {np.mean(values):.2g}" for name, values in away.items() if values),
            f"{grey:.2g}", f"{colour:.2g}", f"{equal:.2%}", *scores_of(game, options)]


def scores_of(game: str, options) -> list[str]:
    """Mean scores and their standard errors: random play on the cartridge and here, then the scripted player."""
    none = ["not measured"] * 2
    random = both_sides(game, options.episodes, options.seed) if options.episodes else none
    return [*random, *(both_sides(game, options.scripted, options.seed, player_of(game)) if options.scripted else none)]


def main(argv: list[str] | None = None):
    options = options_of(sys.argv[1:] if argv is None else argv)
    rows = []
    for game in options.games or GAMES:
        found = compare_all(game, options.starts, options.frames, options.seed)
        rows.append(row_of(game, found, options))
        print(" | ".join(rows[-1]), flush=True)
        if options.pictures:
            pictures.write(game, options.pictures / f"{game}.png", options.seed)
        if options.film:
            pictures.film(game, options.film / f"{game}.gif", options.seed)
        if options.out:  # after each game: a run that is stopped loses nothing
            write(options.out, COLUMNS, rows, list(GAMES))
    print(markdown(COLUMNS, rows))


if __name__ == "__main__":
    main()

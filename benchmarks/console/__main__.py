"""The console beside ale-py, frame by frame: `python -m benchmarks.console`, `python -m benchmarks.console qbert seaquest`.

Both sides play the same actions. After every frame RAM, reward, lives and end are compared, and every seventh picture.
After an end both begin a new game and go on. Half of a game's frames are played in its first mode and difficulty, the other
half in all others, in parts of equal length; each part begins on a fresh console. The parts take turns in how actions are
drawn, the same for both sides:

    random   one of ALE's 18 actions, another one each frame
    held     each held for 1 to 8 frames
    long     each held for 10 to 120 frames
    sticky   as random, but the last action is repeated with probability 0.25

A row of the table is a game: the frames played, the ends seen, the pairs of mode and difficulty, and the first difference in
each of RAM, picture, reward, lives and end: the frame of its part, how actions were drawn, mode and difficulty unless they are
the first ones. A dash is none. A part is left after a frame with another RAM.
"""

import json
import os
from pathlib import Path

from benchmarks.common import at_least, head, new_parser, publish
from benchmarks.console.comparison import PARTS, compare
from envs_c.console import cartridges
from trainer.log.text import markdown
from trainer.results.published import PLAYERS


def rows_in(path: Path | None) -> dict[str, dict]:
    """The rows of a file of JSON lines by game; none if there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
    return {row["game"]: row for row in map(json.loads, lines)}


def table(rows: list[dict]) -> str:
    """The rows as Markdown, with the number of games without a difference in each part."""
    shown = [[row["game"], f"{row['frames']:,}", row["ends"], row["modes"], *(row["first"].get(part, "-") for part in PARTS)]
             for row in rows]
    text = markdown(["game", "frames", "ends", "modes", *PARTS], shown)
    for group, chosen in (("games", rows), ("games of the literature", [row for row in rows if row["game"] in PLAYERS])):
        same = ", ".join(f"{part} {sum(part not in row['first'] for row in chosen)}" for part in PARTS)
        whole = sum(not row["first"] for row in chosen)
        text += f"\nOf {len(chosen)} {group} nothing differs in: {same}; all five {whole}.\n"
    return text + f"\n{sum(row['frames'] for row in rows):,} frames and {sum(row['ends'] for row in rows):,} ends in all.\n"


def main():
    parser = new_parser("console", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help="names such as qbert (default: all whose cartridge is there)")
    parser.add_argument("--frames", type=at_least(1), default=10_000,
                        help="a game, or more if it has many modes (default: 10,000)")
    parser.add_argument("--keep", type=Path, help="file for each game's row as it comes; games in it are not played again")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    there = cartridges.present()
    for name in options.games:
        if name not in there:
            parser.error(f"GAME must be one whose cartridge is there, not {name}: {', '.join(there) or 'none'}; "
                         f"{cartridges.how_to_get()}")
    os.environ.setdefault("ENVS_C_RECOMPILE", "0")  # compilers in the background would take the time
    rows = []
    for name in options.games or there:
        row = rows_in(options.keep).get(name) or compare(name, options.frames)
        if options.keep is not None and name not in rows_in(options.keep):
            with options.keep.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
        rows.append(row)
        print("  ".join(map(str, row.values())), flush=True)
    publish(head("The console beside ale-py") + "\n" + table(rows), options.out)


if __name__ == "__main__":
    main()

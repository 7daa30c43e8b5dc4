"""Compare the processor with ale-py: `python -m tools.console_cpu [PROGRAMS] [FRAMES] [FIRST_SEED]`.

Each random program (program.py) runs for some frames on both sides; their RAM must be equal after each. A frame tries 60
instructions. A program ends before if its RAM looks to ale-py like the end of a game.
"""

import os
import sys

from benchmarks.console.comparison import Console
from envs_c.console import cartridges
from tools.console_cpu.program import TRIES, random_program
from tools.console_facts.programs import oracle_of

PROGRAMS, FRAMES = 100, 2000  # without arguments
LIKE = "superman"  # the game whose name the programs have under ale-py: few bytes of RAM end it


def compared(data: bytes, frames: int) -> tuple[int, bool]:
    """Play a program on both sides: the frames after which their RAM was equal, and True if it never differed.

    ale-py plays no more frames once the RAM looks like the end of LIKE.
    """
    ale = oracle_of(LIKE, data)
    ale.reset_game()
    row = {**cartridges.table()[LIKE], "kind": "", "score": [], "lives": [], "over": []}
    ours = Console(cartridges.game_of(data, None, row))
    for frame in range(frames):
        if ours.ram[0].tobytes() != ale.getRAM().tobytes():
            return frame, False
        if ale.game_over():
            return frame, True
        ale.act(0)
        ours.act(0)
    return frames, True


def main(arguments: list[str]) -> int:
    if len(arguments) > 3 or not all(text.isdigit() for text in arguments):
        sys.exit(__doc__)
    programs, frames, first = [*map(int, arguments), *(PROGRAMS, FRAMES, 0)[len(arguments):]]
    os.environ.setdefault("ENVS_C_RECOMPILE", "0")  # compilers in the background would take the time
    failed = 0
    for seed in range(first, first + programs):
        frame, equal = compared(random_program(seed), frames)
        if not equal:
            failed += 1
            print(f"seed {seed}: another RAM after frame {frame}")
    print(f"{programs - failed} of {programs} programs equal in RAM, after each of up to {frames:,} frames of {TRIES} "
          "instructions")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

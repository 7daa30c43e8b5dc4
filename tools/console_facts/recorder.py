"""The recorder: a program that shows on the screen what ale-py presses while it starts a game."""

import numpy as np
from ale_py import ALEInterface

from tools.console_facts.programs import Assembler, frame, oracle_of

# The cartridge has RAM: bytes are written at F000 and read at F080.
WRITE, READ = 0xF000, 0xF080
END, STICKS, REST, PRESSES, MORE_PRESSES, CHANGES, MORE_CHANGES, SCRATCH = range(120, 128)
ROWS = 40          # of three bytes: SWCHA, the other inputs, frames (255: or more)
SHOWN = 128        # lines of the screen, one a byte: PF1's eight pixels
LETTERS = ((0x10, "u"), (0x20, "d"), (0x40, "l"), (0x80, "r"))


def store(code: Assembler, byte: int) -> None:
    code(0x8D, (WRITE + byte) & 0xFF, WRITE >> 8)


def load(code: Assembler, byte: int) -> None:
    code(0xAD, (READ + byte) & 0xFF, READ >> 8)


def count(code: Assembler, low: int) -> None:
    """Add 1 to a number of two bytes."""
    load(code, low)
    store(code(0x18, 0x69, 1), low)
    load(code, low + 1)
    store(code(0x69, 0), low + 1)


def read_inputs(code: Assembler) -> None:
    """X: SWCHA. Y: SWCHB's switches, bit 2 for the button of player 0, bit 4 for that of player 1; 0 is pressed."""
    code(0xAD, 0x80, 0x02, 0xAA, 0xA5, 0x0C, 0x29, 0x80, *[0x4A] * 5)
    store(code, SCRATCH)
    store(code(0xA5, 0x0D, 0x29, 0x80, *[0x4A] * 3, 0x0D, SCRATCH + 0x80, READ >> 8), SCRATCH)
    code(0xAD, 0x82, 0x02, 0x29, 0xCB, 0x0D, SCRATCH + 0x80, READ >> 8, 0xA8)


def write_log(code: Assembler, skip: int) -> None:
    """A row for each change after the first `skip` ones, and one frame more for a row without a change."""
    code(0x98, 0x29, 2, 0xD0, ">same select")            # SELECT is pressed now, and was not
    load(code, REST)
    code(0x29, 2, 0xF0, ">same select")
    count(code, PRESSES)
    code.label("same select")(0x8A, 0xCD, READ + STICKS & 0xFF, READ >> 8, 0xD0, ">new")
    code(0x98, 0xCD, READ + REST & 0xFF, READ >> 8, 0xD0, ">new", 0x4C, "same").label("new")
    store(code(0x8A), STICKS)
    store(code(0x98), REST)
    count(code, CHANGES)
    code(0xA9, skip & 0xFF, 0xCD, READ + CHANGES & 0xFF, READ >> 8)
    code(0xA9, skip >> 8, 0xED, READ + MORE_CHANGES & 0xFF, READ >> 8, 0x90, ">row", 0x4C, "done").label("row")
    load(code, END)
    code(0xC9, 3 * ROWS, 0xD0, ">room", 0x4C, "done").label("room")(0xAA)
    load(code, STICKS)
    code(0x9D, 0x00, WRITE >> 8)
    load(code, REST)
    code(0x9D, 0x01, WRITE >> 8, 0xA9, 1, 0x9D, 0x02, WRITE >> 8, 0xE8, 0xE8, 0xE8, 0x8A)
    store(code, END)
    code(0x4C, "done").label("same")
    load(code, END)
    last = skip + ROWS
    code(0xF0, ">done", 0xAA, 0xA9, last & 0xFF, 0xCD, READ + CHANGES & 0xFF, READ >> 8, 0xA9, last >> 8)
    code(0xED, READ + MORE_CHANGES & 0xFF, READ >> 8, 0x90, ">done")
    code(0xBD, 0x7F, 0xF0, 0xC9, 0xFF, 0xF0, ">done", 0x18, 0x69, 1, 0x9D, 0xFF, 0xEF).label("done")


def recorder(counts: bytes, other: int, skip: int = 0) -> bytes:
    """The program. Its RAM holds the presses of SELECT where `counts`, (128,) bytes, has 255; `other` where it has 0, up to
    256 presses, and from there on the presses too, so that ale-py's search for a mode comes to an end.
    """
    code = Assembler()(0xD8, 0xA2, 0xFF, 0x9A, 0xA9, 0, 0xA2, 0x7F)
    code.label("clear")(0x9D, 0x00, WRITE >> 8, 0xCA, 0x10, ">clear", 0xA9, 0xAA)
    store(code, STICKS)
    store(code, REST)
    code(0xA9, 0x0E, 0x85, 0x08, 0xA9, 0, 0x85, 0x09, 0x85, 0x0D, 0x85, 0x0F).label("frame")
    read_inputs(frame(code))
    write_log(code, skip)
    load(code, MORE_PRESSES)
    code(0xF0, ">early", 0xA2, 0x7F)
    load(code, PRESSES)
    code.label("late")(0x95, 0x80, 0xCA, 0x10, ">late", 0x4C, "drawn").label("early")(0xA2, 0x7F).label("fill")
    load(code, PRESSES)
    code(0x3D, 0x00, 0xF2, 0x18, 0x7D, 0x80, 0xF2, 0x95, 0x80, 0xCA, 0x10, ">fill").label("drawn")
    code(0xA2, 14).label("above")(0x85, 2, 0xCA, 0xD0, ">above", 0xA9, 0xFF, 0x85, 0x0F, 0xA2, 0)
    code.label("line")(0x85, 2, 0xBD, 0x80, 0xF0, 0x85, 0x0E, 0xE8, 0x10, ">line", 0x85, 2, 0xA9, 0, 0x85, 0x0E, 0x85, 0x0F)
    code(0xA2, 60).label("below")(0x85, 2, 0xCA, 0xD0, ">below", 0x4C, "frame")
    base = bytes(0 if counted else other for counted in counts)
    return code.rom({0x200: counts, 0x280: base}) * 2  # two equal banks, whose first 256 bytes are 0: RAM for ale-py


def shown(ale: ALEInterface) -> np.ndarray:
    """The (128,) bytes on the screen."""
    screen = ale.getScreen()
    top = int(np.nonzero(screen[:, 60] == 0x0E)[0][0]) + 1
    bits = screen[top:top + SHOWN, 17:49:4] != 0
    return np.packbits(bits, axis=1)[:, 0]


def start_of(name: str, mode: int | None, difficulty: int | None) -> tuple[str, int]:
    """What ale-py presses after its first 60 frames, as games.toml writes it, and how often it pressed SELECT.

    ale-py may not return for a game whose mode needs two bytes with different values; call it in a process of its own.
    """
    words, skip = [], 0
    while True:
        ale = oracle_of(name, recorder(b"\xFF" * 128, 0, skip))
        if mode is not None:
            ale.setMode(mode)
        if difficulty is not None:
            ale.setDifficulty(difficulty)
        ale.reset_game()
        log = shown(ale)
        rows = log[:int(log[END])].reshape(-1, 3).tolist()
        words += [word(*row) for row in rows]
        if len(rows) < ROWS:
            return " ".join(words[1:]), int(log[PRESSES]) + 256 * int(log[MORE_PRESSES])
        skip += ROWS


def word(sticks: int, rest: int, frames: int) -> str:
    """A row of the log as a step of a start."""
    switch = "" if rest & 1 else "R"
    switch += "" if rest & 2 else "S"
    stick = "".join(letter for bit, letter in LETTERS if not sticks & bit) + ("" if rest & 4 else "f")
    return f"{switch or stick or 'N'}{frames}"


def select_of(name: str, mode: int) -> tuple[int, int]:
    """The address of the byte that holds the mode, and its value, for a mode that ale-py sets by pressing SELECT.

    The byte's number is found in seven starts: in each, the bytes whose number has one bit set count from the beginning.
    """
    def presses(counts: bytes) -> int:
        ale = oracle_of(name, recorder(counts, 255))
        ale.setMode(mode)
        ale.reset_game()
        log = shown(ale)
        return int(log[PRESSES]) + 256 * int(log[MORE_PRESSES])

    early = [presses(bytes(255 * (byte >> bit & 1) for byte in range(128))) < 256 for bit in range(7)]
    address = sum(bit << place for place, bit in enumerate(early))
    return 128 + address, presses(b"\xFF" * 128) % 256

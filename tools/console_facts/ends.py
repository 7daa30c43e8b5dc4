"""How a game's end and its lives lie in RAM, read off ale-py with a program that keeps the RAM as it is.

ale-py's answer is a function of the 128 bytes. From the bytes at a real end, each byte is set to all values: those that undo
the end are its tests. From the bytes of a running game, each byte that changes the lives is matched with the codings.
"""

import random
from collections.abc import Callable

import numpy as np
from ale_py import Action, ALEInterface

from benchmarks.console.comparison import ale_of
from envs_c.console import cartridges, starts
from tools.console_facts.programs import holder, oracle_of

FEW = sorted({*range(0, 256, 43), 1, 128, 254, 255})  # values that show whether a byte counts
HELD = 8                                              # frames for which an action is held at most
CODINGS: dict[str, Callable[[int], int]] = {
    "bin": lambda value: value, "lo": lambda value: value & 15, "hi": lambda value: value >> 4, "low3": lambda value: value & 7,
    "signed": lambda value: value - 256 * (value > 127), "bcd": lambda value: (value >> 4) * 10 + (value & 15),
    "hi3": lambda value: value >> 4 & 7, "ones": lambda value: (value >> 4).bit_count()}


def ranges(numbers: list[int]) -> str:
    """"0-15 32" of sorted numbers, as games.toml has them."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


class Answers:
    """ale-py's lives and end of a game for any 128 bytes."""

    def __init__(self, name: str):
        self.real = ale_of(name)
        row, image = cartridges.table()[name], self.real.getRAM().copy()
        for address, value in zip(row["select"], starts.modes(row)[0][1:], strict=False):
            image[address - 128] = value  # so that ale-py's search for the mode ends at once
        self.image, self.ale = image, oracle_of(name, holder(image.tobytes()))
        self.ale.reset_game()
        self.ale.act(Action.NOOP)
        self.start = self.ale.cloneState()

    def put(self, ram: np.ndarray) -> tuple[int, bool]:
        """Lives and end for a RAM, (128,) uint8, that comes after the game's start."""
        self.ale.restoreState(self.start)
        for byte in np.nonzero(ram != self.image)[0]:
            self.ale.setRAM(int(byte), int(ram[byte]))
        self.ale.act(Action.NOOP)
        return self.ale.lives(), self.ale.game_over()

    def changed(self, ram: np.ndarray, byte: int, value: int) -> tuple[int, bool]:
        """`put` of the RAM with one byte changed."""
        other = ram.copy()
        other[byte] = value
        return self.put(other)

    def bytes_that_count(self, ram: np.ndarray) -> dict[int, list[tuple[int, bool]]]:
        """The bytes, 0 .. 127, whose value changes lives or end: `changed` for each of the 256 values."""
        here = self.put(ram)
        return {byte: [self.changed(ram, byte, value) for value in range(256)] for byte in range(128)
                if any(self.changed(ram, byte, value) != here for value in [*FEW, int(ram[byte]) ^ 1, int(ram[byte]) ^ 16])}


def play(ale: ALEInterface, frames: int, seed: int = 0) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Play random actions. Returns the RAM of running games and the RAM at each end."""
    draw, running, ends, held, action = random.Random(seed), [ale.getRAM().copy()], [], 0, 0
    for frame in range(frames):
        if held == 0:
            action, held = draw.randrange(18), draw.randint(1, HELD)
        before, held = ale.getRAM().copy(), held - 1
        ale.act(Action(action))
        if frame == 400:
            running.append(ale.getRAM().copy())
        if ale.game_over():
            ends.append(ale.getRAM().copy())
            running.append(before)
            ale.reset_game()
    return running[:3], ends[:2]


def changed_at_random(name: str, tries: int, seed: int = 0) -> tuple[int, list[str]]:
    """Compare the table's ends with ale-py's in RAMs of which a part was changed at random: to 0, to 255 or to any values.

    Returns the number of ends, and of each RAM in which the two disagree what ale-py says and the changed bytes.
    """
    answers, draw = Answers(name), np.random.default_rng(seed)
    table = [cartridges.condition(tests) for tests in cartridges.table()[name]["over"]]
    whole, ends, wrong = answers.real.getRAM(), 0, []
    for _ in range(tries):
        ram, kinds = whole.copy(), draw.integers(3, size=128)
        changed = draw.random(128) < draw.choice([0.1, 0.3, 0.6, 0.9])
        ram[changed] = np.where(kinds == 0, 0, np.where(kinds == 1, 255, draw.integers(256, size=128)))[changed]
        over = answers.put(ram)[1]
        ends += over
        if over != any(all(ram[at - 128] in values for places, values, _ in tests for at in places) for tests in table):
            wrong.append(f"ale-py {over} for {[[int(at) + 128, int(ram[at])] for at in np.flatnonzero(changed)]}")
    return ends, wrong


def coding_of(address: int, lives: dict[int, int], value: int) -> list | None:
    """[address, coding, 1, lives to add] that gives lives[value] for all of its values; None if no coding does."""
    for name, decode in CODINGS.items():
        more = lives[value] - decode(value)
        if all(count == decode(number) + more for number, count in lives.items()):
            return [address, name, 1, more]
    return None


def search(name: str, frames: int) -> dict:
    """Rows for games.toml: "over" as there, "lives" as of `coding_of`, "unclear" for addresses that fit no form.

    "at_end" are ale-py's lives at the ends; a program that hides ale-py's own counters may find none of these.
    """
    answers = Answers(name)
    running, ends = play(answers.real, frames)
    found: dict[str, list] = {"over": [], "lives": [], "unclear": [], "at_end": []}
    for ram in ends:
        lives, over = answers.put(ram)
        tests = [[byte + 128, ranges([value for value in range(256) if row[value][1]])]
                 for byte, row in answers.bytes_that_count(ram).items() if not all(end for _, end in row)]
        if over and tests not in found["over"]:
            found["over"].append(tests)
        found["at_end"] = sorted({*found["at_end"], lives})
    for ram in running:
        for byte, row in answers.bytes_that_count(ram).items():
            lives_of = {value: row[value][0] for value in range(256) if not row[value][1]}
            if len(set(lives_of.values())) > 1 and int(ram[byte]) in lives_of:
                form = coding_of(byte + 128, lives_of, int(ram[byte]))
                place = found["lives"] if form else found["unclear"]
                if (form or byte + 128) not in place:
                    place.append(form or byte + 128)
    return found

"""Cartridges that a stranger made: random bytes, and true cartridges with bytes changed, cut off or repeated.

Whatever a file holds, the console plays it: no crash, no frame without an end, and no write outside its state. A case has few
frames, so that there can be many, and most have short ones: a frame of a ROM without sense goes on to its last instruction.
"""

import functools
from random import Random

from envs_c.console import cartridges, console
from tools.console_tia.program import assemble, rom
from tools.console_tia.random_programs import random_program
from tools.fuzz.case import Box

FRAMES = 4  # after each reset
IDLE = 2    # before each start, at most
INSTRUCTIONS = [300] + [2000] * 12 + [25_000]  # of a frame at most
BANKED = {"F8": 8192, "E0": 8192, "FE": 8192, "3F": 8192, "UA": 8192, "DPC": 10_240, "F6": 16_384,
          "F4": 32_768}  # bytes of cartridges with banks
SIZES = [1, 2, 7, 1024, 2048, 3000, 4096, 5000, 8192, 10_240, 12_288, 16_384, 20_000, 32_768]


def setup(box: Box) -> None:
    """Nothing to prepare."""


def case(rng: Random, box: Box) -> None:
    """Play one cartridge as any kind, with any controls and any part of the screen."""
    data = rng.choice([random_bytes, few_values, changed])(rng)
    kinds = [kind for kind, size in BANKED.items() if size // 2 < len(data) <= size]
    row = {**cartridges.UNKNOWN, "kind": rng.choice(["", *kinds]), "paddles": rng.randrange(3),
           "comb": rng.random() < 0.5, "idle": rng.randint(0, IDLE), "start": rng.choice(["R1", "N1 f1", "S1 N1 R1"]),
           "instructions": rng.choice(INSTRUCTIONS)}
    if rng.random() < 0.3:
        row |= {"last_line": 342, "height": 250}
    actions = [rng.randrange(18) for _ in range(FRAMES)]
    box.attempt(lambda: console.try_rom(*cartridges.made(data, row), actions, seed=rng.randrange(100)), allowed=())


@functools.cache
def true_cartridges() -> list[bytes]:
    """The bytes of the cartridges that are there."""
    return [path.read_bytes() for path in sorted(cartridges.present().values())]


def random_bytes(rng: Random) -> bytes:
    """Bytes of any length."""
    return rng.randbytes(rng.choice(SIZES))


def few_values(rng: Random) -> bytes:
    """Bytes of a few values: most are instructions that write to the chips, loop or jump."""
    values = rng.choices([0x85, 0x86, 0x95, 0x8D, 0x9D, 0x4C, 0x6C, 0x20, 0x60, 0x40, 0x00, 0xD0, 0xF0, 0x48, 0x9A, 0xE8, 0x02,
                          0xAD, 0xB1, 0x91, 0x10, 0x30, 0x1F, 0xFF, *range(0x30)], k=rng.randint(1, 30))
    return bytes(rng.choices(values, k=rng.choice(SIZES)))


def changed(rng: Random) -> bytes:
    """A cartridge of ale-py, or one of our own if there is none, with some bytes changed; now and then cut or doubled."""
    known = true_cartridges()
    data = bytearray(rng.choice(known) if known else rom(assemble(random_program(rng.randrange(1000)))))
    for _ in range(rng.choice([1, 5, 50, 1000])):
        data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.2:
        data = data[: rng.randint(1, len(data))]
    return bytes(data + data if rng.random() < 0.1 and len(data) <= cartridges.LARGEST // 2 else data)

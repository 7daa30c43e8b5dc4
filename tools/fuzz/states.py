"""Snapshots whose bytes were changed and whose checksum was made right again.

Whatever `set_state` accepts must be playable: random steps, both views and the coloured screen stay inside their memory.
"""

import json
import struct
import zlib
from random import Random

import numpy as np

import envs_c
from envs_c.engine.state import LENGTH, MAGIC
from envs_c.engine.vecenv import HEAD_SIZE
from envs_c.testing.play import Play
from tools.fuzz.case import Box, Fault
from tools.fuzz.values import changed, damaged

N = 3        # environments
STEPS = 60   # random steps after an accepted state
EXTREMES = [0, 1, -1, 2, 3, 7, 8, 16, 64, 100, 127, 128, 255, 256, 1000, 32767, 65535, 2**31 - 1, -(2**31)]


def setup(box: Box) -> None:
    """Nothing to prepare."""


def case(rng: Random, box: Box) -> None:
    """Play a little, change the state, restore it into environments of both views, and play on."""
    game = envs_c.game(rng.choice(envs_c.games()))
    options = {name: rng.choice([option.low, option.high, option.default])
               for name, option in game.options.items() if rng.random() < 0.3}
    autoreset = rng.choice(["same_step", "next_step"])
    plays = [Play(game, N, view=view, seed=rng.getrandbits(32), options=options, autoreset=autoreset, num_threads=1)
             for view in ("features", "pixels")]
    dice = np.random.default_rng(rng.getrandbits(64))
    for play in plays:
        play.reset()
        for _ in range(rng.choice([0, 1, 20, 100])):
            play.step(dice.integers(0, len(play.core.actions), N))
    state = crafted(rng, plays[0].core.get_state())
    for play in plays:
        box.attempt(lambda play=play: play_on(play, state, dice))
    if any(guarded.damaged() for play in plays for guarded in play.guarded.values()):
        raise Fault(f"{game.name} wrote outside a buffer")


def play_on(play: Play, state: bytes, dice: np.random.Generator) -> None:
    """Restore `state`, which may raise InvalidState; then nothing may fail."""
    before = play.core.get_state()
    try:
        play.core.set_state(state)
    except envs_c.InvalidState:
        if play.core.get_state() != before:
            raise Fault(f"a refused state of {play.game.name} changed the environments") from None
        raise
    try:
        play.observe()
        for step in range(STEPS):
            if not step % 20:
                play.render(step // 20)
            play.step(dice.integers(0, len(play.core.actions), N))
        play.reset()
    except envs_c.NotReset:  # the state says so of one of its environments
        play.reset()


def crafted(rng: Random, state: bytes) -> bytes:
    """A changed copy of a snapshot; three of four have a right checksum."""
    if rng.random() < 0.25:
        return damaged(rng, state)
    start = len(MAGIC) + LENGTH
    end = start + int.from_bytes(state[len(MAGIC):start], "little")
    head, raw = json.loads(state[start:end]), bytearray(state[end:])
    if rng.random() < 0.1:
        head = changed(rng, head)
    else:
        for _ in range(rng.choice([1, 1, 2, 5, 30])):
            change(rng, raw, head["stride"])
    if isinstance(head, dict) and rng.random() < 0.98:
        head["crc32"] = zlib.crc32(raw)
    text = json.dumps(head).encode()
    return MAGIC + len(text).to_bytes(LENGTH, "little") + text + bytes(raw)


def change(rng: Random, raw: bytearray, stride: int) -> None:
    """Change one field of the environments' memory: mostly of a game's struct, sometimes of the engine's part before it."""
    at = rng.randrange(N) * stride + rng.randrange(0 if rng.random() < 0.1 else HEAD_SIZE, stride)
    kind = rng.randrange(5)
    if kind == 0:
        raw[at] ^= 1 << rng.randrange(8)
    elif kind == 1:
        raw[at] = rng.choice(EXTREMES) & 255
    elif kind == 2:
        at &= ~3
        raw[at:at + 4] = struct.pack("<I", rng.choice(EXTREMES) & 0xFFFFFFFF)
    elif kind == 3:
        at &= ~3
        raw[at:at + 4] = struct.pack("<f", rng.choice([float("nan"), float("inf"), float("-inf"), -1.0, 1e9, -1e9, 1e38]))
    else:
        end = min(len(raw), at + rng.choice([4, 16, 64]))
        raw[at:end] = rng.choice([b"\xff", b"\0", b"\x7f"]) * (end - at) if rng.random() < 0.5 else rng.randbytes(end - at)

"""The TIA: its two forms equal each other on any log, and ale-py's screen and collisions on programs."""

import numpy as np
import pytest

from envs_c.console.tia.probe import Chip
from tools.console_tia.program import REGISTERS, Program, assemble
from tools.console_tia.random_programs import OTHERS, random_program, shrink

FRAME = 262 * 228  # clocks


def random_log(rng: np.random.Generator, count: int) -> np.ndarray:
    """(count,) uint32: any registers and values; clocks that only grow, now and then far."""
    gaps = 3 * rng.integers(0, 20, count) + rng.integers(0, 3, count) * (rng.random() < 0.3)
    gaps = np.where(rng.random(count) < 0.1, rng.integers(0, 2000, count), gaps)
    clocks = np.minimum(np.cumsum(gaps), (1 << 18) - 1)
    names = rng.integers(0, 64, count)
    names = np.where(rng.random(count) < 0.8, [REGISTERS[OTHERS[i]] for i in rng.integers(0, len(OTHERS), count)], names)
    values = rng.integers(0, 256, count)
    for start in range(0, count - 2, 97):  # the stars
        names[start:start + 3] = REGISTERS["HMM0"], REGISTERS["HMOVE"], REGISTERS["HMM0"]
        values[start:start + 3] = 0x70, 0, 0x60
        clocks[start + 2:] = np.maximum(clocks[start + 2:], clocks[start + 1] + 63)
    clocks = np.minimum(clocks, (1 << 18) - 1)
    return (clocks << 14 | names << 8 | values).astype(np.uint32)


@pytest.mark.parametrize("seed", range(40))
def test_masks_equal_pixels_after_every_part_of_any_log(seed):
    rng, chips = np.random.default_rng(seed), (Chip(True), Chip(False))
    for _ in range(3):
        log = random_log(rng, int(rng.integers(5, 600)))
        done = 0
        while done < len(log):
            count = min(len(log), done + int(rng.integers(1, 100)))
            until, draw = int(log[count - 1] >> 14) + int(rng.integers(0, 300)), bool(rng.random() < 0.8)
            for chip in chips:
                chip.run(log[done:count], until, draw)
            assert chips[0].equals(chips[1])
            done = count
        for chip in chips:
            chip.end_frame(FRAME)


@pytest.mark.parametrize("seed", range(20))
def test_masks_equal_pixels_where_lines_without_writes_follow_each_other(seed):
    rng, chips = np.random.default_rng(seed), (Chip(True), Chip(False))
    for _ in range(4):
        clocks = np.minimum(np.cumsum(rng.integers(1, 4, 100) * 228 + rng.integers(-20, 30, 100)), FRAME)  # many in the blank
        names = [REGISTERS[name] for name in rng.choice(["COLUBK", "COLUPF", "COLUP0", "CTRLPF", "VBLANK", "PF1", "GRP0"], 100)]
        log = (clocks << 14 | np.array(names) << 8 | rng.integers(0, 256, 100)).astype(np.uint32)
        for chip in chips:
            chip.run(log, FRAME)
            chip.end_frame(FRAME)
        assert chips[0].equals(chips[1])


@pytest.mark.parametrize("seed", range(12))
def test_writes_that_change_nothing_can_be_left_out(seed):
    rng, whole, thrifty = np.random.default_rng(seed), Chip(False), Chip(False)
    for _ in range(4):
        count = 2000
        clocks = np.cumsum(9 + 3 * rng.integers(0, 10, count))  # a program's writes are three cycles apart
        names = rng.choice([REGISTERS[OTHERS[i]] for i in rng.integers(0, len(OTHERS), 12)], count)  # few, so that many repeat
        log = (clocks << 14 | names << 8 | rng.choice([0x00, 0x02, 0x31, 0xFF], count)).astype(np.uint32)
        whole.run(log, FRAME)
        thrifty.run_without_repeats(log, FRAME)
        assert whole.equals(thrifty)
        for chip in (whole, thrifty):
            chip.end_frame(FRAME)


@pytest.mark.parametrize("writes", [
    [("VDELBL", 1), ("GRP1", 0), ("ENABL", 2), ("GRP1", 0)], [("VDELP0", 1), ("GRP1", 0), ("GRP0", 0xFF), ("GRP1", 0)],
    [("VDELP1", 1), ("GRP0", 0), ("GRP1", 0xFF), ("GRP0", 0)],
], ids=["ball", "player 0", "player 1"])
def test_a_write_of_the_same_value_takes_over_what_was_written_in_between(writes):
    colours = [(name, 0x0E) for name in ("COLUP0", "COLUP1", "COLUPF")]
    log = [(60 * 228 + 30 * k) << 14 | REGISTERS[name] << 8 | value for k, (name, value) in enumerate(colours + writes)]
    whole, thrifty = Chip(False), Chip(False)
    whole.run(np.array(log, np.uint32), FRAME)
    thrifty.run_without_repeats(np.array(log, np.uint32), FRAME)
    assert whole.picture.any() and whole.equals(thrifty)


def test_a_picture_is_not_needed_for_collisions():
    rng, chips = np.random.default_rng(0), (Chip(False), Chip(False))
    for _ in range(20):
        log = random_log(rng, 300)
        chips[0].run(log, FRAME, True)
        chips[1].run(log, FRAME, False)
        assert [chips[0].read(address) for address in range(8)] == [chips[1].read(address) for address in range(8)]
        for chip in chips:
            chip.end_frame(FRAME)


def test_a_bad_program_is_refused():
    with pytest.raises(ValueError, match="cycles must be 0 or at least 2, not 1"):
        Program(262).wait(1)
    with pytest.raises(ValueError, match="must end by line 259"):
        assemble([("line",)] * 260)


def test_shrinking_keeps_what_fails():
    program = random_program(3)
    wanted = program.index(next(step for step in program[20:] if step[0] == "write"))
    small = shrink(program, lambda steps: steps[wanted] == program[wanted])
    assert [step for step in small[14:] if step[0] in ("write", "read")] == [program[wanted]]

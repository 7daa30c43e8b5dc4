"""The emulator's records: allocations, bytes that were written, and races, compared with a list of all accesses."""

import random

import numpy as np
import pytest
import torch
from ptx.launch import Written
from ptx.memory import Memory
from ptx.races import ATOMIC, READ, WRITE, Actors, Shadow


def test_an_address_belongs_to_one_live_allocation():
    memory, data = Memory(), np.zeros(16, np.uint8)
    first, second = memory.add(1000, data), memory.add(1016, data)
    wanted = {999: None, 1000: first, 1015: first, 1016: second, 1031: second, 1032: None}
    assert {address: memory.find(address) for address in wanted} == wanted
    for address in (985, 1008, 1031):
        with pytest.raises(ValueError, match="an allocation overlaps an allocation at 0x"):
            memory.add(address, data)
    memory.remove(1000)
    assert memory.find(1000) is None and memory.find(1016) is second


def test_torch_s_operations_write_what_they_write():
    before = torch.empty(4)
    with Written() as written:
        made, x = torch.zeros(4), torch.empty(4, 6)
        assert written.all(made, before) and not written.of(x).any()
        x[1:3, ::2] = 1.0
        wanted = np.zeros((4, 6), bool)
        wanted[1:3, ::2] = True
        assert np.array_equal(written.of(x).reshape(4, 6, 4).all(-1), wanted)
        torch.mul(x, 2, out=x)
        assert written.all(x)
        y = torch.empty_like(x)
        y.t().copy_(torch.ones(6, 4))
        assert written.all(y)


class AllAccesses:
    """Every access, and whether a new one races: the plain twin of Shadow."""

    def __init__(self):
        self.list = []

    def races(self, kind: int, start: int, width: int, thread, block, warp, block_time, warp_time) -> bool:
        return any(other[0] != thread and not (kind == before == READ) and not (kind == before == ATOMIC)
                   and begin < start + width and start < begin + size
                   and (other[1] != block or (other[3] == block_time and not (other[2] == warp and other[4] != warp_time)))
                   for before, begin, size, other in self.list)


KINDS = [(READ, WRITE), (READ, ATOMIC), (READ, READ, READ, WRITE), (WRITE, ATOMIC), (READ, READ, ATOMIC, WRITE)]


@pytest.mark.parametrize("kinds", KINDS, ids=str)
def test_races_are_those_of_a_list_of_all_accesses(kinds):
    """12 threads in 4 warps of 2 blocks; one of them accesses memory at a time, until two of them race."""
    choose = random.Random(0)
    for _ in range(400):
        shadow, plain, block_time, warp_time = Shadow(8, base=choose.choice([0, 8])), AllAccesses(), [0, 0], [0] * 4
        threads, words = choose.sample(range(choose.choice([6, 12])), choose.choice([2, 3, 6])), choose.choice([4, 8])
        for _ in range(40):
            if choose.random() < 0.5:
                warp = choose.randrange(4)
                for other in (2 * (warp // 2), 2 * (warp // 2) + 1) if choose.random() < 0.4 else (warp,):
                    warp_time[other] += 1
                    block_time[warp // 2] += other != warp
            thread, width, kind = choose.choice(threads), choose.choice([1, 4, 4, words]), choose.choice(kinds)
            start, warp = choose.randrange(0, words, width), thread // 3
            who = (thread, warp // 2, warp, block_time[warp // 2], warp_time[warp])
            found = shadow.note(kind, np.array([start]), width, Actors(*(np.array([value], np.int32) for value in who)))
            assert (found is not None) == plain.races(kind, start, width, *who)
            if found:
                break
            plain.list.append((kind, start, width, who))


@pytest.mark.parametrize(("kind", "races"), [(READ, False), (WRITE, True), (ATOMIC, False)])
def test_threads_that_access_one_address_at_once_race_if_they_write(kind, races):
    at_once = Actors(*(np.array(values, np.int32) for values in ([0, 1], [0, 0], [0, 0])), None, None)
    shadow = Shadow(16)
    assert (shadow.note(kind, np.array([4, 4]), 4, at_once) is not None) == races
    alone = Actors(*(np.array([value], np.int32) for value in (1, 0, 0)), None, None)
    assert (shadow.note(WRITE, np.array([4]), 4, alone) is not None)

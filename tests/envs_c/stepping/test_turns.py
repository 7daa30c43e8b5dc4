"""Turns without Python note the episodes that batches of steps note, however many end before they are taken."""

import ctypes
import itertools
import re
import sys

import numpy as np
import pytest

import envs_c
from envs_c.engine import turns as module
from envs_c.engine.turns import Turns

LAST = f"{2 * sys.maxsize + 1:,}"
EDGES = 0, 2, 5
START = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda what, where: 0)
WAIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda what: 0)


def bound() -> list[envs_c.Batch]:
    """Two batches of environments whose episodes end after two steps, or earlier, and one step resets."""
    env = envs_c.VecEnv(envs_c.game("cartpole"), EDGES[-1], seed=3, time_limit=2, num_threads=1)
    batches = []
    for lo, hi in itertools.pairwise(EDGES):
        outputs = np.zeros((3, hi - lo), np.float32)
        batches.append(env.bind(lo, hi, actions=np.arange(lo, hi, dtype=np.int32) % 2,
                                observation=np.zeros((hi - lo, *env.observation_shape), np.float32), reward=outputs[0],
                                terminated=outputs[1], truncated=outputs[2]))
        batches[-1].reset()
    return batches


def turns_of(batches) -> Turns:
    """The batches' turns on a device that has nothing to do."""
    launch, wait = (ctypes.cast(function, ctypes.c_void_p).value for function in (START, WAIT))
    return Turns(batches, [(1, 1, 1)] * len(batches), (launch, launch, wait))


@pytest.mark.parametrize(("wrong", "message"), [
    ({"batches": 5}, "batches must be a list or tuple, not 5"),
    ({"batches": [5, 5]}, "batches must be what VecEnv.bind returns"),
    ({"calls": 5}, "calls must be a list or tuple, not 5"),
    *[({"calls": [(1, 1, 1), value]}, f"calls[1] must be three addresses from 0 to {LAST}, not {value!r}")
      for value in (5, (1, 2), (1, 2, 3, 4), ("a", 2, 3), (1, -2, 3), (1, 2, 1 << 64))],
    *[({"functions": value}, f"functions must be three addresses from 1 to {LAST}, not {value!r}")
      for value in (5, (1, 2), ("a", 1, 1), (1, 0, 1), (-1, 1, 1))],
], ids=str)
def test_a_wrong_argument_is_named(wrong, message):
    arguments = {"batches": bound(), "calls": [(1, 1, 1)] * 2, "functions": (1, 1, 1)}
    with pytest.raises(envs_c.InvalidArgument, match=f"^{re.escape(message)}$"):
        Turns(**{**arguments, **wrong})


@pytest.mark.parametrize("steps", [1, 2, 3, 20])
def test_the_episodes_of_many_turns_are_those_of_their_steps(steps):
    turns, batches, found = turns_of(bound()), bound(), []
    assert turns.run(steps, [True, True]) is None
    for _ in range(steps):
        for batch in batches:
            columns = np.zeros(9), np.zeros(9, np.int32), np.zeros(9, np.int64)
            ended = batch.step()
            batch.copy_ended(*columns, 0)
            found += list(zip(*(column[:ended].tolist() for column in columns), strict=True))
    taken = turns.take_ended()
    assert list(zip(*(column.tolist() for column in taken), strict=True)) == found
    assert len(found) == (steps + 1) // 3 * EDGES[-1]
    assert [len(column) for column in turns.take_ended()] == [0, 0, 0]


def test_without_memory_for_ended_episodes_a_run_ends_with_an_error_and_loses_none(monkeypatch):
    def no_memory(*_):
        raise MemoryError

    def noted(turns) -> list[list]:
        """Of each environment, the returns and lengths."""
        columns = [column.tolist() for column in turns.take_ended()]
        return [[row[:2] for row in zip(*columns, strict=True) if row[2] == i] for i in range(EDGES[-1])]

    plain, turns = turns_of(bound()), turns_of(bound())
    plain.run(40, [True, True])
    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(module.np, "empty", no_memory)
        turns.run(20, [True, True])
    first = noted(turns)
    assert turns.run(10, [True, True]) is None
    for one, more, all_of in zip(first, noted(turns), noted(plain), strict=True):
        assert one and more and one + more == all_of[:len(one) + len(more)]

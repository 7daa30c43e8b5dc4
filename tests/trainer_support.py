"""What several tests of the trainer use."""

import time

import torch

STARTS = {  # name: (t, environment) of observations, of 9 steps of 5 environments, that are the first of an episode
    "never": [],
    "at the first step": [(0, 1)],
    "in the middle": [(4, 1), (4, 2)],
    "at the last step": [(8, 0)],
    "twice": [(2, 3), (6, 3)],
    "at every step": [(t, 2) for t in range(9)],
}


def same(one: dict, other: dict):
    """Two checkpoints' or networks' tensors are equal, bit for bit."""
    assert one.keys() == other.keys()
    for name, tensor in one.items():
        assert torch.equal(tensor, other[name]), name


def wait_for(condition, process, seconds=90):
    """Wait until `condition()`; fail where the process ends before that."""
    stop = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < stop, "waited too long"
        time.sleep(0.005)

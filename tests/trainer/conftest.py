"""What multiplies tiles of bfloat16: a test with one of these fixtures runs once with each unit that the CPU has."""

import pytest
import torch

from trainer.kernels.dense import tiled as dense
from trainer.kernels.heads import tiled as heads
from trainer.kernels.lstm import tiled as lstm
from trainer.kernels.pictures import tiled as pictures
from trainer.kernels.shared import tiles

MODULES = tiles, dense, heads, lstm, pictures


def multiply_with(name):
    """The kernels multiply with "vectors" or "amx" until the generator ends."""
    best = tiles.unit()
    if tiles.UNITS[name] > best:
        pytest.skip(f"this CPU does not multiply bfloat16 with {name}")
    for module in MODULES:
        module.use(tiles.UNITS[name])
    yield name
    for module in MODULES:
        module.use(best)


@pytest.fixture(params=tiles.UNITS)
def unit(request):
    """"vectors" or "amx"; the kernels multiply with it during the test."""
    yield from multiply_with(request.param)


@pytest.fixture(params=["float32", *tiles.UNITS])
def precision(request):
    """torch.float32, and torch.bfloat16 with each unit."""
    if request.param == "float32":
        yield torch.float32
    else:
        for _ in multiply_with(request.param):
            yield torch.bfloat16

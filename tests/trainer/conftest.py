"""What multiplies tiles of bfloat16: a test with this fixture runs once with each unit that the CPU has."""

import pytest

from trainer.kernels.dense import tiled as dense
from trainer.kernels.heads import tiled as heads
from trainer.kernels.lstm import tiled as lstm
from trainer.kernels.pictures import tiled as pictures
from trainer.kernels.shared import tiles

MODULES = tiles, dense, heads, lstm, pictures


@pytest.fixture(params=tiles.UNITS)
def unit(request):
    """"vectors" or "amx"; the kernels multiply with it during the test."""
    best = tiles.unit()
    if tiles.UNITS[request.param] > best:
        pytest.skip(f"this CPU does not multiply bfloat16 with {request.param}")
    for module in MODULES:
        module.use(tiles.UNITS[request.param])
    yield request.param
    for module in MODULES:
        module.use(best)

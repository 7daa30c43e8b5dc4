"""A plugin of pytest for kernels that were compiled with amx_in_c.h: they multiply with it, as on a CPU with AMX."""

from trainer.kernels.dense import tiled as dense
from trainer.kernels.heads import tiled as heads
from trainer.kernels.lstm import tiled as lstm
from trainer.kernels.pictures import tiled as pictures
from trainer.kernels.shared import tiles

for _module in (tiles, dense, heads, lstm, pictures):
    _module.use(tiles.UNITS["amx"])

"""A plugin of pytest for kernels that were compiled with amx_in_c.h: they multiply with it, as on a CPU with AMX."""

from trainer.kernels.tiled import dense, pictures, tiles

for _module in (tiles, dense, pictures):
    _module.use(tiles.UNITS["amx"])

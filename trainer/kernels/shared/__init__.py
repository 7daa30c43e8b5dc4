"""What several kernels share: the arithmetic of a row, products, tiles, addresses, checks of arguments, launches."""

from envs_c import isa

__path__[:] = isa.search(__path__)

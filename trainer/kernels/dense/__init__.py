"""A layer with ReLU."""

from envs_c import isa

__path__[:] = isa.search(__path__)

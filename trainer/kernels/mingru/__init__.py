"""Minimal gated recurrent units."""

from envs_c import isa

__path__[:] = isa.search(__path__)

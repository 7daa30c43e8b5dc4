"""Distributions of actions: discrete and continuous ones."""

from envs_c import isa

__path__[:] = isa.search(__path__)

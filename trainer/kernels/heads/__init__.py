"""The last layer of a policy."""

from envs_c import isa

__path__[:] = isa.search(__path__)

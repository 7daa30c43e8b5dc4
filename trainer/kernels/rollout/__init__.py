"""A rollout: its clock, storing a step and the actions, stacks of frames, advantages."""

from envs_c import isa

__path__[:] = isa.search(__path__)

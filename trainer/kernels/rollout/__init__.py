"""A rollout: its clock, storing a step and the actions, stacks of frames, advantages."""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.rollout.advantages import advantages  # noqa: E402
from trainer.kernels.rollout.clock import DeviceClock, HostClock  # noqa: E402
from trainer.kernels.rollout.frames import stack_frames  # noqa: E402
from trainer.kernels.rollout.step import Columns, Slab, cast_buffer, new_rows, sample_step, store_actions, store_step  # noqa: E402

__all__ = ["Columns", "DeviceClock", "HostClock", "Slab", "advantages", "cast_buffer", "new_rows", "sample_step",
           "stack_frames", "store_actions", "store_step"]

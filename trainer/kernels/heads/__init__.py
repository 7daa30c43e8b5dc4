"""The last layer of a policy."""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.heads.heads import heads, heads_step, widened  # noqa: E402

__all__ = ["heads", "heads_step", "widened"]

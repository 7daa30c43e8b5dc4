"""Distributions of actions: discrete and continuous ones."""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.actions.categorical import categorical, sample  # noqa: E402
from trainer.kernels.actions.gaussian import gaussian, gaussian_sample  # noqa: E402

__all__ = ["categorical", "gaussian", "gaussian_sample", "sample"]

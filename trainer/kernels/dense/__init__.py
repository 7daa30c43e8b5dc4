"""A layer with ReLU."""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.dense.dense import dense, dense_step, pack_dense  # noqa: E402

__all__ = ["dense", "dense_step", "pack_dense"]

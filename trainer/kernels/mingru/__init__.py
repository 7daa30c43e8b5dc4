"""Minimal gated recurrent units."""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.mingru.mingru import mingru, mingru_backward, mingru_forward  # noqa: E402

__all__ = ["mingru", "mingru_backward", "mingru_forward"]

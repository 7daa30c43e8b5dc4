"""Minimal gated recurrent units on a GPU (see shared/launch.py)."""

from pathlib import Path

from bridge.nvrtc import BLOCK
from trainer.kernels.shared.launch import NAMES, cuda_module

module = cuda_module(Path(__file__).parent / "cuda.cu")


def mingru(product, bias, keep, state, x, states, hidden):
    """`reference.mingru`, into states and hidden (None without x)."""
    steps, batch, n = states.shape
    module.launch(f"mingru_{NAMES[product.dtype]}", batch * min(n, BLOCK), product, bias, keep, state, x, states, hidden,
                  state.stride(0), states.stride(1), steps, batch, n)


def mingru_backward(product, bias, keep, state, states, x, dout, dproduct, dx):
    """`reference.mingru_backward`, into dproduct and dx (None without x)."""
    steps, batch, n = states.shape
    module.launch(f"mingru_backward_{NAMES[product.dtype]}", batch * min(n, BLOCK), product, bias, keep, state, states, x,
                  dout, dproduct, dx, state.stride(0), steps, batch, n)

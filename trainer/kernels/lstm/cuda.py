"""The kernels of one time step of an LSTM on a GPU (see shared/launch.py)."""

from pathlib import Path

from bridge.nvrtc import BLOCK
from trainer.kernels.shared.launch import NAMES, cuda_module

module = cuda_module(Path(__file__).parent / "cuda.cu")


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
    """`reference.lstm_forward`, into gates, c, h and h_next."""
    rows, n = c.shape
    wider = "_f32" if h.dtype != gx.dtype else ""
    module.launch(f"lstm_forward_{NAMES[gx.dtype]}{wider}", rows * min(n, BLOCK), gx, gh, bias, c_prev, keep, keep_next,
                  gates, c, h, h_next, rows, n)


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc, dgates, dc_prev):
    """`reference.lstm_backward`, into dgates (can be the same tensor as gates) and dc_prev (can be dc)."""
    rows, n = c.shape
    module.launch(f"lstm_backward_{NAMES[gates.dtype]}", rows * min(n, BLOCK), gates, c_prev, keep, c, dh, dh_next,
                  keep_next, dc, dgates, dc_prev, rows, n)

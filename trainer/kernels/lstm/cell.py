"""One time step of an LSTM after its matrix products: checks of the arguments, and the version that choose.py picks."""

from trainer.kernels.choose import CPU, CUDA, REFERENCE, run
from trainer.kernels.lstm import cpu, cuda, reference
from trainer.kernels.shared.arguments import check_rows

VERSIONS = {REFERENCE: reference, CPU: cpu, CUDA: cuda}


def lstm_forward(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next):
    """One time step of an LSTM: `reference.lstm_forward`.

    gx, gh: (B, 4n) float32 or bfloat16.
    bias: (4n,), c_prev: (B, n), keep, keep_next: (B,), all float32.
    gates: OUT (B, 4n) in the dtype of gx. It can be the same tensor as gx.
    c: OUT (B, n) float32. It can be the same tensor as c_prev.
    h, h_next: OUT (B, n) in the dtype of gx.

    The caller guarantees the shapes, and the dtypes of all tensors but gx.
    """
    check_rows(gx, gh, bias, c_prev, keep, keep_next, gates, c, h, h_next)
    run("lstm_forward", VERSIONS, (gx, gh, bias, c_prev, keep, keep_next), (gates, c, h, h_next))


def lstm_backward(gates, c_prev, keep, c, dh, dh_next, keep_next, dc):
    """The gradient of `lstm_forward`: `reference.lstm_backward`, in place.

    gates: (B, 4n) float32 or bfloat16, IN activated gates, OUT the gradient of the pre-activations.
    c_prev, c: (B, n) float32.
    keep, keep_next: (B,) float32.
    dh, dh_next: (B, n) in the dtype of gates.
    dc: (B, n) float32, IN the gradient of c from the next step, OUT the gradient of c_prev * keep.

    The caller guarantees the shapes, and the dtypes of all tensors but gates.
    """
    check_rows(gates, c_prev, keep, c, dh, dh_next, keep_next, dc)
    run("lstm_backward", VERSIONS, (gates, c_prev, keep, c, dh, dh_next, keep_next, dc), (gates, dc))

"""An LSTM over whole sequences on a GPU: sequence.cu does all steps of the recurrence in one kernel.

It is in bfloat16, for GPUs of compute capability 8.0 or higher and 32, 64 or 128 units; others do single steps (steps.py).
"""

from pathlib import Path

import torch

from bridge.nvrtc import CudaModule
from trainer.kernels.choose import REFERENCE, pick, write
from trainer.kernels.lstm import reference
from trainer.kernels.lstm.steps import Steps
from trainer.kernels.shared.arguments import check
from trainer.kernels.shared.launch import SHARED

UNITS = (32, 64, 128)  # with more, the recurrent weights do not fit into a multiprocessor's registers
CAPABILITY = (8, 0)    # of the oldest GPUs that multiply in bfloat16
SEQUENCES = 16         # of a block
THREADS = 4            # of a block, for each unit

module = CudaModule(Path(__file__).parent / "sequence.cu", [SHARED / "rows.h"])


def supports(like, dtype: torch.dtype, inputs: int, units: int) -> bool:
    """True if there are kernels for this dtype and number of units on the GPU of `like`."""
    return dtype == torch.bfloat16 and units in UNITS and multiplies_bf16(like.device)


def multiplies_bf16(device: torch.device) -> bool:
    """True if a GPU can run sequence.cu."""
    return torch.cuda.get_device_capability(device) >= CAPABILITY


class Recurrence(Steps):
    """Whole sequences on a GPU: one matrix product for all inputs, and one kernel for all steps of the recurrence."""

    supports = staticmethod(supports)

    def forward(self, x, weight_x, weight_h, bias, keeps, state, hidden):
        self.begin(state, keeps)
        torch.mm(x.flatten(0, 1), weight_x.t(), out=self.gates.flatten(0, 1))
        lstm_recurrence(self.gates, weight_h, bias, keeps, self.gates, self.inputs, self.cells, hidden)
        return x, weight_x, weight_h, keeps

    def backward(self, saved, dhidden, dx):
        x, weight_x, weight_h, keeps = saved
        lstm_recurrence_backward(self.gates, weight_h, keeps, self.cells, dhidden, self.gates)
        return self.gradients(x, weight_x, dx)


def lstm_recurrence(products, weight_h, bias, keep, gates, inputs, cells, hidden):
    """All T steps of an LSTM after the input product: `reference.lstm_recurrence`. Only if `supports`.

    products: (T, B, 4n) bfloat16, x @ weight_x.T.
    weight_h: (4n, n) bfloat16.
    bias: (4n,) float32.
    keep: (T + 1, B) float32.
    gates: OUT (T, B, 4n) bfloat16. It can be the same tensor as products.
    inputs: (T + 1, B, n) bfloat16, the hidden states times keep: IN row 0, OUT the others.
    cells: (T + 1, B, n) float32: IN row 0, OUT the others.
    hidden: OUT (T, B, n) bfloat16.
    """
    if pick("lstm_sequence", products) == REFERENCE:
        results = reference.lstm_recurrence(products, weight_h, bias, keep, inputs[0], cells[0])
        write((gates, inputs, cells, hidden), results)
        return
    _check(weight_h, keep, cells, {"products": products, "gates": gates}, hidden=hidden)
    check(products, torch.float32, weight_h.shape[:1], bias=bias)
    check(products, torch.bfloat16, cells.shape, inputs=inputs)
    _launch("lstm_recurrence", products, weight_h, bias, keep, gates, inputs, cells, hidden)


def lstm_recurrence_backward(gates, weight_h, keep, cells, dhidden, dgates):
    """The gradient of `lstm_recurrence`: `reference.lstm_recurrence_backward`.

    gates, weight_h, keep, cells: as for `lstm_recurrence`, after it.
    dhidden: (T, B, n) bfloat16.
    dgates: OUT (T, B, 4n) bfloat16, the gradient of the pre-activations. It can be the same tensor as gates.
    """
    if pick("lstm_sequence", gates) == REFERENCE:
        write((dgates,), reference.lstm_recurrence_backward(gates, weight_h, keep, cells, dhidden))
        return
    _check(weight_h, keep, cells, {"gates": gates, "dgates": dgates}, dhidden=dhidden)
    _launch("lstm_recurrence_backward", gates, weight_h, keep, cells, dhidden, dgates)


def _check(weight_h, keep, cells, gates: dict, **states):
    """Check the tensors of both passes."""
    first, n = next(iter(gates.values())), weight_h.shape[1]
    if not supports(first, first.dtype, 0, n):
        raise ValueError(f"there is no kernel for the recurrence of {first.dtype} on '{first.device}' with {n} units: "
                         "trainer.kernels.lstm does single steps for them")
    steps, batch = first.shape[:2]
    check(first, torch.bfloat16, (steps, batch, 4 * n), **gates)
    check(first, torch.bfloat16, (4 * n, n), weight_h=weight_h)
    check(first, torch.float32, (steps + 1, batch), keep=keep)
    check(first, torch.float32, (steps + 1, batch, n), cells=cells)
    check(first, torch.bfloat16, (steps, batch, n), **states)


def _launch(name: str, gates, weight_h, *others):
    """Launch a kernel with a block for each 16 sequences."""
    (steps, batch, _), n = gates.shape, weight_h.shape[1]
    module.launch(f"{name}_{n}", -(-batch // SEQUENCES) * THREADS * n, gates, weight_h, *others, steps, batch,
                  block=THREADS * n)

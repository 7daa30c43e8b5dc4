"""The recurrence of an LSTM over whole sequences on a GPU: cuda/sequence.cu, in place of a product and a kernel for each step.

`takes_recurrence` says for which GPUs and sizes it is there; for others `trainer.policy.lstm` does single steps. The checks and
errors are those of dispatch.py, the launches those of cuda/rows.py.
"""

from pathlib import Path

import torch

from bridge.nvrtc import CudaModule
from trainer.kernels import reference
from trainer.kernels.arguments import check
from trainer.kernels.choose import CUDA, REFERENCE, pick, write

_FOLDER = Path(__file__).parent
UNITS = (32, 64, 128)  # with more, the recurrent weights do not fit into a multiprocessor's registers
CAPABILITY = (8, 0)    # of the oldest GPUs that multiply in bfloat16
SEQUENCES = 16         # of a block
THREADS = 4            # of a block, for each unit

module = CudaModule(_FOLDER / "cuda" / "sequence.cu", [_FOLDER / "rows.h"])


def takes_recurrence(x, units: int) -> bool:
    """True if `lstm_recurrence` supports an LSTM with `units` in the dtype of x on its device: bfloat16 on a GPU of compute
    capability 8.0 or higher, with 32, 64 or 128 units."""
    return x.dtype == torch.bfloat16 and units in UNITS and pick("lstm_recurrence", x) == CUDA and multiplies_bf16(x.device)


def multiplies_bf16(device: torch.device) -> bool:
    """True if a GPU can run sequence.cu."""
    return torch.cuda.get_device_capability(device) >= CAPABILITY


def lstm_recurrence(products, weight_h, bias, keep, gates, inputs, cells, hidden):
    """All T steps of an LSTM after the input product: `reference.lstm_recurrence`. Only if `takes_recurrence`.

    products: (T, B, 4n) bfloat16, x @ weight_x.T.
    weight_h: (4n, n) bfloat16.
    bias: (4n,) float32.
    keep: (T + 1, B) float32.
    gates: OUT (T, B, 4n) bfloat16. It can be the same tensor as products.
    inputs: (T + 1, B, n) bfloat16, the hidden states times keep: IN row 0, OUT the others.
    cells: (T + 1, B, n) float32: IN row 0, OUT the others.
    hidden: OUT (T, B, n) bfloat16.
    """
    if pick("lstm_recurrence", products) == REFERENCE:
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
    if pick("lstm_recurrence", gates) == REFERENCE:
        write((dgates,), reference.lstm_recurrence_backward(gates, weight_h, keep, cells, dhidden))
        return
    _check(weight_h, keep, cells, {"gates": gates, "dgates": dgates}, dhidden=dhidden)
    _launch("lstm_recurrence_backward", gates, weight_h, keep, cells, dhidden, dgates)


def _check(weight_h, keep, cells, gates: dict, **states):
    """Check the tensors of both passes."""
    first, n = next(iter(gates.values())), weight_h.shape[1]
    if not takes_recurrence(first, n):
        raise ValueError(f"there is no kernel for the recurrence of {first.dtype} on '{first.device}' with {n} units; call "
                         "trainer.kernels.takes_recurrence first, and otherwise do single steps")
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

import torch
from torch import Tensor

def lstm_forward(
    gx: Tensor, gh: Tensor, bias: Tensor, c_prev: Tensor, keep: Tensor, keep_next: Tensor,
    gates: Tensor, c: Tensor, h: Tensor, h_next: Tensor,
) -> None: ...
def lstm_backward(
    gates: Tensor, c_prev: Tensor, keep: Tensor, c: Tensor, dh: Tensor, dh_next: Tensor, keep_next: Tensor, dc: Tensor,
    dgates: Tensor, dc_prev: Tensor,
) -> None: ...
def takes_sequences(dtype: torch.dtype, inputs: int, units: int) -> bool: ...
def lstm_sequence(
    x: Tensor, weight_x: Tensor, weight_h: Tensor, bias: Tensor, keep: Tensor,
    gates: Tensor, recurrent: Tensor, cells: Tensor, hidden: Tensor,
) -> None: ...
def lstm_sequence_backward(
    x: Tensor, weight_x: Tensor, weight_h: Tensor, keep: Tensor, gates: Tensor, recurrent: Tensor, cells: Tensor,
    dhidden: Tensor, dx: Tensor | None, dweights: Tensor,
) -> None: ...

from typing import Final

from torch import Tensor

AVAILABLE: Final[bool]

def takes(inputs: int, units: int) -> bool: ...
def pack(weight_x: Tensor, weight_h: Tensor, packed: Tensor) -> None: ...
def lstm_step(
    x: Tensor, packed: Tensor, bias: Tensor, keep: Tensor, keep_next: Tensor, h: Tensor, c: Tensor, hidden: Tensor,
) -> None: ...
def lstm_sequence(
    x: Tensor, weight_x: Tensor, weight_h: Tensor, bias: Tensor, keep: Tensor, h: Tensor, cells: Tensor, hidden: Tensor,
) -> None: ...
def lstm_sequence_backward(
    x: Tensor, weight_x: Tensor, weight_h: Tensor, bias: Tensor, keep: Tensor, h: Tensor, cells: Tensor, hidden: Tensor,
    dhidden: Tensor, dx: Tensor | None, dweight_x: Tensor, dweight_h: Tensor, dbias: Tensor,
) -> None: ...

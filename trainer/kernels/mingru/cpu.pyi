from torch import Tensor

def mingru(
    product: Tensor, bias: Tensor, keep: Tensor, state: Tensor, x: Tensor | None, states: Tensor, hidden: Tensor | None,
) -> None: ...
def mingru_backward(
    product: Tensor, bias: Tensor, keep: Tensor, state: Tensor, states: Tensor, x: Tensor | None, dout: Tensor,
    dproduct: Tensor, dx: Tensor | None,
) -> None: ...

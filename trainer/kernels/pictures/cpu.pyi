from collections.abc import Sequence

from torch import Tensor

FAST: bool

def keep(pictures: Tensor) -> Tensor | None: ...
def forward(pictures: Tensor, weights: Sequence[Tensor], bias: Tensor, features: Tensor, kept: Tensor | None) -> None: ...
def backward(
    pictures: Tensor, weights: Sequence[Tensor], back: Sequence[Tensor], bias: Tensor, features: Tensor, kept: Tensor | None,
    dfeatures: Tensor,
) -> Tensor: ...

from collections.abc import Sequence

from torch import Tensor

def forward(pictures: Tensor, weights: Sequence[Tensor], bias: Tensor, features: Tensor) -> None: ...
def backward(
    pictures: Tensor, weights: Sequence[Tensor], back: Sequence[Tensor], bias: Tensor, features: Tensor, dfeatures: Tensor,
) -> Tensor: ...

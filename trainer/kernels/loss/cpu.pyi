from torch import Tensor

def ppo_loss(
    out: Tensor, stored: tuple[Tensor | None, ...], numbers: Tensor, statistics: Tensor | None, weight: Tensor | None,
    entropy_coef: float, clip: float, value_clip: float, value_coef: float, scale: float, dout: Tensor, parts: Tensor,
    ratios: Tensor | None,
) -> None: ...
def take(stored: Tensor, numbers: Tensor, out: Tensor) -> None: ...

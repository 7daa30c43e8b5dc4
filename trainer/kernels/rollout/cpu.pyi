from typing import SupportsInt

from torch import Tensor

def advantages(
    reward: Tensor, terminated: Tensor, truncated: Tensor, valid: Tensor, value: Tensor, gamma: float, lam: float,
    ratio: Tensor | None, rho_clip: float, c_clip: float, out: Tensor,
) -> None: ...
def stack_frames(
    frames: Tensor, start: Tensor, t: SupportsInt, scale: float, steps: int, count: int, out: Tensor,
) -> None: ...

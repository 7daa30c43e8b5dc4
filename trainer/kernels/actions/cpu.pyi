from typing import SupportsInt

from torch import Tensor

def sample(
    logits: Tensor, action_mask: Tensor | None, seed: int, first: int, step: SupportsInt, actions: int, hold: int,
    held: Tensor | None, action: Tensor, log_prob: Tensor, value: Tensor | None,
) -> None: ...
def categorical(logits: Tensor, action_mask: Tensor | None, action: Tensor, log_prob: Tensor, entropy: Tensor) -> None: ...
def categorical_backward(
    logits: Tensor, action_mask: Tensor | None, action: Tensor, dlog_prob: Tensor, dentropy: Tensor, dlogits: Tensor,
) -> None: ...
def gaussian_sample(
    mean: Tensor, log_deviation: Tensor, seed: int, first: int, step: SupportsInt, hold: int,
    held: Tensor | None, action: Tensor, log_prob: Tensor, value: Tensor | None,
) -> None: ...
def gaussian(mean: Tensor, log_deviation: Tensor, action: Tensor, log_prob: Tensor, entropy: Tensor) -> None: ...
def gaussian_backward(
    mean: Tensor, log_deviation: Tensor, action: Tensor, dlog_prob: Tensor, dentropy: Tensor,
    dmean: Tensor, dlog_deviation: Tensor,
) -> None: ...

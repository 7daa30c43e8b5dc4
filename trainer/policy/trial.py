"""A trial of a module or a function of the user's own before a policy uses it."""

from collections.abc import Callable
from typing import Any

import torch

from trainer.errors import SettingError
from trainer.imports import describe, user_errors

ROWS = 2  # rows of the first call; a second call has twice as many, to see that they do not change the first ones


@torch.no_grad()
def try_rows(setting: str, path: str, call: Callable[[torch.Tensor], Any], shape: tuple[int, ...], precision: torch.dtype,
             wanted: tuple[int, ...], meaning: str, *, more: bool = False) -> torch.Tensor:
    """Call a module of the user's own with random numbers from 0 to 1, and check the result.

    setting: the setting with its import path, for error messages.
    path: the import path.
    call: takes a tensor (B, *shape) of dtype `precision`, and gives one of shape (B, *wanted).
    meaning: of that shape, such as "(batch, encoder_size)", for error messages.
    more: the shape must be (B, *wanted, ...), with one or more dimensions of any size at its end.

    Returns the result for 2 * ROWS rows. Raises SettingError if the call fails, or the result has another shape or is not
    finite. Also if the result for a row depends on the other rows (as with batch normalization) or differs between two calls
    (as with dropout): the policy could not learn from its own rollouts.
    """
    x = torch.rand(2 * ROWS, *shape, generator=torch.Generator().manual_seed(0)).to(precision)
    with user_errors(setting, path, f"calling it with a tensor of shape {(ROWS, *shape)}"):
        few, many = call(x[:ROWS]), call(x)
    for out, rows in ((few, ROWS), (many, 2 * ROWS)):
        known = 1 + len(wanted)
        if not isinstance(out, torch.Tensor) or out.shape[:known] != (rows, *wanted) or (out.ndim > known) != more:
            given = f"the shape {tuple(out.shape)}" if isinstance(out, torch.Tensor) else describe(out)
            needed = str((rows, *wanted)).replace(")", ", ...)" if more else ")")
            raise SettingError(setting, f"{path!r} must turn a tensor of shape {(rows, *shape)} into one of shape {needed}, "
                                        f"{meaning}, not {given}")
    if not torch.isfinite(many).all():
        raise SettingError(setting, f"{path!r} must give finite numbers for inputs between 0 and 1")
    small, large = few.float(), many[:ROWS].float()
    tolerance = 1e-3 if precision == torch.float32 else 5e-2
    if not (small - large).abs().max() <= tolerance * large.abs().max():
        raise SettingError(setting, f"{path!r} must give the same result for an input in each call and in any batch; leave out "
                                    "dropout and batch normalization (LayerNorm and GroupNorm are fine)")
    return many

"""Groups of named tensors: a group is stored in a larger dictionary under a prefix."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch


def with_prefix(prefix: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The same tensors, each name preceded by `prefix`."""
    return {prefix + name: tensor for name, tensor in tensors.items()}


def under(prefix: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors whose names begin with `prefix`, named without it: the inverse of `with_prefix`."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def form(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """A tensor without memory, for `require_forms`."""
    return torch.empty(tuple(shape), dtype=dtype, device="meta")


def require_forms(tensors: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor], prefix: str = "") -> None:
    """Check that `tensors` has the names, shapes and dtypes of `wanted`.

    prefix: of the names in the error message.
    Raises ValueError that names the first tensor that is missing, unknown, or of another shape or dtype.
    """
    for name in sorted(tensors.keys() | wanted.keys()):
        if name not in tensors:
            raise ValueError(f"it must have {prefix}{name}, which is missing")
        if name not in wanted:
            raise ValueError(f"it must not have {prefix}{name}")
        given, needed = ([str(tuple(one.shape)), str(one.dtype).removeprefix("torch.")]
                         for one in (tensors[name], wanted[name]))
        if given != needed:
            raise ValueError(f"{prefix}{name} must be {' '.join(needed)}, not {' '.join(given)}")

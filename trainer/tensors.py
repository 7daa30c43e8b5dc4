"""Groups of named tensors: a group is stored in a larger dictionary under a prefix."""

from collections.abc import Mapping
from typing import Any


def with_prefix(prefix: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The same tensors, each name preceded by `prefix`."""
    return {prefix + name: tensor for name, tensor in tensors.items()}


def under(prefix: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    """The tensors whose names begin with `prefix`, named without it: the inverse of `with_prefix`."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}

"""What an aten operation does with its arguments, by its schema."""

import functools
from typing import NamedTuple

import torch

aten = torch.ops.aten
VIEWS = {aten._unsafe_view.default, aten._reshape_alias.default}  # views, though their schemas do not say it
WAITS = {"_local_scalar_dense", "is_nonzero", "nonzero", "masked_select", "equal", "_unique2", "unique_dim",
         "repeat_interleave", "allclose"}


class Schema(NamedTuple):
    """is_view: the result shares an argument's memory. mutated: positions and names of the arguments that are written."""

    is_view: bool
    mutated: tuple[tuple[int, str], ...]

    def mutated_of(self, args, kwargs) -> list:
        return [kwargs[name] if name in kwargs else args[place] for place, name in self.mutated
                if name in kwargs or place < len(args)]


@functools.cache
def schema_of(operation) -> Schema:
    """The schema of an operation."""
    schema = operation._schema
    written = tuple((place, one.name) for place, one in enumerate(schema.arguments)
                    if one.alias_info and one.alias_info.is_write)
    shares = any(one.alias_info and not one.alias_info.is_write for one in schema.returns)
    return Schema(shares or operation in VIEWS, written)


@functools.cache
def is_allocation(operation) -> bool:
    """True for torch.empty and the like."""
    return operation._schema.name.removeprefix("aten::").startswith(("empty", "new_empty"))


def waits_for_device(operation, args) -> bool:
    """True if the host needs a number, or the size of the result, from the device."""
    name = operation._schema.name.removeprefix("aten::")
    if name in ("index", "index_put", "index_put_"):
        return any(one is not None and one.dtype in (torch.bool, torch.uint8) for one in args[1])
    return name in WAITS

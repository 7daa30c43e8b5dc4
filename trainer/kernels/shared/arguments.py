"""Checks of the arguments of kernels."""

import torch


def check(like, dtype: torch.dtype, shape: tuple, *, strides: bool = True, **tensors):
    """Check dtype, shape, the device of `like`, and contiguity if `strides`."""
    for name, tensor in tensors.items():
        if tensor is None:
            continue
        if tensor.dtype != dtype:
            raise TypeError(f"{name} must be {dtype}, not {tensor.dtype}")
        if tensor.shape != shape:
            raise ValueError(f"{name} must have the shape {tuple(shape)}, not {tuple(tensor.shape)}")
        if tensor.device != like.device:
            raise ValueError(f"{name} must be on '{like.device}' like the other tensors, not on '{tensor.device}'")
        if strides and not tensor.is_contiguous():
            raise ValueError(f"{name} must be contiguous, not of shape {tuple(tensor.shape)} with strides {tensor.stride()}")


def check_rows(first, *others):
    """The checks of each time step: one device, contiguity, and the dtype of `first`.

    Shapes are not checked: with 64 environments this would take a third of the kernel's time.
    """
    check_dtype("a kernel's tensor", first, torch.float32, torch.bfloat16)
    device = first.device
    for tensor in (first, *others):
        if not tensor.is_contiguous():
            raise ValueError(f"a kernel's tensors must be contiguous, not of shape {tuple(tensor.shape)} with strides "
                             f"{tensor.stride()}")
        if tensor.device != device:
            raise ValueError(f"a kernel's tensors must be on one device, not on '{device}' and '{tensor.device}'")


def check_dtype(name: str, tensor, *dtypes: torch.dtype):
    if tensor.dtype not in dtypes:
        raise TypeError(f"{name} must be {' or '.join(map(str, dtypes))}, not {tensor.dtype}")


def check_counter(name: str, counter, like):
    """Check a counter: an int, or a tensor (1,) in the device's memory for captured graphs."""
    if isinstance(counter, torch.Tensor):
        check(like, torch.int64, (1,), **{name: counter})

"""What environments on a device ask of the caller's tensors."""

import torch


def require_tensor(name: str, tensor: torch.Tensor, dtype: torch.dtype, shape: tuple[int, ...], device: torch.device):
    """Raises ValueError that names the tensor if a kernel cannot use its memory as it is."""
    if tensor.shape != shape or tensor.dtype != dtype or tensor.device != device or not tensor.is_contiguous():
        raise ValueError(f"{name} must be a contiguous {shape} {dtype} on {device}, not {tuple(tensor.shape)} "
                         f"{tensor.dtype} on {tensor.device} with strides {tensor.stride()}")

"""What the plain versions of several kernels share."""

import torch


def wide(x):
    """x in float32, or in float64 if it already is."""
    return x.to(torch.promote_types(x.dtype, torch.float32))

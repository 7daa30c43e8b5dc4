"""Carries observations from games to the learner and actions back. Knows buffers and batches, but no learning.

The names below are loaded on first use. `import bridge.errors` runs this file too, and it must not load torch: the command
line catches these errors before it knows whether it needs torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors: the same names
    from bridge.device import HostDevice, open_device, why_no_gpu
    from bridge.errors import BridgeError, DeviceError, EnvironmentFailed, TransferError
    from bridge.gymnasium_source import GymnasiumSource
    from bridge.pipeline import Pipeline
    from bridge.slab import Slab
    from bridge.source import GameSource

_HOMES = {"BridgeError": "errors", "DeviceError": "errors", "EnvironmentFailed": "errors", "TransferError": "errors",
          "HostDevice": "device", "open_device": "device", "why_no_gpu": "device", "Pipeline": "pipeline", "Slab": "slab",
          "GameSource": "source", "GymnasiumSource": "gymnasium_source"}

__all__ = ["BridgeError", "DeviceError", "EnvironmentFailed", "GameSource", "GymnasiumSource", "HostDevice", "Pipeline", "Slab",
           "TransferError", "open_device", "why_no_gpu"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bridge' has no attribute {name!r}; it has {', '.join(_HOMES)}")
    return getattr(importlib.import_module(f"bridge.{_HOMES[name]}"), name)

"""Carries observations to the learner and actions back; knows buffers and batches, no learning and no rules of any game.

Names are loaded when they are asked for, so that `bridge.errors` can be imported without torch.
"""

import importlib

_HOMES = {"BridgeError": "errors", "DeviceError": "errors", "EnvironmentFailed": "errors", "TransferError": "errors",
          "HostDevice": "device", "open_device": "device", "why_not": "device", "Pipeline": "pipeline", "Slab": "slab",
          "GameSource": "source", "GymnasiumSource": "source"}

__all__ = list(_HOMES)


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'bridge' has no attribute {name!r}; it has {', '.join(_HOMES)}")
    return getattr(importlib.import_module(f"bridge.{_HOMES[name]}"), name)

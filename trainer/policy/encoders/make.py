"""Make an encoder by its name, or by the import path of one of the user's own."""

import torch

from bridge.layout import Layout
from trainer.errors import SettingError
from trainer.policy.encoders.bits import Bits
from trainer.policy.encoders.cells import Cells
from trainer.policy.encoders.custom import Custom
from trainer.policy.encoders.encoder import Encoder
from trainer.policy.encoders.mlp import Mlp
from trainer.policy.encoders.parts import Parts
from trainer.policy.encoders.pictures import Board, Conv, choose_convolutions
from trainer.policy.encoders.pixels import Pixels
from trainer.policy.encoders.transformed import Transformed, find_transform

# The encoder class for each value of the setting `encoder`.
ENCODERS: dict[str, type[Encoder]] = {"mlp": Mlp, "conv": Conv, "pixels": Pixels, "board": Board, "cells": Cells,
                                     "bits": Bits}


def choose_encoder(shape: tuple[int, ...]) -> str:
    """The encoder meant by "auto" for observations of `shape`: "conv" for pictures, "board" for planes of small boards, else
    "mlp"."""
    return choose_convolutions(shape) or "mlp"


def choose_plain_encoder(shape: tuple[int, ...]) -> str:
    """The encoder meant by "auto" in runs with the setting observations "plain": only grey pictures are pictures."""
    chosen = choose_encoder(shape)
    return "mlp" if (chosen == "conv" and len(shape) > 2) or (chosen == "board" and max(shape[1:]) > 32) else chosen


def make_encoder(kind: str, shape: tuple[int, ...], frames: int, size: int,
                 precision: torch.dtype = torch.float32, scale: float = 1.0, transform: str | None = None,
                 layout: Layout | None = None) -> Encoder:
    """A new encoder.

    kind: a name in ENCODERS, "auto" (see `choose_encoder`), or an import path "package.module:Name" (see custom.py).
    shape: of one observation.
    frames: K, number of observations read at once.
    size: width of the output.
    precision: dtype of the products, in which code of the user's own is tried.
    scale: factor by which observations are multiplied before the encoder reads them.
    transform: import path of a function that the observations pass before the encoder (see transformed.py).
    layout: of observations of several parts; such rows are read by `Parts`, or by an encoder given by import path.

    Raises SettingError if there is no such encoder, or it cannot read such observations.
    """
    if transform is not None:
        function, (frames, *changed) = find_transform(transform, (frames, *shape), precision)
        layout = layout if tuple(changed) == tuple(shape) else None
        return Transformed(function, make_encoder(kind, tuple(changed), frames, size, precision, scale, layout=layout))
    if ":" in kind:
        return Custom(kind, (frames, *shape), size, precision, layout)
    if layout is not None:
        if kind not in ("auto", "mlp"):
            raise SettingError("encoder", "must be auto, mlp or an import path for observations that are no single Box, not "
                                          f"{kind!r}")
        return Parts((frames, *shape), size, layout, flat=kind == "mlp")
    if kind == "auto":
        kind = choose_encoder(shape)
    if kind not in ENCODERS:
        raise SettingError("encoder", f"must be auto, {', '.join(ENCODERS)}, or the import path of a torch.nn.Module of your "
                                      f"own, such as my_encoders:Small, not {kind!r}")
    encoder = ENCODERS[kind]
    reason = encoder.why_unfit(shape, scale)
    if reason:
        raise SettingError("encoder", f"must fit the observations: {reason}; use --encoder {choose_encoder(shape)}")
    made = encoder((frames, *shape), size, scale)
    made.precision = precision
    return made

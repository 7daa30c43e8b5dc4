"""Three convolutions over pictures of bytes in bfloat16, on CPUs that multiply it, with their gradients.

tiled.pyx does the work. The arithmetic is that of torch's conv2d and ReLU on scaled bytes, with outputs rounded to
bfloat16. The weights are those of torch.nn.Conv2d in float32: 8 x 8 pixels with strides of 4 to 16 channels, 4 x 4 with strides
of 2 to 32, 3 x 3 to 32.
"""

from collections.abc import Sequence

import torch

from trainer.kernels.choose import TILED, pick
from trainer.kernels.pictures import tiled
from trainer.kernels.shared.arguments import check

CHANNELS = (16, 32, 32)
LARGEST = 252  # pixels a side: a picture's numbers fit the second cache
PLANES = 16    # at most


def reads_pictures(like, shape: tuple[int, ...], precision: torch.dtype) -> bool:
    """True if `pictures` reads bytes of this `shape`, (planes, height, width), on the device of `like`.

    precision: of the products.

    It does so in bfloat16 on a CPU that multiplies it, with sides of 8k + 4 pixels from 36 to 252, and at most 16 planes. Other
    pictures are scaled in float32 or bfloat16 before `convolve` reads them.
    """
    planes, *sides = shape
    fits = 1 <= planes <= PLANES and all(36 <= side <= LARGEST and side % 8 == 4 for side in sides)
    version = pick("pictures", like, lambda version: version == TILED and precision == torch.bfloat16 and fits)
    return version == TILED


def picture_features(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """The shape of the features of pictures of `shape`: (rows, columns, channels)."""
    return shape[1] // 8 - 3, shape[2] // 8 - 3, CHANNELS[2]


def pack_pictures(first, second, third, biases: Sequence[torch.Tensor], scale: float) -> dict[str, torch.Tensor]:
    """The weights as `pictures_step` reads them. first, second, third: of the convolutions; scale: factor of the bytes."""
    packed = [_pack(one) for one in (_matrix_of_first(first) * scale, _matrix_of_second(second), _matrix_of_third(third))]
    return {**{f"packed{k}": one for k, one in enumerate(packed)}, "biases": torch.cat([one.float() for one in biases])}


def pictures_step(x, packed: dict[str, torch.Tensor]):
    """The features of pictures x (B, planes, height, width) uint8, without gradients: (B, rows, columns, 32) bfloat16.

    packed: result of `pack_pictures`.
    """
    _require(x)
    return _features(x, packed)


def _features(x, packed: dict[str, torch.Tensor], kept: torch.Tensor | None = None):
    """kept: OUT; result of `tiled.keep`."""
    weights = [packed[f"packed{k}"] for k in range(3)]
    for k, size in enumerate((1024 * x.shape[1], 8192, 9216)):
        check(x, torch.bfloat16, (size,), **{f"packed{k}": weights[k]})
    check(x, torch.float32, (sum(CHANNELS),), biases=packed["biases"])
    out = x.new_empty(len(x), *picture_features(x.shape[1:]), dtype=torch.bfloat16)
    tiled.forward(x, weights, packed["biases"], out, kept)
    return out


def pictures(x, weights: Sequence[torch.Tensor], biases: Sequence[torch.Tensor], scale: float):
    """The features of pictures, differentiable once by the weights and biases.

    x: (B, planes, height, width) uint8.
    weights, biases: of the three convolutions, float32.
    scale: factor of the bytes.
    Returns (B, rows, columns, 32) bfloat16.
    """
    _require(x)
    planes = x.shape[1]
    shapes = (16, planes, 8, 8), (32, 16, 4, 4), (32, 32, 3, 3)
    for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        check(x, torch.float32, shapes[k], **{f"weight {k}": weight})
        check(x, torch.float32, shapes[k][:1], **{f"bias {k}": bias})
    return _Pictures.apply(x, *weights, *biases, scale)


class _Pictures(torch.autograd.Function):
    """`pictures` with gradients."""

    @staticmethod
    def forward(ctx, x, first, second, third, bias0, bias1, bias2, scale):
        packed = pack_pictures(first, second, third, (bias0, bias1, bias2), scale)
        kept = tiled.keep(x)
        features = _features(x, packed, kept)
        ctx.save_for_backward(x, second, third, features, kept, *packed.values())
        ctx.scale = scale
        return features

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dfeatures):
        x, second, third, features, kept, *weights, biases = ctx.saved_tensors
        back = _back_of_second(second), _back_of_third(third)
        sums = tiled.backward(x, weights, back, biases, features, kept, dfeatures.contiguous()).sum(0)
        planes, (a, b, c) = x.shape[1], CHANNELS
        parts = sums.split((planes * 2 * a * 32, 8 * b * 32, 9 * c * 32, a, b, c))
        first = parts[0].view(planes, 2, a, 32).permute(1, 0, 3, 2).reshape(2, 2, planes, 4, 4, a)
        second = parts[1].view(8, b, 32).transpose(1, 2).reshape(2, 2, 2, 2, a, b)
        third = parts[2].view(3, 3, c, b)
        return (None, first.permute(5, 2, 0, 3, 1, 4).reshape(a, planes, 8, 8) * ctx.scale,
                second.permute(5, 4, 0, 2, 1, 3).reshape(b, a, 4, 4), third.permute(2, 3, 0, 1), *parts[3:], None)


def _matrix_of_first(weight):
    """(inputs, outputs): inputs by the points of 4 x 4 pixels (2, 2), the plane, and the pixels of a point."""
    outputs, planes = weight.shape[:2]
    return weight.reshape(outputs, planes, 2, 4, 2, 4).permute(2, 4, 1, 3, 5, 0).reshape(-1, outputs)


def _matrix_of_second(weight):
    """(inputs, outputs): inputs by the points of 2 x 2 outputs of the first one (2, 2), these outputs, and channels."""
    outputs, inputs = weight.shape[:2]
    return weight.reshape(outputs, inputs, 2, 2, 2, 2).permute(2, 4, 3, 5, 1, 0).reshape(-1, outputs)


def _matrix_of_third(weight):
    return weight.permute(2, 3, 1, 0).reshape(-1, len(weight))


def _back_of_second(weight):
    """Packed: (outputs' gradients of 2 x 2 points, inputs), for the upper two and then the lower two outputs of a point."""
    outputs, inputs = weight.shape[:2]
    points = weight.reshape(outputs, inputs, 2, 2, 2, 2).flip(2, 4).permute(2, 4, 0, 3, 5, 1)
    return torch.cat([_pack(half) for half in points.reshape(-1, 4 * inputs).split(2 * inputs, 1)])


def _back_of_third(weight):
    return _pack(weight.flip(2, 3).permute(2, 3, 0, 1).reshape(-1, weight.shape[1]))


def _pack(matrix):
    """A matrix (32k, 16n) as right-hand tiles in bfloat16: word c of row p of a tile holds rows 2p and 2p + 1 of column c."""
    rows, columns = matrix.shape
    tiles = matrix.to(torch.bfloat16).view(rows // 32, 16, 2, columns // 16, 16).permute(0, 3, 1, 4, 2)
    return tiles.reshape(-1)


def _require(x):
    """Check pictures (B, planes, height, width)."""
    if x.ndim != 4 or not reads_pictures(x, tuple(x.shape[1:]), torch.bfloat16):
        raise ValueError(f"there is no kernel for pictures of shape {tuple(x.shape)} on '{x.device}'; call "
                         "trainer.kernels.reads_pictures first")
    check(x, torch.uint8, x.shape, x=x)

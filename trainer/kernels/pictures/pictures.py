"""Three convolutions over pictures of bytes, with their gradients, in one pass over each picture on a CPU.

tiled.pyx does the work in bfloat16 on CPUs that multiply it, cpu.pyx in float32. The arithmetic is that of torch's conv2d and
ReLU on scaled bytes, with outputs rounded to bfloat16 in the first case. The weights are those of torch.nn.Conv2d in
float32: 8 x 8 pixels with strides of 4 to 16 channels, 4 x 4 with strides of 2 to 32, 3 x 3 to 32.
"""

from collections.abc import Sequence
from types import ModuleType

import torch

from trainer.kernels.choose import CPU, TILED, pick
from trainer.kernels.pictures import cpu, tiled
from trainer.kernels.shared.arguments import check

CHANNELS = (16, 32, 32)
LARGEST = 252  # pixels a side: a picture's numbers fit the second cache
PLANES = 16    # at most
MODULES = {TILED: tiled, CPU: cpu}


def reads_pictures(like, shape: tuple[int, ...], precision: torch.dtype) -> bool:
    """True if `pictures` reads bytes of this `shape`, (planes, height, width), on the device of `like`.

    precision: of the products.

    It does so on CPUs that multiply `precision` faster so than torch does: bfloat16 in tiles, float32 with fused multiply-add.
    Sides must be of 8k + 4 pixels from 36 to 252, and planes at most 16. Other pictures are scaled in float32 or bfloat16
    before `convolve` reads them.
    """
    return _module(like, shape, precision) is not None


def _module(like, shape: tuple[int, ...], precision: torch.dtype) -> ModuleType | None:
    """The module that reads such pictures, or None."""
    planes, *sides = shape
    fits = 1 <= planes <= PLANES and all(36 <= side <= LARGEST and side % 8 == 4 for side in sides)
    supported = {TILED: precision == torch.bfloat16, CPU: precision == torch.float32 and cpu.FAST}
    return MODULES.get(pick("pictures", like, lambda version: fits and supported.get(version, False)))


def picture_features(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """The shape of the features of pictures of `shape`: (rows, columns, channels)."""
    return shape[1] // 8 - 3, shape[2] // 8 - 3, CHANNELS[2]


def pack_pictures(first, second, third, biases: Sequence[torch.Tensor], scale: float,
                  precision: torch.dtype) -> dict[str, torch.Tensor]:
    """The weights as `pictures_step` reads them, for products in `precision`.

    first, second, third: of the convolutions.
    scale: factor of the bytes.
    """
    matrices = _matrix_of_first(first) * scale, _matrix_of_second(second), _matrix_of_third(third)
    packed = [_pack(one, precision) for one in matrices]
    return {**{f"packed{k}": one for k, one in enumerate(packed)}, "biases": torch.cat([one.float() for one in biases])}


def pictures_step(x, packed: dict[str, torch.Tensor]):
    """The features of pictures x (B, planes, height, width) uint8, without gradients: (B, rows, columns, 32).

    packed: result of `pack_pictures`; its precision is the features' dtype.
    """
    return _features(x, packed, _required(x, packed["packed0"].dtype))


def _features(x, packed: dict[str, torch.Tensor], module: ModuleType, kept: torch.Tensor | None = None):
    """kept: OUT; result of `module.keep`."""
    weights = [packed[f"packed{k}"] for k in range(3)]
    dtype = weights[0].dtype
    for k, size in enumerate((1024 * x.shape[1], 8192, 9216)):
        check(x, dtype, (size,), **{f"packed{k}": weights[k]})
    check(x, torch.float32, (sum(CHANNELS),), biases=packed["biases"])
    out = x.new_empty(len(x), *picture_features(x.shape[1:]), dtype=dtype)
    module.forward(x, weights, packed["biases"], out, kept)
    return out


def pictures(x, weights: Sequence[torch.Tensor], biases: Sequence[torch.Tensor], scale: float, precision: torch.dtype):
    """The features of pictures, differentiable once by the weights and biases.

    x: (B, planes, height, width) uint8.
    weights, biases: of the three convolutions, float32.
    scale: factor of the bytes.
    precision: of the products, float32 or bfloat16.
    Returns (B, rows, columns, 32) in `precision`.
    """
    module = _required(x, precision)
    planes = x.shape[1]
    shapes = (16, planes, 8, 8), (32, 16, 4, 4), (32, 32, 3, 3)
    for k, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        check(x, torch.float32, shapes[k], **{f"weight {k}": weight})
        check(x, torch.float32, shapes[k][:1], **{f"bias {k}": bias})
    return _Pictures.apply(x, *weights, *biases, scale, precision, module)


class _Pictures(torch.autograd.Function):
    """`pictures` with gradients."""

    @staticmethod
    def forward(ctx, x, first, second, third, bias0, bias1, bias2, scale, precision, module):
        packed = pack_pictures(first, second, third, (bias0, bias1, bias2), scale, precision)
        kept = module.keep(x)
        features = _features(x, packed, module, kept)
        ctx.save_for_backward(x, second, third, features, kept, *packed.values())
        ctx.scale, ctx.module = scale, module
        return features

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dfeatures):
        x, second, third, features, kept, *weights, biases = ctx.saved_tensors
        back = _back_of_second(second, features.dtype), _back_of_third(third, features.dtype)
        sums = ctx.module.backward(x, weights, back, biases, features, kept, dfeatures.contiguous()).sum(0)
        first, second, third, *dbiases = _split(sums, x.shape[1], features.dtype)
        return (None, first.permute(5, 2, 0, 3, 1, 4).flatten(4, 5).flatten(2, 3) * ctx.scale,
                second.permute(5, 4, 0, 2, 1, 3).flatten(4, 5).flatten(2, 3), third.permute(3, 2, 0, 1), *dbiases,
                None, None, None)


def _split(sums, planes: int, precision: torch.dtype):
    """The gradients of the weights, by the dimensions of their matrices, and of the biases.

    In bfloat16 a part of 32 inputs has the outputs as rows; the parts of the first convolution come in pairs, of its kernel's
    two rows. In float32 the outputs are columns.
    """
    a, b, c = CHANNELS
    first, second, third, *dbiases = sums.split((planes * 2 * a * 32, 8 * b * 32, 9 * c * 32, a, b, c))
    if precision == torch.bfloat16:
        first = first.view(planes, 2, a, 32).permute(1, 0, 3, 2)
        second, third = (one.view(-1, 32, 32).transpose(1, 2) for one in (second, third))
    return (first.reshape(2, 2, planes, 4, 4, a), second.reshape(2, 2, 2, 2, a, b), third.reshape(3, 3, b, c), *dbiases)


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


def _back_of_second(weight, precision: torch.dtype):
    """Packed: (outputs' gradients of 2 x 2 points, inputs of a point). In bfloat16 the upper two inputs are a matrix of their
    own, before the lower two."""
    outputs, inputs = weight.shape[:2]
    points = weight.reshape(outputs, inputs, 2, 2, 2, 2).flip(2, 4).permute(2, 4, 0, 3, 5, 1).reshape(-1, 4 * inputs)
    halves = points.split(2 * inputs, 1) if precision == torch.bfloat16 else (points,)
    return torch.cat([_pack(half, precision) for half in halves])


def _back_of_third(weight, precision: torch.dtype):
    return _pack(weight.flip(2, 3).permute(2, 3, 0, 1).reshape(-1, weight.shape[1]), precision)


def _pack(matrix, precision: torch.dtype):
    """A matrix (32k, 16n): in float32 as n panels of 16 columns; in bfloat16 as right-hand tiles, in which word c of row p
    holds rows 2p and 2p + 1 of column c."""
    rows, columns = matrix.shape
    if precision == torch.float32:
        return matrix.float().view(rows, columns // 16, 16).transpose(0, 1).reshape(-1)
    tiles = matrix.to(torch.bfloat16).view(rows // 32, 16, 2, columns // 16, 16).permute(0, 3, 1, 4, 2)
    return tiles.reshape(-1)


def _required(x, precision: torch.dtype) -> ModuleType:
    """Check pictures (B, planes, height, width), and return the module that reads them."""
    module = _module(x, tuple(x.shape[1:]), precision) if x.ndim == 4 else None
    if module is None:
        raise ValueError(f"there is no kernel for pictures of shape {tuple(x.shape)} in {precision} on '{x.device}'; call "
                         "trainer.kernels.reads_pictures first")
    check(x, torch.uint8, x.shape, x=x)
    return module

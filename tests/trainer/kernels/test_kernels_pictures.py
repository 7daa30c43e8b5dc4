"""Convolutions over pictures of bytes equal torch's convolutions, forward and backward, in both precisions, for any sizes."""

import pytest
import torch
from kernel_devices import close
from torch.nn import functional

from trainer import kernels
from trainer.kernels.pictures import cpu, tiled
from trainer.kernels.shared import tiles

HALF = torch.bfloat16
SCALE = 1 / 255
MODULES = {torch.float32: cpu, HALF: tiled}
SIZES = [  # pictures, planes, height, width
    (1, 1, 84, 84), (33, 4, 84, 84), (70, 2, 36, 44), (5, 3, 84, 100), (2, 16, 36, 36), (3, 1, 252, 60)]


def draw(count, planes, height, width):
    """Pictures, and the weights and biases of the convolutions."""
    torch.manual_seed(count)
    pictures = torch.randint(0, 256, (count, planes, height, width), dtype=torch.uint8)
    weights = [torch.randn(*shape) * (2 / (shape[1] * shape[2] ** 2)) ** 0.5 for shape in
               ((16, planes, 8, 8), (32, 16, 4, 4), (32, 32, 3, 3))]
    biases = [torch.randn(count) * 0.1 for count in (16, 32, 32)]
    return pictures, [one.requires_grad_() for one in weights], [one.requires_grad_() for one in biases]


def plain(pictures, weights, biases, precision):
    """The twin in float32, rounded to `precision` where the kernel does so. Rounding has the gradient 1."""
    def rounded(x):
        return x + (x.to(precision).float() - x).detach()

    x = pictures.float()
    for k, stride in enumerate((4, 2, 1)):
        weight = rounded(weights[k] * (SCALE if k == 0 else 1))
        x = rounded(functional.conv2d(x, weight, biases[k], stride).relu())
    return x.permute(0, 2, 3, 1)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_features_and_gradients_equal_those_of_torch_s_convolutions(size, precision):
    pictures, weights, biases = draw(*size)
    ours, theirs = kernels.pictures(pictures, weights, biases, SCALE, precision), plain(pictures, weights, biases, precision)
    close(ours, theirs, precision)
    factor = torch.randn_like(ours)
    gradients = torch.autograd.grad(ours, weights + biases, factor)
    for mine, wanted in zip(gradients, torch.autograd.grad(theirs, weights + biases, factor.float()), strict=True):
        assert (mine - wanted).norm() <= (0.01 if precision == HALF else 1e-5) * wanted.norm()


def test_bits_depend_neither_on_threads_nor_on_the_other_pictures(precision):
    pictures, weights, biases = draw(75, 2, 84, 84)
    packed, threads = kernels.pack_pictures(*weights, biases, SCALE, precision), torch.get_num_threads()

    def run():
        features = kernels.pictures(pictures, weights, biases, SCALE, precision)
        return features, *torch.autograd.grad(features, weights + biases, features)

    first = run()
    try:
        for count in (1, 2, 3, 16, threads):
            torch.set_num_threads(count)
            assert all(torch.equal(*pair) for pair in zip(run(), first, strict=True)), count
    finally:
        torch.set_num_threads(threads)
    for part in (slice(0, 1), slice(1, 40), slice(40, 75)):
        assert torch.equal(kernels.pictures_step(pictures[part], packed), first[0][part])


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_gradients_are_the_same_bits_whether_outputs_are_kept_or_computed_again(size, precision, monkeypatch):
    pictures, weights, biases = draw(*size)

    def run(memory):
        monkeypatch.setattr(MODULES[precision], "keep", lambda _: memory)
        features = kernels.pictures(pictures, weights, biases, SCALE, precision)
        return features, *torch.autograd.grad(features, weights + biases, features)

    again, kept = run(None), run(torch.full((len(pictures), 1 << 17), torch.nan, dtype=precision))
    assert all(torch.equal(*pair) for pair in zip(again, kept, strict=True))


@pytest.mark.parametrize(("shape", "supported"), [
    ((4, 84, 84), True), ((1, 36, 252), True), ((17, 84, 84), False), ((4, 80, 84), False), ((4, 84, 28), False),
    ((4, 84, 260), False)])
def test_pictures_are_taken_by_their_size_where_the_cpu_is_fast(shape, supported):
    like = torch.zeros(1)
    assert kernels.reads_pictures(like, shape, HALF) == (supported and tiles.AVAILABLE)
    assert kernels.reads_pictures(like, shape, torch.float32) == (supported and cpu.FAST)
    with kernels.use_reference():
        assert not any(kernels.reads_pictures(like, shape, precision) for precision in MODULES)


@pytest.mark.parametrize(("change", "error", "text"), [
    (lambda a: a.update(x=a["x"].float()), TypeError, "x must be torch.uint8, not torch.float32"),
    (lambda a: a.update(x=a["x"][:, :, :80]), ValueError, "no kernel for pictures of shape"),
    (lambda a: a.update(x=a["x"].transpose(2, 3)), ValueError, "x must be contiguous"),
    (lambda a: a["weights"].__setitem__(0, a["weights"][0].to(HALF)), TypeError, "weight 0 must be torch.float32"),
    (lambda a: a["weights"].__setitem__(1, a["weights"][1][:16]), ValueError, "weight 1 must have the shape"),
    (lambda a: a["biases"].__setitem__(2, a["biases"][0]), ValueError, "bias 2 must have the shape"),
])
def test_a_wrong_argument_is_named(change, error, text, precision):
    pictures, weights, biases = draw(2, 2, 84, 84)
    arguments = {"x": pictures, "weights": weights, "biases": biases}
    change(arguments)
    with pytest.raises(error, match=text):
        kernels.pictures(*arguments.values(), SCALE, precision)


def test_a_weight_that_is_no_number_shows_in_the_features(precision):
    pictures, weights, biases = draw(2, 1, 36, 36)
    with torch.no_grad():
        weights[2][3] = torch.nan
    features = kernels.pictures(pictures, weights, biases, SCALE, precision)
    assert features[..., 3].isnan().all() and not features[..., :3].isnan().any()

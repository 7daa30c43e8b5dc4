"""Convolutions over pictures."""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.pictures.convolution import convolve  # noqa: E402
from trainer.kernels.pictures.pictures import pack_pictures, picture_features, pictures, pictures_step, reads_pictures  # noqa: E402

__all__ = ["convolve", "pack_pictures", "picture_features", "pictures", "pictures_step", "reads_pictures"]

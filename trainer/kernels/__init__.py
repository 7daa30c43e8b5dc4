"""The trainer's hot arithmetic, with a fast version for each device.

Each operation has a folder: its function, the plain version in torch (reference.py), those compiled for the CPU (cpu.pyx,
tiled.pyx), and those for GPUs (cuda.cu). choose.py picks among them. shared/ has what they have in common, checks/ the check of
the CUDA kernels at a trainer's first start on a GPU.

Callers write `from trainer import kernels` and `kernels.lstm(...)`. Unless a docstring says otherwise, all tensors of a call
must be contiguous and on one device. The functions raise TypeError for an unsupported dtype, and ValueError for an unsupported
shape, stride or device.
"""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.actions.actions import DRAWN_ANEW, Held, categorical, gaussian, gaussian_sample, sample  # noqa: E402
from trainer.kernels.adam import adam  # noqa: E402
from trainer.kernels.choose import describe, picked, replaced, use_reference  # noqa: E402
from trainer.kernels.dense.dense import dense, dense_step, pack_dense  # noqa: E402
from trainer.kernels.heads.heads import heads, heads_step, widened  # noqa: E402
from trainer.kernels.loss.minibatch import (  # noqa: E402
    end_minibatch,
    numbers_of,
    ppo_gradient,
    ppo_loss,
    select_sequences,
    space_for_statistics,
    take,
)
from trainer.kernels.loss.reference import Rollout  # noqa: E402
from trainer.kernels.lstm.lstm import LstmBuffers, lstm, lstm_step, pack_lstm  # noqa: E402
from trainer.kernels.lstm.steps import lstm_backward, lstm_forward  # noqa: E402
from trainer.kernels.mingru.mingru import mingru, mingru_backward, mingru_forward  # noqa: E402
from trainer.kernels.pictures.convolution import convolve  # noqa: E402
from trainer.kernels.pictures.pictures import (  # noqa: E402
    pack_pictures,
    picture_features,
    pictures,
    pictures_step,
    reads_pictures,
)
from trainer.kernels.rollout.rollout import (  # noqa: E402
    Columns,
    DeviceClock,
    HostClock,
    Slab,
    advantages,
    cast_buffer,
    new_rows,
    sample_step,
    stack_frames,
    store_actions,
    store_step,
)

__all__ = ["DRAWN_ANEW", "Columns", "DeviceClock", "Held", "HostClock", "LstmBuffers", "Rollout", "Slab", "adam", "advantages",
           "cast_buffer", "categorical", "convolve", "dense", "dense_step", "describe", "end_minibatch", "gaussian",
           "gaussian_sample", "heads", "heads_step", "lstm", "lstm_backward", "lstm_forward", "lstm_step", "mingru",
           "mingru_backward", "mingru_forward", "new_rows", "numbers_of", "pack_dense", "pack_lstm", "pack_pictures", "picked",
           "picture_features", "pictures", "pictures_step", "ppo_gradient", "ppo_loss", "reads_pictures", "replaced", "sample",
           "sample_step", "select_sequences", "space_for_statistics", "stack_frames", "store_actions", "store_step", "take",
           "use_reference", "widened"]

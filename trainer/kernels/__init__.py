"""The trainer's hot arithmetic, with a fast version for each device.

    choose.py       picks the version of each kernel, for the tensors' device and the sizes
    dispatch.py     checks the arguments and calls the version that choose.py picks; its functions are re-exported here
    reference.py    the same functions in plain torch: slow, for any device; the tests compare the fast versions with it
    gaussian.py     the same as dispatch.py for continuous actions
    loss/           a minibatch: its sequences, PPO's loss with its gradient, and its end; all versions
    mingru.py       the same for minimal gated recurrent units
    tiles.py        an LSTM and heads on CPUs that multiply bfloat16
    dense.py        a layer with ReLU on such CPUs
    pictures.py     convolutions over pictures of bytes on such CPUs
    fused.py        several operations of a rollout in one kernel on GPUs; reference_fused.py: in plain torch
    sequence.py     the recurrence of an LSTM over whole sequences on GPUs
    rows.h          the arithmetic of one row, shared by all versions
    cpu/            the versions for CPU tensors
    tiled/          those for CPUs that multiply bfloat16
    cuda/           those for CUDA tensors
    checks/         the check of cuda/ at a trainer's first start on a GPU

Callers write `from trainer import kernels` and `kernels.lstm_forward(...)`.
"""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.choose import describe, picked, replaced, use_reference  # noqa: E402
from trainer.kernels.dense import dense, dense_step, pack_dense, takes_dense  # noqa: E402
from trainer.kernels.dispatch import (  # noqa: E402  loads cpu, of the chosen variant
    advantages,
    categorical,
    lstm_backward,
    lstm_forward,
    lstm_sequence,
    lstm_sequence_backward,
    sample,
    stack_frames,
    takes_sequences,
)
from trainer.kernels.gaussian import gaussian, gaussian_sample  # noqa: E402
from trainer.kernels.loss.minibatch import (  # noqa: E402
    Loss,
    end_minibatch,
    ppo_gradient,
    ppo_loss,
    select_sequences,
    space_for_statistics,
    take,
)
from trainer.kernels.loss.reference import Rollout  # noqa: E402
from trainer.kernels.mingru import mingru, mingru_backward  # noqa: E402
from trainer.kernels.pictures import (  # noqa: E402
    pack_pictures,
    picture_features,
    pictures,
    pictures_step,
    takes_pictures,
)
from trainer.kernels.sequence import lstm_recurrence, lstm_recurrence_backward, takes_recurrence  # noqa: E402
from trainer.kernels.tiles import (  # noqa: E402
    heads,
    lstm_step_tiles,
    lstm_tiles,
    lstm_tiles_backward,
    pack_tiles,
    takes_heads,
    takes_tiles,
    tiles_keep_gates,
)

__all__ = ["Loss", "Rollout", "advantages", "categorical", "dense", "dense_step", "describe", "end_minibatch", "gaussian",
           "gaussian_sample", "heads", "lstm_backward", "lstm_forward", "lstm_recurrence", "lstm_recurrence_backward",
           "lstm_sequence", "lstm_sequence_backward", "lstm_step_tiles", "lstm_tiles", "lstm_tiles_backward", "mingru",
           "mingru_backward", "pack_dense", "pack_pictures", "pack_tiles", "picked", "picture_features", "pictures",
           "pictures_step", "ppo_gradient", "ppo_loss", "replaced", "sample", "select_sequences", "space_for_statistics",
           "stack_frames", "take", "takes_dense", "takes_heads", "takes_pictures", "takes_recurrence", "takes_sequences",
           "takes_tiles", "tiles_keep_gates", "use_reference"]

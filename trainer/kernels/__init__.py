"""The trainer's hot arithmetic, with a fast version for each device.

    dispatch.py     checks the arguments and calls the version for the tensors' device; its functions are re-exported here
    reference.py    the same functions in plain torch: slow, for any device; the tests compare the fast versions with it
    cpu.pyx         the version for CPU tensors; with cpu_rows.h, cpu_lstm.h (whole sequences) and cpu_products.h
    gaussian.py     the same as dispatch.py for continuous actions; cpu_gaussian.pyx is their version for CPU tensors
    mingru.py       the same for minimal gated recurrent units; with cpu_mingru.pyx and cpu_mingru.h for CPU tensors
    cuda.py         the version for CUDA tensors; with cuda.cu
    fused.py        several operations of a rollout or an update in one kernel, for CUDA tensors; with fused.cu, and
                    reference_fused.py, the same in plain torch
    sequence.py     the recurrence of an LSTM over whole sequences in bfloat16, for CUDA tensors; with cuda_sequence.cu
    checks/         the check of cuda.cu at a trainer's first start on a GPU
    tiles.py        an LSTM and heads for CPUs with Intel's AMX: amx.pyx with cpu_amx_lstm.h, _pack.h, _heads.h and cpu_amx.h
    pictures.py     convolutions over pictures of bytes for such CPUs: amx_pictures.pyx with cpu_amx_pictures.h, _back.h
    rows.h          the arithmetic of one row, shared by cpu.pyx and cuda.cu
    threads.h       the work of a thread, shared by cuda.cu and fused.cu

Callers write `from trainer import kernels` and `kernels.lstm_forward(...)`.
"""

from envs_c import isa

__path__[:] = isa.search(__path__)

from trainer.kernels.dispatch import (  # noqa: E402  loads cpu, of the chosen variant
    BACKENDS,
    advantages,
    categorical,
    lstm_backward,
    lstm_forward,
    lstm_sequence,
    lstm_sequence_backward,
    replaced,
    sample,
    stack_frames,
    takes_sequences,
    use_reference,
)
from trainer.kernels.gaussian import gaussian, gaussian_sample  # noqa: E402
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
)

__all__ = ["BACKENDS", "advantages", "categorical", "gaussian", "gaussian_sample", "heads", "lstm_backward", "lstm_forward",
           "lstm_recurrence", "lstm_recurrence_backward", "lstm_sequence", "lstm_sequence_backward", "lstm_step_tiles",
           "lstm_tiles", "lstm_tiles_backward", "mingru", "mingru_backward", "pack_pictures", "pack_tiles", "picture_features",
           "pictures", "pictures_step", "replaced", "sample", "stack_frames", "takes_heads", "takes_pictures",
           "takes_recurrence", "takes_sequences", "takes_tiles", "use_reference"]

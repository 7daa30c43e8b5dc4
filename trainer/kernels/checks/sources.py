"""The CUDA sources of all kernels, for checks, reports and tests."""

from bridge.nvrtc import BLOCK, CudaModule
from trainer.kernels.actions import cuda as actions
from trainer.kernels.loss import cuda as loss
from trainer.kernels.lstm import cuda as lstm
from trainer.kernels.lstm import recurrence
from trainer.kernels.lstm.recurrence import SEQUENCES, THREADS, multiplies_bf16
from trainer.kernels.mingru import cuda as mingru
from trainer.kernels.rollout import cuda as rollout

OWNERS = (actions, loss, lstm, recurrence, mingru, rollout)  # the Python modules that launch the kernels of their `module`

__all__ = ["OWNERS", "SEQUENCES", "THREADS", "block_of", "modules", "multiplies_bf16"]


def modules(*, bf16: bool = True) -> tuple[CudaModule, ...]:
    """The sources. bf16: also those of kernels that need a GPU which multiplies bfloat16."""
    return tuple(owner.module for owner in OWNERS if bf16 or owner is not recurrence)


def block_of(kernel: str) -> int:
    """Threads of a block of a kernel, at most. kernel: its name."""
    return THREADS * int(kernel.rpartition("_")[2]) if kernel.startswith("lstm_recurrence") else BLOCK

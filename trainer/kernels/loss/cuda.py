"""The kernels of a minibatch on a GPU: each function launches one kernel of cuda.cu on torch's current stream, without waiting
for it. minibatch.py has checked the tensors. Outputs come last.
"""

from pathlib import Path

from bridge.nvrtc import BLOCK
from trainer.kernels.shared.launch import WARP, cuda_module

_FOLDER = Path(__file__).parent

module = cuda_module(_FOLDER / "cuda.cu", _FOLDER / "row.h")


def select_sequences(frames, starts, h, c, order, position, frames_out, starts_out, h_out, c_out):
    """The sequences of row position[0] of `order`. Rows of frames_out are as long as those of frames in memory."""
    (steps, environments), sequences = starts.shape, order.shape[1]
    size = frames.stride(1) * frames.element_size()
    unit = 16 if size % 16 == 0 else 4 if size % 4 == 0 else 1
    memory = [one[0].numel() * one.element_size() // 2 for one in (h, c)]
    module.launch(f"select_sequences_{unit}", steps * sequences * min(size // unit, BLOCK), frames, starts, h, c, order,
                  position, frames_out, starts_out, h_out, c_out, steps, environments, sequences, size // unit, *memory)


def ppo_loss(out, rollout, order, position, statistics, weight, entropy_coef, numbers: tuple[float, ...], dout, parts, ratios):
    """`reference.gradient`. parts: (5, T * S), a column for each step.

    numbers: clip, value_clip, value_coef and scale.
    """
    (steps, sequences, width), environments = out.shape, rollout.action.shape[1]
    module.launch("ppo_loss", steps * sequences, out, *rollout, statistics, weight, entropy_coef, order, position, dout, parts,
                  ratios, steps, environments, sequences, width - 1, *map(float, numbers), block=WARP)


def end_minibatch(sums, norm, gradients, history, position, batches: int, most: float):
    """Scale the gradients (n,) so that their norm is at most `most`, unless it is None; and `reference.end_minibatch`."""
    size = gradients.numel() if norm is not None else 1
    module.launch("end_minibatch", size, sums, norm, gradients, history, position, len(sums), size, batches, float(most))

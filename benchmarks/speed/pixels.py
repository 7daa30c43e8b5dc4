"""Training from pictures: `python -m benchmarks.speed.pixels`.

Breakout's 84x84 pictures with the settings of presets/pixels.toml, by precision, frames and encoder. One thread, in
microseconds of the CPU a step, so that a busy machine changes little. Beside it the matrix products of a step only, by torch.mm
on their own: rollout, and learning with its gradients.
"""

import time
from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.common import at_least, head, new_parser, publish
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.log.text import markdown
from trainer.policy.precision import choose
from trainer.training.build import make_session
from trainer.training.train import iterate

PICTURES, ROUNDS = 256, 7
NOTE = ("Each time is the processor's, and the least of its rounds: other programs only add to it. The products are "
        "torch.mm's; the trainer's own kernels are faster for some shapes, so a ratio may exceed 100%.")


def layers(frames: int) -> list[tuple[int, int, int]]:
    """Rows, inputs and outputs of the products of a step's layers: three convolutions, the encoder's layer and the LSTM."""
    return [(400, 64 * frames, 16), (81, 256, 32), (49, 288, 32), (1, 1568, 128), (1, 256, 512)]


def least(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The least CPU seconds of a call."""
    work()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def products(frames: int, dtype: torch.dtype) -> float:
    """CPU seconds of the products of a step of training."""
    total = 0.0
    for number, (rows, inputs, outputs) in enumerate(layers(frames)):
        x, error = (torch.randn(rows * PICTURES, size).to(dtype) for size in (inputs, outputs))
        weight = torch.randn(inputs, outputs).to(dtype)
        total += 2 * least(lambda: torch.mm(x, weight)) + least(lambda: torch.mm(x.t(), error))  # noqa: B023
        if number:  # the pictures need no gradient
            total += least(lambda: torch.mm(error, weight.t()))  # noqa: B023
    return total / PICTURES


def training(encoder: str, frames: int, precision: str, iterations: int) -> float:
    """CPU seconds of a step of training."""
    session = make_session(overlay(preset(GameName("breakout"), view="pixels"), {
        "env": {"num_threads": 1}, "policy": {"encoder": encoder, "frame_stack": frames, "precision": precision},
        "run": {"device": "cpu"}}))
    return least(lambda: iterate(session), iterations) / session.config.batch_steps


def main():
    parser = new_parser("speed.pixels", __doc__)
    parser.add_argument("--iterations", type=at_least(1), default=10, help="measured iterations (default: 10)")
    parser.add_argument("--precision", nargs="+", choices=("bfloat16", "float32"),
                        help="of the products (default: that of a training on this machine)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for precision in options.precision or [str(choose("auto", "cpu")[0]).removeprefix("torch.")]:
        for frames in (1, 2, 4):
            limit = products(frames, getattr(torch, precision))
            for encoder in ("pixels", "conv"):
                seconds = training(encoder, frames, precision, options.iterations)
                rows.append([precision, frames, encoder, f"{1e6 * seconds:.1f}", f"{1e6 * limit:.1f}",
                             f"{limit / seconds:.0%}"])
    publish(f"{head('Training from pictures')}\n{NOTE}\n\n" + markdown(
        ["precision", "frames", "encoder", "us a step", "products only, us", "ratio"], rows), options.out)


if __name__ == "__main__":
    main()

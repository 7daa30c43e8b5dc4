"""Training with and without `overlap` on the CPU: `python -m benchmarks.speed.overlap`.

Both trainings of a row iterate in turn. An iteration with overlap plays the next rollout in a second thread while it learns,
and first evaluates the rollout with the present policy, which costs a forward pass. On a CPU both threads compute, so the cores
do more work in the same time; there is something to gain only if the environments leave a core unused.
"""

import contextlib
import statistics
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.common import at_least, head, new_parser, publish
from trainer.config import Config
from trainer.log.text import markdown
from trainer.training.api import preset
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate

WARM_UP = 2
# Name of a row, game, and settings beside those of its preset. Acrobot steps in Python, on one core.
SMALL = {"num_envs": 16, "horizon": 64, "minibatch": 256, "epochs": 4}
ROWS = (("breakout", "breakout", {}),
        ("breakout, minibatch 32,768", "breakout", {"minibatch": 32_768}),
        ("gym:Acrobot-v1, in this process", "gym:Acrobot-v1", SMALL | {"vectorization": "sync"}),
        ("gym:Acrobot-v1, in processes", "gym:Acrobot-v1", SMALL | {"vectorization": "async"}))


def seconds(session: TrainingSession) -> tuple[float, float]:
    """Return the seconds of an iteration, and the CPU's seconds in this process, of all threads."""
    begin, cpu = time.perf_counter(), time.process_time()
    iterate(session)
    return time.perf_counter() - begin, time.process_time() - cpu


def row(name: str, config: Config, iterations: int) -> list[str]:
    """Return a row of the table: microseconds a step."""
    with contextlib.ExitStack() as stack:
        sessions = [stack.enter_context(contextlib.closing(make_session(replace(config, ppo=replace(config.ppo, overlap=one)))))
                    for one in (False, True)]
        for session in sessions * WARM_UP:
            iterate(session)
        times = [[seconds(session) for session in sessions] for _ in range(iterations)]
    medians = [[statistics.median(one[k][part] for one in times) * 1e6 / config.batch_steps for part in (0, 1)] for k in (0, 1)]
    (plain, plain_cpu), (overlapped, overlapped_cpu) = medians
    return [name, f"{plain:.2f}", f"{overlapped:.2f}", f"{plain / overlapped:.2f}", f"{plain_cpu:.2f}", f"{overlapped_cpu:.2f}"]


def main():
    parser = new_parser("speed.overlap", __doc__)
    parser.add_argument("--iterations", type=at_least(1), default=10, help="measured iterations of each training (default: 10)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    rows = [row(name, preset(game, device="cpu", dashboard=False, **settings), options.iterations)
            for name, game, settings in ROWS]
    publish(head("Overlap") + "\n" + markdown(
        ["training", "us a step", "with overlap", "speed-up", "CPU's us a step", "with overlap"], rows), options.out)


if __name__ == "__main__":
    main()

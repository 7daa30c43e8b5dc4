"""Memory and the log's share of the time over a long training: `python -m benchmarks.endurance --minutes 30`.

One training as `python -m trainer GAME` does it, with its dashboard (drawn for a terminal that nobody sees), metrics,
TensorBoard's events and checkpoints. Each row is a moment; the growth is that of the process's resident memory.
"""

import argparse
import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks.common import head, publish, table
from trainer.config.config import overlay
from trainer.config.preset import preset
from trainer.log.run_log import RunLog
from trainer.training.session import Session
from trainer.training.train import iterate

ROWS = 10


def resident_mib() -> float:
    """This process's resident memory in MiB, as Linux tells it."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmRSS: this benchmark needs Linux")


def note(rows: list[list[str]], sizes: list[float], seconds: float, step: int):
    """Add a row of this moment."""
    sizes.append(resident_mib())
    rows.append([f"{seconds / 60:.1f}", f"{step / 1e6:.1f}M", f"{sizes[-1]:.1f}"])


def run(game: str, minutes: float, folder: Path) -> tuple[list[list[str]], float, float]:
    """Rows of (minutes, steps, MiB), the log's share of the time, and the growth in MiB since the first row."""
    config = overlay(preset(game), {"ppo": {"total_steps": 2**50}, "run": {"device": "cpu", "run_dir": str(folder)}})
    session = Session(config)
    rows, sizes = [], []
    with (folder.parent / "screen").open("w", encoding="utf-8") as screen:
        console = Console(file=screen, force_terminal=True, width=120, height=40)
        with RunLog(folder, config, dashboard=True, facts=session.facts, console=console) as log:
            begin = saved = time.perf_counter()
            while (now := time.perf_counter()) - begin < minutes * 60:
                log.iteration(session.step, iterate(session))
                if now - saved >= config.run.checkpoint_seconds:
                    session.save(folder)
                    saved = now
                if now - begin >= (len(rows) + 1) * minutes * 60 / ROWS:
                    note(rows, sizes, now - begin, session.step)
            elapsed = time.perf_counter() - begin
            note(rows, sizes, elapsed, session.step)
            share = log.overhead_seconds / elapsed
    return rows, share, sizes[-1] - sizes[0]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endurance", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", nargs="?", default="breakout", help="the game to train (default: breakout)")
    parser.add_argument("--minutes", type=float, default=30, help="how long (default: 30)")
    parser.add_argument("--out", type=Path, help="write the table to this file, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        rows, share, growth = run(options.game, options.minutes, Path(root) / "run")
    text = table(["minutes", "steps", "resident MiB"], rows)
    said = f"Growth since the first row: {growth:+.1f} MiB. Metrics, events and dashboard took {share:.2%} of the time."
    publish(f"{head(f'{options.minutes:g} minutes of {options.game}')}\n{text}\n{said}\n", options.out)


if __name__ == "__main__":
    main()

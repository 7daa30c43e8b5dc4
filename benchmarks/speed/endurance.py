"""Memory over a long training, and the log's share of the time: `python -m benchmarks.speed.endurance --minutes 30`.

Trains like `python -m trainer GAME`, with the dashboard (drawn to a file), metrics, TensorBoard events and checkpoints. Each
row gives the resident memory of the process at one time.
"""

import tempfile
import time
from pathlib import Path

from rich.console import Console

from benchmarks.common import above_zero, head, new_parser, publish
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.log.run_log import RunLog
from trainer.log.text import markdown
from trainer.runs.folder import open_folder
from trainer.training.build import make_session
from trainer.training.train import iterate

ROWS = 10


def resident_mib() -> float:
    """Return the resident memory of this process in MiB. Needs Linux."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmRSS: this benchmark needs Linux")


def note(rows: list[list[str]], sizes: list[float], seconds: float, step: int):
    """Add a row for this time: minutes, steps, MiB."""
    sizes.append(resident_mib())
    rows.append([f"{seconds / 60:.1f}", f"{step / 1e6:.1f}M", f"{sizes[-1]:.1f}"])


def run(game: str, minutes: float, folder: Path) -> tuple[list[list[str]], float, float]:
    """Train for some minutes. Returns the rows, the log's share of the time, and the growth in MiB since the first row."""
    config = overlay(preset(GameName(game)), {"ppo": {"total_steps": 2**50}, "run": {"device": "cpu", "run_dir": str(folder)}})
    session = make_session(config)
    rows, sizes = [], []
    with (folder.parent / "screen").open("w", encoding="utf-8") as screen:
        console = Console(file=screen, force_terminal=True, width=120, height=40)
        with open_folder(folder, config.to_dict(), session.facts, None), \
             RunLog(folder, config.game, goal=config.ppo.total_steps, facts=session.facts, dashboard=True,
                    trackers=config.run.trackers, settings=config.to_dict(), console=console) as log:
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
    parser = new_parser("speed.endurance", __doc__)
    parser.add_argument("game", nargs="?", default="breakout", help="game to train (default: breakout)")
    parser.add_argument("--minutes", type=above_zero, default=30, help="minutes to train (default: 30)")
    parser.add_argument("--out", type=Path, help="file to write the table to")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        rows, share, growth = run(options.game, options.minutes, Path(root) / "run")
    text = markdown(["minutes", "steps", "resident MiB"], rows)
    summary = f"Growth since the first row: {growth:+.1f} MiB. Metrics, events and dashboard took {share:.2%} of the time."
    publish(f"{head(f'{options.minutes:g} minutes of {options.game}')}\n{text}\n{summary}\n", options.out)


if __name__ == "__main__":
    main()

"""Score against minutes, for several seeds: `python -m benchmarks.learning breakout --seeds 1 2 3`.

Each seed is one `python -m trainer GAME --seed SEED` with the game's preset, in a process of its own, one after the other.
Prints a table, and writes it with the curves (PNG and JSON) under --out.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib

from benchmarks.common import head, publish, table

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def train(game: str, seed: int, root: Path, more: list[str]) -> tuple[list[dict], dict]:
    """The metrics and the evaluation of one run."""
    folder = root / f"seed{seed}"
    command = [sys.executable, "-m", "trainer", game, "--seed", str(seed), "--run-dir", str(folder), "--no-gif", *more]
    subprocess.run(command, check=True)
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines], json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))


def minutes_to(metrics: list[dict], score: float) -> str:
    """When the mean score of recent episodes first was at least `score`."""
    reached = (entry["seconds"] for entry in metrics if (entry["score_mean"] or float("-inf")) >= score)
    first = next(reached, None)
    return "-" if first is None else f"{first / 60:.2f}"


def thin(metrics: list[dict], points: int = 200) -> list[dict]:
    """Evenly picked entries, with what a curve needs."""
    every = max(1, len(metrics) // points)
    picked = metrics[every - 1:: every]
    return [{key: entry[key] for key in ("step", "seconds", "score_mean")} for entry in picked]


def draw(game: str, curves: dict[int, list[dict]], path: Path):
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for seed, entries in curves.items():
        axes.plot([e["seconds"] / 60 for e in entries], [e["score_mean"] for e in entries], label=f"seed {seed}")
    axes.set(title=f"{game}: mean score of the last 256 episodes", xlabel="minutes of training", ylabel="score")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", help="the game to train")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="seeds (default: 1 2 3)")
    parser.add_argument("--scores", type=float, nargs="+", default=[100, 300], help="scores to time (default: 100 300)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="folder (default: benchmarks/results)")
    options, more = parser.parse_known_args()  # what is left goes to the trainer
    rows, curves = [], {}
    with tempfile.TemporaryDirectory() as root:
        for seed in options.seeds:
            metrics, evaluation = train(options.game, seed, Path(root), more)
            curves[seed] = thin(metrics)
            rows.append([seed, f"{metrics[-1]['step'] / 1e6:.1f}M", f"{metrics[-1]['seconds'] / 60:.2f}",
                         *(minutes_to(metrics, score) for score in options.scores), f"{evaluation['mean']:.1f}",
                         f"{evaluation['standard_error']:.1f}", *(f"{evaluation[key]:g}" for key in ("median", "min", "max"))])
    means = [float(row[3 + len(options.scores)]) for row in rows]
    spread = f" ± {statistics.stdev(means):.1f} (deviation over seeds)" if len(means) > 1 else ""
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"learning_{options.game}"
    (options.out / f"{name}.json").write_text(json.dumps(curves) + "\n", encoding="utf-8")
    draw(options.game, curves, options.out / f"{name}.png")
    columns = ["seed", "steps", "minutes", *(f"minutes to {score:g}" for score in options.scores),
               "evaluation mean", "standard error", "median", "min", "max"]
    publish(head(f"Learning {options.game}") + "\n" + table(columns, rows)
            + f"\nMean of the evaluations: {statistics.mean(means):.1f}{spread}, 100 episodes each.\n"
            + f"\n![score against minutes]({name}.png)\n", options.out / f"{name}.md")


if __name__ == "__main__":
    main()

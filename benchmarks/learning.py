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

from benchmarks.common import head, publish, table
from trainer.log import compare, curves
from trainer.runs.metrics import read_metrics


def train(game: str, seed: int, folder: Path, more: list[str]) -> tuple[list[dict], dict]:
    """The metrics and the evaluation of one run."""
    command = [sys.executable, "-m", "trainer", game, "--seed", str(seed), "--run-dir", str(folder), "--no-gif", *more]
    subprocess.run(command, check=True)
    return read_metrics(folder), json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))


def minutes_to(metrics: list[dict], score: float) -> float | None:
    """When the mean score of recent episodes first was at least `score`."""
    return next((entry["seconds"] / 60 for entry in metrics if (entry["score_mean"] or float("-inf")) >= score), None)


def thin(metrics: list[dict], points: int = 200) -> list[dict]:
    """Evenly picked entries, with what a curve needs."""
    every = max(1, len(metrics) // points)
    picked = metrics[every - 1:: every]
    return [{key: entry[key] for key in ("step", "seconds", "score_mean")} for entry in picked]


def draw(game: str, members: list[compare.Member], path: Path):
    """Score against minutes: each seed's curve, and under them the mean and the deviation of all."""
    mean = [compare.mean_curve(game, members)] if len(members) > 1 else []
    curves.draw_comparison([*mean, *compare.single(members)], path, "minutes", game)


def row(seed: int, metrics: list[dict], evaluation: dict, scores: list[float]) -> list:
    """Figures in the order of the table's columns."""
    return [seed, metrics[-1]["step"] / 1e6, metrics[-1]["seconds"] / 60, *(minutes_to(metrics, score) for score in scores),
            *(evaluation[key] for key in ("mean", "standard_error", "median", "min", "max"))]


def texts(rows: list[list], formats: list[str]) -> list[list[str]]:
    """The rows as texts, and under them each column's mean and deviation over the seeds."""
    def text(value, form) -> str:
        return "-" if value is None else format(value, form)
    written = [[text(value, form) for value, form in zip(one, formats, strict=True)] for one in rows]
    if len(rows) > 1:
        columns = list(zip(*rows, strict=True))[1:]
        written.append(["mean ± deviation", *("-" if None in column else
                                              f"{statistics.mean(column):{form}} ± {statistics.stdev(column):{form}}"
                                              for column, form in zip(columns, formats[1:], strict=True))])
    return written


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", help="the game to train")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="seeds (default: 1 2 3)")
    parser.add_argument("--scores", type=float, nargs="+", default=[100, 300], help="scores to time (default: 100 300)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"), help="folder (default: benchmarks/results)")
    options, more = parser.parse_known_args()  # what is left goes to the trainer
    rows, members, picked = [], [], {}
    with tempfile.TemporaryDirectory() as root:
        for seed in options.seeds:
            folder = Path(root) / f"seed{seed}"
            metrics, evaluation = train(options.game, seed, folder, more)
            picked[seed] = thin(metrics)
            members.append(compare.member(folder, "minutes", f"seed {seed}"))
            rows.append(row(seed, metrics, evaluation, options.scores))
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"learning_{options.game}"
    (options.out / f"{name}.json").write_text(json.dumps(picked) + "\n", encoding="utf-8")
    draw(options.game, members, options.out / f"{name}.png")
    columns = {"seed": "d", "steps, M": ".1f", "minutes": ".2f", **{f"minutes to {score:g}": ".2f" for score in options.scores},
               "evaluation mean": ".1f", "standard error": ".1f", "median": ".1f", "min": ".1f", "max": ".1f"}
    publish(head(f"Learning {options.game}") + "\n" + table(list(columns), texts(rows, list(columns.values())))
            + f"\nEvaluations are of 100 episodes.\n\n![score against minutes]({name}.png)\n", options.out / f"{name}.md")


if __name__ == "__main__":
    main()

"""Score against minutes, for several seeds: `python -m benchmarks.scores.learning breakout --seeds 1 2 3`.

Runs `python -m trainer GAME --seed SEED` with the game's preset for one seed after the other. Prints a table, and writes it and
the curves (PNG and JSON) to the folder --out. Unknown options are passed to the trainer.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import at_least, head, new_parser, publish
from trainer.log import curves
from trainer.log.text import markdown
from trainer.results import several_runs
from trainer.runs.metrics import read_metrics


def train(game: str, seed: int, folder: Path, more: list[str]) -> tuple[list[dict], dict]:
    """Train once. Returns the metrics and the evaluation."""
    command = [sys.executable, "-m", "trainer", game, "--seed", str(seed), "--run-dir", str(folder), "--no-gif", *more]
    subprocess.run(command, check=True)
    return read_metrics(folder), json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))


def minutes_to(metrics: list[dict], score: float) -> float | None:
    """Return the minutes until the mean score of recent episodes reached `score`; None if it never did."""
    return next((entry["seconds"] / 60 for entry in metrics
                 if entry["score_mean"] is not None and entry["score_mean"] >= score), None)


def thin(metrics: list[dict], points: int = 200) -> list[dict]:
    """Return about `points` evenly spaced entries, with the keys of a curve."""
    every = max(1, len(metrics) // points)
    picked = metrics[every - 1:: every]
    return [{key: entry[key] for key in ("step", "seconds", "score_mean")} for entry in picked]


def draw(game: str, members: list[several_runs.Member], path: Path):
    """Draw score against minutes: a curve for each seed, and their mean and standard deviation."""
    mean = [several_runs.mean_curve(game, members)] if len(members) > 1 else []
    curves.draw_comparison([*mean, *several_runs.single(members)], path, "minutes", game)


def row(seed: int, metrics: list[dict], evaluation: dict, scores: list[float]) -> list:
    """Return one seed's numbers in the order of the table's columns."""
    return [seed, metrics[-1]["step"] / 1e6, metrics[-1]["seconds"] / 60, *(minutes_to(metrics, score) for score in scores),
            *(evaluation[key] for key in ("mean", "standard_error", "median", "min", "max"))]


def texts(rows: list[list], formats: list[str]) -> list[list[str]]:
    """Format the rows, and add a row with the mean and the standard deviation of each column."""
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
    parser = new_parser("scores.learning", __doc__)
    parser.add_argument("game", help="game to train")
    parser.add_argument("--seeds", type=at_least(0), nargs="+", default=[1, 2, 3], help="seeds (default: 1 2 3)")
    parser.add_argument("--scores", type=float, nargs="+", default=[100, 300],
                        help="scores for which to give the minutes (default: 100 300)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"),
                        help="folder for the results (default: benchmarks/results)")
    options, more = parser.parse_known_args()
    rows, members, picked = [], [], {}
    with tempfile.TemporaryDirectory() as root:
        for seed in options.seeds:
            folder = Path(root) / f"seed{seed}"
            metrics, evaluation = train(options.game, seed, folder, more)
            picked[seed] = thin(metrics)
            members.append(several_runs.member(folder, "minutes", f"seed {seed}"))
            rows.append(row(seed, metrics, evaluation, options.scores))
    options.out.mkdir(parents=True, exist_ok=True)
    name = f"learning_{options.game}"
    (options.out / f"{name}.json").write_text(json.dumps(picked) + "\n", encoding="utf-8")
    draw(options.game, members, options.out / f"{name}.png")
    columns = {"seed": "d", "steps, M": ".1f", "minutes": ".2f", **{f"minutes to {score:g}": ".2f" for score in options.scores},
               "evaluation mean": ".1f", "standard error": ".1f", "median": ".1f", "min": ".1f", "max": ".1f"}
    publish(head(f"Learning {options.game}") + "\n" + markdown(list(columns), texts(rows, list(columns.values())))
            + f"\nEach evaluation has {evaluation['episodes']} episodes, of sampled actions and by the game's preset.\n\n"
            f"![score against minutes]({name}.png)\n", options.out / f"{name}.md")


if __name__ == "__main__":
    main()

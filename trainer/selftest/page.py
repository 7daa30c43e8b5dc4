"""The file of the self-test: Markdown for a reader, and all results as JSON at its end."""

import json
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from trainer.log.numbers import count
from trainer.selftest.figures import HORIZON, MINIBATCHES

COLUMNS = ("batches", "steps/s", "modelled", "modelled / measured", "rollout, ms", "modelled, ms", "steps/s, rollout only",
           "iteration, ms", "games, ms", "device idle", "bytes per copy", "bandwidth / probe's")
VERDICTS = {True: "yes", False: "**NO**", None: ""}


def page(results: dict[str, Any]) -> str:
    """Return the file to send. results: as `visit` returns them."""
    checked = [(one["part"], one["check"], VERDICTS[one["passed"]], one["detail"]) for one in results["checks"]]
    parts = [f"# insertcoin on {results['facts']['gpu']}\n", table(("fact", "value"), [*results["facts"].items()]),
             "## Checks\n", table(("part", "check", "passed", "detail"), checked)]
    if results["tests"]:
        parts.append(f"`pytest -m gpu`: {results['tests']}\n")
    if results["copies"]:
        parts.append(f"## Copies and launches\n\n```\n{results['copies']}\n```\n\nbatches: {results['choice']}\n")
    parts.append(f"## Figures\n\nBreakout, horizon {HORIZON}, {MINIBATCHES} minibatches, one epoch, the precision that the "
                 "trainer chooses. The modelled figures were not measured.\n")
    for num_envs, figures in groupby(results["figures"], key=lambda one: one["num_envs"]):
        parts.append(f"{num_envs:,} environments:\n\n{table(COLUMNS, list(map(row, figures)))}")
    parts += [f"## Not done: {name}\n\n```\n{problem}\n```\n" for name, problem in results["problems"].items()]
    return "\n".join([*parts, "## JSON\n", f"```json\n{json.dumps(results, indent=1)}\n```\n"])


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    cells = [[cell.replace("|", "/").replace("\n", " ") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in [list(columns), ["---"] * len(columns), *cells])


def row(figures: dict[str, Any]) -> list[str]:
    """Return the cells of one figure, with the model's beside them where there are some."""
    modelled = ["", "", ""]
    if answer := figures.get("model"):
        modelled = [count(answer["steps_per_second"]), f"{answer['steps_per_second'] / figures['steps_per_second']:.2f}",
                    f"{answer['rollout_ms']:.2f}"]
    return ["serial" if figures["serial"] else str(figures["batches"]), count(figures["steps_per_second"]), *modelled[:2],
            f"{figures['rollout_ms']:.2f}", modelled[2], count(figures["rollout_steps_per_second"]),
            f"{figures['iteration_ms']:.2f}", f"{figures['games_ms']:.2f}", f"{figures['idle']:.0%}",
            f"{figures['copy_bytes']:,}", f"{figures['bandwidth']:.0%}"]

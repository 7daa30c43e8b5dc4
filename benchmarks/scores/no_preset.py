"""Games of this package without their presets: `python -m benchmarks.scores.no_preset FOLDER ...` makes the page.

It says what the defaults give a game that nobody has tuned. The trainings are those of an empty preset, as they are and with
other settings:

    touch empty.toml
    insertcoin tetris --preset empty.toml --time-limit 27000 --total-steps 3000000 --seed 31 --num-threads 1 \
        --judge-episodes 0 --eval-episodes 64 --no-eval-greedy --no-gif --run-dir FOLDER/tetris-31
    python -m benchmarks.scores.no_preset FOLDER --add --out benchmarks/results/no_preset.md

A file .json beside --out keeps what the page needs of each training; --add is as in `benchmarks.scores.seeds`, but
trainings with other settings stand beside each other.
"""

import functools
from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.common import head, score
from benchmarks.pages import make_page
from benchmarks.scores import seeds
from benchmarks.scores.scales import merged, option
from trainer.config.config import Config, without_effect
from trainer.config.sections import ADDED_LATER, OF_THE_MACHINE
from trainer.log.text import markdown
from trainer.runs.summary import Run

COLUMNS = ["game", "steps", "settings", "seeds", "mean", "score of each"]
DEFAULTS = "the defaults"
TIME_LIMIT = 27_000
NOTES = """\
Games of this package without their presets. "settings": what a training had in place of today's defaults. Raw scores to game
over or to the time limit of 27,000 steps, actions sampled, {episodes} episodes of each training, without sticky actions and
without no-ops at the start. Few seeds each: small differences mean nothing.
"""


def settings(config: dict[str, Any]) -> str:
    """What a training had in place of today's defaults, as options of the command line."""
    defaults, found = Config(config["game"]).to_dict(), []
    defaults["env"]["time_limit"] = TIME_LIMIT
    for name in ("env", "policy", "ppo"):
        used = {key: ADDED_LATER.get(key) for key in defaults[name]} | config[name]
        aside = {*OF_THE_MACHINE, "total_steps", *without_effect(used)}
        found += [option(key, value) for key, value in used.items() if key not in aside and value != defaults[name].get(key)]
    return " ".join(found) or DEFAULTS


def facts_of(run: Run) -> dict[str, Any]:
    """What the page and its file need of a training."""
    kept = seeds.facts(run)
    return {name: kept[name] for name in ("game", "seed", "steps", "episodes")} | {
        "settings": settings(run.config), "score": kept["scores"]["sampled"]}


def key(one: dict[str, Any]) -> tuple[Any, ...]:
    """What makes a training another one; those with the defaults come first."""
    return one["game"], one["steps"], one["settings"] != DEFAULTS, one["settings"], one["seed"]


def rows(trainings: list[dict[str, Any]]) -> list[list[str]]:
    """A row for each game, number of steps and settings, by COLUMNS."""
    groups = defaultdict(list)
    for one in sorted(trainings, key=key):
        groups[one["game"], one["steps"], one["settings"]].append(one)
    return [[game, f"{steps / 1e6:.1f}M", used, ", ".join(str(one["seed"]) for one in members),
             score(np.mean([one["score"] for one in members])), ", ".join(score(one["score"]) for one in members)]
            for (game, steps, used), members in groups.items()]


def page(trainings: list[dict[str, Any]]) -> str:
    """The whole page."""
    episodes = ", ".join(str(each) for each in sorted({one["episodes"] for one in trainings}))
    return f"{head('Games without presets')}\n{NOTES.format(episodes=episodes)}\n{markdown(COLUMNS, rows(trainings))}"


def main(argv: list[str] | None = None):
    make_page("scores.no_preset", __doc__, argv, facts_of, page, functools.partial(merged, key=key), key)


if __name__ == "__main__":
    main()

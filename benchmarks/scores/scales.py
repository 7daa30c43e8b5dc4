"""One scale of rewards for all games: `python -m benchmarks.scores.scales FOLDER ...` makes the page of a trial.

The trainings are those of presets as they are, and with some of the settings in RULES:

    insertcoin tetris --total-steps 6000000 --seed 11 --num-threads 1 --judge-episodes 0 --eval-episodes 100 --no-eval-greedy \
        --run-dir FOLDER/tetris-11 --normalize-rewards --normalize-steps 0 --reward-scale 1 --value-clip 0
    python -m benchmarks.scores.scales FOLDER --add --out benchmarks/results/scales.md

A file .json beside --out keeps what the page needs of each training; --add is as in `benchmarks.scores.seeds`, but
trainings with other settings stand beside each other.
"""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import head, score
from benchmarks.pages import make_page
from benchmarks.scores import seeds
from trainer.config.before_parse import option_of, written
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.config.sections import ADDED_LATER
from trainer.log.text import markdown
from trainer.results.groups import about
from trainer.runs.summary import Run

RULES = ("normalize_rewards", "normalize_steps", "reward_scale", "value_clip", "max_grad_norm")  # a trial changes them
PRESET = "the preset"
NOW = " (the preset now)"
COLUMNS = ["game", "steps", "sticky", "settings", "seeds", "mean", "95% interval", "of the preset's", "bench"]
SAME = 0.01  # numbers of steps that differ by less are equal: a training ends with a whole rollout
NOTES = """\
Presets as they are, and with other scales of rewards and values, by the same numbers of steps. Raw scores to game over or to
the preset's time limit, actions sampled, {episodes} episodes of each training; intervals are of the mean over the seeds, by
Student's t. "the preset" is that of the day of a training. "bench": the mean and interval of the [ten seeds](seeds.md) of the
preset now, if they have as many steps. "of the preset's": the mean divided by that of the same seeds with the preset, or,
where this table has no trainings of it, of the bench. "(the preset now)": a trial that became the preset, whose trainings the
bench has; those of Tetris without sticky actions begin with up to 30 no-ops, as both of Space Invaders with 60M steps do, and
the others here without. With `--normalize-steps 600000`, trainings of Asteroids and Freeway are from before the unit of rewards
was at least their mean size. In the other games the deviation of returns is larger than that, so the same command gives the
same training.
"""


def rule(run: Run) -> str:
    """The scales of a training as on the command line, or PRESET if all are its preset's."""
    made = preset(run.game, self_play=run.config["self_play"]["self_play"]).to_dict()["ppo"]
    used = ADDED_LATER | run.config["ppo"]
    return PRESET if rules(used) == rules(made) else as_options(used, made)


def rules(ppo: dict[str, Any]) -> dict[str, Any]:
    """The settings RULES, without those that have no effect."""
    used = {name: ppo[name] for name in RULES}
    if not used["normalize_rewards"]:
        del used["normalize_steps"]
    return used


def as_options(ppo: dict[str, Any], made: dict[str, Any]) -> str:
    """The `rules` of `ppo` as options of the command line; made: the preset's, whose max_grad_norm is left out."""
    used = rules(ppo)
    if used["max_grad_norm"] == made["max_grad_norm"]:
        del used["max_grad_norm"]
    return " ".join(option(name, value) for name, value in used.items())


def option(name: str, value: float | str | None) -> str:
    """A setting and its value as on the command line, such as --no-normalize-rewards or --value-clip 0.2."""
    if isinstance(value, bool):
        return option_of(name) if value else f"--no-{option_of(name)[2:]}"
    return f"{option_of(name)} {format(value, '.15g') if isinstance(value, float) else written(value)}"


def facts_of(run: Run) -> dict[str, Any]:
    """What the page and its file need of a training."""
    kept = seeds.facts(run)
    return {name: kept[name] for name in ("game", "sticky", "seed", "steps", "episodes")} | {
        "rule": rule(run), "score": kept["scores"]["sampled"]}


def key(one: dict[str, Any]) -> tuple[Any, ...]:
    """What makes a training another one."""
    return one["game"], one["steps"], one["sticky"], one["rule"] != PRESET, one["rule"], one["seed"]


def rows(trainings: list[dict[str, Any]]) -> list[list[str]]:
    """A row for each game, number of steps and rule, by COLUMNS."""
    groups = defaultdict(dict)
    for one in sorted(trainings, key=key):
        groups[one["game"], one["steps"], one["sticky"], one["rule"]][one["seed"]] = one
    return [row(members, groups.get((game, steps, sticky, PRESET), {}))
            for (game, steps, sticky, _), members in groups.items()]


def row(members: dict[int, dict[str, Any]], presets: dict[int, dict[str, Any]]) -> list[str]:
    """The statistics over the seeds of a game with one rule. presets: its trainings with the preset, by seed."""
    first, scores = next(iter(members.values())), np.array([one["score"] for one in members.values()])
    between = about(scores)["mean_interval"]
    todays = is_todays(first)
    reference = {} if members is presets else {seed: one["score"] for seed, one in presets.items()} or {
        one["seed"]: one["scores"]["sampled"] for one in of_bench(first) if not todays}
    common = members.keys() & reference.keys()
    ratio = sum(members[seed]["score"] for seed in common) / sum(reference[seed] for seed in common) if common else None
    return [first["game"], f"{first['steps'] / 1e6:.1f}M", f"{first['sticky']:g}",
            first["rule"] + (NOW if todays else ""), str(len(members)),
            score(scores.mean()), " to ".join(map(score, between or ())),
            "" if ratio is None else f"{ratio:.2f}", bench(first)]


def is_todays(one: dict[str, Any]) -> bool:
    """Whether the options of a training, which were not its preset's, are those of the preset now."""
    made = preset(GameName(one["game"])).to_dict()["ppo"]
    return one["rule"] == as_options(made, made)


def of_bench(one: dict[str, Any]) -> list[dict[str, Any]]:
    """The trainings of the preset's bench with a training's steps and sticky actions."""
    return [other for other in seeds.published_trainings()
            if (other["game"], *seeds.protocol(other)) == (one["game"], one["sticky"], 0)
            and abs(other["steps"] / one["steps"] - 1) < SAME]


def bench(one: dict[str, Any]) -> str:
    """The mean and the interval of `of_bench`; empty if there is none."""
    scores = np.array([other["scores"]["sampled"] for other in of_bench(one)])
    return f"{score(scores.mean())} ({' to '.join(map(score, about(scores)['mean_interval']))})" if len(scores) > 1 else ""


def page(trainings: list[dict[str, Any]]) -> str:
    """The whole page."""
    episodes = ", ".join(str(each) for each in sorted({one["episodes"] for one in trainings}))
    return f"{head('Scales of rewards')}\n{NOTES.format(episodes=episodes)}\n{markdown(COLUMNS, rows(trainings))}"


def merged(trainings: list[dict[str, Any]], file: Path,
           key: Callable[[dict[str, Any]], tuple[Any, ...]] = key) -> list[dict[str, Any]]:
    """These trainings and those of a file that they do not replace, in the order of `key`, which makes one another one."""
    kept = json.loads(file.read_text(encoding="utf-8"))
    return sorted({key(one): one for one in kept + trainings}.values(), key=key)


def main(argv: list[str] | None = None):
    make_page("scores.scales", __doc__, argv, facts_of, page, merged, key)


if __name__ == "__main__":
    main()

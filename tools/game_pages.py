"""Writes docs/games/NAME.md, a page for each game, and their index docs/games/README.md: `make docs`.

Everything on a page comes from the game itself (the docstring of its module, its `Game(...)`), from
benchmarks/results/seeds.json, the scores of many seeds, and from presets.json, of the agent in the film.
tests/repository/pages/test_game_pages.py writes the pages again and compares.
"""

import importlib
import itertools
import json
import re
import sys
import textwrap
from pathlib import Path

import numpy as np

import envs_c
from benchmarks import common
from benchmarks.scores.seeds import steps_of
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.results.statistics import student_interval

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "games"
PRESETS = ROOT / "benchmarks" / "results" / "presets.json"
SEEDS = PRESETS.with_name("seeds.json")
PROTOCOL = 0.25, 0  # the probability of a sticky action and the no-ops whose scores stand in the index
TABLE = re.compile(r" +.*\S {3,}\S|    ")  # an indented line with columns three or more spaces apart
ITEM = re.compile(r"^ +(-|\d+\.) ", re.MULTILINE)  # of a list
LABEL = re.compile(r"^([A-Z][\w'-]*(?: [\w'-]+){0,3})(?<!\b[A-Z])\. (?=[A-Z0-9(`]|\w = )")  # not an initial, as in "After B."
LISTED_ACTIONS = 18  # a game with more actions names only the first and the last


def main(folder: Path = PAGES) -> int:
    """Write all pages into `folder`; remove pages of games that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    written = pages()
    for stale in {file.name for file in folder.glob("*.md")} - written.keys():
        (folder / stale).unlink()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    print(f"{len(written)} pages in {folder}")
    return 0


def pages() -> dict[str, str]:
    """The text of every page by its file's name."""
    shown = json.loads(PRESETS.read_text(encoding="utf-8"))
    games = [envs_c.game(name) for name in envs_c.built_in()]
    return {f"{game.name}.md": page(game, shown.get(game.name), seeds_of(game.name)) for game in games} | {
        "README.md": index(games, shown)}


def seeds_of(name: str) -> dict[tuple[float, int], list[dict]]:
    """The trainings of a game in seeds.json, by the probability of sticky actions and the most no-ops at an episode's start."""
    found = {}
    for one in json.loads(SEEDS.read_text(encoding="utf-8")):
        if one["game"] == name:
            found.setdefault((one["sticky"], one.get("noop_max", 0)), []).append(one)
    return found


def page(game, score: dict | None, trainings: dict[tuple[float, int], list[dict]]) -> str:
    """The page of one game.

    score: of the agent in the film, its entry in presets.json; None before `python -m benchmarks.scores.gallery NAME` has run.
    trainings: as by `seeds_of`; may be empty.
    """
    title, rules = rules_of(game)
    picture = f"![{game.title}, played by a trained agent](../gallery/{game.name}.gif)"
    parts = [f"# {game.title}\n\n{title}", picture, making(game),
             f"## Rules\n\n{rules}", "## Actions\n\n" + actions(game), "## Features\n\n" + features(game),
             "## Options\n\n" + options(game), "## Trained agents\n\n" + reached(game, score, trainings),
             "## Tests\n\n" + tests(game)]
    return "\n\n".join(parts) + "\n"


def rules_of(game) -> tuple[str, str]:
    """The first line of a game's docstring, and the rest as Markdown."""
    module = importlib.import_module(f"envs_c.games.{game.name}")
    if hasattr(module, "__path__"):  # a folder: its .pyx has the game's name
        module = importlib.import_module(f"envs_c.games.{game.name}.{game.name}")
    title, _, rest = module.__doc__.strip().partition("\n\n")
    return markdown(title), markdown(rest)


def markdown(text: str) -> str:
    """Prose as Markdown: a paragraph's label ("Points.") becomes bold, indented tables become code."""
    return "\n\n".join(part for block in re.split(r"\n\s*\n", text.strip("\n")) for part in parts_of(block.splitlines()))


def parts_of(lines: list[str]) -> list[str]:
    """The prose and the tables of one block, in order."""
    parts = []
    for is_table, group in itertools.groupby(lines, lambda line: bool(TABLE.match(line)) and not ITEM.match(line)):
        text = "\n".join(group)
        if is_table and not (parts and ITEM.search(parts[-1])):
            parts.append("```\n" + textwrap.dedent(text) + "\n```")
        elif parts and not parts[-1].endswith("```"):
            parts[-1] += "\n" + prose(text)
        else:
            parts.append(LABEL.sub(r"**\1.** ", prose(text)))
    return parts


def prose(text: str) -> str:
    """Text with Markdown's special characters escaped and an empty line before a list."""
    item = ITEM.search(text)
    if item and item.start():
        text = text[: item.start()] + "\n" + text[item.start():]
    return text.replace("*", "\\*").replace("<", "&lt;")


def making(game) -> str:
    limit = f"an episode is truncated after {game.time_limit:,} steps" if game.time_limit else "no time limit"
    return (f"```python\nenv = insertcoin.make(\"{game.name}\", num_envs=64)\n"
            f"env = gymnasium.make(\"envs_c:Arcade/{game.title}-v0\")\n```\n\n"
            f"Defaults: frame skip {game.frame_skip}, {limit}. Screen: {game.screen[0]}x{game.screen[1]}. Windows and films "
            f"show {game.fps} frames a second.")


def actions(game) -> str:
    numbered = [f"`{i}` {name}" for i, name in enumerate(game.actions)]
    if len(numbered) > LISTED_ACTIONS:
        numbered = [*numbered[:3], "...", *numbered[-2:]]
    mask = " `info[\"action_mask\"]` marks the legal ones." if game.has_mask else ""
    return f"{len(game.actions)} actions: {', '.join(numbered)}.{mask}"


def features(game) -> str:
    shape = " x ".join(map(str, game.feature_shape))
    lines = [f"{shape} {game.feature_dtype}, under the default options.", "", "| index | feature | range | meaning |",
             "| --- | --- | --- | --- |"]
    first = 0
    for feature in game.features:
        last = first + feature.count - 1
        span = str(first) if feature.count == 1 else f"{first} to {last}"
        lines.append(f"| {span} | {feature.name} | {feature.low:g} to {feature.high:g} | {cell(feature.help)} |")
        first = last + 1
    return "\n".join(lines)


def options(game) -> str:
    if not game.options:
        return "The game has no options of its own."
    rows = [f"| `{name}` | {option.default:g} | {option.span} | {cell(option.help)} |"
            for name, option in game.options.items()]
    return "\n".join(["| option | default | range | meaning |", "| --- | --- | --- | --- |", *rows])


def reached(game, score: dict | None, trainings: dict[tuple[float, int], list[dict]]) -> str:
    """The scores of many seeds, and of the agent in the film."""
    lines = [over_seeds(kind(game, *used), game.name, trainings[used]) for used in sorted(trainings, reverse=True)]
    if lines:
        lines.insert(0, f"Mean scores of `insertcoin {game.name}` with [its preset](../../trainer/presets/{game.name}.toml), "
                        "sampled actions, with the 95% interval of the mean over the seeds by Student's t. The minutes are of "
                        "several machines, and some hold pauses ([the table](../../benchmarks/results/seeds.md)):\n")
        lines.append("")
    if score is None:
        return "\n".join([*lines, f"No film yet: `python -m benchmarks.scores.gallery {game.name}` trains an agent and "
                                  "films it."])
    mean, low, high, random = (common.score(score[key]) for key in ("mean", "min", "max", "random"))
    played = kind(game, 0, score.get("protocol", {}).get("noop_max") or 0)
    shown = (f"The agent in the film is one training, of seed {score['seed']}, with the preset as it was on {score['made']}; "
             f"{played}: a mean score of {mean} in {score['episodes']} episodes{limit_of(game, score)}, from {low} to {high}. "
             f"Random play scores {random}.")
    return "\n".join([*lines, shown])


def limit_of(game, score: dict) -> str:
    """The time limit of the episodes of an entry of presets.json, if it was recorded and today's preset has another one."""
    used, now = score.get("protocol", {}), preset(GameName(game.name)).env.time_limit
    if not used or now in (None, used["time_limit"]):
        return ""
    return (f" of at most {used['time_limit']:,} steps ({used['time_limit'] * used['frame_skip']:,} frames; the preset has "
            f"{now:,} steps now)")


def kind(game, sticky: float, most: int) -> str:
    """A protocol in words. most: no-ops at an episode's start."""
    if sticky:
        return f"sticky actions with a probability of {sticky:g}"
    if game.actions[0] != "NOOP":
        return "no sticky actions, a game without no-ops"
    return f"no sticky actions, {f'up to {most} no-ops at the start' if most else '0 no-ops'}"


def over_seeds(protocol: str, name: str, trainings: list[dict]) -> str:
    """A line of a list: the mean score over the seeds, its interval, and what a training took. protocol: in words."""
    scores = np.array([one["scores"]["sampled"] for one in trainings])
    between = student_interval(scores)
    known = "" if between is None else f" ({common.score(between[0])} to {common.score(between[1])})"
    minutes = np.median([one["minutes"] for one in trainings])
    return (f"- {protocol}: {common.score(scores.mean())}{known}, {len(trainings)} seeds of {steps_of(name, trainings)} steps, "
            f"{minutes:.1f} minutes each on one core (median)")


def tests(game) -> str:
    text = game.compared_with.rstrip(".")
    return f"The tests compare the game with {text[0].lower() if text.startswith(('The ', 'A ')) else text[0]}{text[1:]}."


def index(games, scores: dict) -> str:
    """The table of all games. scores: presets.json."""
    lines = ["# The games", "",
             "Each page has the rules, the actions, every feature by its index, the options, and the scores of trained agents.",
             "In the table: the mean over the seeds with sticky actions of probability 0.25, sampled actions, after the steps",
             "of each page (2048: a quarter of its preset's), and random play with the same sticky actions. In Go a sticky",
             "action is often an illegal move. `make docs` writes these pages from the games' own descriptions; `insertcoin",
             "games` prints a summary with the speed on your machine.", "",
             "| game | summary | actions | features | agent | random |", "| --- | --- | --- | --- | --- | --- |"]
    for game in games:
        shape = " x ".join(map(str, game.feature_shape))
        trainings = seeds_of(game.name).get(PROTOCOL)
        agent = common.score(np.mean([one["scores"]["sampled"] for one in trainings])) if trainings else "-"
        random = common.score(scores[game.name]["random_sticky"]) if game.name in scores else "-"
        lines.append(f"| [{game.name}]({game.name}.md) | {cell(game.summary)} | {len(game.actions)} "
                     f"| {shape} {game.feature_dtype} | {agent} | {random} |")
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Text that does not end a table's cell."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())

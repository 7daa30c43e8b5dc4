"""Many seeds of each game: `python -m benchmarks.scores.seeds FOLDER ... [--out FILE]` makes the page of a bench.

The trainings are those of `python -m trainer bench`, whose folders are named here:

    python -m trainer bench breakout pong --out FOLDER      # 10 seeds; without sticky actions up to 30 no-ops, and with them
    python -m benchmarks.scores.seeds FOLDER --out benchmarks/results/seeds.md

The page has means over the seeds with their intervals, interquartile means, minutes and steps, and the published scores of
games that equal their cartridge; and a table over these games. A file .json beside --out keeps what the page needs of each
training. Trainings that have not ended are left out; a column says how many seeds a row has. With --add the trainings that are
in that file already, of another machine for example, stay, but for those of games whose trainings in the folders have other
settings. With --add and no FOLDER the page is written once more.
"""

import functools
import itertools
import json
import operator
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import envs_c
from benchmarks.common import RESULTS, head, score
from benchmarks.pages import make_page
from trainer.config.config import Config, overlay, without_effect
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.config.sections import OF_THE_MACHINE
from trainer.log.text import markdown
from trainer.results import published, statistics
from trainer.results.groups import about
from trainer.runs.summary import Run

COLUMNS = ["game", "reads", "sticky", "no-ops", "seeds", "steps", "minutes", "mean", "95% interval", "interquartile mean",
           "different", "greedy, mean", "greedy, different", "human-normalized", "PPO", "DQN", "Rainbow"]
OVER_GAMES = ["agents", "sticky", "no-ops", "games", "runs", "interquartile mean", "median", "mean"]
FEWEST_GAMES = 5  # of a row over games
FIRST_DEFAULTS = {"policy": {"noise_hold": 1, "noise_hold_after": "any"},
                  "ppo": {"minibatch": 32_768, "normalize_rewards": False, "normalize_steps": 0, "value_clip": 0.2}}
ABOVE = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # human-normalized scores of the performance profile
NOTES = f"""\
Raw scores to game over or to the time limit, actions sampled (and greedy in one column), {{episodes}} episodes of each
training. The limit is 27,000 steps (108,000 frames) in Pac-Man and the games after cartridges but Freeway, whose episodes
have 8,192 frames; 500 steps in CartPole and 200 in T-maze.{{at_the_limit}}

"sticky" is the probability of a sticky action, in training and evaluation: 0.25 is what Machado et al. (2018) recommend,
though with all 18 actions and not the minimal ones. "no-ops" is the most frames of NOOP at the start of an episode, in
training and evaluation too; without sticky actions and with 0 no-ops greedy episodes of many games are few different ones,
in Breakout, whose ball waits to be served, also with no-ops. CartPole, 2048, Go, Snake and T-maze have no NOOP. "reads" says
what an agent observes, and whether its preset adds a bonus to the rewards of the training. Minutes are medians, with one
thread and beside another training; they may be of several machines, and hold the pauses of trainings that were stopped for a
while: seeds 1 and 2 of Enduro, 6 to 10 of Breakout with no-ops, and all of Platformer and Tetris were beside up to seven
other processes. Intervals are of the mean over the seeds, by Student's t, which takes seeds to be normal: one may pass a
game's highest score. A bench has 10 seeds: rows with fewer are unfinished, and the same commands go on with them. "of" in
the column of steps: the preset has more steps than these trainings. "different" is the number of different episodes, of
{{episodes}}, in the training of the row that has the fewest; "-": its trainings did not record it. Several presets were
chosen by these same seeds (see the lab book), so their means are a little too high.

Our agents read features; the published ones read pictures: PPO after 10M steps ({published.PPO_SOURCE}), DQN and Rainbow
after 50M ({published.SOURCE}; {published.RAINBOW_SOURCE}), all without sticky actions: the rows to set beside them are those
with 30 no-ops. "human-normalized" is 0 for random play and 1 for the human of the second of these tables, who played for half
an hour at most.
"""
OVER_NOTES = """
## Over games

Human-normalized scores of all games above that equal their cartridge, sampled actions, with 95% intervals from a bootstrap
over the seeds of each game (Agarwal et al. 2021, arXiv:2108.13264). They say nothing about other games, and a median over
these games does not compare with one over 57. The interquartile mean leaves out a quarter of all runs at either end, and each
game weighs the same; median and mean are over the games' means. The published agents are on the same games. The second table
is the performance profile: the part of the runs above a score, as the mean over the games, with intervals of the same
bootstrap.
"""


def settings(config: dict[str, Any]) -> str:
    """A checksum of what a preset sets: all that is not a default, but for sticky actions, no-ops and the machine's threads.
    The weights that a training began with count too. The defaults are the first ones, so that a checksum stays."""
    defaults, aside = overlay(Config(config["game"]), FIRST_DEFAULTS).to_dict(), {*OF_THE_MACHINE, "sticky", "noop_max"}
    own = {name: {key: value for key, value in config[name].items()
                  if key not in aside | without_effect(config[name]).keys() and value != section.get(key)}
           for name, section in defaults.items() if isinstance(section, dict) and name != "run"}
    if start := config["run"].get("init_from"):
        own["run"] = {"init_from": start}
    return f"{zlib.crc32(json.dumps(own, sort_keys=True).encode()):08x}"


def facts(run: Run) -> dict[str, Any]:
    """What the page and its file need of a training."""
    scores = {one["protocol"]["actions"]: one["mean"] for one in run.evaluations}
    return {"game": run.game.short, "sticky": run.config["env"]["sticky"],
            "noop_max": run.evaluations[0]["protocol"]["noop_max"] or 0, "seed": run.seed, "steps": run.step,
            "settings": settings(run.config), "minutes": round(run.seconds / 60, 2),
            "truncated": run.evaluations[0].get("truncated"), "options": run.config["env"].get("options") or {},
            "scores": scores, "episodes": run.evaluations[0]["episodes"],
            "different": {one["protocol"]["actions"]: one["different_episodes"] for one in run.evaluations
                          if "different_episodes" in one}}


def protocol(one: dict[str, Any]) -> tuple[float, int]:
    """The probability of a sticky action and the most no-ops of a training; earlier files have no number of no-ops, for 0."""
    return one["sticky"], one.get("noop_max", 0)


def key(one: dict[str, Any], kind: Callable[[dict[str, Any]], Any] = operator.itemgetter("game")) -> tuple[Any, ...]:
    """What makes a training another one. kind: of a training; those of one kind have the same settings."""
    return kind(one), protocol(one), one["seed"]


def with_published(trainings: list[dict[str, Any]], file: Path,
                   kind: Callable[[dict[str, Any]], Any] = operator.itemgetter("game")) -> list[dict[str, Any]]:
    """These trainings and those of a file that they do not replace. Says how many of it have other settings.

    kind: as for `key`.
    """
    now = {kind(one): one["settings"] for one in trainings}
    done = {key(one, kind) for one in trainings}
    others = [one for one in json.loads(file.read_text(encoding="utf-8")) if key(one, kind) not in done]
    kept = [one for one in others if now.get(kind(one), one["settings"]) == one["settings"]]
    if len(kept) < len(others):
        print(f"{len(others) - len(kept)} trainings of {file} are left out: their games have other settings now")
    return sorted(trainings + kept, key=lambda one: key(one, kind))


@functools.cache
def published_trainings() -> list[dict[str, Any]]:
    """The trainings of results/seeds.json, for other pages."""
    return json.loads((RESULTS / "seeds.json").read_text(encoding="utf-8"))


def table(trainings: Iterable[dict[str, Any]]) -> list[list[str]]:
    """A row for each game and protocol."""
    groups = defaultdict(list)
    for one in trainings:
        groups[one["game"], protocol(one)].append(one)
    return [row(game, used, members) for (game, used), members in sorted(groups.items())]


def row(game: str, used: tuple[float, int], members: list[dict[str, Any]]) -> list[str]:
    """The statistics over the seeds of one game. used: as by `protocol`."""
    facts_of = about(np.array([one["scores"]["sampled"] for one in members]))
    greedy = [one["scores"]["greedy"] for one in members if "greedy" in one["scores"]]
    between = " to ".join(map(score, facts_of["mean_interval"] or ()))
    cartridge = published.published(game, members[0]["options"])
    others = ["", "", "", ""] if cartridge is None else [
        f"{cartridge.normalized(facts_of['mean']):.2f}",
        *("" if one is None else score(one) for one in (cartridge.ppo, cartridge.dqn, cartridge.rainbow))]
    return [game, reads(game), *(f"{part:g}" for part in used), str(len(members)), steps_of(game, members),
            f"{np.median([one['minutes'] for one in members]):.1f}", score(facts_of["mean"]), between, score(facts_of["iqm"]),
            fewest_different(members, "sampled"), score(np.mean(greedy)) if greedy else "", fewest_different(members, "greedy"),
            *others]


def reads(game: str) -> str:
    """What the game's preset lets an agent observe, and "bonus" if it adds one to the rewards."""
    if game not in envs_c.games():
        return ""
    config = preset(GameName(game))
    options = envs_c.make(game, 1, **config.env.options).core.options
    extra = ["forecast"] if options.get("forecast") else []
    return ", ".join([config.env.view, *extra, *(["bonus"] if config.ppo.reward_transform else [])])


def over_games(trainings: Iterable[dict[str, Any]]) -> tuple[list[list[str]], list[list[str]]]:
    """Rows of OVER_GAMES, with the published agents last, and of the profile: of each protocol with FEWEST_GAMES or more."""
    found = defaultdict(lambda: defaultdict(list))
    for one in trainings:
        cartridge = published.published(one["game"], one["options"])
        if cartridge is not None:
            found[protocol(one)][one["game"]].append(cartridge.normalized(one["scores"]["sampled"]))
    totals, profiles, compared = [], [], set()
    for used, games in sorted(found.items()):
        scores = [np.array(runs) for runs in games.values()]
        if len(scores) < FEWEST_GAMES:
            continue
        parts = [f"{statistic(scores):.2f}{in_brackets(statistics.interval(statistic, scores))}"
                 for statistic in (statistics.iqm, statistics.median, statistics.mean)]
        named = [f"{part:g}" for part in used]
        totals.append(["ours", *named, str(len(scores)), str(sum(map(len, scores))), *parts])
        compared.add(tuple(sorted(games)))
        profile = functools.partial(statistics.profile, at=np.array(ABOVE))
        bounds = statistics.interval(profile, scores)
        ends = [""] * len(ABOVE)
        if bounds is not None:
            ends = [f" ({low:.0%} to {high:.0%})" for low, high in zip(*bounds, strict=True)]
        profiles.append([*named, *(f"{part:.0%}{end}" for part, end in zip(profile(scores), ends, strict=True))])
    return [*totals, *itertools.chain.from_iterable(map(of_others, sorted(compared)))], profiles


def of_others(games: Iterable[str]) -> list[list[str]]:
    """Rows of OVER_GAMES of the published agents on these games, where all have a score: one of each game."""
    cartridges, found = [published.published(game, {}) for game in games], []
    for name in ("PPO", "DQN", "Rainbow"):
        raw = [getattr(one, name.lower()) for one in cartridges]
        if None not in raw:
            scores = [np.array([one.normalized(score)]) for one, score in zip(cartridges, raw, strict=True)]
            parts = [f"{statistic(scores):.2f}" for statistic in (statistics.iqm, statistics.median, statistics.mean)]
            found.append([name, "0", "30", str(len(scores)), "-", *parts])
    return found


def in_brackets(interval: list[float] | None) -> str:
    """An interval behind its figure; empty for None."""
    return "" if interval is None else f" ({interval[0]:.2f} to {interval[1]:.2f})"


def page(trainings: list[dict[str, Any]]) -> str:
    """The whole page."""
    episodes = ", ".join(str(each) for each in sorted({one["episodes"] for one in trainings}))
    notes = NOTES.format(episodes=episodes, at_the_limit=at_the_limit(trainings))
    text = f"{head('Seeds')}\n{notes}\n{markdown(COLUMNS, table(trainings))}"
    totals, profiles = over_games(trainings)
    if totals:
        above = ["sticky", "no-ops", *(f"above {score:g}" for score in ABOVE)]
        text += f"{OVER_NOTES}\n{markdown(OVER_GAMES, totals)}\n{markdown(above, profiles)}"
    return text


def at_the_limit(trainings: Iterable[dict[str, Any]]) -> str:
    """A sentence about the episodes that ended at the limit, by game; empty if no training recorded one."""
    known = defaultdict(list)
    for one in trainings:
        if one.get("truncated") is not None:
            known[one["game"]].append(one["truncated"] / one["episodes"])
    shares = [f"{np.mean(parts):.0%} in {game} ({len(parts)})" for game, parts in sorted(known.items()) if any(parts)]
    if not shares:
        return ""
    return f"\nThe part of the episodes that end there (and the number of trainings that recorded it): {', '.join(shares)}."


def fewest_different(members: list[dict[str, Any]], actions: str) -> str:
    """The fewest different episodes of a training with these actions, "-" if none recorded it, as in earlier files."""
    counts = [one["different"][actions] for one in members if actions in one.get("different", {})]
    return str(min(counts)) if counts else "-"


def steps_of(game: str, members: list[dict[str, Any]]) -> str:
    """The steps of a training, such as "40.0M of 160.0M" if the game's preset has clearly more."""
    steps = np.mean([one["steps"] for one in members]) / 1e6
    whole = preset(GameName(game)).ppo.total_steps / 1e6 if game in envs_c.games() else 0.0
    return f"{steps:.1f}M" + (f" of {whole:.1f}M" if steps < 0.9 * whole else "")


def main(argv: list[str] | None = None):
    make_page("scores.seeds", __doc__, argv, facts, page, with_published, key)


if __name__ == "__main__":
    main()

"""Cartridges from pictures: `python -m benchmarks.scores.atari FOLDER ... [--add] [--out FILE]` makes the page of a bench.

The trainings are those of the console's preset, whose folders are named here:

    python -m trainer bench atari:qbert atari:phoenix --view pixels --sticky 0.25 --total-steps 2500000 --seeds 5 \
        --eval-episodes 20 --no-eval-greedy --out FOLDER
    python -m benchmarks.scores.atari FOLDER --out benchmarks/results/atari.md

The page has a row for each cartridge: the mean over its seeds, PPO's published score, and, if the suite has the game, the score
from features (results/seeds.json). Below it are the median over the games and, once the five games of Atari-5 are there, the
median over all 57 that they predict. Trainings of 5M steps (20M frames) or more have a table of their own. A file .json beside
--out keeps the scores and a short curve of each training; --add is as in `benchmarks.scores.seeds`.
"""

import functools
from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.common import head, score
from benchmarks.pages import make_page
from benchmarks.scores import seeds
from trainer.log.text import markdown
from trainer.results import published, statistics
from trainer.results.groups import about
from trainer.results.published import ATARI_5, CARTRIDGE, PPO, PPO_SOURCE, predicted_median
from trainer.runs.metrics import read_metrics
from trainer.runs.summary import Run

LONG = 5_000_000  # steps; trainings with so many are in a table of their own
FEWEST = 5  # games over which statistics are given
PARTS = 10  # points of a training's curve
COLUMNS = ["cartridge", "seeds", "steps", "minutes", "mean", "95% interval", "human-normalized", "PPO, 10M steps",
           "from features"]
NOTES = f"""\
Cartridges on the console, from 84x84 pictures, with one preset for all games (`atari`): an LSTM, two pictures an observation,
and the cartridge's own actions. The preset was tuned on Breakout and Pong, which are in the table. Sticky actions of 0.25 in
training and evaluation, up to 30 no-ops at the start, episodes of half an hour at most. In training a lost life is an end and
rewards are clipped to 1, as in DQN's and PPO's trainings, though Machado et al. (2018) recommend game over as the end, and
all 18 actions; an evaluation goes on to game over. The means are of raw scores to game over or to the time limit,
{{episodes}} episodes of each training, actions sampled.

Intervals are of the mean over the seeds, by Student's t; one seed has none. It takes seeds to be normal: where they fall into
two groups, as in Enduro and Battle Zone, an interval says that few seeds are known, and may have scores that the game has
not. The trainings are of several machines, with products in float32 or, where the CPU has it, in bfloat16. Minutes are
medians, of one core; other trainings and builds made some of them several times longer. A step is four frames. PPO:
{PPO_SOURCE}, after 10M steps, without sticky actions. "from features": the suite's game with its own preset, sticky 0.25
([ten seeds](seeds.md)). "human-normalized" is 0 for random play and 1 for the human of {published.SOURCE}.
"""


def facts(run: Run) -> dict[str, Any]:
    """What the page and its file need of a training."""
    points = [[entry["step"], round(entry["score_mean"], 2)] for entry in read_metrics(run.folder)
              if entry.get("score_mean") is not None]
    chosen = [point for part in range(1, PARTS + 1) if (point := point_at(points, part, run.step))]
    evaluation = run.evaluations[0]
    return seeds.facts(run) | {"cut": evaluation["mean_length"] == evaluation["protocol"]["time_limit"],
                               "curve": [point for k, point in enumerate(chosen) if point not in chosen[:k]]}


def point_at(curve: list[list[float]], part: int, steps: int) -> list[float] | None:
    """The last point (step, score) of a curve up to `part` of PARTS of the steps; None if no episode had ended by then."""
    return max((point for point in curve if point[0] * PARTS <= part * steps), default=None)


def normalized(game: str, members: list[dict[str, Any]]) -> np.ndarray:
    """The human-normalized scores of a game's trainings; empty if the literature has no scores of it."""
    row = published.published(CARTRIDGE + game, {})
    return np.array([] if row is None else [row.normalized(one["scores"]["sampled"]) for one in members])


def row(game: str, members: list[dict[str, Any]]) -> list[str]:
    """The statistics over a game's trainings, by COLUMNS."""
    scores = np.array([one["scores"]["sampled"] for one in members])
    interval = about(scores)["mean_interval"]
    human = normalized(game, members)
    return [game, str(len(members)), f"{np.mean([one['steps'] for one in members]) / 1e6:.1f}M",
            f"{np.median([one['minutes'] for one in members]):.0f}",
            score(scores.mean()), " to ".join(map(score, interval or ())),
            f"{human.mean():.2f}" if len(human) else "", score(PPO[game]) if game in PPO else "", from_features(game)]


def from_features(game: str) -> str:
    """The mean over the seeds of the suite's game, with sticky actions of 0.25; empty if the suite has no such game."""
    scores = [one["scores"]["sampled"] for one in seeds.published_trainings()
              if (one["game"], seeds.protocol(one)) == (game, (0.25, 0))]
    return score(np.mean(scores)) if scores else ""


def over_games(games: dict[str, list[dict[str, Any]]]) -> str:
    """The median and other statistics of the games of the literature, and Atari-5's prediction if its games are there."""
    scores = {game: found for game, members in games.items() if len(found := normalized(game, members))}
    if len(scores) < FEWEST:
        return ""
    values = list(scores.values())
    text = (f"\nOver the {len(scores)} games of the literature above, human-normalized: median "
            f"{statistics.median(values):.2f}, interquartile mean of all trainings {statistics.iqm(values):.2f}, mean "
            f"{statistics.mean(values):.2f}.\n")
    if ATARI_5.keys() <= scores.keys():
        five = [scores[game] for game in ATARI_5]
        between = statistics.interval(of_atari_5, five)
        text += (f"\nThe median over all 57 that Atari-5 predicts (Aitchison et al. 2023, arXiv:2210.02019) from "
                 f"{', '.join(ATARI_5)}: {of_atari_5(five):.2f}{seeds.in_brackets(between)}"
                 f"{', by a bootstrap over the seeds' if between else ''}. The regression is of published agents with medians "
                 "above 0.40: below that it is an extrapolation, and the authors' error of 10% does not hold.\n")
    return text


def of_atari_5(five: statistics.Scores) -> float:
    """The median that the scores of ATARI_5's games, in their order, predict."""
    return predicted_median({game: float(scores.mean()) for game, scores in zip(ATARI_5, five, strict=True)})


def cut(games: dict[str, list[dict[str, Any]]]) -> str:
    """The trainings whose episodes all went on to the time limit, and the figures without them; empty if none is known."""
    found = [f"{game}'s seed {one['seed']}" for game, members in games.items() for one in members if one.get("cut")]
    if not found:
        return ""
    others = {game: [one for one in members if not one.get("cut")] for game, members in games.items()}
    unknown = sum(one.get("cut") is None for members in games.values() for one in members)
    older = f" The {unknown} oldest trainings did not record it." if unknown else ""
    without = over_games({game: members for game, members in others.items() if members})
    return (f"\nNo episode ended before the time limit in the evaluation of {', '.join(found)}.{older}"
            + (f" Without that:\n{without}" if without else "\n"))


def curves(games: dict[str, list[dict[str, Any]]], title: str) -> str:
    """The means of recent episodes by parts of the trainings, of all seeds."""
    columns = ["cartridge", *(f"{part / PARTS:.0%}" for part in range(1, PARTS + 1))]
    rows = [[game, *(at_part(members, part) for part in range(1, PARTS + 1))] for game, members in games.items()]
    return (f"\n## {title}\n\nMeans of recent episodes, of the last point that is kept up to each part of the steps. -: no "
            f"episode had ended, or the first point that is kept is later.\n\n{markdown(columns, rows)}")


def at_part(members: list[dict[str, Any]], part: int) -> str:
    """The mean over a game's trainings of their curves at a part of the steps; "-" if one has no point there."""
    points = [point_at(one["curve"], part, one["steps"]) for one in members]
    return "-" if None in points else score(np.mean([point[1] for point in points]))


def by_game(trainings: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Trainings by the names of their cartridges, which are sorted."""
    games = defaultdict(list)
    for one in sorted(trainings, key=lambda one: one["game"]):
        games[one["game"].removeprefix(CARTRIDGE)].append(one)
    return games


def table(games: dict[str, list[dict[str, Any]]]) -> str:
    """The rows of these games and the statistics over them."""
    return f"{markdown(COLUMNS, [row(game, members) for game, members in games.items()])}{over_games(games)}{cut(games)}"


def page(trainings: list[dict[str, Any]]) -> str:
    """The whole page."""
    episodes = ", ".join(str(each) for each in sorted({one["episodes"] for one in trainings}))
    short = by_game([one for one in trainings if one["steps"] < LONG])
    text = f"{head('Cartridges from pictures')}\n{NOTES.format(episodes=episodes)}\n{table(short)}{curves(short, 'Curves')}"
    if long := by_game([one for one in trainings if one["steps"] >= LONG]):
        text += f"\n## Longer trainings\n\nThe same preset with more steps.\n\n{table(long)}{curves(long, 'Their curves')}"
    return text


def kind(one: dict[str, Any]) -> tuple[str, bool]:
    """Of a training, for `seeds.with_published`: those of one game with more steps do not replace those with fewer."""
    return one["game"], one["steps"] >= LONG


def main(argv: list[str] | None = None):
    make_page("scores.atari", __doc__, argv, facts, page, functools.partial(seeds.with_published, kind=kind),
              functools.partial(seeds.key, kind=kind))


if __name__ == "__main__":
    main()

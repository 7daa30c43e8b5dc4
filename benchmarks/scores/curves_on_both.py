"""The same PPO's learning curves in our game and on its cartridge: `python -m benchmarks.scores.curves_on_both GAME ...`.

Both sides have the same settings, features, frame skip and start (1 to 30 frames of NOOP from the cartridge's own start). The
cartridge is an environment of Gymnasium (benchmarks/cartridges/environment.py) whose features are read from RAM. Our game is
trained on twice: as the same environment of Gymnasium, where the same seed gives the same starts, so that the whole training
must be the cartridge's, bit for bit; and as usual, by its own vector of environments with their own random starts, whose time
is compared.

All trainings have one thread; the ratio of times is that of the processor's seconds, which other programs on the machine change
less than the clock's. Finished trainings are kept in OUT/curves_on_both.json: a command that was stopped goes on. Trainings on
processors of another kind have other roundings: delete the file there. --no-training writes the page of that file again, below
the head that the page has.
"""

import argparse
import itertools
import json
import sys
import time
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from benchmarks.cartridges.lockstep import SETTINGS
from benchmarks.cartridges.twins import TWINS
from benchmarks.common import head, head_of, new_parser, publish
from trainer import Session, preset
from trainer.config import Config, EnvConfig
from trainer.log.curves import Curve, draw_comparison
from trainer.log.numbers import count
from trainer.log.text import markdown
from trainer.log.ticker import Ticker

BINS, NOOPS = 20, 30
# 97.5% quantiles of Student's t distribution with 1, 2, ... degrees of freedom
STUDENT = 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228
SETUP = {"num_envs": 16, "horizon": 64, "minibatch": 256, "epochs": 4, "learning_rate": 0.001, "lr_schedule": "constant",
         "memory": "none", "lstm_size": 64, "encoder_size": 64, "precision": "float32", "num_threads": 1, "device": "cpu"}
FACES = {"cartridge": "gym:benchmarks.cartridges.environment:Cartridge", "same": "gym:benchmarks.cartridges.environment:Ours"}
SIDES = {"here": "our game", "cartridge": "cartridge", "same": "our game with the cartridge's starts"}
COMPARED = "cartridge", "here"
COLUMNS = ["game", "seeds", "steps", "equal trainings", "common parts", "mean score, cartridge", "mean score, here",
           "difference", "at most", "end", "end, cartridge", "end, here", "us a step, cartridge", "us a step, here", "ratio"]

ABOUT = f"""
The same PPO ({SETUP["num_envs"]} environments, no LSTM) with the same settings and features in our game and on the cartridge
under ale-py. "equal trainings": with the same random starts, our game and the cartridge gave the same scores in each part of
the training, and at its end the same policy, bit for bit. All other columns compare the cartridge with our game's own random
starts.

The steps have {BINS} equal parts, each with the episodes that ended in it. Both sides are compared over the same parts, the
common ones: those in which episodes ended in every training of both sides. Games with long episodes have few of them. "mean
score": a training's is the mean of its means in the common parts. "end" is the same for the last tenth of the steps, if both
of its parts are common ones; or else for the last common part. Its steps are named.

± and "from ... to" are 95% intervals of means over the seeds, by Student's t. That of the difference has one degree of freedom
less than a side has seeds. "at most" is the largest difference in it, up or down. The curves differ if this interval lacks 0.
An interval with 0 in it is no proof of equality: differences up to "at most" agree with these trainings too.

Times are the processor's for a step of one environment in the whole training, learning included: means over the seeds. The
pictures have each side's own parts, in which all seeds of that side ended episodes.

"""


def config_of(game: str, side: str, seed: int, steps: int) -> Config:
    """The settings of a training; the sides differ in the environment only."""
    start = {name: float(value) for name, value in SETTINGS.get(game, {}).items()}
    config = preset(game, **SETUP, total_steps=steps, seed=seed, noop_max=NOOPS, options=start)
    if side not in FACES:
        return config
    env = EnvConfig(num_envs=SETUP["num_envs"], num_threads=1, reward_clip=config.env.reward_clip, vectorization="sync",
                    options={"game": game, "noop_max": float(NOOPS)})
    return replace(config, game=FACES[side], env=env)


def train(game: str, side: str, seed: int, steps: int) -> dict:
    """The training's entry in the file: mean scores of the episodes that ended in each part of the steps, and seconds."""
    parts: list[list[float]] = [[] for _ in range(BINS)]

    def ended(session: Session, score: float, length: int) -> None:
        parts[min(session.step * BINS // steps, BINS - 1)].append(score)

    begin = time.process_time()
    with Ticker(f"{game}, {SIDES[side]}, seed {seed}", Console(stderr=True), line_seconds=60) as tick, \
            Session(config_of(game, side, seed, steps), trust_code=True, on_episode=ended) as session:
        for _ in session:
            tick(session.step, steps, "steps")
        played, weights = session.step, checksum(session.policy)
    seconds = time.process_time() - begin
    return {"steps": played, "cpu_seconds": round(seconds, 2), "weights": weights,
            "scores": [round(float(np.mean(part)), 3) if part else None for part in parts]}


def checksum(policy: torch.nn.Module) -> str:
    """A checksum of all parameters."""
    return f"{zlib.crc32(b''.join(tensor.numpy().tobytes() for tensor in policy.state_dict().values())):08x}"


def equal(sides: dict[str, list[dict]]) -> int:
    """The number of seeds whose training in our game was that on the cartridge."""
    return sum(all(one[name] == other[name] for name in ("steps", "scores", "weights"))
               for one, other in zip(sides["cartridge"], sides["same"], strict=True))


def stacked(entries: list[dict]) -> np.ndarray:
    """(seeds, BINS): the curves; nan for parts in which no episode ended."""
    return np.array([[np.nan if score is None else score for score in entry["scores"]] for entry in entries])


def spread(values: np.ndarray) -> np.ndarray:
    """Half the 95% interval of the mean over seeds, by Student's t. values: (seeds, ...)."""
    return STUDENT[len(values) - 2] * values.std(0, ddof=1) / len(values) ** 0.5


def common_parts(curves: Iterable[np.ndarray]) -> np.ndarray:
    """The numbers of the parts in which all trainings ended episodes: (parts,). curves: (seeds, BINS) of each side."""
    return np.flatnonzero(np.isfinite(np.concatenate([*curves])).all(0))


def end_of(parts: np.ndarray) -> np.ndarray:
    """The last tenth of BINS, if all its parts are among these; or else the last one of these."""
    tenth = np.arange(BINS - BINS // 10, BINS)
    return tenth if np.isin(tenth, parts).all() else parts[-1:]


def apart(one: np.ndarray, other: np.ndarray) -> tuple[float, float, float]:
    """The difference of two means over as many seeds, and its 95% interval: (difference, low, high). one, other: (seeds,).

    Student's t has the fewer degrees of freedom of the two, so the interval is a wide one.
    """
    difference = float(one.mean() - other.mean())
    error = STUDENT[len(one) - 2] * float((one.var(ddof=1) + other.var(ddof=1)) / len(one)) ** 0.5
    return difference, difference - error, difference + error


def row_of(game: str, steps: int, sides: dict[str, list[dict]]) -> list[str]:
    """The table's row, by COLUMNS. Means are over the same parts on both sides."""
    curves = {side: stacked(sides[side]) for side in COMPARED}
    parts = common_parts(curves.values())
    if not parts.size:
        sys.exit(f"error: --steps must be more than {steps}: in no part of them did episodes of {game} end in all trainings")
    seeds, end = len(curves["here"]), end_of(parts)
    scores = [[curves[side][:, chosen].mean(1) for side in COMPARED] for chosen in (parts, end)]
    means, ends = ([f"{values.mean():.2f} ± {spread(values):.2f}" for values in both] for both in scores)
    difference, low, high = apart(*scores[0])
    here, there = (sum(entry["cpu_seconds"] for entry in sides[side]) / sum(entry["steps"] for entry in sides[side]) * 1e6
                   for side in ("here", "cartridge"))
    return [game, str(seeds), count(steps), f"{equal(sides)} of {seeds}", f"{len(parts)} of {BINS}", *means,
            f"{difference:.2f}, from {low:.2f} to {high:.2f}", f"{max(-low, high):.2f}",
            f"{count(steps * int(end[0]) // BINS)} to {count(steps * (int(end[-1]) + 1) // BINS)}", *ends,
            f"{there:.0f}", f"{here:.0f}", f"{there / here:.0f}"]


def draw(game: str, steps: int, sides: dict[str, list[dict]], path: Path) -> None:
    """Draw the mean curves and their 95% intervals."""
    across = (np.arange(BINS) + 0.5) * steps / BINS
    curves = []
    for side in COMPARED:
        scores = stacked(sides[side])
        full = np.isfinite(scores).all(0)
        curves.append(Curve(f"{SIDES[side]}, {len(scores)} seeds, 95%", across[full], scores[:, full].mean(0),
                            spread(scores[:, full])))
    draw_comparison(curves, path, "steps", f"{game}, the same PPO on both")


def complete(games: list[str], seeds: int, steps: int, path: Path) -> None:
    """Train what the file lacks, one seed on all sides after the other."""
    for game, seed, side in itertools.product(games, range(1, seeds + 1), SIDES):
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        key = f"{game} {steps} {side} {seed}"
        if key not in known:
            known[key] = entry = train(game, side, seed, steps)
            path.write_text(json.dumps(known, sort_keys=True).replace('}, "', '},\n"') + "\n", encoding="utf-8")
            print(key, f"{entry['cpu_seconds']} s of the processor, last scores {entry['scores'][-1]}", file=sys.stderr,
                  flush=True)


def sides_of(games: list[str], seeds: int, steps: int, path: Path) -> dict[str, dict[str, list[dict]]]:
    """For each game and side the seeds' entries in the file; ends the program if one is missing."""
    known = json.loads(path.read_text(encoding="utf-8"))
    keys = {game: {side: [f"{game} {steps} {side} {seed}" for seed in range(1, seeds + 1)] for side in SIDES} for game in games}
    if missing := [key for sides in keys.values() for one in sides.values() for key in one if key not in known]:
        sys.exit(f"error: --no-training must be left out: {path} has no training {missing[0]}")
    return {game: {side: [known[key] for key in one] for side, one in sides.items()} for game, sides in keys.items()}


def below_head(games: list[str], rows: list[list[str]]) -> str:
    """The page below its head. rows: of these games, by COLUMNS."""
    pictures = "\n".join(f"![{game}, both curves](curves_on_both_{game}.png)" for game in games)
    return f"{ABOUT}{markdown(COLUMNS, rows)}\n{pictures}\n"


def parsed(argv: list[str] | None) -> argparse.Namespace:
    """The command's options, after their checks."""
    parser = new_parser("scores.curves_on_both", __doc__)
    parser.add_argument("games", nargs="*", metavar="GAME", help=f"the page's games, of {', '.join(TWINS)} (default: all)")
    parser.add_argument("--seeds", type=int, default=5, help="trainings on each side, with the seeds 1, 2, ... (default: 5)")
    parser.add_argument("--steps", type=int, default=100_000, help="steps of each training (default: 100000)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"),
                        help="folder for the results (default: %(default)s)")
    parser.add_argument("--no-training", action="store_true", help="write the page of the .json in --out again, and no picture")
    options = parser.parse_args(argv)
    options.games = options.games or list(TWINS)
    for game in options.games:
        if game not in TWINS:
            parser.error(f"GAME must be one of {', '.join(TWINS)}, not {game}: only these have a cartridge")
    if not 2 <= options.seeds <= len(STUDENT) + 1:
        parser.error(f"--seeds must be an integer from 2 to {len(STUDENT) + 1}, not {options.seeds}")
    if options.steps < (least := SETUP["num_envs"] * SETUP["horizon"]):
        parser.error(f"--steps must be an integer of at least {least}, a rollout, not {options.steps}")
    if not options.out.is_dir():
        parser.error(f"--out must be a folder that exists, not {options.out}: make it")
    if options.no_training and not all((options.out / f"curves_on_both{end}").is_file() for end in (".md", ".json")):
        parser.error(f"--no-training needs curves_on_both.md and .json in --out, which is {options.out}: leave it out")
    return options


def main(argv: list[str] | None = None) -> list[list[str]]:
    """Print the page; returns the table's rows."""
    options = parsed(argv)
    page = options.out / "curves_on_both.md"
    asked = options.games, options.seeds, options.steps, page.with_suffix(".json")
    if not options.no_training:
        torch.set_num_threads(1)
        try:
            complete(*asked)
        except ImportError as error:
            sys.exit(f"error: the cartridge needs ale-py ({error}): pip install ale-py")
    games = sides_of(*asked)
    rows = [row_of(game, options.steps, sides) for game, sides in games.items()]
    if not options.no_training:
        for game, sides in games.items():
            draw(game, options.steps, sides, options.out / f"curves_on_both_{game}.png")
    publish((head_of(page) if options.no_training else head("Learning curves on both")) + below_head([*games], rows), page)
    return rows


if __name__ == "__main__":
    main()

"""The same PPO's learning curves in our game and on its cartridge: `python -m benchmarks.scores.curves_on_both GAME ...`.

Both sides have the same settings, features, frame skip and start (1 to 30 frames of NOOP from the cartridge's own start). The
cartridge is an environment of Gymnasium (benchmarks/cartridges/environment.py) whose features are read from RAM. Our game is
trained on twice: as the same environment of Gymnasium, where the same seed gives the same starts, so that the whole training
must be the cartridge's, bit for bit; and as usual, by its own vector of environments with their own random starts, whose time
is compared.

All trainings have one thread; the ratio of times is that of the processor's seconds, which other programs on the machine change
less than the clock's. Finished trainings are kept in OUT/curves_on_both.json: a command that was stopped goes on. Trainings on
processors of another kind have other roundings: delete the file there.
"""

import json
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from rich.console import Console

from benchmarks.cartridges.lockstep import SETTINGS
from benchmarks.cartridges.twins import TWINS
from benchmarks.common import head, new_parser, publish
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
COLUMNS = ["game", "seeds", "steps", "equal trainings", "mean score, cartridge", "mean score, here", "difference",
           "last tenth, cartridge", "last tenth, here", "us a step, cartridge", "us a step, here", "ratio"]

ABOUT = f"""
The same PPO ({SETUP["num_envs"]} environments, no LSTM) with the same settings and features in our game and on the cartridge
under ale-py. "equal trainings": with the same random starts, our game and the cartridge gave the same scores in each part of
the training, and at its end the same policy, bit for bit. All other columns compare the cartridge with our game's own random
starts. A mean score is that of the whole training: of {BINS} equal parts of the steps, each with the episodes that ended
in it. Intervals are 95% intervals over the seeds by Student's t. The curves differ if the difference's interval lacks 0.
Times are the processor's for a step of one environment in the whole training, learning included.

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


def row_of(game: str, steps: int, sides: dict[str, list[dict]]) -> list[str]:
    """The table's row. The interval of the difference has the fewer degrees of freedom of the two, so it is a wide one."""
    means, lasts, times = {}, {}, {}
    for side, entries in ((side, sides[side]) for side in ("cartridge", "here")):
        scores = stacked(entries)[:, np.isfinite(stacked(entries)).all(0)]  # the parts in which all seeds ended an episode
        if not scores.size:
            sys.exit(f"error: --steps must be more than {steps}: no episode of {game} ended in some of the trainings")
        means[side], lasts[side] = scores.mean(1), scores[:, -BINS // 10:].mean(1)
        times[side] = sum(entry["cpu_seconds"] for entry in entries) / sum(entry["steps"] for entry in entries) * 1e6
    seeds = len(means["here"])
    apart = means["cartridge"].mean() - means["here"].mean()
    error = STUDENT[seeds - 2] * ((means["cartridge"].var(ddof=1) + means["here"].var(ddof=1)) / seeds) ** 0.5
    texts = [f"{values[side].mean():.2f} ± {spread(values[side]):.2f}" for values in (means, lasts)
             for side in ("cartridge", "here")]
    return [game, str(seeds), count(steps), f"{equal(sides)} of {seeds}", *texts[:2],
            f"{apart:.2f}, from {apart - error:.2f} to {apart + error:.2f}", *texts[2:],
            f"{times['cartridge']:.0f}", f"{times['here']:.0f}", f"{times['cartridge'] / times['here']:.0f}"]


def draw(game: str, steps: int, sides: dict[str, list[dict]], path: Path) -> None:
    """Draw the mean curves and their 95% intervals."""
    across = (np.arange(BINS) + 0.5) * steps / BINS
    curves = []
    for side in ("cartridge", "here"):
        scores = stacked(sides[side])
        full = np.isfinite(scores).all(0)
        curves.append(Curve(f"{SIDES[side]}, {len(scores)} seeds, 95%", across[full], scores[:, full].mean(0),
                            spread(scores[:, full])))
    draw_comparison(curves, path, "steps", f"{game}, the same PPO on both")


def rows_of(games: list[str], seeds: int, steps: int, out: Path) -> Iterator[list[str]]:
    """Train what the file lacks, one seed on all sides after the other; draw; the rows."""
    path = out / "curves_on_both.json"
    for game in games:
        for seed in range(1, seeds + 1):
            for side in SIDES:
                known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
                key = f"{game} {steps} {side} {seed}"
                if key not in known:
                    known[key] = entry = train(game, side, seed, steps)
                    path.write_text(json.dumps(known, sort_keys=True).replace('}, "', '},\n"') + "\n", encoding="utf-8")
                    print(key, f"{entry['cpu_seconds']} s of the processor, last scores {entry['scores'][-1]}", file=sys.stderr,
                          flush=True)
        known = json.loads(path.read_text(encoding="utf-8"))
        sides = {side: [known[f"{game} {steps} {side} {seed}"] for seed in range(1, seeds + 1)] for side in SIDES}
        yield row_of(game, steps, sides)
        draw(game, steps, sides, out / f"curves_on_both_{game}.png")


def main(argv: list[str] | None = None) -> list[list[str]]:
    """Print the page; returns the table's rows."""
    parser = new_parser("scores.curves_on_both", __doc__)
    parser.add_argument("games", nargs="+", metavar="GAME", help=f"of {', '.join(TWINS)}")
    parser.add_argument("--seeds", type=int, default=5, help="trainings on each side, with the seeds 1, 2, ... (default: 5)")
    parser.add_argument("--steps", type=int, default=100_000, help="steps of each training (default: 100000)")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results"),
                        help="folder for the results (default: %(default)s)")
    options = parser.parse_args(sys.argv[1:] if argv is None else argv)
    for game in options.games:
        if game not in TWINS:
            parser.error(f"GAME must be one of {', '.join(TWINS)}, not {game}: only these have a cartridge")
    if not 2 <= options.seeds <= len(STUDENT) + 1:
        parser.error(f"--seeds must be an integer from 2 to {len(STUDENT) + 1}, not {options.seeds}")
    if options.steps < (least := SETUP["num_envs"] * SETUP["horizon"]):
        parser.error(f"--steps must be an integer of at least {least}, a rollout, not {options.steps}")
    if not options.out.is_dir():
        parser.error(f"--out must be a folder that exists, not {options.out}: make it")
    torch.set_num_threads(1)
    try:
        rows = list(rows_of(options.games, options.seeds, options.steps, options.out))
    except ImportError as error:
        sys.exit(f"error: the cartridge needs ale-py ({error}): pip install ale-py")
    pictures = "\n".join(f"![{game}, both curves](curves_on_both_{game}.png)" for game in options.games)
    publish(head("Learning curves on both") + ABOUT + markdown(COLUMNS, rows) + f"\n{pictures}\n",
            options.out / "curves_on_both.md")
    return rows


if __name__ == "__main__":
    main()

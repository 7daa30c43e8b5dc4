"""Plays trained policies on the cartridges under ale-py, and in our games for comparison, and prints one table.

    python -m examples.play_the_cartridge runs/breakout-... runs/pong-... --episodes 100 --sticky 0 0.25 --out scores.jsonl

RUN is a run's folder or one of its checkpoints. Its game must be one of the eight that were written after cartridges. A policy
of features gets the features that benchmarks/cartridges/features.py reads from the cartridge's RAM. A policy of pixels gets the
cartridge's screen, without the maker's name. Actions are sampled, as in training. With --out each group of episodes is written
as soon as it has ended; the same command then goes on where it was stopped. ale-py brings the ROMs: `pip install ale-py`.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from rich.console import Console as Terminal

from benchmarks.cartridges import features
from benchmarks.cartridges.twins import TWINS
from envs_c.catalog import game as game_of
from trainer.config import Config
from trainer.errors import TrainerError
from trainer.export.graph import StepGraph
from trainer.log.text import markdown
from trainer.log.ticker import Ticker
from trainer.play import evaluate
from trainer.policy.load import load_run
from trainer.policy.policy import Policy

LONGEST = 27_000  # steps of an episode, if the run has no limit
GROUP = 10        # episodes that are played side by side, and written together
COLUMNS = ["game", "view", "sticky", "cartridge", "here", "cartridge / here", "episodes a side"]

Tick = Callable[[int, int, str], None]  # as of trainer/log/ticker.py


class Console:
    """A cartridge as an environment: frame skip, no-op start, sticky actions and observations as in training."""

    def __init__(self, config: Config, sticky: float, seed: int):
        self.cartridge, self.sticky, self.random = features.open_cartridge(config.game), sticky, np.random.default_rng(seed)
        self.skip = config.env.frame_skip or game_of(config.game).frame_skip
        self.held = 0
        if config.env.noop_max:
            for _ in range(int(self.random.integers(1, config.env.noop_max + 1))):
                self.cartridge.step(0)
        self.reader = features.reader_of(self.cartridge, config.game, config.env.view)

    def step(self, action: int) -> tuple[float, bool]:
        """Hold an action for the frames of a step; returns the points and whether the game is over."""
        points, over = 0.0, False
        for _ in range(self.skip):
            if self.random.random() >= self.sticky:
                self.held = action
            reward, over = self.cartridge.step(self.held)
            points += reward
            if over:
                break
        return points, over


def check(config: Config) -> None:
    """Raise TrainerError if the run's game cannot be played on a cartridge."""
    if config.game not in TWINS:
        raise TrainerError(f"RUN must be of {', '.join(TWINS)}, not of {config.game}: only these games have a cartridge")
    if config.env.options:
        raise TrainerError(f"RUN must have no options of the game, not {config.env.options}: the cartridge has none")


@torch.no_grad()
def play(policy: Policy, config: Config, episodes: int, sticky: float, seed: int = 1, tick: Tick | None = None) -> np.ndarray:
    """The scores of whole episodes on the cartridge, (episodes,). They are played side by side."""
    check(config)
    graph, consoles = StepGraph(policy), [Console(config, sticky, seed + k) for k in range(episodes)]
    torch.manual_seed(seed)
    seen = torch.from_numpy(np.stack([console.reader.read() for console in consoles]))
    _, *memory = graph.zeros(episodes, seen.dtype)
    scores, running = np.zeros(episodes), np.ones(episodes, bool)
    for step in range(config.env.time_limit or LONGEST):
        if memory:
            memory[0] = torch.full((episodes,), float(step == 0))  # start
        logits, _, *after = graph(seen, *memory)
        memory[1:] = after
        actions = torch.distributions.Categorical(logits=logits).sample().tolist()
        for k in np.flatnonzero(running):
            points, over = consoles[k].step(actions[k])
            scores[k] += points
            running[k] = not over
            if not over:
                seen[k] = torch.from_numpy(consoles[k].reader.read())
        if tick:
            tick(episodes - int(running.sum()), episodes, f"have ended, at step {step + 1:,}")
        if not running.any():
            break
    return scores


class Scores:
    """The scores of groups of episodes by what was played, in a file of JSON lines or only in memory."""

    def __init__(self, path: Path | None):
        self.path, self.known = path, {}
        if path and path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    row = json.loads(line)
                    self.known[json.dumps(row["key"])] = np.array(row["scores"], float)
                except (ValueError, TypeError, KeyError):
                    raise TrainerError(f"--out must be a file of this program, not {path}: line {number} is not one of its "
                                       "lines; name another file, or remove the line") from None

    def get(self, key: list[object], make: Callable[[], np.ndarray]) -> np.ndarray:
        """The scores under this key, which `make` plays if they are not known."""
        name = json.dumps(key)
        if name not in self.known:
            self.known[name] = make()
            if self.path:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "scores": self.known[name].tolist()}) + "\n")
        return self.known[name]


def play_here(policy: Policy, config: Config, episodes: int, sticky: float, seed: int, tick: Tick) -> np.ndarray:
    """The same in our game."""
    settings = replace(config.env, sticky=sticky)
    return evaluate.play(policy, config.game, settings, episodes=episodes, seed=seed, tick=tick).returns


def both_sides(path: Path, policy: Policy, config: Config, sticky: float, episodes: int, scores: Scores) -> list[np.ndarray]:
    """The scores on the cartridge and here, (episodes,) each."""
    terminal, sides = Terminal(stderr=True), []
    for side, player in (("cartridge", play), ("here", play_here)):
        groups = []
        for first in range(0, episodes, GROUP):
            count = min(GROUP, episodes - first)
            key = [str(path), sticky, config.env.noop_max, first, count, side]
            with Ticker(f"{config.game}, {side}, sticky {sticky:g}, from episode {first}", terminal, line_seconds=60) as tick:
                groups.append(scores.get(key, partial(player, policy, config, count, sticky, 1 + first, tick)))
        sides.append(np.concatenate(groups))
    return sides


def row_of(config: Config, sticky: float, theirs: np.ndarray, ours: np.ndarray) -> list[str]:
    """The table's row: means, standard errors, and the ratio of the means."""
    errors = [side.std(ddof=1) / len(side) ** 0.5 if len(side) > 1 else 0.0 for side in (theirs, ours)]
    sides = [f"{side.mean():.4g} ± {error:.2g}" for side, error in zip((theirs, ours), errors, strict=True)]
    ratio = f"{theirs.mean() / ours.mean():.3f}" if ours.mean() > 0 else "-"
    return [config.game, config.env.view, f"{sticky:g}", *sides, ratio, str(len(theirs))]


def options_of(argv: list[str] | None) -> argparse.Namespace:
    """The parsed command line."""
    parser = argparse.ArgumentParser(prog="python -m examples.play_the_cartridge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", metavar="RUN", nargs="+")
    parser.add_argument("--episodes", type=int, default=20, help="episodes on each side (default: 20)")
    parser.add_argument("--sticky", type=float, nargs="+", default=[0.0],
                        help="probabilities that a frame repeats the action before, a row of the table each (default: 0)")
    parser.add_argument("--noops", type=int, help="begin with 1 to so many frames of NOOP on both sides (default: as trained)")
    parser.add_argument("--out", type=Path, help="file for the scores, a JSON line a group; what it has is not played again")
    options = parser.parse_args(argv)
    for name, least in (("episodes", 1), ("noops", 0)):
        if getattr(options, name) is not None and getattr(options, name) < least:
            parser.error(f"--{name} must be an integer of at least {least}, not {getattr(options, name)}")
    for sticky in options.sticky:
        if not 0 <= sticky <= 1:
            parser.error(f"--sticky must be a number from 0 to 1, not {sticky}")
    if options.out and (options.out.is_dir() or not options.out.absolute().parent.is_dir()):
        parser.error(f"--out must be a file in a folder that exists, not {options.out}: make the folder, or name another file")
    return options


def main(argv: list[str] | None = None) -> list[list[str]]:
    """Print the table; returns its rows."""
    options, rows = options_of(argv), []
    try:
        scores, runs = Scores(options.out), [load_run(run, "cpu") for run in options.runs]
        for _, _, config in runs:
            check(config)
        for path, policy, config in runs:
            if options.noops is not None:
                config = replace(config, env=replace(config.env, noop_max=options.noops))
            for sticky in options.sticky:
                rows.append(row_of(config, sticky, *both_sides(path, policy, config, sticky, options.episodes, scores)))
                print(" | ".join(rows[-1]), flush=True)
    except TrainerError as error:
        sys.exit(f"error: {error}")
    except ImportError as error:
        sys.exit(f"error: the cartridge needs ale-py ({error}): pip install ale-py")
    print(markdown(COLUMNS, rows))
    return rows


if __name__ == "__main__":
    main()

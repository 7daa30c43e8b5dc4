"""Plays trained policies on the cartridges under ale-py, and in our games for comparison, and prints one table.

    python -m examples.play_the_cartridge runs/breakout-... runs/pong-... --episodes 100 --sticky 0 0.25 --out scores.jsonl

RUN is a run's folder, one of its checkpoints, or one of the eight games that were written after cartridges: then the arcade's
agent plays, which comes with the package. A policy of features gets the features that benchmarks/cartridges/features.py reads
from the cartridge's RAM. A policy of pixels gets the cartridge's screen, without the maker's name. Actions are sampled, as in
training. On both sides an episode ends after 27,000 steps, or as trained if that is earlier.

The cartridge always begins in the same state. "here" is our game with that start, "random start" as it is trained by default.
"same in our game" counts the cartridge's episodes that our game repeats: with the same actions it gives the same points in
each frame, and ends after the same frame. With --out each group of episodes is written as soon as it has ended; the same
command then goes on where it was stopped. ale-py brings the ROMs: `pip install ale-py`.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console as Terminal

from benchmarks.cartridges import features
from benchmarks.cartridges.agents import LONGEST, PLAIN, Agent, check, load_agent
from benchmarks.cartridges.lockstep import SETTINGS
from benchmarks.cartridges.replay import Record, same_here
from envs_c.catalog import game as game_of
from trainer.config import Config
from trainer.errors import TrainerError
from trainer.export.graph import StepGraph
from trainer.log.text import markdown
from trainer.log.ticker import Ticker
from trainer.play import evaluate
from trainer.policy.policy import Policy

GROUP = 10  # episodes that are played side by side, and written together
COLUMNS = ["game", "agent", "view", "sticky", "cartridge", "here", "cartridge / here", "here, random start", "same in our game",
           "episodes a side"]

Tick = Callable[[int, int, str], None]  # as of trainer/log/ticker.py


class Played(NamedTuple):
    """Whole episodes."""

    scores: np.ndarray   # (E,)
    lengths: np.ndarray  # (E,) steps
    same: np.ndarray     # (E,) whether our game repeats the cartridge's episode


class Console:
    """A cartridge as an environment: frame skip, no-op start, sticky actions and observations as in training."""

    def __init__(self, cartridge: Any, config: Config, sticky: float, seed: int):
        self.cartridge, self.sticky, self.random = cartridge.restart(), sticky, np.random.default_rng(seed)
        self.skip = config.env.frame_skip or game_of(config.game).frame_skip
        self.held, self.record = 0, Record([], [], False)
        if config.env.noop_max:
            for _ in range(int(self.random.integers(1, config.env.noop_max + 1))):
                self.frame(0)
        self.reader = features.reader_of(self.cartridge, config.game, config.env.view)

    def frame(self, action: int) -> float:
        """Play one frame; returns its points."""
        points: float
        points, over = self.cartridge.step(action)
        self.record.actions.append(action)
        self.record.points.append(points)
        self.record = self.record._replace(over=over)
        return points

    def step(self, action: int) -> tuple[float, bool]:
        """Hold an action for the frames of a step; returns the points and whether the game is over."""
        points = 0.0
        for _ in range(self.skip):
            if self.random.random() >= self.sticky:
                self.held = action
            points += self.frame(self.held)
            if self.record.over:
                break
        return points, self.record.over


@cache
def cartridge_of(game: str, place: int) -> Any:
    """The cartridge in this place of a group. Opening one takes as long as a thousand frames, so features share it."""
    return features.open_cartridge(game)


@torch.no_grad()
def play(policy: Policy, config: Config, episodes: int, sticky: float, seed: int = 1, tick: Tick | None = None) -> Played:
    """Play whole episodes on the cartridge, side by side. Raises TrainerError if the game has none."""
    check(config)
    graph = StepGraph(policy)
    shared = cartridge_of if config.env.view == "features" else cartridge_of.__wrapped__  # a restart leaves the last picture
    consoles = [Console(shared(config.game, k), config, sticky, seed + k) for k in range(episodes)]
    torch.manual_seed(seed)
    seen = torch.from_numpy(np.stack([console.reader.read() for console in consoles]))
    _, *memory = graph.zeros(episodes, seen.dtype)
    scores, lengths, running = np.zeros(episodes), np.zeros(episodes, int), np.ones(episodes, bool)
    for step in range(config.env.time_limit or LONGEST):
        if memory:
            memory[0] = torch.full((episodes,), float(step == 0))  # start
        logits, _, *after = graph(seen, *memory)
        memory[1:] = after
        actions = torch.distributions.Categorical(logits=logits).sample().tolist()
        for k in np.flatnonzero(running):
            points, over = consoles[k].step(actions[k])
            scores[k] += points
            lengths[k] += 1
            running[k] = not over
            if not over:
                seen[k] = torch.from_numpy(consoles[k].reader.read())
        if tick:
            tick(episodes - int(running.sum()), episodes, f"have ended, at step {step + 1:,}")
        if not running.any():
            break
    return Played(scores, lengths, same_here(config.game, [console.record for console in consoles]))


class Scores:
    """Groups of episodes by what was played, in a file of JSON lines or only in memory."""

    def __init__(self, path: Path | None):
        self.path, self.known = path, {}
        if path and path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    row = json.loads(line)
                    self.known[json.dumps(row["key"])] = Played(*(np.array(row[name], float) for name in Played._fields))
                except (ValueError, TypeError, KeyError):
                    raise TrainerError(f"--out must be a file of this program, not {path}: line {number} is not one of its "
                                       "lines; name another file, or remove the line") from None

    def get(self, key: list[object], make: Callable[[], Played]) -> Played:
        """The episodes under this key, which `make` plays if they are not known."""
        name = json.dumps(key)
        if name not in self.known:
            self.known[name] = played = make()
            if self.path:
                line = {"key": key, **{part: array.tolist() for part, array in played._asdict().items()}}
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        return self.known[name]


def play_here(policy: Policy, config: Config, episodes: int, sticky: float, seed: int, tick: Tick) -> Played:
    """The same in our game."""
    played = evaluate.play(policy, config.game, replace(config.env, sticky=sticky), episodes=episodes, seed=seed, tick=tick)
    return Played(played.returns, played.lengths, np.ones(episodes, bool))


def play_from_its_start(policy: Policy, config: Config, *arguments: Any) -> Played:
    """The same in our game, with the start of the cartridge."""
    start: dict[str, float | str] = {name: float(value) for name, value in SETTINGS.get(config.game, {}).items()}
    return play_here(policy, replace(config, env=replace(config.env, options=start)), *arguments)


def all_sides(agent: Agent, sticky: float, episodes: int, scores: Scores) -> list[Played]:
    """The episodes on the cartridge, here with its start, and here with a random one."""
    terminal, config, sides = Terminal(stderr=True), agent.config, []
    about = [config.game, agent.checksum, config.env.view, sticky, config.env.noop_max, config.env.time_limit]
    for side, player in (("cartridge", play), ("its start", play_from_its_start), ("here", play_here)):
        groups = []
        for first in range(0, episodes, GROUP):
            count = min(GROUP, episodes - first)
            with Ticker(f"{config.game}, {side}, sticky {sticky:g}, from episode {first}", terminal, line_seconds=60) as tick:
                make = partial(player, agent.policy, config, count, sticky, 1 + first, tick)
                groups.append(scores.get([*about, first, count, side], make))
        sides.append(Played(*(np.concatenate(parts) for parts in zip(*groups, strict=True))))
    return sides


def number(value: float) -> str:
    """A score or its error: whole from 1000 on, else with at most four digits."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def row_of(agent: Agent, sticky: float, theirs: Played, ours: Played, scattered: Played) -> list[str]:
    """The table's row: means with standard errors, and the ratio of the means with its own (by the delta method)."""
    texts, parts = [], []
    for side in (theirs, ours, scattered):
        mean, count = side.scores.mean(), len(side.scores)
        error = side.scores.std(ddof=1) / count ** 0.5 if count > 1 else 0.0
        cut = int((side.lengths >= agent.config.env.time_limit).sum())
        texts.append(f"{number(mean)} ± {number(error)}" + (f" ({cut} cut)" if cut else ""))
        parts.append((mean, error / mean if mean > 0 else 0.0))
    (mean, part), (base, base_part), _ = parts
    ratio = f"{mean / base:.3f} ± {mean / base * (part ** 2 + base_part ** 2) ** 0.5:.2g}" if min(mean, base) > 0 else "-"
    return [agent.config.game, agent.name, agent.config.env.view, f"{sticky:g}", *texts[:2], ratio, texts[2],
            f"{int(theirs.same.sum())} of {len(theirs.same)}", str(len(theirs.scores))]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that this program shares with benchmarks/transfer.py."""
    parser.add_argument("--episodes", type=int, default=20, help="episodes on each side (default: %(default)s)")
    parser.add_argument("--sticky", type=float, nargs="+", default=[0.0],
                        help="probabilities that a frame repeats the action before, a row of the table each (default: "
                             "%(default)s)")
    parser.add_argument("--noops", type=int, help="begin with 1 to so many frames of NOOP on both sides (default: as trained)")
    parser.add_argument("--plain", action="store_true", help=PLAIN)


def check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End the program with an error if one of these options is wrong."""
    for name, least in (("episodes", 1), ("noops", 0)):
        if getattr(options, name) is not None and getattr(options, name) < least:
            parser.error(f"--{name} must be an integer of at least {least}, not {getattr(options, name)}")
    for sticky in options.sticky:
        if not 0 <= sticky <= 1:
            parser.error(f"--sticky must be a number from 0 to 1, not {sticky}")


def print_rows(options: argparse.Namespace, path: Path | None, after: Callable[[list[list[str]]], None]) -> list[list[str]]:
    """Play the agents on both sides, and print the table; returns its rows.

    path: of the scores.
    after: called with the rows so far, after each new one.
    """
    rows = []
    try:
        scores, agents = Scores(path), [load_agent(name, plain=options.plain) for name in options.runs]
        for agent in agents:
            if options.noops is not None:
                agent = agent._replace(config=replace(agent.config, env=replace(agent.config.env, noop_max=options.noops)))
            for sticky in options.sticky:
                rows.append(row_of(agent, sticky, *all_sides(agent, sticky, options.episodes, scores)))
                after(rows)
                print(" | ".join(rows[-1]), flush=True)
    except TrainerError as error:
        sys.exit(f"error: {error}")
    except ImportError as error:
        sys.exit(f"error: the cartridge needs ale-py ({error}): pip install ale-py")
    print(markdown(COLUMNS, rows))
    return rows


def main(argv: list[str] | None = None) -> list[list[str]]:
    """Print the table; returns its rows."""
    parser = argparse.ArgumentParser(prog="python -m examples.play_the_cartridge", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", metavar="RUN", nargs="+")
    add_options(parser)
    parser.add_argument("--out", type=Path, help="file for the scores, a JSON line a group; what it has is not played again")
    options = parser.parse_args(argv)
    check_options(parser, options)
    if options.out and (options.out.is_dir() or not options.out.absolute().parent.is_dir()):
        parser.error(f"--out must be a file in a folder that exists, not {options.out}: make the folder, or name another file")
    return print_rows(options, options.out, lambda rows: None)


if __name__ == "__main__":
    main()

"""The table of policies on the cartridges and in our games."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console as Terminal

from benchmarks.cartridges.agents import PLAIN, Agent, load_agent
from benchmarks.transfer.play import Played, play, play_from_its_start, play_here
from trainer.errors import TrainerError
from trainer.log.text import markdown
from trainer.log.ticker import Ticker

GROUP = 10  # episodes that are played side by side, and written together
COLUMNS = ["game", "agent", "view", "sticky", "cartridge", "here", "cartridge / here", "here, random start", "same in our game",
           "episodes a side"]


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
    """Add the options of what is played."""
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

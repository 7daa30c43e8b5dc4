"""The table of policies on the cartridges and in our games."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console as Terminal

from benchmarks.cartridges.agents import PLAIN, Agent, load_agent
from benchmarks.common import at_least, score
from benchmarks.transfer.play import Played, play, play_from_its_start, play_here
from envs_c.files import write_atomically
from trainer.errors import TrainerError
from trainer.log.text import markdown
from trainer.log.ticker import Ticker

GROUP = 10  # episodes that are played side by side, and written together
COLUMNS = ["game", "agent", "view", "sticky", "cartridge", "here", "cartridge / here", "here, random start", "same in our game",
           "episodes a side"]


class Tally(NamedTuple):
    """What the table needs of some episodes."""

    episodes: int
    total: float    # of the scores
    squares: float  # sum of the squared scores
    cut: int        # episodes that ended by the limit of steps
    same: int       # episodes that our game repeats

    @classmethod
    def read(cls, numbers: list[float]) -> "Tally":
        """A tally of a file. Raises ValueError or TypeError if these are not its five numbers."""
        episodes, total, squares, cut, same = numbers
        return cls(int(episodes), float(total), float(squares), int(cut), int(same))

    @property
    def mean(self) -> float:
        """The mean score."""
        return self.total / self.episodes

    @property
    def error(self) -> float:
        """The standard error of the mean; 0 for one episode."""
        if self.episodes < 2:
            return 0.0
        return (max(0.0, self.squares - self.total * self.mean) / (self.episodes - 1) / self.episodes) ** 0.5


def tally(played: Played, limit: int) -> Tally:
    """The tally of these episodes; limit: of their steps."""
    return Tally(len(played.scores), float(played.scores.sum()), float((played.scores ** 2).sum()),
                 int((played.lengths >= limit).sum()), int(played.same.sum()))


class Scores:
    """Tallies of groups of episodes by what was played, in a file of JSON lines or only in memory.

    A line has the key, and for each group its first episode and its tally.
    """

    def __init__(self, path: Path | None):
        self.path = path
        self.known: dict[str, dict[tuple[int, int], Tally]] = {}  # by the key in JSON, then by a group's first episode and size
        if path and path.exists():
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                try:
                    row = json.loads(line)
                    groups = [(int(first), Tally.read(numbers)) for first, *numbers in row["groups"]]
                    self.known[json.dumps(row["key"])] = {(first, group.episodes): group for first, group in groups}
                except (ValueError, TypeError, KeyError):
                    raise TrainerError(f"the file of scores must be one of this program, not {path}: line {number} is not one "
                                       "of its lines; name another file, or remove the line") from None

    def get(self, key: list[object], first: int, count: int, make: Callable[[], Tally]) -> Tally:
        """The tally of the episodes `first` to `first + count - 1` under this key; `make` plays them if they are not known."""
        groups = self.known.setdefault(json.dumps(key), {})
        if (first, count) not in groups:
            groups[first, count] = make()
            if self.path:
                write_atomically(self.path, [self._line(name).encode() for name in self.known])
        return groups[first, count]

    def _line(self, name: str) -> str:
        groups = [[first, *group] for (first, _), group in sorted(self.known[name].items())]
        return json.dumps({"key": json.loads(name), "groups": groups}) + "\n"


def all_sides(agent: Agent, sticky: float, episodes: int, scores: Scores) -> list[Tally]:
    """The episodes on the cartridge, here with its start, and here with a random one."""
    terminal, config = Terminal(stderr=True), agent.config
    about = [config.game, agent.checksum, config.env.view, sticky, config.env.noop_max, config.env.time_limit]

    def play_group(side: str, player: Callable[..., Played], first: int, count: int) -> Tally:
        with Ticker(f"{config.game}, {side}, sticky {sticky:g}, from episode {first}", terminal, line_seconds=60) as tick:
            return tally(player(agent.policy, config, count, sticky, 1 + first, tick), config.env.time_limit)
    sides = []
    for side, player in (("cartridge", play), ("its start", play_from_its_start), ("here", play_here)):
        groups = [scores.get([*about, side], first, count, partial(play_group, side, player, first, count))
                  for first in range(0, episodes, GROUP) for count in [min(GROUP, episodes - first)]]
        sides.append(Tally(*map(sum, zip(*groups, strict=True))))
    return sides


def row_of(agent: Agent, sticky: float, theirs: Tally, ours: Tally, scattered: Tally) -> list[str]:
    """The table's row: means with standard errors, and the ratio of the means with its own (by the delta method)."""
    texts = [f"{score(side.mean)} ± {score(side.error)}" + (f" ({side.cut} cut)" if side.cut else "")
             for side in (theirs, ours, scattered)]
    ratio = "-"
    if min(theirs.mean, ours.mean) > 0:
        part = ((theirs.error / theirs.mean) ** 2 + (ours.error / ours.mean) ** 2) ** 0.5
        ratio = f"{theirs.mean / ours.mean:.3f} ± {theirs.mean / ours.mean * part:.2g}"
    return [agent.config.game, agent.name, agent.config.env.view, f"{sticky:g}", *texts[:2], ratio, texts[2],
            f"{theirs.same} of {theirs.episodes}", str(theirs.episodes)]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of what is played."""
    parser.add_argument("--episodes", type=at_least(1), default=20, help="episodes on each side (default: %(default)s)")
    parser.add_argument("--sticky", type=float, nargs="+", default=[0.0],
                        help="probabilities that a frame repeats the action before, a row of the table each (default: "
                             "%(default)s)")
    parser.add_argument("--noops", type=at_least(0),
                        help="begin with 1 to so many frames of NOOP on both sides (default: as trained)")
    parser.add_argument("--plain", action="store_true", help=PLAIN)


def check_options(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End the program with an error if one of these options is wrong."""
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

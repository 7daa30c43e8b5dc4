"""Trained policies of Go against GNU Go: `python -m benchmarks.scores.gnu_go RUN ... [--level 1] [--games 100]`.

Both play with our rules: area scoring, positional superko, no suicide, the komi of the run's game. The policy has black in the
first game, then the colours change from game to game. GNU Go plays on until all dead stones are captured, since our scoring
removes none. The policy's moves are sampled, or with --greedy the most likely ones.

GNU Go gets another seed in each game, since it begins its random numbers anew in each move. Equal games count once in the
interval.

RUN is as for `python -m trainer eval`; without any, the arcade's agent plays. Needs GNU Go (Debian's package gnugo).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from rich.console import Console

import envs_c
from benchmarks.cartridges.agents import arcade_agent
from benchmarks.common import at_least, head, new_parser, publish
from trainer.config import Config
from trainer.errors import TrainerError
from trainer.export.graph import StepGraph
from trainer.log.text import markdown
from trainer.log.ticker import Ticker
from trainer.policy.load import load_run
from trainer.policy.policy import Policy

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests" / "envs_c" / "games" / "twins"))
from go_board import GnuGo

COLOURS = ("black", "white")


class Player:
    """A policy that plays one game after another."""

    def __init__(self, policy: Policy, greedy: bool):
        self.graph, self.greedy = StepGraph(policy), greedy
        self.memory: list[torch.Tensor] | None = None

    def begin(self) -> None:
        """Forget the last game."""
        self.memory = None

    @torch.no_grad()
    def move(self, observation: np.ndarray, action_mask: np.ndarray) -> int:
        """The action in an observation (1, ...) with the action_mask (1, A) of legal actions."""
        seen = torch.from_numpy(observation)
        if self.memory is None:
            _, *self.memory = self.graph.zeros(1, seen.dtype)
            start = 1.0
        else:
            start = 0.0
        if self.memory:
            self.memory[0] = torch.tensor([start])
        logits, _, *after = self.graph(seen, *self.memory)
        self.memory[1:] = after
        logits = logits.masked_fill(torch.from_numpy(action_mask) == 0, float("-inf"))
        chosen = logits.argmax(-1) if self.greedy else torch.distributions.Categorical(logits=logits).sample()
        return int(chosen.item())


class Game(NamedTuple):
    """The result of a game."""

    colour: str  # the policy's
    result: float  # 1 won, 0 drawn, -1 lost
    moves: tuple[int, ...]  # of both
    resigned: bool  # GNU Go gave up


def play(player: Player, gnu_go: GnuGo, options: dict[str, float], colour: str, seed: int) -> Game:
    """Play one game; `colour` is the policy's."""
    env = envs_c.make("go", num_envs=1, seed=seed, **(options | {"opponent": 2}))
    names = env.core.actions
    setup = [f"boardsize {int(options['size'])}", "clear_board", f"komi {options['komi']:g}", f"set_random_seed {seed}"]
    if refused := [answer for answer in gnu_go.ask(setup) if not answer.startswith("=")]:
        raise ValueError(f"GNU Go refuses one of {', '.join(setup)}: {refused[0]}")
    player.begin()
    observation, info = env.reset(seed=seed)
    moves: list[int] = []
    while True:
        mover = COLOURS[len(moves) % 2]
        if mover == colour:
            action = player.move(observation, info["action_mask"])
            answer, = gnu_go.ask([f"play {mover} {names[action]}"])
            if not answer.startswith("="):
                raise ValueError(f"GNU Go refuses {names[action]} of {mover}: {answer}")
        else:
            name = gnu_go.ask([f"genmove {mover}"])[0].removeprefix("=").strip().upper()
            if name == "RESIGN":
                return Game(colour, 1.0, tuple(moves), True)
            action = names.index(name)
            if not info["action_mask"][0, action]:
                raise ValueError(f"our rules forbid GNU Go's move {name} of {mover}")
        observation, reward, terminated, _, info = env.step(np.array([action]))
        moves.append(action)
        if terminated[0]:
            return Game(colour, float(reward[0]) if mover == colour else -float(reward[0]), tuple(moves), False)


def open_agent(run: str) -> tuple[str, Policy, Config]:
    """A policy of Go, its name in the table and its settings. run: a RUN, or "go" for the arcade's. Raises TrainerError."""
    if run == "go":
        return arcade_agent(run)[:3]
    path, policy, config = load_run(run, "cpu")
    if config.game != "go" or config.env.view != "features":
        raise TrainerError(f"RUN must be a run of go with features, not of {config.game} with {config.env.view}")
    return f"{path.parent.name}/{path.stem}", policy, config


def interval(wins: float, games: int) -> tuple[float, float]:
    """The 95% interval of a share: Wilson (1927), JASA 22."""
    z, share = 1.96, wins / games
    middle, half = share + z * z / (2 * games), z * ((share * (1 - share) + z * z / (4 * games)) / games) ** 0.5
    return max(0.0, (middle - half) / (1 + z * z / games)), min(1.0, (middle + half) / (1 + z * z / games))


def row(name: str, games: Sequence[Game], who: str) -> list[str]:
    """A row of the table: the games of one colour, or of both."""
    share, different = sum((one.result + 1) / 2 for one in games) / len(games), len(set(games))
    low, high = interval(share * different, different)
    return [name, who, str(len(games)), str(different), f"{share:.0%}", f"{low:.0%} to {high:.0%}",
            f"{np.mean([len(one.moves) for one in games]):.0f}", str(sum(one.resigned for one in games))]


def rows(name: str, games: Sequence[Game]) -> list[list[str]]:
    """The rows of a policy: all its games, and those with each colour."""
    sides = [("both", COLOURS), *((one, (one,)) for one in COLOURS)]
    return [row(name, chosen, who) for who, which in sides if (chosen := [one for one in games if one.colour in which])]


def match(policy: Policy, config: Config, options: argparse.Namespace) -> list[Game]:
    """The games of a policy; config: of its run, options: of the command line."""
    torch.manual_seed(options.seed)
    board = {each: option.default for each, option in envs_c.game("go").options.items()} | config.env.options
    player, games = Player(policy, options.greedy), []
    gnu_go = GnuGo("--level", str(options.level), "--capture-all-dead")
    with Ticker("playing against GNU Go", Console(stderr=True), line_seconds=10) as tick:
        for number in range(options.games):
            games.append(play(player, gnu_go, board, COLOURS[number % 2], options.seed + number))
            tick(number + 1, options.games, "games")
    gnu_go.close()
    return games


def main(argv: list[str] | None = None) -> list[list[Game]]:
    """Print the table; returns the games of each policy."""
    parser = new_parser("scores.gnu_go", __doc__)
    parser.add_argument("runs", nargs="*", default=["go"], metavar="RUN", help="what plays (default: the arcade's agent)")
    parser.add_argument("--games", type=at_least(1), default=100, help="number of games of each (default: 100)")
    parser.add_argument("--level", type=int, default=1, choices=range(1, 11), metavar="1..10", help="GNU Go's (default: 1)")
    parser.add_argument("--greedy", action="store_true", help="the policies take the most likely moves")
    parser.add_argument("--seed", type=at_least(0), default=1, help="of both sides (default: 1)")
    parser.add_argument("--out", type=Path, help="Markdown file for the table")
    options = parser.parse_args(sys.argv[1:] if argv is None else argv)
    if GnuGo.PATH is None:
        parser.error("GNU Go is not installed: `apt-get install gnugo` on Debian")
    try:
        agents = [open_agent(run) for run in options.runs]
    except TrainerError as error:
        parser.error(str(error))
    torch.set_num_threads(1)
    games = [match(policy, config, options) for _, policy, config in agents]
    columns = ["policy", "its colour", "games", "different", "won", "95% interval", "moves", "GNU Go resigned"]
    table = markdown(columns, [each for (name, *_), played in zip(agents, games, strict=True) for each in rows(name, played)])
    how = f"Level {options.level}, {'greedy' if options.greedy else 'sampled'} actions."
    publish(f"{head('Go against GNU Go')}\n{how}\n\n{table}", options.out)
    return games


if __name__ == "__main__":
    main()

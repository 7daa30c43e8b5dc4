"""`python -m trainer eval RUN`: the scores of a trained agent."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from envs_c.text import say
from trainer.commands.arguments import DEVICE, CodeOptions, Run, admitted_run
from trainer.config.before_parse import is_given
from trainer.config.fields import matching, within
from trainer.config.no_ops import NO_OP, has_no_op
from trainer.config.options import parse
from trainer.config.sections import EPISODES, device_setting, seed_setting
from trainer.log.console import Terminal
from trainer.log.ticker import Ticker
from trainer.runs.find import find
from trainer.runs.same_game import other_game

_NUMBER = r"(0?\.\d+|[01](\.0*)?)"  # from 0 to 1


def film_setting() -> str | None:
    """A field for the name of a film."""
    return matching(None, r"(?i).*\.(gif|mp4)", "a file that ends in .gif or .mp4", path=True)


def numbers_setting(default: str | None) -> str | None:
    """A field for probabilities with commas between them."""
    return matching(default, rf"{_NUMBER}(,{_NUMBER})*", "numbers from 0 to 1 with commas, such as 0,0.25")


def no_ops_setting(default: int | None) -> int | None:
    """A field for the most frames of NOOP at the start of an episode."""
    return within(default, 0, 10_000)


@dataclass(frozen=True)
class EpisodeOptions(CodeOptions):
    """Options for playing episodes of a trained agent."""

    run: Run
    episodes: int = within(100, 1, EPISODES)
    """Episodes to play."""
    out: str | None = film_setting()
    """Film the best episode into this file, a .gif or .mp4."""
    seed: int = seed_setting()
    """The same seed gives the same episodes."""
    device: Annotated[str, DEVICE] = device_setting()


@dataclass(frozen=True)
class EvalOptions(EpisodeOptions):
    """Options of an evaluation."""

    greedy: bool = False
    """Only always take the most likely action; with --no-greedy only sample. Without either there are two evaluations, of
    sampled and of greedy actions."""
    sticky: str | None = numbers_setting(None)
    """Probabilities of sticky actions, each evaluated; 0,0.25 for both protocols. none: the run's own."""
    noop_max: int | None = no_ops_setting(None)
    """Evaluations without sticky actions start with up to this many frames of NOOP, if the game has this action, and those
    with sticky actions with none; 30 is usual. none: the run's own, in both."""
    json: bool = False
    """Print one JSON object instead of sentences."""

    @property
    def stickies(self) -> list[float]:
        """The numbers in `sticky`."""
        return [float(number) for number in self.sticky.split(",")] if self.sticky else []


def progress(text: str) -> Ticker:
    """Shows the progress of an evaluation in a terminal: on stderr, so that stdout has only the results."""
    return Ticker(text, Terminal(stderr=True))


def _note(run: Path, options: EvalOptions) -> None:
    """Print what the user may not expect: a config.json of another game, and no-ops that no evaluation has."""
    from trainer.runs.checkpoint import latest, read_config
    path = latest(run)
    config = read_config(path)
    game, env = config.game, config.env
    if line := other_game(path, game):
        say(line, file=sys.stderr)
    if options.noop_max and not game.is_gym and not has_no_op(game):
        say(f"{game.short} has no action {NO_OP}: --noop-max {options.noop_max} has no effect", file=sys.stderr)
    elif options.noop_max and not game.is_gym and all(options.stickies or [env.sticky]):
        say(f"with sticky actions there are 0 no-ops: --noop-max {options.noop_max} is for --sticky 0", file=sys.stderr)


def main(argv: list[str]) -> None:
    """Print an evaluation."""
    options = parse(EvalOptions, argv, "eval", "Evaluate the agent of a run with sampled and with greedy actions: the mean raw "
                    "score of whole episodes with its 95% confidence interval (bootstrap; of fewer than five "
                    "different episodes Student's t), median, lowest and highest score.")
    run = find(options.run)
    with admitted_run(run, options):
        _note(run, options)
        from trainer.play.described import describe
        from trainer.play.evaluate import evaluate_run
        result = evaluate_run(run, episodes=options.episodes, seed=options.seed, device=options.device,
                              greedy=options.greedy if is_given("--greedy", argv) else None, out=options.out, ticker=progress,
                              sticky=options.stickies, noop_max=options.noop_max)
    if options.json:
        print(json.dumps(result))
        return
    print(describe(result))
    for line in result["missing"]:
        say(line)
    if options.out is not None:
        say(result["film"])

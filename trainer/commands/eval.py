"""`python -m trainer eval RUN`: the scores of a trained agent."""

import json
from dataclasses import dataclass
from typing import Annotated

from trainer.commands.arguments import DEVICE, GREEDY, CodeOptions, Run, admitted_run
from trainer.config.fields import matching, within
from trainer.config.options import parse
from trainer.config.sections import device_setting, seed_setting
from trainer.runs.find import find


def film_setting() -> str | None:
    """A field for the name of a film."""
    return matching(None, r"(?i).*\.(gif|mp4)", "a file that ends in .gif or .mp4", path=True)


@dataclass(frozen=True)
class EpisodeOptions(CodeOptions):
    """Options for playing episodes of a trained agent."""

    run: Run
    episodes: int = within(100, 1)
    """Episodes to play."""
    out: str | None = film_setting()
    """Film the best episode into this file, a .gif or .mp4."""
    greedy: Annotated[bool, GREEDY] = False
    seed: int = seed_setting()
    """The same seed gives the same episodes."""
    device: Annotated[str, DEVICE] = device_setting()


@dataclass(frozen=True)
class EvalOptions(EpisodeOptions):
    """Options of an evaluation."""

    json: bool = False
    """Print one JSON object instead of sentences."""


def main(argv: list[str]) -> None:
    """Print an evaluation."""
    options = parse(EvalOptions, argv, "eval", "Evaluate the agent of a run: the mean score with its 95% confidence interval "
                    "(bootstrap), median, lowest and highest score.")
    run = find(options.run)
    with admitted_run(run, options):
        from trainer.play.evaluate import describe, evaluate_run
        result = evaluate_run(run, episodes=options.episodes, seed=options.seed, device=options.device,
                              greedy=options.greedy, out=options.out)
    if options.json:
        print(json.dumps(result))
        return
    print(describe(result))
    if options.out is not None:
        print(result["film"])

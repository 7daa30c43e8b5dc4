"""`python -m trainer eval RUN`: how well a trained agent plays."""

import json
from dataclasses import dataclass

from tyro.conf import Positional

from trainer.config.options import parse
from trainer.config.sections import check_device, check_seed
from trainer.errors import ConfigError
from trainer.runs import find as runs


@dataclass(frozen=True)
class Episodes:
    """Which episodes of a trained agent are played."""

    run: Positional[str]
    """A run's folder, one of its checkpoints, the beginning of a folder's name under runs, or last."""
    episodes: int = 100
    """Episodes to play."""
    out: str | None = None
    """Film an episode into this file, a .gif or .mp4."""
    greedy: bool = False
    """Always take the likeliest action, instead of sampling."""
    seed: int = 1
    """The same seed gives the same episodes."""
    device: str = "auto"
    """Where the network lives: auto (the GPU if there is one), cpu, cuda, or cuda:1 for the second GPU."""

    def check(self):
        """Raises ConfigError for a value that it may not have."""
        if self.episodes < 1:
            raise ConfigError(f"episodes is {self.episodes}; it may be an integer from 1 up")
        check_seed(self.seed)
        check_device(self.device)
        if self.out is not None and not self.out.lower().endswith((".gif", ".mp4")):
            raise ConfigError(f"out is {self.out!r}; it may be a file that ends in .gif or .mp4")


@dataclass(frozen=True)
class EvalOptions(Episodes):
    """How a trained agent is evaluated."""

    json: bool = False
    """Print one JSON object instead of sentences."""


def main(argv: list[str]) -> None:
    options = parse(EvalOptions, argv, "eval", "Evaluate the agent of a run: the episodes' mean score with its 95% confidence "
                    "interval (bootstrap), median, least and best.")
    options.check()
    run = runs.find(options.run)
    from trainer.play.evaluate import describe, evaluate_run
    result = evaluate_run(run, episodes=options.episodes, seed=options.seed, device=options.device,
                          greedy=options.greedy, out=options.out)
    if options.json:
        print(json.dumps(result))
        return
    print(describe(result))
    if options.out is not None:
        print(result["film"])

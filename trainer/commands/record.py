"""`python -m trainer record RUN`: films of the best, the median and the worst of an agent's episodes."""

from dataclasses import dataclass
from typing import Annotated

from envs_c.text import say
from trainer.commands.arguments import GREEDY, admitted_run
from trainer.commands.eval import EpisodeOptions, film_setting
from trainer.config.options import parse
from trainer.runs.find import find


@dataclass(frozen=True)
class RecordOptions(EpisodeOptions):
    """Options of a recording."""

    greedy: Annotated[bool, GREEDY] = False
    out: str | None = film_setting()
    """FILE.gif or FILE.mp4: FILE-best, FILE-median and FILE-worst are written. none: episode.gif in the run's folder."""


def main(argv: list[str]) -> None:
    """Write the films."""
    options = parse(RecordOptions, argv, "record", "Film the best, the median and the worst of an agent's episodes.")
    run = find(options.run)
    with admitted_run(run, options):
        from trainer.play.evaluate import record_run
        say(*record_run(run, episodes=options.episodes, seed=options.seed, device=options.device, greedy=options.greedy,
                        out=options.out))

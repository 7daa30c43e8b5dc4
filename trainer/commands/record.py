"""`python -m trainer record RUN`: films of the best, the median and the worst of an agent's episodes."""

from dataclasses import dataclass

from trainer.commands.eval import Episodes
from trainer.config.options import parse
from trainer.runs import find as runs


@dataclass(frozen=True)
class RecordOptions(Episodes):
    """Which episodes are played, and where they are filmed."""

    out: str | None = None
    """FILE.gif or FILE.mp4: FILE-best, FILE-median and FILE-worst are written. none: episode.gif in the run's folder."""


def main(argv: list[str]) -> None:
    options = parse(RecordOptions, argv, "record", "Film the best, the median and the worst of an agent's episodes.")
    options.check()
    run = runs.find(options.run)
    from trainer.play.evaluate import record_run
    print(*record_run(run, episodes=options.episodes, seed=options.seed, device=options.device, greedy=options.greedy,
                      out=options.out), sep="\n")

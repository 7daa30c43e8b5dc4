"""The live dashboard, and the log line without a terminal. It consists of text lines: a refresh takes 1 to 2 ms."""

import textwrap
from collections.abc import Sequence

from rich.box import ASCII, ROUNDED
from rich.console import Console, ConsoleOptions, RenderResult
from rich.panel import Panel
from rich.text import Text

from trainer.log.numbers import count, duration, number
from trainer.log.progress import Progress, sparkline

_LOSSES = {"loss_policy": "policy loss", "loss_value": "value loss", "entropy": "entropy", "kl": "KL divergence",
           "clip_fraction": "clipped", "explained_variance": "explained variance", "grad_norm": "gradient norm",
           "learning_rate": "learning rate"}
_WIDEST = 160  # columns
_COLUMN = 38   # columns of the stages and of the losses, if the terminal has room for both side by side
_WIDE = 116    # columns with room for the curve of the entropy and for longer bars of the stages


class Dashboard:
    """A rich renderable of the current state of `progress`.

    title: the game.
    facts: lines under the title, such as the folder, the device and the precision.
    """

    def __init__(self, title: str, facts: list[str], progress: Progress) -> None:
        self.title, self.facts, self.progress = title, facts, progress

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        plain = options.ascii_only
        width = max(min(options.max_width, _WIDEST) - 4, 1)
        lines = [Text(line, style="dim") for fact in self.facts for line in textwrap.wrap(fact, width)]
        lines += [Text(), self._bar_to_goal(width, plain), Text(), *self._scores(width, plain), Text()]
        column = width // 2 if width >= _WIDE else _COLUMN
        stages, losses = self._stages(column - 22, plain), self._losses()
        lines += _beside(stages, losses, column) if width >= 2 * _COLUMN else [*stages, Text(), *losses]
        body = Text("\n", no_wrap=True, overflow="crop").join(lines)
        yield Panel(body, title=Text(f" {self.title} ", style="bold"), box=ASCII if plain else ROUNDED, width=width + 4,
                    border_style="cyan")

    def _bar_to_goal(self, width: int, plain: bool) -> Text:
        now = self.progress
        text = f" {now.done:4.0%}  {count(now.step)}/{count(now.goal)} steps  left {duration(now.seconds_left)}"
        return _bar(now.done, max(width - len(text), 8), plain, "green").append(text, style="bold")

    def _scores(self, width: int, plain: bool) -> list[Text]:
        last = self.progress.last
        curve = _curve(self.progress.history.points, width - 17, plain)
        episodes = last.get("episodes")
        rows = [("score", number(last.get("score_mean")), "yellow", curve, "yellow"),
                ("length", number(last.get("length_mean")), "default",
                 f"{'-' if episodes is None else count(episodes)} episodes", "dim"),
                ("speed", count(self.progress.sps), "cyan", "steps per second", "dim")]
        if width >= _WIDE:
            rows.insert(1, ("entropy", number(last.get("entropy")), "default",
                            _curve(self.progress.entropies.points, width - 17, plain), "magenta"))
        return [Text(f"{name:<8}").append(f"{value:<9}", style=f"bold {colour}").append(note, style=note_style)
                for name, value, colour, note, note_style in rows]

    def _stages(self, bar: int, plain: bool) -> list[Text]:
        return [Text(f"{name:<13}").append_text(_bar(share, bar, plain, "blue")).append(f"{share:5.0%}")
                for name, share in self.progress.shares.items()]

    def _losses(self) -> list[Text]:
        return [Text(f"{name:<20}").append(number(self.progress.last.get(key))) for key, name in _LOSSES.items()]


def plain_line(progress: Progress) -> str:
    """The main numbers of the dashboard in one line, for files and pipes."""
    last = progress.last
    return (f"step {count(progress.step)}/{count(progress.goal)}  score {number(last.get('score_mean'))}"
            f"  sps {count(progress.sps)}  left {duration(progress.seconds_left)}"
            f"  value loss {number(last.get('loss_value'))}  entropy {number(last.get('entropy'))}"
            f"  KL {number(last.get('kl'))}")


def _bar(share: float, width: int, plain: bool, colour: str) -> Text:
    full = round(min(max(share, 0.0), 1.0) * width)
    filled, empty = ("#", ".") if plain else ("━", "─")
    return Text(filled * full, style=colour).append(empty * (width - full), style="bright_black")


def _curve(points: Sequence[float], width: int, plain: bool) -> str:
    return sparkline(points, max(width, 1), *(["_.-=^"] if plain else []))


def _beside(left: list[Text], right: list[Text], column: int) -> list[Text]:
    """Two blocks of lines as two columns; `column` is the width of the left one."""
    lines = []
    for index in range(max(len(left), len(right))):
        line = left[index].copy() if index < len(left) else Text()
        line.pad_right(column - len(line))
        lines.append(line.append_text(right[index]) if index < len(right) else line)
    return lines

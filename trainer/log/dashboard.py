"""The live dashboard, drawn as a handful of text lines so that a refresh costs a millisecond or two."""

import textwrap

from rich.box import ASCII, ROUNDED
from rich.console import Console, ConsoleOptions, RenderResult
from rich.panel import Panel
from rich.text import Text

from trainer.log.figures import Figures, count, duration, number, sparkline

_LOSSES = {"loss_policy": "policy loss", "loss_value": "value loss", "entropy": "entropy", "kl": "KL divergence",
           "clip_fraction": "clipped", "explained_variance": "explained variance", "grad_norm": "gradient norm",
           "learning_rate": "learning rate"}
_WIDEST = 100  # columns
_COLUMN = 38  # columns of each half, where the terminal has room for two


class Dashboard:
    """A rich renderable that always shows the newest `figures`.

    title: the game; facts: lines under it, such as the folder, the device and the precision.
    """

    def __init__(self, title: str, facts: list[str], figures: Figures) -> None:
        self.title, self.facts, self.figures = title, facts, figures

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        plain = options.ascii_only
        width = max(min(options.max_width, _WIDEST) - 4, 1)
        lines = [Text(line, style="dim") for fact in self.facts for line in textwrap.wrap(fact, width)]
        lines += [Text(), self._progress(width, plain), Text(), *self._scores(width, plain), Text()]
        stages, losses = self._stages(plain), self._losses()
        lines += _beside(stages, losses) if width >= 2 * _COLUMN else [*stages, Text(), *losses]
        body = Text("\n", no_wrap=True, overflow="crop").join(lines)
        yield Panel(body, title=Text(f" {self.title} ", style="bold"), box=ASCII if plain else ROUNDED, width=width + 4,
                    border_style="cyan")

    def _progress(self, width: int, plain: bool) -> Text:
        figures = self.figures
        words = (f" {figures.done:4.0%}  {count(figures.step)}/{count(figures.goal)} steps"
                 f"  left {duration(figures.seconds_left)}")
        return _bar(figures.done, max(width - len(words), 8), plain, "green").append(words, style="bold")

    def _scores(self, width: int, plain: bool) -> list[Text]:
        last, figures = self.figures.last, self.figures
        curve = sparkline(figures.history.points, max(width - 17, 1), *(["_.-=^"] if plain else []))
        episodes = last.get("episodes")
        rows = [("score", number(last.get("score_mean")), "yellow", curve, "yellow"),
                ("length", number(last.get("length_mean")), "default",
                 f"{'-' if episodes is None else count(episodes)} episodes", "dim"),
                ("speed", count(figures.sps), "cyan", "steps a second", "dim")]
        return [Text(f"{name:<7}").append(f"{value:<10}", style=f"bold {colour}").append(note, style=note_style)
                for name, value, colour, note, note_style in rows]

    def _stages(self, plain: bool) -> list[Text]:
        return [Text(f"{name:<13}").append_text(_bar(share, 16, plain, "blue")).append(f"{share:5.0%}")
                for name, share in self.figures.shares.items()]

    def _losses(self) -> list[Text]:
        return [Text(f"{name:<20}").append(number(self.figures.last.get(key))) for key, name in _LOSSES.items()]


def plain_line(figures: Figures) -> str:
    """The same in one line, for logs and where there is no terminal."""
    last = figures.last
    return (f"step {count(figures.step)}/{count(figures.goal)}  score {number(last.get('score_mean'))}"
            f"  sps {count(figures.sps)}  left {duration(figures.seconds_left)}"
            f"  value loss {number(last.get('loss_value'))}  entropy {number(last.get('entropy'))}"
            f"  KL {number(last.get('kl'))}")


def _bar(share: float, width: int, plain: bool, colour: str) -> Text:
    full = round(min(max(share, 0.0), 1.0) * width)
    filled, empty = ("#", ".") if plain else ("━", "─")
    return Text(filled * full, style=colour).append(empty * (width - full), style="bright_black")


def _beside(left: list[Text], right: list[Text]) -> list[Text]:
    """Two columns of lines."""
    lines = []
    for index in range(max(len(left), len(right))):
        line = left[index].copy() if index < len(left) else Text()
        line.pad_right(_COLUMN - len(line))
        lines.append(line.append_text(right[index]) if index < len(right) else line)
    return lines

"""The log on a terminal: the dashboard and the plain lines are correct, fit any width, and cost almost no time."""

import io
import re

import pytest
from log_support import METRICS_OF_ITERATION, STEP, Clock, iterations, make_log, pipe, run_log, shown, terminal
from rich.console import Console

from trainer.log.ticker import Ticker


def test_a_line_every_five_seconds_and_the_last_one(tmp_path):
    lines = iterations(tmp_path, 1, 25).splitlines()
    assert lines[0] == f"breakout  {tmp_path}  device cpu, precision bfloat16"
    assert [line.split("/")[0] for line in lines[1:]] == ["step 65.5K", "step 721K", "step 1.38M", "step 1.64M"]
    assert lines[1].startswith("step 65.5K/10.0M  score 12.25  sps 131K  left 1m16s  ")


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}], ids=["no terminal", "a dumb terminal"])
def test_without_a_capable_terminal_there_are_lines(tmp_path, environ):
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    console = Console(file=file, force_terminal=bool(environ), _environ=environ)
    assert "step 65.5K/10.0M" in iterations(tmp_path, 1, 1, dashboard=True, console=console)


def test_no_dashboard_gives_lines_on_a_terminal_too(tmp_path):
    text = iterations(tmp_path, 1, 1, dashboard=False, console=terminal())
    assert "step 65.5K/10.0M" in text
    assert "╭" not in text


def test_the_dashboard_shows_progress_scores_stages_and_losses(tmp_path):
    text = iterations(tmp_path, 1, 40, dashboard=True, console=terminal(width=100)).rpartition("╭")[2]
    for part in ("breakout", tmp_path.name[:20], "device cpu, precision bfloat16", "26%", "2.62M/10.0M steps",
                  "left 56s", "12.25", "131K", "environments", "10%", "learn", "60%", "policy loss", "-0.01",
                  "KL divergence", "42 episodes"):
        assert part in text


def test_the_dashboard_has_each_number_beside_its_name(tmp_path):
    names = {"policy loss": "loss_policy", "value loss": "loss_value", "entropy": "entropy", "KL divergence": "kl",
             "clipped": "clip_fraction", "explained variance": "explained_variance", "gradient norm": "grad_norm",
             "learning rate": "learning_rate", "score": "score_mean", "length": "length_mean"}
    metrics = METRICS_OF_ITERATION | {key: 1 + number / 8 for number, key in enumerate(names.values())}
    console = terminal(width=70)
    iterations(tmp_path, 1, 40, metrics=metrics, dashboard=True, console=console)
    lines = shown(console).rpartition("╭")[2].splitlines()
    for name, key in names.items():
        assert any(re.match(rf"│ {name} +{metrics[key]:.4g} ", line) for line in lines), name


def test_the_curves_of_a_resumed_run_are_those_of_one_that_never_stopped(tmp_path):
    def drawn(folder, *sessions):
        for first, last in sessions:
            clock, console = Clock(), terminal(width=120)
            with run_log(folder, clock, console, dashboard=True, resume_step=(first - 1) * STEP or None) as log:
                for index in range(first, last + 1):
                    clock.now += 0.5
                    log.iteration(index * STEP, METRICS_OF_ITERATION | {"score_mean": index, "entropy": 40 - index})
        return [line for line in shown(console).rpartition("╭")[2].splitlines() if "▁" in line]
    whole, parts = drawn(tmp_path / "whole", (1, 40)), drawn(tmp_path / "parts", (1, 20), (21, 40))
    assert [line.split()[1] for line in whole] == ["score", "entropy"] and parts == whole


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 40), (24, 10), (40, 40), (79, 40), (80, 40), (200, 60)])
def test_the_dashboard_fits_any_terminal(tmp_path, width, height, encoding):
    text = iterations(tmp_path, 1, 3, dashboard=True, console=terminal(width, height, encoding))
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))
    assert 0 < max(map(len, lines)) <= width


def test_the_dashboard_is_refreshed_four_times_a_second_at_most(tmp_path):
    text = iterations(tmp_path, 1, 1000, seconds=0.01, dashboard=True, console=terminal())
    assert 35 <= text.count("breakout ") <= 4 * 10 + 3  # and three more: at the start, at the goal and at the end


def test_a_slow_terminal_is_refreshed_less_often(tmp_path):
    clock, console = Clock(), terminal()
    log = make_log(tmp_path, clock, console, dashboard=True)
    refreshes = []

    class SlowLive:
        def refresh(self):
            refreshes.append(clock.now)
            clock.now += 0.02

        def __enter__(self):
            return self

        def __exit__(self, *error):
            pass

    log._live = SlowLive()
    with log:
        for index in range(1, 2001):
            clock.now += 0.01
            log.iteration(index * STEP, METRICS_OF_ITERATION)
    assert len(refreshes) > 2
    assert log.overhead_seconds < 0.01 * (clock.now - 100)


@pytest.mark.parametrize(("console", "dashboard"), [(pipe, False), (terminal, True)], ids=["lines", "dashboard"])
def test_the_log_measures_its_own_time(tmp_path, monkeypatch, console, dashboard):
    clock = Clock()
    with run_log(tmp_path, clock, console(), dashboard=dashboard) as log:
        write = log._metrics.append

        def slow(entry):
            clock.now += 0.25
            write(entry)
        monkeypatch.setattr(log._metrics, "append", slow)
        for index in range(1, 9):
            clock.now += 10
            log.iteration(index * STEP, METRICS_OF_ITERATION)
    assert log.overhead_seconds == 8 * 0.25


@pytest.mark.parametrize(("console", "dashboard"), [(pipe, False), (terminal, True)], ids=["lines", "dashboard"])
def test_a_note_is_not_interpreted_as_markup(tmp_path, console, dashboard):
    console = console()
    with run_log(tmp_path, Clock(), console, dashboard=dashboard) as log:
        log.note("saved [bold]runs/x[/bold] :smile: " + "x" * 200)
    assert "saved [bold]runs/x[/bold] :smile: " + "x" * 200 in shown(console)


def test_an_error_in_the_training_passes_through_and_closes_the_log(tmp_path):
    console = terminal()
    with pytest.raises(ZeroDivisionError), run_log(tmp_path, Clock(), console, dashboard=True) as log:
        log.iteration(STEP, METRICS_OF_ITERATION)
        raise ZeroDivisionError
    assert "\x1b[?25h" in shown(console).rpartition("\x1b[?25l")[2]  # the cursor is visible again
    iterations(tmp_path, 2, 2, resume_step=STEP)                     # the folder is not locked


def test_the_last_line_comes_with_the_goal_and_only_once(tmp_path):
    console = pipe()
    with run_log(tmp_path, Clock(), console, goal=4 * STEP) as log:
        for index in range(1, 5):
            log.iteration(index * STEP, METRICS_OF_ITERATION)
        log.note("evaluated")
    assert [line.split("/")[0] for line in shown(console).splitlines()[1:]] == ["step 65.5K", "step 262K", "evaluated"]


@pytest.mark.parametrize(("console", "dashboard", "last"), [(pipe, False, "step 262K"), (terminal, True, "╰")],
                         ids=["lines", "dashboard"])
def test_notes_after_the_training_stand_below_its_last_line_or_picture(tmp_path, console, dashboard, last):
    console = console()
    with run_log(tmp_path, Clock(), console, dashboard=dashboard) as log:
        for index in range(1, 5):
            log.iteration(index * STEP, METRICS_OF_ITERATION)
        log.end_training()
        log.note("interrupted at step 262,144")
    text = shown(console)
    assert 0 < text.rindex(last) < text.index("interrupted")
    assert text.count("step 262K") == (not dashboard)


@pytest.mark.parametrize(("width", "curves"), [(100, 1), (115, 1), (120, 2), (300, 2)])
def test_a_wide_dashboard_has_a_curve_of_the_entropy_and_longer_bars(tmp_path, width, curves):
    clock, console = Clock(), terminal(width=width)
    with run_log(tmp_path, clock, console, dashboard=True) as log:
        for index in range(1, 41):
            clock.now += 0.5
            log.iteration(index * STEP, METRICS_OF_ITERATION | {"score_mean": index, "entropy": 40 - index})
    lines = shown(console).rpartition("╭")[2].splitlines()
    rising = [line for line in lines if "▁" in line and "█" in line]
    assert [line.split()[1] for line in rising] == ["score", "entropy"][:curves]
    assert all(line.index("▁") < line.index("█") for line in rising[:1])
    assert all(line.index("▁") > line.index("█") for line in rising[1:])
    (learn,) = (line for line in lines if "learn " in line)
    assert (learn.count("━") > 16) == (curves == 2)


@pytest.mark.parametrize(("console", "seconds", "lines"), [
    (pipe, None, []), (pipe, 5.0, ["evaluating: 50 of 100 episodes", "evaluating: 100 of 100 episodes"])])
def test_a_ticker_in_a_pipe_prints_a_line_every_few_seconds(console, seconds, lines):
    clock, console = Clock(), console()
    with Ticker("evaluating", console, line_seconds=seconds, clock=clock) as tick:
        for done in range(0, 101, 10):
            tick(done, 100, "episodes")
            clock.now += 1.0
    assert shown(console).splitlines() == lines


def test_a_ticker_in_a_terminal_clears_its_line():
    clock, console = Clock(), terminal()
    with Ticker("evaluating [x]", console, clock=clock) as tick:
        for done in range(3):
            clock.now += 1.0
            tick(done, 3, "episodes")
    assert "evaluating [x]: 2 of 3 episodes" in shown(console)
    assert shown(console).endswith("\x1b[1A\x1b[2K")

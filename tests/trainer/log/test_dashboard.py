"""The log on a terminal: the dashboard and the plain lines, right, readable in any width, and next to free."""

import io
import re

import pytest
from log_support import CONFIG_OF_RUN, METRICS_OF_ITERATION, STEP, Clock, iterations, pipe, run_log, shown, terminal
from rich.console import Console

from trainer.config.config import overlay
from trainer.log import figures
from trainer.log.figures import Figures, History, sparkline
from trainer.log.run_log import RunLog


def test_a_line_every_five_seconds_and_the_last_one(tmp_path):
    lines = iterations(tmp_path, 1, 25).splitlines()
    assert lines[0] == f"breakout  {tmp_path}  device cpu, precision bfloat16"
    assert [line.split("/")[0] for line in lines[1:]] == ["step 65.5K", "step 721K", "step 1.38M", "step 1.64M"]
    assert lines[1].startswith("step 65.5K/10.0M  score 12.25  sps 131K  left 1m16s  ")


@pytest.mark.parametrize("environ", [{}, {"TERM": "dumb"}], ids=["no terminal", "a dumb one"])
def test_there_is_no_dashboard_where_it_cannot_be_shown(tmp_path, environ):
    file = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    console = Console(file=file, force_terminal=bool(environ), _environ=environ)
    assert "step 65.5K/10.0M" in iterations(tmp_path, 1, 1, dashboard=True, console=console)


def test_no_dashboard_gives_lines_on_a_terminal_too(tmp_path):
    text = iterations(tmp_path, 1, 1, dashboard=False, console=terminal())
    assert "step 65.5K/10.0M" in text
    assert "╭" not in text


def test_the_dashboard_shows_what_goes_on(tmp_path):
    text = iterations(tmp_path, 1, 40, dashboard=True, console=terminal(width=100)).rpartition("╭")[2]
    for words in ("breakout", tmp_path.name[:20], "device cpu, precision bfloat16", "26%", "2.62M/10.0M steps",
                  "left 56s", "12.25", "131K", "environments", "10%", "learn", "60%", "policy loss", "-0.01",
                  "KL divergence", "42 episodes"):
        assert words in text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize(("width", "height"), [(1, 1), (3, 40), (24, 10), (40, 40), (79, 40), (80, 40), (200, 60)])
def test_the_dashboard_fits_any_terminal(tmp_path, width, height, encoding):
    text = iterations(tmp_path, 1, 3, dashboard=True, console=terminal(width, height, encoding))
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))
    assert 0 < max(map(len, lines)) <= width


def test_the_dashboard_is_refreshed_four_times_a_second_at_most(tmp_path):
    text = iterations(tmp_path, 1, 1000, seconds=0.01, dashboard=True, console=terminal())
    assert 35 <= text.count("breakout ") <= 4 * 10 + 3  # at the start, at the goal and at the end besides


def test_a_slow_terminal_is_refreshed_less_often(tmp_path):
    clock, console = Clock(), terminal()
    log = run_log(tmp_path, clock, console, dashboard=True)
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
def test_the_log_keeps_count_of_its_own_time(tmp_path, monkeypatch, console, dashboard):
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
def test_a_note_is_shown_as_it_is(tmp_path, console, dashboard):
    console = console()
    with run_log(tmp_path, Clock(), console, dashboard=dashboard) as log:
        log.note("saved [bold]runs/x[/bold] :smile: " + "x" * 200)
    assert "saved [bold]runs/x[/bold] :smile: " + "x" * 200 in shown(console)


def test_an_error_in_the_training_passes_through_and_closes_the_log(tmp_path):
    console = terminal()
    with pytest.raises(ZeroDivisionError), run_log(tmp_path, Clock(), console, dashboard=True) as log:
        log.iteration(STEP, METRICS_OF_ITERATION)
        raise ZeroDivisionError
    assert "\x1b[?25h" in shown(console).rpartition("\x1b[?25l")[2]  # the cursor is shown again
    iterations(tmp_path, 2, 2, resume_step=STEP)                     # and the folder is free


def test_the_last_line_comes_with_the_goal_and_only_once(tmp_path):
    config = overlay(CONFIG_OF_RUN, {"run": {"stop_at": 4 * STEP}})
    console = pipe()
    with RunLog(tmp_path, config, dashboard=False, facts={}, console=console, clock=Clock()) as log:
        for index in range(1, 5):
            log.iteration(index * STEP, METRICS_OF_ITERATION)
        log.note("evaluated")
    assert [line.split("/")[0] for line in shown(console).splitlines()[1:]] == ["step 65.5K", "step 262K", "evaluated"]


def test_stop_at_is_the_goal(tmp_path):
    config = overlay(CONFIG_OF_RUN, {"run": {"stop_at": 4 * STEP}})
    with RunLog(tmp_path, config, dashboard=False, facts={}, console=pipe()) as log:
        assert log.figures.goal == 4 * STEP


@pytest.mark.parametrize(("seconds", "text"), [
    (None, "-"), (0, "0s"), (59.4, "59s"), (59.6, "1m00s"), (192, "3m12s"), (3599, "59m59s"), (3840, "1h04m"),
    (183_600, "2d03h")])
def test_a_duration_is_short(seconds, text):
    assert figures.duration(seconds) == text


@pytest.mark.parametrize(("value", "text"), [
    (0, "0"), (999, "999"), (999.6, "1.00K"), (1_000, "1.00K"), (65_536, "65.5K"), (231_000, "231K"), (999_400, "999K"),
    (999_600, "1.00M"), (1_310_000, "1.31M"), (50_000_000, "50.0M"), (2.5e9, "2.50G")])
def test_a_count_has_three_digits(value, text):
    assert figures.count(value) == text


@pytest.mark.parametrize(("points", "width", "line"), [
    ([], 8, ""), ([5], 8, "▁"), ([1, 1, 1], 8, "▁▁▁"), ([0, 7], 8, "▁█"), (range(8), 8, "▁▂▃▄▅▆▇█"),
    (range(80), 4, "▁▃▆█")])
def test_a_sparkline_spans_its_points(points, width, line):
    assert sparkline(list(points), width) == line


def test_a_long_history_stays_short_and_keeps_its_shape():
    history = History()
    for value in range(100_000):
        history.add(value)
    history.add(None)
    assert 100 < len(history.points) < 256
    assert history.points == sorted(history.points)
    assert history.points[0] < 1000
    assert history.points[-1] > 99_000


def test_figures_follow_the_last_seconds():
    now = Figures(0, 10_000)
    for index in range(1, 101):
        now.update(index * 10, 1.0, {"time_env": 0.5, "time_learn": 0.5, "score_mean": 3.0})
    assert now.sps == pytest.approx(10)
    assert now.seconds_left == pytest.approx(900)
    for index in range(1, 101):
        now.update(1000 + index * 20, 1.0, {"time_env": 0.25, "time_learn": 0.75, "score_mean": None})
    assert now.sps == pytest.approx(20, rel=1e-3)
    assert now.shares["learn"] == pytest.approx(0.75, rel=1e-3)
    assert now.last["score_mean"] == 3.0

"""Number formats, tables as text, and the smoothed progress of a session."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
from log_support import terminal

from trainer.log.numbers import count, duration, number
from trainer.log.progress import History, Progress, sparkline
from trainer.log.text import markdown, plain, show


@pytest.mark.parametrize(("seconds", "text"), [
    (None, "-"), (0, "0s"), (59.4, "59s"), (59.6, "1m00s"), (192, "3m12s"), (3599, "59m59s"), (3840, "1h04m"),
    (183_600, "2d03h")])
def test_a_duration_is_short(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(("value", "text"), [
    (0, "0"), (999, "999"), (999.6, "1.00K"), (1_000, "1.00K"), (65_536, "65.5K"), (231_000, "231K"), (999_400, "999K"),
    (999_600, "1.00M"), (1_310_000, "1.31M"), (9_994_000, "9.99M"), (9_996_000, "10.0M"), (50_000_000, "50.0M"),
    (99_960_000, "100M"), (2.5e9, "2.50G")])
def test_a_count_has_three_digits(value, text):
    assert count(value) == text


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


def test_a_point_of_a_long_history_is_the_mean_of_its_values():
    history = History()
    for value in range(10_000):
        history.add(value % 2)
    assert history.points == [0.5] * len(history.points)


def test_speed_and_shares_follow_the_last_seconds():
    now = Progress(0, 10_000)
    for index in range(1, 101):
        now.update(index * 10, 1.0, {"time_env": 0.5, "time_learn": 0.5, "score_mean": 3.0})
    assert now.sps == pytest.approx(10)
    assert now.seconds_left == pytest.approx(900)
    for index in range(1, 101):
        now.update(1000 + index * 20, 1.0, {"time_env": 0.25, "time_learn": 0.75, "score_mean": None})
    assert now.sps == pytest.approx(20, rel=1e-3)
    assert now.shares["learn"] == pytest.approx(0.75, rel=1e-3)
    assert now.last["score_mean"] == 3.0


@pytest.mark.parametrize("seconds", [0.1, 1.0, 5.0])
def test_the_speed_of_ten_seconds_ago_counts_1_e_however_long_an_iteration_takes(seconds):
    now = Progress(0, 10**6)
    for speed, whole, env in ((10, 200, 1.0), (20, 10, 0.0)):
        for _ in range(round(whole / seconds)):
            now.update(now.step + speed * seconds, seconds, {"time_env": env * seconds, "time_learn": seconds})
    assert now.sps == pytest.approx(20 - 10 / math.e)
    assert now.shares["environments"] == pytest.approx(1 / (math.e + 1))


@pytest.mark.parametrize(("value", "text"), [(None, "-"), (123.42, "123.4"), (-0.012345, "-0.01235"), (1.2e-7, "1.2e-07")])
def test_a_number_has_four_digits(value, text):
    assert number(value) == text


def test_a_plain_table_is_as_wide_as_its_cells():
    assert plain(["run", "steps"], [["one", "5"], ["a-long-name", "12"]], right=["steps"]) == [
        "run          steps", "one              5", "a-long-name     12"]


@pytest.mark.parametrize("name", ["a-long-name", "[bold]name[", "[/bold]name"])
@pytest.mark.parametrize(("width", "drawn"), [(23, True), (22, False), (5, False)])
def test_a_table_that_is_wider_than_the_terminal_has_plain_lines(name, width, drawn):
    console = terminal(width)
    show(["run", "steps"], [[name, "12"]], console, ["steps"])
    console.file.seek(0)
    text = console.file.read()
    assert name in text and ("─" in text) == drawn
    assert drawn or text == f"run          steps\n{name}     12\n"


def test_a_markdown_table_has_a_line_below_its_head():
    assert markdown(["run", "steps"], [["one", 5]]) == "| run | steps |\n| --- | ----- |\n| one | 5     |\n"


@pytest.mark.parametrize(("module", "unwanted"), [
    ("trainer.log.numbers", {"torch", "matplotlib", "rich", "numpy"}),
    ("trainer.log.text", {"torch", "matplotlib", "rich"})])  # its cells may be foreign: envs_c makes them printable, with NumPy
def test_number_formats_and_tables_load_no_large_library(module, unwanted):
    script = f"import sys, {module}\nsys.exit(str({unwanted!r} & set(sys.modules)) if {unwanted!r} & set(sys.modules) else 0)"
    assert subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parents[3], check=False).returncode == 0

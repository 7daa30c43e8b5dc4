"""The published page of Breakout's seeds (benchmarks/scores/learning.py), as far as the file beside it can show.

The file has every third entry of each training's metrics, and no evaluation.
"""

import itertools
import json
import statistics

import pytest
from pages_support import result_rows

from benchmarks.common import RESULTS
from benchmarks.scores import learning

PAGE = RESULTS / "learning_breakout.md"
CURVES = json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))
SEEDS = sorted(CURVES)
ROUNDING = 0.005  # minutes: half a unit of the last digit on the page


def published() -> dict[str, dict[str, str]]:
    """The page's cells by the first cell of their row and by their column."""
    return {next(iter(row.values())): row for row in result_rows(PAGE.name)}


def test_the_page_has_a_row_for_each_seed_of_the_file_and_one_over_them():
    assert list(published()) == [*SEEDS, "mean ± deviation"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_training_ended_with_the_last_entry_that_is_kept_or_before_the_next(seed):
    facts, (*_, before, last) = published()[seed], CURVES[seed]
    assert last["step"] / 1e6 <= float(facts["steps, M"]) + 0.05
    assert float(facts["steps, M"]) - 0.05 < (2 * last["step"] - before["step"]) / 1e6
    ended, gap = float(facts["minutes"]), (last["seconds"] - before["seconds"]) / 60
    assert last["seconds"] / 60 - ROUNDING <= ended <= last["seconds"] / 60 + gap + ROUNDING


@pytest.mark.parametrize("seed, score", [*itertools.product(SEEDS, [100, 300])])
def test_a_score_was_reached_no_later_than_the_kept_entries_show_it(seed, score):
    """An entry that is not kept may have reached it first; then the kept ones about that time are close to it."""
    minutes, curve = float(published()[seed][f"minutes to {score}"]), CURVES[seed]
    assert minutes <= learning.minutes_to(curve, score) + ROUNDING
    after = next(k for k, entry in enumerate(curve) if entry["seconds"] / 60 >= minutes - ROUNDING)
    assert max(entry["score_mean"] for entry in curve[after - 1:after + 1]) == pytest.approx(score, rel=0.1)


def test_a_mean_of_0_points_is_a_score_and_no_ended_episode_is_none():
    scores = [None, -1.0, 0.0, 1.0]
    metrics = [{"seconds": 60.0 * k, "score_mean": score} for k, score in enumerate(scores)]
    assert [learning.minutes_to(metrics, score) for score in (-5, 0, 1, 2)] == [1, 2, 3, None]


@pytest.mark.parametrize("column", ["minutes", "minutes to 100", "minutes to 300", "evaluation mean"])
def test_the_last_row_has_the_mean_and_the_deviation_of_the_rows_above(column):
    *rows, total = (facts[column] for facts in published().values())
    unit = 10.0 ** -len(total.rpartition(".")[2])
    for text, statistic in zip(total.split(" ± "), (statistics.mean, statistics.stdev), strict=True):
        assert float(text) == pytest.approx(statistic(map(float, rows)), abs=1.01 * unit)

"""Numbers of runs stand under their names: in tables, in a report's boxes, and on the axes of pictures."""

import json
import re

import pytest
from run_support import make_run, summary
from verb_support import run

from trainer.log import curves
from trainer.play.described import describe
from trainer.results import report

EVALUATION = summary(4, median=3.5, min=1.0, max=9.0, mean_interval=[2.0, 6.0], mean_length=812.0, truncated=7,
                     different_episodes=100)
CELLS = {"actions": "sampled", "sticky": "0", "no-ops": "0", "mean": "4", "95% interval": "2 to 6", "median": "3.5", "min": "1",
         "max": "9", "length": "812", "truncated": "7", "episodes": "100"}
NUMBERS = {"seed": "7", "minutes": "0.3", "score": "3", "best": "5", "evaluation": "4"}


@pytest.fixture
def one(tmp_path):
    """A run whose recent score, best score and evaluation differ, as do the numbers of its evaluation."""
    folder = make_run(tmp_path / "one", seed=7, scores=(1.0, 5.0, 3.0))
    (folder / "evaluation.json").write_text(json.dumps(EVALUATION))
    return folder


def cells(text: str) -> list[str]:
    return re.split(r" {2,}", text.strip())


def of_page(content: bytes) -> list[dict[str, str]]:
    """The rows of all tables of a page, each by its columns."""
    tables = re.findall(r"<table.*?</table>", content.decode(), re.DOTALL)
    rows = [[re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL)]
            for table in tables]
    return [dict(zip(head, row, strict=True)) for head, *others in rows for row in others]


def test_the_list_has_each_number_under_its_name(one, capsys):
    head, row = map(cells, run(capsys, f"list --root {one.parent}").splitlines())
    assert NUMBERS.items() <= dict(zip(head, row, strict=True)).items()


def test_a_report_has_each_number_under_its_name(one, tmp_path):
    boxes = {name: value for value, name in re.findall(r"<b>(.*?)</b><span>(.*?)</span>", report.page([one]).decode())}
    assert {"recent score": "3", "best score": "5", "evaluation": "4"}.items() <= boxes.items()
    assert any(CELLS.items() <= row.items() for row in of_page(report.page([one])))
    other = make_run(tmp_path / "other", seed=8, evaluation=2)
    assert any(NUMBERS.items() <= row.items() for row in of_page(report.page([one, other])))


def test_an_evaluation_has_each_number_under_its_name():
    _, head, row = map(cells, describe(EVALUATION).splitlines())
    assert dict(zip(head, row, strict=True)) == CELLS


@pytest.mark.parametrize("by", ["steps", "minutes"])
@pytest.mark.parametrize("group", ["", "--group"])
def test_a_comparison_has_steps_or_minutes_on_the_axis_that_says_so(one, tmp_path, monkeypatch, capsys, by, group):
    drawn = []
    monkeypatch.setattr(curves, "_save", lambda figure, path: drawn.append(figure.axes[0]))
    monkeypatch.chdir(tmp_path)
    run(capsys, f"compare {one} {make_run(tmp_path / 'other', seed=8)} --by {by} {group}")
    label, last = {"steps": ("steps", 3000), "minutes": ("minutes of training", 0.3)}[by]
    assert drawn[0].get_xlabel() == label and drawn[0].lines[0].get_xdata()[-1] == pytest.approx(last)


def test_the_curves_of_a_run_have_steps_or_minutes_on_the_axis_that_says_so(one, monkeypatch):
    drawn = []
    monkeypatch.setattr(curves, "_save", lambda figure, path: drawn.extend(figure.axes))
    curves.draw_curves(one)
    ends = {axes.get_title(): (axes.get_xlabel(), axes.lines[0].get_xdata()[-1]) for axes in drawn}
    assert ends.pop("Score over time") == ("minutes of training", pytest.approx(0.3))
    assert set(ends.values()) == {("steps", 3000)} and len(ends) == 5

"""The page of environments of Gymnasium (benchmarks/peers/foreign.py), made of its file."""

import json

import pytest

from benchmarks.common import RESULTS

pytest.importorskip("stable_baselines3")
from benchmarks.peers import foreign

PAGE = RESULTS / "foreign.md"


def entry(minutes: float, reached: bool = True) -> dict:
    return {"reached": reached, "mean": 470.5, "steps": int(minutes * 1000), "minutes": minutes}


def test_the_published_page_is_made_of_the_file_beside_it():
    made = foreign.below_head(json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8")))
    assert made.count("| preset   |") == made.count("| SB3, zoo |") == len(foreign.TASKS)
    assert PAGE.read_text(encoding="utf-8").endswith("do not.\n" + made)


@pytest.mark.parametrize("entries, minutes, others", [
    ([entry(1.0), entry(2.0), entry(9.0)], "2.00", "-"),
    ([entry(1.0), entry(2.0)], "1.50", "-"),
    ([entry(3.0), entry(1.0), entry(80.0, reached=False)], "2.00", "470.5 after 80.0K"),
    ([entry(80.0, reached=False)], "-", "470.5 after 80.0K"),
])
def test_minutes_are_the_median_of_the_seeds_that_reached_the_target(entries, minutes, others):
    facts = dict(zip(foreign.COLUMNS, foreign.row("CartPole-v1", "ours", entries), strict=True))
    assert (facts["processor's minutes"], facts["others"]) == (minutes, others)


def test_a_page_is_written_again_below_its_head_without_a_training(tmp_path, monkeypatch):
    monkeypatch.setattr(foreign, "SIDES", dict.fromkeys(foreign.SIDES, lambda *_: pytest.fail("this was trained")))
    text = PAGE.read_text(encoding="utf-8")
    (tmp_path / "page.md").write_text(text[:text.index("\n| environment")] + "\nold\n", encoding="utf-8")
    foreign.main(["--no-training", "--json", str(PAGE.with_suffix(".json")), "--out", str(tmp_path / "page.md")])
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == text


def test_no_page_is_written_again_where_there_is_none(tmp_path, capsys):
    with pytest.raises(SystemExit):
        foreign.main(["--no-training", "--out", str(tmp_path / "page.md")])
    assert "--no-training needs the file --json and an earlier page --out" in capsys.readouterr().err

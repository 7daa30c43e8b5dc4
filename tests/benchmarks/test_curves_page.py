"""The page of the learning curves on both (benchmarks/scores/curves_on_both.py), made of its file: without a cartridge."""

import json
import re
import statistics

import pytest

from benchmarks.cartridges.twins import TWINS
from benchmarks.common import RESULTS
from benchmarks.scores import curves_on_both

PAGE = RESULTS / "curves_on_both.md"
SEEDS, STEPS = 5, 100_000


@pytest.fixture(scope="module")
def published() -> dict[str, dict[str, list[dict]]]:
    """The trainings of the published page, by game and side."""
    return curves_on_both.sides_of(list(TWINS), SEEDS, STEPS, PAGE.with_suffix(".json"))


def facts_of(game: str, sides: dict[str, list[dict]]) -> dict[str, str]:
    """The cells of a game's row by their columns."""
    return dict(zip(curves_on_both.COLUMNS, curves_on_both.row_of(game, STEPS, sides), strict=True))


def training(level: float, missing: set[int]) -> dict:
    """A training whose score rises by 10 a part; no episode ended in the missing parts."""
    scores = [None if part in missing else level + 10.0 * part for part in range(curves_on_both.BINS)]
    return {"steps": STEPS, "cpu_seconds": 1.0, "weights": "some", "scores": scores}


def test_the_published_page_is_made_of_the_file_beside_it(published):
    rows = [curves_on_both.row_of(game, STEPS, sides) for game, sides in published.items()]
    assert PAGE.read_text(encoding="utf-8").endswith(curves_on_both.below_head(list(published), rows))


@pytest.mark.parametrize("game", TWINS)
def test_both_sides_of_a_published_row_are_means_over_the_same_parts(game, published):
    facts, sides = facts_of(game, published[game]), [published[game][side] for side in curves_on_both.COMPARED]
    parts = [part for part in range(20) if all(one["scores"][part] is not None for side in sides for one in side)]
    assert facts["common parts"] == f"{len(parts)} of 20"
    end = [18, 19] if {18, 19} <= set(parts) else parts[-1:]
    for column, chosen in (("mean score", parts), ("end", end)):
        for side, name in zip(sides, ("cartridge", "here"), strict=True):
            mean = statistics.mean(statistics.mean(one["scores"][part] for part in chosen) for one in side)
            assert float(facts[f"{column}, {name}"].split(" ±")[0]) == pytest.approx(mean, abs=0.0051)
    assert facts["end"] == " to ".join(curves_on_both.count(part * STEPS // 20) for part in (end[0], end[-1] + 1))


@pytest.mark.parametrize("cartridge, here, parts, end", [
    (set(), set(), "20 of 20", "90.0K to 100K"),
    ({0, 1, 2}, {19}, "16 of 20", "90.0K to 95.0K"),
    ({18}, {3}, "18 of 20", "95.0K to 100K"),
    ({*range(10)}, {*range(11, 20)}, "1 of 20", "50.0K to 55.0K"),
])
def test_equal_curves_have_equal_scores_whichever_parts_either_side_lacks(cartridge, here, parts, end):
    """The parts are lacking in one seed of a side each; the mean of all its own parts would differ by side."""
    sides = {side: [training(0.0, missing), training(2.0, set()), training(4.0, set())]
             for side, missing in (("cartridge", cartridge), ("here", here), ("same", cartridge))}
    facts = facts_of("pong", sides)
    assert (facts["common parts"], facts["end"]) == (parts, end) and facts["difference"].startswith("0.00, from -")
    assert facts["mean score, cartridge"] == facts["mean score, here"] and facts["end, cartridge"] == facts["end, here"]


def test_the_bound_is_the_end_of_the_interval_that_is_farther_from_0():
    sides = {side: [training(level + seed, set()) for seed in range(5)] for side, level in
             (("cartridge", 0.0), ("here", 3.0), ("same", 0.0))}
    low, high = map(float, re.fullmatch(r"-3\.00, from (\S+) to (\S+)", facts_of("pong", sides)["difference"]).groups())
    assert facts_of("pong", sides)["at most"] == f"{-low:.2f}" and -low > high > -3
    assert low + 3 == pytest.approx(-2.776 * (2.5 * 2 / 5) ** 0.5, abs=0.01)  # the variance of 0 to 4 is 2.5


def test_curves_without_a_common_part_are_refused():
    sides = {side: [training(0.0, {part for part in range(20) if part % 2 == odd})] * 3
             for side, odd in (("cartridge", 0), ("here", 1), ("same", 0))}
    with pytest.raises(SystemExit, match="in no part of them did episodes of pong end in all trainings"):
        facts_of("pong", sides)


def test_a_page_is_written_again_below_its_head_without_a_training(tmp_path, monkeypatch):
    monkeypatch.setattr(curves_on_both, "train", lambda *_: pytest.fail("this was trained"))
    text = PAGE.read_text(encoding="utf-8")
    above = text[:text.index("\nThe same PPO")]
    (tmp_path / PAGE.name).write_text(f"{above}\nold\n", encoding="utf-8")
    (tmp_path / "curves_on_both.json").write_text(PAGE.with_suffix(".json").read_text(encoding="utf-8"), encoding="utf-8")
    curves_on_both.main(["--no-training", "--out", str(tmp_path)])
    assert (tmp_path / PAGE.name).read_text(encoding="utf-8") == text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves_on_both.json", PAGE.name]


def test_a_training_that_the_file_lacks_is_named(tmp_path):
    (tmp_path / PAGE.name).write_text("", encoding="utf-8")
    (tmp_path / "curves_on_both.json").write_text(json.dumps({"pong 2000 here 1": {}}), encoding="utf-8")
    with pytest.raises(SystemExit, match="has no training pong 2000 here 2"):
        curves_on_both.main(["pong", "--steps", "2000", "--no-training", "--out", str(tmp_path)])


def test_the_page_of_likeness_quotes_the_rows(published):
    text = " ".join((RESULTS.parents[1] / "docs/likeness.md").read_text(encoding="utf-8").split())
    facts = {game: facts_of(game, sides) for game, sides in published.items()}
    parts = {game: int(one["common parts"].split()[0]) for game, one in facts.items()}
    few = "{} in Pong, {} in Freeway and {} in Enduro".format(*(parts.pop(game) for game in ("pong", "freeway", "enduro")))
    assert f"{min(parts.values())} or {max(parts.values())} of them, but {few}" in text
    means = {game: one["mean score, cartridge"].split()[0] for game, one in facts.items()}
    assert f"up to {facts['breakout']['at most']} points in Breakout, where the cartridge's mean is {means['breakout']}" in text
    assert f"up to {facts['enduro']['at most']} in Enduro, where it is {means['enduro']}," in text
    intervals = [re.findall(r"-?[\d.]+", one["difference"])[1:] for one in facts.values()]
    assert all(float(low) <= 0 <= float(high) for low, high in intervals) and "contains 0 in each game" in text
    ratios = [int(one["ratio"]) for one in facts.values()]
    assert f"A step takes {min(ratios)} to {max(ratios)} times as much" in text
    assert {one["equal trainings"] for one in facts.values()} == {"5 of 5"} and "with all five seeds of each" in text

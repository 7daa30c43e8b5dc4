"""The page of scales of rewards (benchmarks/scores/scales.py)."""

import json
import re

import pytest
from pages_support import flat, number, result_rows, tables

from benchmarks.common import RESULTS
from benchmarks.pages import finished
from benchmarks.scores import scales, seeds
from trainer.runs.folder import CONFIG

RULE = "--normalize-rewards --normalize-steps 0 --reward-scale 1 --value-clip 0"
FOUR = RULE.replace("scale 1", "scale 4")
ALONE = "--no-normalize-rewards"
LAB_BOOK = flat("docs/lab_book.md").partition("Normalized rewards times 1, 2, 4 or 12")[2].partition("First trials of Pong")[0]


def training(seed: int, score: float, rule: str = scales.PRESET) -> dict:
    return {"game": "tetris", "sticky": 0.0, "seed": seed, "steps": 6_000_000, "episodes": 100,
            "rule": rule, "score": score}


def cells(trainings: list[dict]) -> list[dict[str, str]]:
    return [dict(zip(scales.COLUMNS, row, strict=True)) for row in scales.rows(trainings)]


def test_a_rule_is_compared_with_the_preset_over_the_seeds_that_both_have():
    preset, other = cells([training(12, 300.0, RULE), training(11, 100.0), training(13, 900.0), training(12, 200.0)])
    assert (preset["settings"], preset["seeds"], preset["mean"], preset["of the preset's"]) == (scales.PRESET, "3", "400", "")
    assert (other["settings"], other["seeds"], other["mean"], other["95% interval"]) == (RULE, "1", "300", "")
    assert other["of the preset's"] == "1.50"


def test_a_training_of_a_benchs_length_stands_beside_the_bench(monkeypatch):
    found = [(6_010_000, 200.0, {}), (5_990_000, 400.0, {"noop_max": 0}), (6_000_000, 9.0, {"noop_max": 30}),
             (6_100_000, 9.0, {}), (5_900_000, 9.0, {})]
    others = [{"game": "tetris", "sticky": 0.0, "steps": steps, "seed": 1, "scores": {"sampled": score}, **more}
              for steps, score, more in found]
    monkeypatch.setattr(seeds, "published_trainings", lambda: others)
    assert [row["bench"].partition(" ")[0] for row in cells([training(11, 1.0), training(11, 2.0, RULE)])] == ["300", "300"]
    assert cells([training(11, 1.0) | {"sticky": 0.25}])[0]["bench"] == ""


def test_a_rule_without_trainings_of_the_preset_is_compared_with_the_same_seeds_of_the_bench(monkeypatch):
    others = [{"game": "tetris", "sticky": 0.0, "steps": 6_000_000, "seed": seed, "scores": {"sampled": score}}
              for seed, score in [(11, 200.0), (12, 900.0)]]
    monkeypatch.setattr(seeds, "published_trainings", lambda: others)
    assert [row["of the preset's"] for row in cells([training(11, 300.0, RULE), training(13, 1.0, FOUR)])] == ["1.50", ""]
    monkeypatch.setattr(seeds, "published_trainings", list)
    assert cells([training(11, 300.0, RULE)])[0]["of the preset's"] == ""


@pytest.mark.parametrize(("changed", "words"), [
    ({}, scales.PRESET),
    ({"normalize_rewards": False}, "--no-normalize-rewards --reward-scale 1 --value-clip 0.2"),
    ({"value_clip": 0.0}, RULE),
    ({"normalize_steps": 1_200_000}, "--normalize-rewards --normalize-steps 1200000 --reward-scale 1 --value-clip 0.2"),
    ({"reward_scale": 4.0, "max_grad_norm": 2.0},
     "--normalize-rewards --normalize-steps 0 --reward-scale 4 --value-clip 0.2 --max-grad-norm 2")])
def test_a_training_says_its_scales_as_on_the_command_line(there, changed, words):
    file = there / "runs" / "one" / CONFIG
    saved = json.loads(file.read_text())
    del saved["config"]["ppo"]["normalize_steps"]  # as in a training from before this setting
    saved["config"]["ppo"].update(changed)
    file.write_text(json.dumps(saved))
    assert scales.rule(next(finished([there / "runs"]))) == words  # CartPole, whose preset normalizes rewards


def test_trainings_of_the_file_stay_unless_a_folder_has_them_again(there, capsys):
    page = there / "page.md"
    scales.main([str(there / "runs"), "--out", str(page)])
    made = json.loads(page.with_suffix(".json").read_text())
    assert len(made) == 2
    page.with_suffix(".json").write_text(json.dumps([made[0] | {"score": -1.0}, training(11, 100.0)]))
    scales.main([str(there / "runs"), "--add", "--out", str(page)])
    assert json.loads(page.with_suffix(".json").read_text()) == [*made, training(11, 100.0)]
    assert page.read_text().count("\n| tetris ") == 1


def test_the_published_page_is_made_of_the_file_beside_it():
    page = RESULTS / "scales.md"
    written = scales.page(json.loads(page.with_suffix(".json").read_text()))
    assert page.read_text().split("\nPresets")[1] == written.split("\nPresets")[1]


def scores(game: str, steps: float, rule: str) -> list[float]:
    """The scores of the published trainings of a game with a rule, or with one that begins so, by seed."""
    trainings = json.loads((RESULTS / "scales.json").read_text())
    return [one["score"] for one in sorted(trainings, key=lambda one: one["seed"])
            if one["game"] == game and one["rule"].startswith(rule) and abs(one["steps"] / steps - 1) < scales.SAME]


@pytest.mark.parametrize(("says", "game", "steps", "rule"), [
    (r"the preset of that day after 6M steps \(([\d,]+)\)", "asteroids", 6e6, RULE),
    (r"whose score of ([\d,]+) is below", "seaquest", 60e6, FOUR), (r"of Freeway ([\d.]+)", "freeway", 20e6, ALONE),
    (r"of Pac-Man has ([\d,]+) and", "pacman", 30e6, ALONE), (r"of Seaquest ([\d,]+), within", "seaquest", 60e6, ALONE)])
def test_a_score_of_the_lab_book_is_that_of_the_page(says, game, steps, rule):
    quoted = [number(one.strip(",")) for one in re.search(says, LAB_BOOK).groups()]
    found = scores(game, steps, rule)
    assert len(quoted) == len(found) and all(map(lambda one, other: abs(one - other) <= 0.51 * (0.1 if other < 100 else 1),
                                                 quoted, found))


@pytest.mark.parametrize(("says", "game", "steps", "rule"), [
    (r"after 30M steps ([\d.]+) of the score of today's preset with the same seed", "asteroids", "30.0M", RULE),
    *((rf"same seeds: .*?([\d.]+) in {name}", game, steps, FOUR) for name, game, steps in [
        ("2048", "g2048", "40.0M"), ("Asteroids", "asteroids", "30.0M"), ("Tetris", "tetris", "60.0M"),
        ("Pac-Man", "pacman", "30.0M"), ("Freeway", "freeway", "20.1M"), ("Seaquest", "seaquest", "60.0M")])])
def test_a_ratio_of_the_lab_book_is_that_of_the_page(says, game, steps, rule):
    ratio, = [row["of the preset's"] for row in cells(json.loads((RESULTS / "scales.json").read_text()))
              if (row["game"], row["steps"], row["settings"]) == (game, steps, rule)]
    assert re.search(says, LAB_BOOK).group(1) == ratio


def test_a_trial_that_became_the_preset_has_a_ratio_to_the_former_preset_and_none_to_itself():
    now = [row for row in cells(json.loads((RESULTS / "scales.json").read_text())) if row["settings"].endswith(scales.NOW)]
    assert [(row["game"], row["sticky"], row["of the preset's"]) for row in now] == [
        ("asteroids", "0.25", ""), ("space_invaders", "0", "2.49"), ("space_invaders", "0.25", "2.18"),
        ("tetris", "0", "1.17"), ("tetris", "0.25", "1.04")]


FIRST_STEPS = "--normalize-rewards --normalize-steps 600000 --reward-scale 1 --value-clip 0"
AT_FULL_LENGTH = re.findall(r"\| ([\w -]+) \| ([\d.]+) \| ([\d,.]+(?:, [\d,.]+)+) \| ([\d,.]+) \| ([\d,.]+) to ([\d,.]+) \|",
                            flat("docs/lab_book.md").partition(f"this one rule, `{FIRST_STEPS}`")[2].partition("In Freeway")[0])


def test_the_lab_book_has_four_games_with_the_unit_of_the_first_steps():
    assert len(AT_FULL_LENGTH) == 4


def mean(row: dict[str, str]) -> str:
    """The mean and interval of a row of the page."""
    return f"{row['mean']} ({row['95% interval']})"


def name_of(game):
    """The name of a game in the code."""
    return {"2048": "g2048", "Pac-Man": "pacman"}.get(game, game.lower().replace(" ", "_"))


@pytest.mark.parametrize(("name", "sticky", "quoted"), [(name, sticky, quoted) for name, sticky, *quoted in AT_FULL_LENGTH])
def test_the_unit_of_the_first_steps_is_compared_with_the_ten_seeds_of_the_page(name, sticky, quoted):
    trained = [one for one in sorted(json.loads((RESULTS / "scales.json").read_text()), key=scales.key)
                      if (one["game"], one["sticky"], one["rule"]) == (name_of(name), float(sticky), FIRST_STEPS)]
    ten = [one["scores"]["sampled"] for one in scales.of_bench(trained[0])]
    assert len(ten) == 10
    quoted = [*quoted[0].split(", "), *quoted[1:]]
    found = [*(one["score"] for one in trained), sum(ten) / 10, min(ten), max(ten)]
    assert [number(one) for one in quoted] == [float(f"{one:.0f}" if one >= 100 else f"{one:.1f}") for one in found]


def test_the_lab_book_has_each_ten_seeds_of_the_unit_of_the_first_steps():
    quoted = next(rows for rows in tables("docs/lab_book.md") if "the rule" in rows[0])
    said = {row["game"] + row["sticky"]: mean(row) for row in result_rows("scales.md")
            if row["settings"] == scales.PRESET and row["seeds"] == "10"}  # of a preset that a trial has replaced
    found = [{"game": row["game"], "sticky": row["sticky"], "the rule": mean(row),
              "the preset": said.get(row["game"] + row["sticky"], row["bench"])}
             for row in result_rows("scales.md") if row["settings"].startswith(FIRST_STEPS) and row["seeds"] == "10"]
    assert [row | {"game": name_of(row["game"])} for row in quoted] == found

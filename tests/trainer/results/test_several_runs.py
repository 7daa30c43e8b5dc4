"""Comparisons run by run and in groups: which runs are a group, and the numbers of its curve and of its row."""

import json

import numpy as np
import pytest
from run_support import make_run, summary

from trainer.__main__ import main
from trainer.config.sections import ADDED_LATER
from trainer.errors import RunError
from trainer.results.several_runs import group_table, grouped, mean_curve, member, table


def members(folder, *, by="steps", **settings):
    """Three runs with the seeds 1, 2 and 3 as members of a comparison.

    settings: of `make_run`, a tuple of three values each.
    """
    made = []
    for index in range(3):
        own = {name: values[index] for name, values in settings.items()}
        made.append(member(make_run(folder / f"run-{index}", seed=index + 1, **own), by, f"run-{index}"))
    return made


@pytest.mark.parametrize(("section", "name", "values", "groups"), [
    ("run", "device", ("cpu", "cuda", "auto"), {"breakout": [1, 2, 3]}),
    ("env", "num_threads", (1, 2, 3), {"breakout": [1, 2, 3]}),
    ("env", "num_batches", (1, 2, 3), {"breakout": [1, 2, 3]}),
    ("env", "sim", ("host", "tensors", "device"), {"breakout": [1, 2, 3]}),
    ("ppo", "gamma", (0.9, 0.99, 0.9), {"gamma 0.9": [1, 3], "gamma 0.99": [2]}),
    ("policy", "memory", ("lstm", "none", "none"), {"memory lstm": [1], "memory none": [2, 3]}),
    ("env", "options", ({}, {"lives": 3.0}, {}), {"options none": [1, 3], "options lives=3": [2]})])
def test_runs_are_a_group_if_only_settings_without_influence_on_the_learning_differ(tmp_path, section, name, values, groups):
    found = grouped(members(tmp_path, **{section: [{name: value, **({"seed": seed} if section == "run" else {})}
                                                   for seed, value in enumerate(values, 1)]}))
    assert {label: [one.run.seed for one in group] for label, group in found.items()} == groups


@pytest.mark.parametrize("game", ["breakout", "gym:CartPole-v1"])
def test_a_run_of_an_earlier_version_is_in_the_group_of_its_settings(tmp_path, game):
    plain = {"observations": "plain"} if game.startswith("gym:") else {}
    made = [make_run(tmp_path / f"run-{seed}", game=game, seed=seed, env=plain, ppo={"normalize_rewards": False},
                     policy={"noise_hold": 1})
            for seed in (1, 2)]
    saved = json.loads((made[0] / "config.json").read_text())
    for section in ("env", "policy", "ppo", "run"):
        for name in saved["config"][section].keys() & ADDED_LATER.keys():
            del saved["config"][section][name]
    (made[0] / "config.json").write_text(json.dumps(saved))
    assert len(grouped([member(folder, "steps", folder.name) for folder in made])) == 1


def test_options_whose_first_digits_are_equal_are_two_groups(tmp_path):
    levels = [{"options": {"level": level}} for level in (12341.0, 12344.0, 12341)]
    found = grouped(members(tmp_path, env=levels))
    assert {label: [one.run.seed for one in group] for label, group in found.items()} == {
        "options level=12341": [1, 3], "options level=12344": [2]}
    texts = grouped(members(tmp_path / "texts", env=[{"options": {"level": level}} for level in (3.0, "3", 3)]))
    assert [*texts] == ["options level=3", "options level='3'"]
    rates = grouped(members(tmp_path / "rates", ppo=[{"learning_rate": rate} for rate in (0.001234567, 0.001234568, 0.002)]))
    assert [*rates] == ["learning_rate 0.001234567", "learning_rate 0.001234568", "learning_rate 0.002"]


def test_runs_with_the_same_seed_and_settings_count_once(tmp_path):
    """The one with an evaluation, the longer one, or the newer one; runs that began with other weights are others."""
    def made(name, seed, count=3, evaluation=1.0, hour=14, init_from="runs/a"):
        folder = make_run(tmp_path / name, scores=(1.0,) * count, evaluation=evaluation,
                          run={"seed": seed, "init_from": init_from})
        config = json.loads((folder / "config.json").read_text())
        config["sessions"][0]["started"] = f"2026-11-21T{hour}:00:00+00:00"
        (folder / "config.json").write_text(json.dumps(config))
        return member(folder, "steps", name)
    runs = [made("a", 1), made("shorter", 1, count=2), made("short", 2, count=2), made("b", 2),
            made("new", 3, hour=15), made("old", 3), made("other", 3, init_from="runs/b"),
            made("longer", 4, count=5, evaluation=None), made("evaluated", 4)]
    lines = []
    group, = grouped(runs, lines.append).values()
    assert [one.label for one in group] == ["a", "b", "new", "other", "evaluated"]
    assert lines == ["left out of the groups, since another run there has the same seed and settings: "
                     + ", ".join(str(tmp_path / name) for name in ("shorter", "short", "old", "longer"))]


def test_a_run_that_is_there_twice_does_not_narrow_an_interval(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    members(tmp_path / "runs", evaluation=(1.0, 2.0, 6.0))
    assert main(["compare", "run", "--group", "--json"]) == 0
    before, = json.loads(capsys.readouterr().out)["groups"]
    make_run(tmp_path / "runs" / "run-again", seed=2, evaluation=2.0)
    assert main(["compare", "run", "--group", "--json"]) == 0
    out, err = capsys.readouterr()
    after, = json.loads(out)["groups"]
    assert err.startswith("left out of the groups, since another run there has the same seed and settings: runs/run-")
    assert (after["mean_interval"], sorted(after["seeds"])) == (before["mean_interval"], [1, 2, 3])
    assert main(["report", "run", "--out", "report.html"]) == 0
    assert "left out of the groups, since another run there has" in (tmp_path / "report.html").read_text()


def test_a_run_that_is_left_out_of_the_groups_has_no_say_in_their_score_or_warnings(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    members(tmp_path / "runs", evaluation=(1.0, 2.0, 6.0))
    for name, evaluation in (("unfinished", None), ("sticky", summary(5.0, sticky=0.25))):
        folder = make_run(tmp_path / "runs" / f"run-{name}", seed=2, scores=(1.0,))  # run-1, of seed 2 too, is longer
        if evaluation is not None:
            (folder / "evaluation.json").write_text(json.dumps(evaluation))
    assert main(["compare", "run", "--group", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"] == "evaluation"
    assert main(["compare", "run", "--group"]) == 0
    printed = capsys.readouterr().out
    assert main(["report", "run", "--out", "report.html"]) == 0
    for text in (printed, (tmp_path / "report.html").read_text()):
        assert "statistics of the mean score of each run" in text
        assert "protocols" not in text and "recent episodes of the training" not in text


def test_the_curve_of_a_group_covers_what_all_of_its_runs_have(tmp_path):
    """With the mean and the sample deviation at each point."""
    made = members(tmp_path, scores=((1.0, 2.0, 3.0, 4.0), (None, 4.0, 6.0), (3.0, 6.0, 9.0, 12.0, 15.0)))
    curve = mean_curve("gamma 0.9", made)
    assert (curve.label, curve.across[0], curve.across[-1]) == ("gamma 0.9 (3 runs: mean ± standard deviation)", 2000, 3000)
    np.testing.assert_allclose(curve.score, curve.across * 0.002)
    np.testing.assert_allclose(curve.deviation, curve.across * 0.001)
    alone = mean_curve("gamma 0.9", made[:1])
    assert (alone.label, alone.deviation, alone.across[0], alone.across[-1]) == ("gamma 0.9 (1 run)", None, 1000, 4000)


def test_curves_that_do_not_overlap_have_no_mean(tmp_path):
    made = members(tmp_path, scores=((1.0, 2.0), (None, None, 4.0), (1.0, 2.0)))
    with pytest.raises(RunError, match=r"the curves of the runs with gamma 0\.9 do not overlap, so they have no mean"):
        mean_curve("gamma 0.9", made)


def test_the_row_of_a_group_has_means_over_its_runs_with_their_sample_deviation_and_the_median_of_the_minutes(tmp_path):
    made = members(tmp_path, scores=((5.0, 1.0), (2.0,) * 2, (6.0,) * 11), evaluation=(1.7, 30.5, 59.3))
    columns, (row,) = group_table({"gamma 0.9": made})
    assert dict(zip(columns, row, strict=True)) == {
        "settings": "gamma 0.9", "seeds": "3", "steps": "5.00K", "minutes": "0.2", "score": "3 ± 2.65",
        "best": "4.333 ± 2.08", "evaluation": "30.5 ± 28.8", "95% interval": "-41.04 to 102", "iqm": "30.5", "human": "1"}


def test_the_row_of_a_run_has_its_own_numbers(tmp_path):
    made = members(tmp_path, scores=((5.0, 1.0),) * 3, evaluation=(30.5, 1.7, None))
    columns, rows = table(made)
    assert columns == ["run", "seed", "steps", "minutes", "score", "best", "evaluation", "human"]
    assert rows == [[f"run-{seed - 1}", f"{seed}", "2.00K", "0.2", "1", "5", evaluation, human]
                    for seed, evaluation, human in ((1, "30.5", "1"), (2, "1.7", "0"), (3, "-", "-"))]


@pytest.mark.parametrize(("game", "options", "human"), [
    ("breakout", {}, "1"), ("breakout", {"lives": 3.0}, "-"), ("snake", {}, "-")])
def test_only_a_game_that_is_its_cartridge_has_a_human_score(tmp_path, game, options, human):
    made = members(tmp_path, game=(game,) * 3, env=({"options": options},) * 3, evaluation=(30.5,) * 3)
    assert [row[-1] for _, rows in (table(made), group_table({"all": made})) for row in rows] == [human] * 4

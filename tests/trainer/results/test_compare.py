"""Comparisons of runs with different seeds: prefixes, statistics in tables, in JSON and in CSV, and old evaluations."""

import csv
import io
import json
import warnings

import imageio.v3 as iio
import numpy as np
import pytest
from run_support import make_run, summary
from verb_support import refused, run

from trainer.__main__ import main
from trainer.errors import RunError
from trainer.log import curves
from trainer.results.groups import improvements
from trainer.results.several_runs import member
from trainer.runs.evaluation import read_evaluations
from trainer.runs.metrics import read_metrics
from trainer.runs.summary import read_run

SCORES = {"a": (1.7, 30.5, 30.5, 59.3), "b": (1.7, 1.7, 1.7, 30.5)}  # of random play and of the human, and others


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Eight runs of breakout: four seeds with gamma 0.9, four with 0.99. `fifth` adds one to each."""
    monkeypatch.chdir(tmp_path)
    for (name, scores), gamma in zip(SCORES.items(), (0.9, 0.99), strict=True):
        for seed, score in enumerate(scores, 1):
            make_run(tmp_path / "runs" / f"breakout-{name}{seed}", seed=seed, evaluation=score, greedy=score + 1,
                     ppo={"gamma": gamma})
    return tmp_path


def fifth(root):
    """A fifth run of each group, at its mean."""
    for (name, scores), gamma in zip(SCORES.items(), (0.9, 0.99), strict=True):
        make_run(root / "runs" / f"breakout-{name}5", seed=5, evaluation=sum(scores) / 4, ppo={"gamma": gamma})


@pytest.mark.parametrize(("words", "count"), [("breakout", 8), ("runs/breakout-a", 4), ("breakout-a breakout-a1", 4),
                                              ("breakout-a1 breakout-b", 5)])
def test_the_beginning_of_several_names_means_all_of_these_runs(runs, capsys, words, count):
    lines = run(capsys, f"compare {words}").splitlines()
    assert len(lines) == count + 2


def test_a_name_is_not_taken_as_the_beginning_of_others(runs, capsys):
    make_run(runs / "runs" / "breakout", evaluation=1)
    assert "only runs/breakout is named" in refused(capsys, "compare breakout")


@pytest.mark.parametrize(("words", "count"), [("breakout", 8), ("breakout breakout-a1", 8), ("breakout-a breakout-b", 8)])
def test_a_run_without_scores_is_left_out_if_the_beginning_of_its_name_was_given(runs, capsys, words, count):
    for name in ("a7", "b7"):
        make_run(runs / "runs" / f"breakout-{name}", seed=7, scores=(None,))
    assert main(["compare", *words.split()]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == count + 2
    assert "left out, since none of their episodes has ended yet: " in err and err.count("\n") == 1
    assert all(f"runs/breakout-{name}7" in err for name in "ab")


@pytest.mark.parametrize(("words", "sentence"), [
    ("breakout breakout-a7", "runs/breakout-a7 has no scores yet, since none of its episodes has ended: leave it out"),
    ("breakout-a7 breakout-b1", "runs/breakout-a7 has no scores yet, since none of its episodes has ended: leave it out"),
    ("breakout-b1 breakout-c", "two runs or more with scores, and none of the episodes of runs/breakout-c2, runs/breakout-c1"),
])
def test_a_run_without_scores_is_an_error_if_it_is_named_or_if_too_few_are_left(runs, capsys, words, sentence):
    for name in ("a7", "c1", "c2"):
        make_run(runs / "runs" / f"breakout-{name}", seed=7, scores=(None,))
    assert sentence in refused(capsys, f"compare {words}")


def test_groups_have_interquartile_means_intervals_and_human_normalized_scores(runs, capsys):
    head, *lines = run(capsys, "compare breakout --group").splitlines()
    assert head.split()[-4:] == ["95%", "interval", "iqm", "human"]
    rows = {line[:10].strip(): line.split() for line in lines[:2]}
    assert head.split()[1] == "seeds" and all(row[2] == "4" for row in rows.values())
    assert [rows[gamma][-2] for gamma in ("gamma 0.9", "gamma 0.99")] == ["30.5", "1.7"]
    assert [rows[gamma][-1] for gamma in ("gamma 0.9", "gamma 0.99")] == ["1", "0.25"]
    # pairs: 1.7 of a equals three and loses one; 30.5 wins three and equals one, twice; 59.3 wins four
    assert lines[2].startswith(f"probability that a run with gamma 0.9 beats one with gamma 0.99: "
                               f"{(1.5 + 3.5 * 2 + 4) / 16:.4g} (no interval: it needs 5 runs or more of each)")
    assert lines[3] == ("statistics of the mean score of each run's evaluation: sampled actions, sticky 0, 0 no-ops, raw "
                        "scores to game over or step 27,000")
    assert lines[4] == "human: 0 for random play, 1 for the human of Wang et al. 2016, arXiv:1511.06581, table 2"
    assert iio.imread("compare.png").shape[:2] == (550, 1400)  # with the performance profile


def test_runs_that_began_with_the_weights_of_others_are_a_group_of_their_own(runs, capsys):
    for seed in (5, 6):
        make_run(runs / "runs" / f"breakout-a{seed}", evaluation=3, ppo={"gamma": 0.9},
                 run={"seed": seed, "init_from": f"runs/other-{seed}"})
    rows = json.loads(run(capsys, "compare breakout-a --group --json"))["groups"]
    seeds = {row["settings"]: sorted(row["seeds"]) for row in rows}
    assert seeds == {"init_from none": [1, 2, 3, 4], "init_from another run": [5, 6]}


def test_groups_of_fewer_than_five_runs_have_no_interval_of_a_bootstrap(runs, capsys, monkeypatch):
    kept = []
    monkeypatch.setattr(curves, "_save", lambda figure, path: kept.append(figure))
    lines = {}
    for enough in (False, True):
        if enough:
            fifth(runs)
        facts = json.loads(run(capsys, "compare breakout --group --json"))
        intervals = [facts["improvements"][0]["interval"], *(group["iqm_interval"] for group in facts["groups"]),
                     *(group["profile"]["band"] for group in facts["groups"])]
        assert all((interval is not None) == enough for interval in intervals)
        assert all(group["mean_interval"] is not None for group in facts["groups"])  # by Student's t: right for few
        legend = [text.get_text() for text in kept[-1].axes[1].get_legend().get_texts()]
        assert all(label.endswith(" (few runs: no band)") != enough for label in legend)
        lines[enough] = run(capsys, "compare breakout --group")
    assert "(no interval: it needs 5 runs or more of each)" in lines[False] and "(95% interval " in lines[True]


def test_few_runs_on_one_side_leave_the_probability_without_an_interval(runs):
    few, enough = np.arange(4.0), np.arange(5.0)
    assert [improvements({"a": one, "b": other})[0]["interval"] is None
            for one, other in ((few, enough), (enough, few), (enough, enough))] == [True, True, False]


@pytest.mark.parametrize("lower, higher", [("a", "b"), ("b", "a")])
def test_the_interval_is_that_of_the_better_group(lower, higher):
    scores = {lower: np.arange(6.0), higher: np.arange(6.0) + 3}
    found, = improvements({name: scores[name] for name in "ab"})
    assert (found["better"], found["worse"]) == (higher, lower)
    low, high = found["interval"]
    assert 0.5 < low < found["probability"] < high


@pytest.mark.parametrize("by, key, unit", [("steps", "step", 1), ("minutes", "seconds", 60)])
def test_a_curve_lies_over_steps_or_minutes(runs, by, key, unit):
    folder = runs / "runs" / "breakout-a1"
    expected = [entry[key] / unit for entry in read_metrics(folder) if entry["score_mean"] is not None]
    assert max(expected) > 0 and member(folder, by, "").across.tolist() == pytest.approx(expected)


def test_json_and_csv_have_the_same_numbers_with_all_digits(runs, capsys):
    fifth(runs)
    facts = json.loads(run(capsys, "compare breakout --group --json"))
    rows = list(csv.DictReader(io.StringIO(run(capsys, "compare breakout --group --csv"))))
    assert (facts["picture"], facts["game"], facts["scores"]) == ("compare.png", "breakout", "evaluation")
    assert len(facts["runs"]) == 10
    for group, row in zip(facts["groups"], rows, strict=True):
        assert row["settings"] == group["settings"] and float(row["iqm"]) == group["iqm"]
        assert [float(end) for end in row["iqm_interval"].split()] == group["iqm_interval"]
        low, high = group["iqm_interval"]
        assert low <= group["iqm"] <= high
        above, (lows, highs) = group["profile"]["above"], group["profile"]["band"]
        assert above[0] <= 1 and above[-1] == 0 and sorted(above, reverse=True) == above
        assert all(low <= part <= high for low, part, high in zip(lows, above, highs, strict=True))
    single = list(csv.DictReader(io.StringIO(run(capsys, "compare breakout --csv"))))
    assert [float(row["human_normalized"]) for row in single] == [one["human_normalized"] for one in facts["runs"]]
    assert "--csv must be left out with --json" in refused(capsys, "compare breakout --csv --json")


def test_one_run_against_one_has_no_probability(runs, capsys):
    assert "probability" not in run(capsys, "compare breakout-a1 breakout-b1 --group")
    assert "probability" in run(capsys, "compare breakout-a1 breakout-a2 breakout-b1 --group")


@pytest.mark.parametrize("scores", [(0.0, 0.0), (-3.0, 0.0), (0.0, 5.0)])
def test_a_group_that_lies_at_0_is_apart_from_the_frame(runs, monkeypatch, scores):
    kept = []
    monkeypatch.setattr(curves, "_save", lambda figure, path: kept.append(figure))
    lines = [curves.Curve(f"{score}", np.array([0.0, 1.0]), np.full(2, score), None) for score in scores]
    profile = {"at": [0.0, 1.0], "above": [0.0, 0.0], "band": None}
    curves.draw_comparison(lines, runs / "a.png", "steps", "breakout", {"one": profile})
    for axes, values in zip(kept[0].axes, (scores, (0.0,)), strict=True):
        low, high = axes.get_ylim()
        assert all(low + 0.02 * (high - low) < value < high - 0.02 * (high - low) for value in values)


def test_runs_without_an_evaluation_are_compared_by_their_recent_episodes(runs, capsys):
    make_run(runs / "runs" / "breakout-a5", seed=5, scores=(1.0, 8.0), ppo={"gamma": 0.9})
    facts = json.loads(run(capsys, "compare breakout-a --group --json"))
    assert facts["scores"] == "score" and facts["groups"][0]["max"] == 8.0
    assert "since not every run has an evaluation" in run(capsys, "compare breakout-a --group")


def test_names_are_no_formulas_in_pictures(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        make_run(tmp_path / "runs" / f"$\\frac{seed}", seed=seed)
    run(capsys, "compare $ --out a.png")
    assert iio.imread("a.png").std() > 1


@pytest.mark.parametrize("words", ["", "--group"])
@pytest.mark.parametrize("evaluation", [None, 3])
def test_runs_of_a_game_in_files_of_two_machines_are_compared_with_a_warning(tmp_path, monkeypatch, capsys, words, evaluation):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate("ab", 1):
        make_run(tmp_path / "runs" / f"mine-{name}", game=f"/home/{name}/mine.pyx", evaluation=evaluation, seed=seed)
    warning = "careful: mine is /home/a/mine.pyx and /home/b/mine.pyx: their scores compare only if it is the same game"
    assert warning in run(capsys, f"compare runs/mine-a runs/mine-b {words}").splitlines()


@pytest.mark.parametrize("verb", ["compare", "report"])
def test_a_file_that_is_no_checkpoint_of_a_run_is_named(runs, capsys, verb):
    """As a shell gives it for all that is in a bench's folder."""
    (runs / "runs" / "bench.db").touch()
    error = refused(capsys, f"{verb} runs/bench.db runs/breakout-a1 runs/breakout-a2")
    assert "RUN must be a run's folder, or one of its checkpoints, not the file runs/bench.db: leave it out" in error


@pytest.mark.parametrize("words", ["breakout-a1 --csv breakout-b1", "--no-csv breakout-a1 --by minutes breakout-b1 --csv",
                                   "breakout-a1 --by=minutes --csv breakout-b1", "--csv breakout-a1 breakout-b1"])
def test_options_may_stand_between_the_runs(runs, capsys, words):
    lines = run(capsys, f"compare {words}").splitlines()
    assert [line.split(",")[0] for line in lines] == ["run", "breakout-a1", "breakout-b1"]


def drawn(monkeypatch, labels):
    """The picture of curves with these labels."""
    kept = []
    monkeypatch.setattr(curves, "_save", lambda figure, path: kept.append(figure))
    lines = [curves.Curve(label, np.arange(11.0), np.arange(11.0), None) for label in labels]
    curves.draw_comparison(lines, "a.png", "steps", "breakout")
    return kept[0].axes[0]


@pytest.mark.parametrize(("labels", "shown"), [
    (["_old", "new"], ["_old", "new"]), ([f"run-{k}" for k in range(22)], [*(f"run-{k}" for k in range(20)), "and 2 more"])])
def test_a_legend_names_every_run_or_says_how_many_it_leaves_out(monkeypatch, labels, shown):
    assert [text.get_text().strip() for text in drawn(monkeypatch, labels).get_legend().get_texts()] == shown


def test_a_thinned_curve_ends_at_its_last_point(monkeypatch):
    monkeypatch.setattr(curves, "_MOST_POINTS", 3)
    assert drawn(monkeypatch, ["run"]).lines[0].get_xdata().tolist() == [0, 4, 8, 10]


def test_letters_that_the_font_does_not_have_are_no_warning(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        make_run(tmp_path / "runs" / f"\u5b9e\u9a8c{seed}", seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(capsys, "compare \u5b9e --out a.png")


@pytest.mark.parametrize("verb", ["compare breakout", "compare breakout --group", "report breakout --out all.html"])
def test_scores_of_different_protocols_are_compared_with_a_warning_only(tmp_path, monkeypatch, capsys, verb):
    monkeypatch.chdir(tmp_path)
    folders = [make_run(tmp_path / "runs" / f"breakout-{seed}", seed=seed, evaluation=seed) for seed in (1, 2)]
    warning = "the evaluations have 2 protocols, so their scores do not compare"
    for noop_max, warned in ((0, False), (30, True)):
        (folders[1] / "evaluation.json").write_text(json.dumps(summary(2, noop_max=noop_max)))
        shown = run(capsys, verb)
        page = tmp_path / "all.html"
        assert (warning in (page.read_text() if page.exists() else shown)) == warned


@pytest.mark.parametrize(("noop_max", "words"), [(None, "0 no-ops"), (0, "0 no-ops"), (30, "up to 30 no-ops")])
def test_an_evaluation_that_did_not_note_its_no_ops_had_those_of_its_training(tmp_path, noop_max, words):
    folder = make_run(tmp_path / "run", env={} if noop_max is None else {"noop_max": noop_max})
    old = summary(5)
    del old["protocol"]["noop_max"]
    (folder / "evaluation.json").write_text(json.dumps(old | {"others": [summary(6, noop_max=7)]}))
    if noop_max is None:  # a run of a version without this setting
        saved = json.loads((folder / "config.json").read_text())
        del saved["config"]["env"]["noop_max"]
        (folder / "config.json").write_text(json.dumps(saved))
    assert read_run(folder).protocol == f"sampled actions, sticky 0, {words}, raw scores to game over or step 27,000"
    assert [one["protocol"]["noop_max"] for one in read_run(folder).evaluations] == [noop_max or 0, 7]


def test_an_evaluation_of_an_earlier_version_is_read(tmp_path):
    folder = make_run(tmp_path / "run")
    old = summary(5) | {"opponents": {}}
    del old["protocol"]
    (folder / "evaluation.json").write_text(json.dumps(old))
    assert (read_run(folder).evaluation, read_run(folder).evaluations) == (5.0, [old])
    assert read_run(folder).protocol == "sampled or greedy actions, by an earlier version that did not note which"


@pytest.mark.parametrize("change", [
    {"mean": "5"}, {"mean": True}, {"mean": None}, {"median": float("nan")}, {"mean_interval": [1]},
    {"mean_interval": ["a", 1]}, {"protocol": 5}, {"protocol": {"actions": "<b>"}},
    {"protocol": {"actions": "greedy", "sticky": "x", "time_limit": None}},
    {"protocol": {"actions": "greedy", "sticky": 0, "noop_max": "x", "time_limit": None}},
    {"others": 5}, {"others": [5]}, {"others": [{"mean": []}]}, {"max": 10**400}])
def test_a_damaged_evaluation_is_named(tmp_path, change):
    folder = make_run(tmp_path / "run")
    (folder / "evaluation.json").write_text(json.dumps(summary(5) | change))
    with pytest.raises(RunError, match=r"evaluation\.json is damaged; move it away"):
        read_evaluations(folder)


def test_an_evaluation_that_cannot_be_read_is_not_called_damaged(tmp_path):
    folder = make_run(tmp_path / "run")
    (folder / "evaluation.json").mkdir()
    with pytest.raises(RunError, match=r"^cannot read .*evaluation\.json: .+; let your user read it, or move it away$"):
        read_evaluations(folder)

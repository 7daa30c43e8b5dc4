"""The page of the presets' scores (benchmarks/scores/gallery.py)."""

import json
import shutil

import imageio.v3 as iio
import pytest

from benchmarks.common import RESULTS
from benchmarks.scores import gallery


@pytest.fixture
def results(tmp_path):
    """A folder with a page and its file of two games, of which the second is as an early one, without a protocol."""
    entry = {"made": "2026-11-21", "seed": 3, "steps": 2e6, "minutes": 1.0, "episodes": 100, "mean": 5.0, "standard_error": 0.5,
             "min": 1.0, "max": 9.0, "random": 7.0}
    played = entry | {"different_episodes": 90, "protocol": {"frame_skip": 4, "time_limit": 100, "noop_max": 30}}
    (tmp_path / "presets.json").write_text(json.dumps({"pong": played, "snake": entry}), encoding="utf-8")
    (tmp_path / "presets.md").write_text("# Title\n\ncommand\n\nmachine\n\nan old table\n", encoding="utf-8")
    return tmp_path


def test_the_page_is_written_again_below_its_head_with_random_play_of_today(results):
    gallery.main(["--no-training", "--out", str(results)])
    scores = json.loads((results / "presets.json").read_text(encoding="utf-8"))
    published = json.loads((RESULTS / "presets.json").read_text(encoding="utf-8"))
    assert scores["snake"]["random"] == published["snake"]["random"] and scores["pong"]["random_sticky"] != 7.0
    written = (results / "presets.md").read_text(encoding="utf-8")
    assert written == "# Title\n\ncommand\n\nmachine\n" + gallery.below_head(scores)
    rows = [dict(zip(gallery.COLUMNS, row, strict=True)) for row in gallery.rows_of(scores)]
    assert [[row[name] for name in ("game", "seed", "time limit", "no-ops", "different")] for row in rows] == [
        ["pong", "3", "400", "30", "90"], ["snake", "3", "-", "0", "-"]]


@pytest.mark.parametrize(("more", "message"), [
    (["pong"], "name no game"), (["--runs", "runs"], "no --runs"), (["--seed", "2"], "so --seed has no meaning")])
def test_a_page_that_is_written_again_takes_no_game_and_no_training(more, message, results, capsys):
    with pytest.raises(SystemExit):
        gallery.main(["--no-training", "--out", str(results), *more])
    assert message in capsys.readouterr().err


def test_no_page_is_written_again_where_there_is_none(tmp_path, capsys):
    with pytest.raises(SystemExit):
        gallery.main(["--no-training", "--out", str(tmp_path)])
    assert "must have presets.json and presets.md" in capsys.readouterr().err


def test_a_folder_without_the_run_of_a_game_is_refused_before_anything_is_played(tmp_path, capsys):
    (tmp_path / "pong-sticky0-s1").mkdir()
    with pytest.raises(SystemExit):
        gallery.main(["pong", "--runs", str(tmp_path), "--out", str(tmp_path / "out"), "--gifs", str(tmp_path / "gifs")])
    assert f"--runs must be the folder of a bench, with the run pong-sticky0-s1, not {tmp_path}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pong-sticky0-s1"]


def test_the_run_of_a_bench_gives_a_row_of_its_own_seed_and_a_film_of_its_best_episode(trained_runs, tmp_path, capsys):
    """The second run's seed is 2, its only difference: the name of the folder is the bench's."""
    shutil.copytree(trained_runs / "runs" / "two", tmp_path / "cartpole-sticky0-s1")
    gallery.main(["cartpole", "--runs", str(tmp_path), "--out", str(tmp_path / "out"), "--gifs", str(tmp_path / "gifs"),
                  "--seconds", "1"])
    row = json.loads((tmp_path / "out" / "presets.json").read_text(encoding="utf-8"))["cartpole"]
    last = json.loads((trained_runs / "runs" / "two" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert (row["seed"], row["steps"], row["episodes"]) == (2, last["step"], gallery.EPISODES)
    assert row["min"] <= row["mean"] <= row["max"] and row["protocol"]["noop_max"] == 0  # cartpole has no NOOP
    assert (tmp_path / "out" / "presets.md").read_text(encoding="utf-8").endswith(gallery.below_head({"cartpole": row}))
    assert f"episode that scored {row['max']:g} " in capsys.readouterr().out
    assert len(iio.imread(tmp_path / "gifs" / "cartpole.gif")) > 5

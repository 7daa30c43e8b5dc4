"""The page of a bench (benchmarks/scores/seeds.py)."""

import importlib
import json
import shutil
from pathlib import Path

import pytest
from verb_support import rewrite

from benchmarks.common import RESULTS
from benchmarks.pages import finished
from benchmarks.scores import seeds
from trainer.config.config import overlay
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.runs.folder import locked

SHORTER = {"g2048": 40_000_000}  # steps of published trainings that are shorter than their preset


def test_the_page_has_statistics_over_the_finished_seeds_of_each_game(there, capsys):
    """Two finished runs of CartPole, and one that was stopped."""
    shutil.copytree(there / "runs" / "one", there / "runs" / "stopped")
    rewrite(there / "runs" / "stopped", lambda config: config["ppo"].update(total_steps=10**6))
    (there / "results").mkdir()
    seeds.main([str(there / "runs"), "--out", str(there / "results" / "seeds.md")])
    kept = json.loads((there / "results" / "seeds.json").read_text())
    assert len(kept) == 2
    scores = [one["scores"]["sampled"] for one in kept]
    cells = capsys.readouterr().out.strip().splitlines()[-1].split("|")[1:-1]
    facts = dict(zip(seeds.COLUMNS, map(str.strip, cells), strict=True))
    assert (facts["game"], facts["sticky"], facts["seeds"], facts["PPO"]) == ("cartpole", "0", "2", "")
    assert float(facts["mean"]) == pytest.approx(sum(scores) / 2, rel=1e-3)
    low, high = map(float, facts["95% interval"].split(" to "))
    assert low <= min(scores) and max(scores) <= high  # two seeds say little: Student's t of one degree is 12.7


def test_a_training_that_still_writes_its_evaluations_is_not_finished(there):
    with locked(there / "runs" / "two"):
        assert [run.folder.name for run in finished([there / "runs"])] == ["one"]
    assert [run.folder.name for run in finished([there / "runs"])] == ["one", "two"]


def test_trainings_of_an_earlier_page_stay_unless_they_are_replaced_or_have_other_settings(there, capsys):
    page = there / "page.md"
    seeds.main([str(there / "runs"), "--out", str(page)])
    first = json.loads(page.with_suffix(".json").read_text())
    replaced, stays = first[0] | {"steps": 1}, first[0] | {"seed": 77}
    other_game, old = first[0] | {"game": "pong", "settings": "1"}, first[0] | {"seed": 78, "settings": "1"}
    page.with_suffix(".json").write_text(json.dumps([replaced, stays, other_game, old]))
    capsys.readouterr()
    seeds.main([str(there / "runs"), "--out", str(page), "--add"])
    kept = json.loads(page.with_suffix(".json").read_text())
    assert sorted(map(str, kept)) == sorted(map(str, [*first, stays, other_game]))
    assert "1 trainings of" in capsys.readouterr().out


def test_a_bench_with_no_ops_stands_beside_an_earlier_one_without_them(there, capsys):
    """The trainings of `there` stand for new ones; those of the file are of before, when neither number was noted."""
    page = there / "page.md"
    seeds.main([str(there / "runs"), "--out", str(page)])
    old = json.loads(page.with_suffix(".json").read_text())
    page.with_suffix(".json").write_text(json.dumps([
        {key: one[key] for key in one if key not in ("noop_max", "different")} for one in old]))
    for folder in ("one", "two"):
        file = there / "runs" / folder / "evaluation.json"
        saved = json.loads(file.read_text())
        for one in (saved, *saved["others"]):
            one["protocol"]["noop_max"] = 30
            one["different_episodes"] = 2 if folder == "one" else 3
        file.write_text(json.dumps(saved))
    capsys.readouterr()
    seeds.main([str(there / "runs"), "--out", str(page), "--add"])
    trainings = json.loads(page.with_suffix(".json").read_text())
    assert [seeds.protocol(one) for one in trainings] == [(0.0, 0)] * 2 + [(0.0, 30)] * 2
    rows = [dict(zip(seeds.COLUMNS, row, strict=True)) for row in seeds.table(trainings)]
    shown = ("sticky", "no-ops", "seeds", "different", "greedy, different")
    assert [[row[name] for name in shown] for row in rows] == [["0", "0", "2", "-", "-"], ["0", "30", "2", "2", "2"]]
    assert seeds.markdown(seeds.COLUMNS, seeds.table(trainings)).strip() in page.read_text()


def test_the_published_page_is_made_of_the_file_beside_it():
    page = RESULTS / "seeds.md"
    written = seeds.page(json.loads(page.with_suffix(".json").read_text()))
    assert page.read_text().split("\nRaw scores")[1] == written.split("\nRaw scores")[1]


def test_the_fewest_different_episodes_are_those_of_the_trainings_that_recorded_them():
    members = [{}, {"different": {}}, {"different": {"sampled": 9, "greedy": 3}}, {"different": {"sampled": 7}}]
    assert [seeds.fewest_different(members, actions) for actions in ("sampled", "greedy")] == ["7", "3"]
    assert seeds.fewest_different(members[:2], "sampled") == "-"


def test_the_page_names_the_games_whose_episodes_end_at_the_limit():
    members = [{"game": game, "episodes": 50, "truncated": count} for game, count in (
        ("pong", 0), ("enduro", 10), ("enduro", 40), ("go", None), ("asterix", 50))] + [{"game": "enduro", "episodes": 50}]
    assert seeds.at_the_limit(members).strip() == (
        "The part of the episodes that end there (and the number of trainings that recorded it): "
        "100% in asterix (1), 50% in enduro (2).")
    assert seeds.at_the_limit(members[:1]) == ""


def test_a_page_is_written_again_from_its_file(there, capsys):
    page = there / "page.md"
    seeds.main([str(there / "runs"), "--out", str(page)])
    first = page.read_text()
    page.unlink()
    seeds.main(["--out", str(page), "--add"])
    assert page.read_text().split("Raw scores")[1] == first.split("Raw scores")[1]


def of_games(*runs):
    return [{"game": game, "sticky": 0.25, "options": {}, "scores": {"sampled": score}} for game, score in runs]


def test_scores_over_games_are_those_of_the_definitions(monkeypatch):
    """Breakout 0 and 1, Pong 1 and 3: one of 4 is left out at either end; the games' means are 0.5 and 2.

    PPO's 274.8 and 20.7, DQN's 385.5 and 19.6 and Rainbow's 418 and 20.9 are 9.48 and 1.17, 13.32 and 1.14, 14.45 and 1.18.
    """
    monkeypatch.setattr(seeds, "FEWEST_GAMES", 2)
    trainings = of_games(("breakout", 1.7), ("breakout", 30.5), ("pong", 14.6), ("pong", 85.2), ("snake", 7.0))
    (total, *others), (profile,) = seeds.over_games(trainings)
    assert total[:5] == ["ours", "0.25", "0", "2", "4"] and [part.split()[0] for part in total[5:]] == ["1.00", "1.25", "1.25"]
    assert profile == ["0.25", "0", *["75% (50% to 100%)"] * 2, *["25% (0% to 50%)"] * 2, *["0% (0% to 0%)"] * 2]
    assert others == [[name, "0", "30", "2", "-", *[mean] * 3]
                      for name, mean in [("PPO", "5.33"), ("DQN", "7.23"), ("Rainbow", "7.81")]]
    alone = seeds.over_games([trainings[0], trainings[2]])[1]  # one run of each game: no interval
    assert alone == [["0.25", "0", "50%", "50%", "0%", "0%", "0%", "0%"]]


def test_published_agents_have_one_row_in_whatever_order_a_bench_has_the_games(monkeypatch):
    monkeypatch.setattr(seeds, "FEWEST_GAMES", 2)
    others = [one | {"sticky": 0.0} for one in of_games(("pong", 1.0), ("breakout", 1.0))]
    totals = seeds.over_games([*of_games(("breakout", 1.0), ("pong", 1.0)), *others])[0]
    assert [row[0] for row in totals] == ["ours", "ours", "PPO", "DQN", "Rainbow"]


def test_scores_of_fewer_than_five_games_have_no_row_over_games():
    games = ("asterix", "breakout", "enduro", "freeway", "pong")
    assert seeds.over_games(of_games(*((game, 1.0) for game in games[:4] * 2))) == ([], [])
    totals = seeds.over_games(of_games(*((game, 1.0) for game in games)))[0]
    assert [row[0] for row in totals] == ["ours", "PPO", "DQN", "Rainbow"]


@pytest.mark.parametrize(("game", "text"), [("pong", "features"), ("freeway", "features, forecast"), ("gym:X-v0", ""),
                                            ("seaquest", "features, forecast, bonus")])
def test_a_row_says_what_the_agent_reads(game, text):
    assert seeds.reads(game) == text


def test_settings_are_what_a_preset_changes(there):
    one, *others = finished([there / "runs"])
    same = one.config | {"env": one.config["env"] | {"sticky": 0.25, "num_threads": 7}}
    assert {seeds.settings(each.config) for each in others} == {seeds.settings(one.config)} == {seeds.settings(same)}
    for section, change in (("ppo", {"gamma": 0.5}), ("run", {"init_from": "runs/other"})):
        assert seeds.settings(one.config | {section: one.config[section] | change}) != seeds.settings(one.config)


@pytest.mark.parametrize("game", sorted({one["game"] for one in seeds.published_trainings()}))
def test_the_published_trainings_have_the_settings_of_the_preset_as_it_is(game):
    """Whoever changes a preset, or a default that it has, trains its seeds again."""
    made = preset(GameName(game))
    made = overlay(made, {"ppo": {"total_steps": SHORTER.get(game, made.ppo.total_steps)}})
    assert {one["settings"] for one in seeds.published_trainings() if one["game"] == game} == {seeds.settings(made.to_dict())}


def test_games_that_equal_their_cartridge_have_published_scores_beside_theirs():
    members = [{"seed": seed, "steps": 10**7, "minutes": 1.0, "options": {}, "scores": {"sampled": mean}}
               for seed, mean in enumerate((300.0, 500.0))]
    facts = dict(zip(seeds.COLUMNS, seeds.row("breakout", (0.25, 0), members), strict=True))
    assert facts["human-normalized"] == f"{(400 - 1.7) / (30.5 - 1.7):.2f}" and facts["greedy, mean"] == ""
    assert (facts["PPO"], facts["DQN"], facts["Rainbow"]) == ("274.8", "385.5", "417.5")
    other = seeds.row("breakout", (0.25, 0), [one | {"options": {"lives": 1}} for one in members])
    assert other[-4:] == ["", "", "", ""]


@pytest.mark.parametrize(("game", "steps", "text"), [
    ("cartpole", [500_000, 501_000], "0.5M"), ("cartpole", [100_000, 300_000], "0.2M of 0.5M"), ("gym:X-v0", [10**6], "1.0M")])
def test_trainings_shorter_than_the_preset_are_named(game, steps, text):
    assert seeds.steps_of(game, [{"steps": one} for one in steps]) == text


def test_nothing_is_added_to_a_page_that_is_not_there(tmp_path, capsys):
    with pytest.raises(SystemExit):
        seeds.main([str(tmp_path), "--out", str(tmp_path / "page.md"), "--add"])
    assert "--add needs the .json of an earlier page" in capsys.readouterr().err


def test_no_folder_and_no_earlier_page_is_refused(capsys):
    with pytest.raises(SystemExit):
        seeds.main([])
    assert "FOLDER is missing" in capsys.readouterr().err


@pytest.mark.parametrize(("folder", "message"), [("nowhere", "FOLDER must be the folder of a bench, not nowhere"),
                                                 (".", "no training in . has ended with an evaluation")])
@pytest.mark.parametrize("add", [[], ["--add", "--out", "page.md"]], ids=["new page", "earlier page"])
def test_a_folder_without_trainings_is_refused(folder, message, add, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("page.json").write_text("[]", encoding="utf-8")
    with pytest.raises(SystemExit):
        seeds.main([folder, *add])
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["seeds", "atari", "scales", "no_preset"])
def test_a_training_that_is_in_two_folders_is_refused(name, there, capsys):
    """It would count as two seeds."""
    shutil.copytree(there / "runs" / "one", there / "others" / "again")
    command = importlib.import_module(f"benchmarks.scores.{name}").main
    with pytest.raises(SystemExit):
        command(["runs", "others", "--out", "page.md"])
    assert ("FOLDER must hold each training once, but runs/one and others/again are the same game, protocol and seed 1: leave "
            "one of them out") in capsys.readouterr().err
    assert not Path("page.md").exists()

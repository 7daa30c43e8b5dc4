"""The verbs for runs, end to end, on small runs trained for the tests."""

import io
import json
import re
import shutil
from contextlib import redirect_stdout

import imageio.v3 as iio
import numpy as np
import pytest
from verb_support import refused, rewrite, run

from envs_c.play import terminal
from trainer.__main__ import main
from trainer.commands import VERBS
from trainer.errors import FilmError
from trainer.log import curves
from trainer.play.scores import interval
from trainer.runs.folder import CONFIG, locked
from trainer.runs.metrics import METRICS


class Tty(io.StringIO):
    """A text stream in the role of a terminal."""

    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def tty(monkeypatch):
    """A terminal as standard output."""
    monkeypatch.setenv("TERM", "xterm-256color")
    return Tty()


def test_list_has_a_line_for_every_folder(capsys, there):
    (there / "runs" / "notes").mkdir()
    (there / "runs" / "torn").mkdir()
    (there / "runs" / "torn" / CONFIG).write_text("{")
    (there / "runs" / "many").mkdir()
    shutil.copytree(there / "runs" / "one", there / "runs" / "many" / "trial")
    with locked(there / "runs" / "two"):
        lines = run(capsys, "list").splitlines()
    assert lines[0].split() == ["run", "game", "seed", "steps", "minutes", "score", "best", "evaluation", "started", "state"]
    rows = {line.split()[0]: line for line in lines[1:3]}
    assert re.search(r"cartpole +1 +4\.10K of 4\.10K( +\d+\.?\d*){4} +20\d\d-\d\d-\d\d \d\d:\d\d +finished$", rows["one"])
    assert rows["two"].endswith("running")
    assert lines[3:] == ["runs/torn/config.json is damaged, or was written by another program; move it away; a run that "
                         "is resumed writes another",
                         "runs/many holds 1 run: python -m trainer list --root runs/many", "runs/notes holds no run"]
    assert "trial" in run(capsys, "list --root runs/many")


def test_list_draws_a_table_in_a_terminal(there, tty, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    with redirect_stdout(tty):
        assert main(["list"]) == 0
    assert "─" in tty.getvalue() and "cartpole" in tty.getvalue()


@pytest.mark.parametrize("columns", [20, 80, 100])
def test_list_in_a_narrow_terminal_cuts_no_name(there, tty, monkeypatch, columns):
    (there / "runs" / "one").rename(there / "runs" / "cartpole-20261128-153701-s1-a-long-name")
    monkeypatch.setenv("COLUMNS", str(columns))
    with redirect_stdout(tty):
        assert main(["list"]) == 0
    lines = tty.getvalue().splitlines()
    assert lines[0].split() == ["run", "game", "seed", "steps", "minutes", "score", "best", "evaluation", "started", "state"]
    assert {line.split()[0] for line in lines[1:]} == {"cartpole-20261128-153701-s1-a-long-name", "two"} and len(lines) == 3


def test_list_without_runs_prints_one_line(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "--root must be a folder that contains runs, and there is no folder 'runs' here" in refused(capsys, "list")
    (tmp_path / "runs").mkdir()
    assert run(capsys, "list") == "there are no runs in runs\n"


@pytest.mark.parametrize("name", ["on", "runs/one", "runs/one/best.safetensors"])
def test_eval_gives_the_mean_and_its_interval(capsys, there, name):
    heading, _, *lines = run(capsys, f"eval {name} --episodes 12").splitlines()
    assert heading == "evaluation: raw scores to game over or step 500"
    for line, actions in zip(lines, ("sampled", "greedy"), strict=True):
        mean, low, high = map(float, re.match(rf"{actions} +0 +0 +12 +(\S+) +(\S+) to (\S+) ", line).groups())
        assert low <= mean <= high


def test_eval_gives_each_protocol_that_is_asked_for(capsys, there):
    lines = run(capsys, "eval one --episodes 3 --sticky 0,0.25").splitlines()[2:]
    assert [line.split()[:2] for line in lines] == [["sampled", "0"], ["greedy", "0"], ["sampled", "0.25"], ["greedy", "0.25"]]
    assert [line.split()[0] for line in run(capsys, "eval one --episodes 3 --greedy").splitlines()[2:]] == ["greedy"]
    for text in ("1.5", "0,", "x", "0.1 0.2", "-1"):
        assert main(["eval", "one", f"--sticky={text}"]) == 2
        assert "--sticky must be none, or numbers from 0 to 1 with commas, such as 0,0.25, not" in capsys.readouterr().err


def test_eval_in_json_has_the_same_numbers_and_the_film(capsys, there):
    result = json.loads(run(capsys, "eval last --episodes 12 --json --out a.gif"))
    assert result["mean_interval"][0] < result["mean"] < result["mean_interval"][1]
    assert result["path"].startswith("runs/two/step_")
    assert "a.gif: the whole episode" in result["film"]
    assert f" 12  {result['mean']:.4g}  " in re.sub(" {2,}", "  ", run(capsys, "eval last --episodes 12"))


def test_eval_of_one_episode_claims_no_interval(capsys, there):
    assert " of one: none " in run(capsys, "eval one --episodes 1")


def test_the_interval_covers_the_mean_in_95_of_100_cases():
    random = np.random.default_rng(5)
    covers = [low <= 4.0 <= high for low, high in (interval(random.exponential(4.0, 100)) for _ in range(100))]
    assert 0.88 <= np.mean(covers) <= 0.99


def test_the_interval_is_near_the_normal_one_for_normal_scores():
    scores = np.random.default_rng(1).normal(10.0, 3.0, 400)
    width = 1.96 * scores.std(ddof=1) / 20
    assert interval(scores) == pytest.approx([scores.mean() - width, scores.mean() + width], abs=0.05)
    assert interval(scores) == interval(scores)
    assert interval(np.full(7, 3.0)) == [3.0, 3.0]
    assert interval(scores[:1]) is None


@pytest.mark.parametrize(("words", "names"), [
    ("", [f"runs/one/episode-{which}.gif" for which in ("best", "median", "worst")]),
    ("--out f.mp4", [f"f-{which}.mp4" for which in ("best", "median", "worst")]),
])
def test_record_films_the_best_the_median_and_the_worst(capsys, there, words, names):
    lines = run(capsys, f"record one --episodes 9 {words}").splitlines()
    scores = [float(re.fullmatch(rf"{re.escape(name)}: the whole episode that scored (\S+) \(sampled actions, .*\)", line)[1])
              for name, line in zip(names, lines, strict=True)]
    assert scores[0] > scores[1] > scores[2]
    result = json.loads(run(capsys, "eval one --episodes 9 --json"))
    assert scores == [result["max"], result["median"], result["min"]]
    assert all(iio.imread(name).shape[0] > 1 for name in names)
    assert not list(there.rglob(".*.tmp*"))


def test_play_shows_episodes_in_a_window(capsys, there):
    pytest.importorskip("pygame")
    first = run(capsys, "play one --episodes 2 --speed 1000 --seed 4")
    assert re.fullmatch(r"episode 1: score \d+, \d+ steps\nepisode 2: score \d+, \d+ steps\n", first)
    assert run(capsys, "play one --episodes 2 --speed 1000 --seed 4") == first


@pytest.mark.parametrize(("words", "greedy"), [("", False), ("--greedy", True)])
def test_play_and_record_pass_seed_and_greedy_on(capsys, there, monkeypatch, words, greedy):
    pytest.importorskip("pygame")
    given = []

    def taken(*_, seed, greedy, **others):
        given.append((seed, greedy))
        raise FilmError("enough")
    monkeypatch.setattr("trainer.play.agent_game.AgentGame", taken)
    monkeypatch.setattr("trainer.play.evaluate.play", taken)
    for verb in ("play", "record"):
        assert refused(capsys, f"{verb} one --seed 4 {words}") == "error: enough\n"
    assert given == [(4, greedy)] * 2


@pytest.mark.parametrize(("words", "shows"), [
    ("", "trainer.play.agent_game.show"), ("--terminal", "trainer.play.agent_game.show"),
    ("--human", "envs_c.play.command.show")])
def test_there_are_as_many_episodes_and_they_are_as_fast_as_asked(capsys, there, monkeypatch, words, shows):
    pytest.importorskip("pygame")
    given = []
    monkeypatch.setattr("envs_c.play.terminal.check", lambda stream: None)
    monkeypatch.setattr(shows, lambda *_, **more: given.append((more["episodes"], more["speed"])) or [])
    run(capsys, f"play one --speed 3 --episodes 2 {words}")
    assert given == [(2, 3.0)]


def test_a_person_plays_a_runs_game_with_its_settings(capsys, there, monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setattr("envs_c.play.window.Window.keys", lambda self: {"d"})
    rewrite(there / "runs" / "one", lambda config: config["env"].update(time_limit=3))
    legend, ended = run(capsys, "play one --human --episodes 1 --speed 1000").splitlines()
    assert legend == "arrows or WASD: left, right; P pauses, R restarts, Q or Escape leaves"
    assert ended == "episode 1: score 3, 3 steps"


@pytest.mark.parametrize(("name", "value"), [
    ("sticky", 0.5), ("noop_max", 4), ("frame_skip", 3), ("time_limit", 7),
    ("options", {"lives": 2.0, "keep_width": 1.0, "fast_ball": 0.0, "hidden_bricks": 0.0})])
def test_a_person_has_no_easier_game_than_the_agent(capsys, there, monkeypatch, name, value):
    played = []
    monkeypatch.setattr("envs_c.play.command.show", lambda game, **_: played.append(getattr(game.env.core, name)))
    rewrite(there / "runs" / "one", lambda config: config.update(game="breakout", env=config["env"] | {name: value}))
    run(capsys, "play one --human")
    assert played == [value]


@pytest.mark.parametrize(("folder", "shown"), [("runs/breakout-2026", "runs/breakout-2026"), ("breakout", "./breakout")])
def test_the_name_of_a_game_plays_it_and_runs_of_this_name_are_mentioned(capsys, there, monkeypatch, folder, shown):
    pytest.importorskip("pygame")
    monkeypatch.setattr("envs_c.play.window.Window.wait", lambda self, seconds: False)
    (there / "runs" / "one").rename(there / folder)
    note, legend = run(capsys, "play --seed 3 breakout").splitlines()
    assert note == f"breakout is the game; to watch the run {folder.rpartition('/')[2]}: python -m trainer play {shown}"
    assert legend.startswith("arrows or WASD: left, right")
    assert run(capsys, f"play --episodes 1 {shown} --speed 1000") == ""  # the screen is closed at once


def test_a_terminal_that_has_no_columns_gets_the_list_too(capsys, there, monkeypatch):
    monkeypatch.setenv("COLUMNS", "0")
    assert len(run(capsys, "list").splitlines()) == 3


@pytest.mark.parametrize("words", ["runs/lr=0.1 --seed 3", "--options lives=3 --terminal runs/lr=0.1", "--speed=2 lr=0"])
def test_a_run_with_an_equals_sign_in_its_name_is_watched(capsys, there, monkeypatch, words):
    watched = []
    monkeypatch.setattr("trainer.commands.play.main", watched.append)
    (there / "runs" / "one").rename(there / "runs" / "lr=0.1")
    assert run(capsys, f"play {words}") == "" and watched == [words.split()]


@pytest.mark.parametrize("words", ["play --help", "play cartpole --help", "play one --help"])
def test_the_help_of_play_is_for_games_for_runs_or_for_both(capsys, there, words):
    with pytest.raises(SystemExit):
        main(words.split())
    printed = capsys.readouterr().out
    assert ("arrows or WASD   move" in printed) == ("one" not in words)
    assert ("--human" in printed) == ("cartpole" not in words)


def test_play_draws_in_the_terminal(there, tty):
    with redirect_stdout(tty):
        assert main(["play", "one", "--terminal", "--episodes", "2", "--speed", "1000"]) == 0
    shown, _, printed = tty.getvalue().partition(terminal.LEAVE)
    assert shown.startswith(terminal.ENTER) and terminal.BLOCK in shown and "episode 2 over" in shown
    assert printed.count("score") == 2


def test_ctrl_c_restores_the_terminal(there, tty, monkeypatch):
    def interrupted(screen, seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("envs_c.play.terminal.Terminal.wait", interrupted)
    with redirect_stdout(tty):
        assert main(["play", "one", "--terminal"]) == 130
    assert tty.getvalue().endswith(terminal.LEAVE)


@pytest.mark.parametrize(("words", "count"), [("", 2), ("--group", 1), ("--by minutes", 2), ("--group --by minutes", 1)])
def test_compare_draws_the_runs_into_one_picture(capsys, there, monkeypatch, words, count):
    for folder in (there / "runs").iterdir():  # their minutes overlap, however busy the machine was
        lines = [json.loads(line) for line in (folder / METRICS).read_text().splitlines()]
        (folder / METRICS).write_text("".join(json.dumps(line | {"seconds": line["step"] / 1000}) + "\n" for line in lines))
    drawn = []
    real = curves.draw_comparison
    monkeypatch.setattr(curves, "draw_comparison", lambda members, *rest: drawn.extend(members) or real(members, *rest))
    lines = run(capsys, f"compare one runs/two {words} --out c.png").splitlines()
    assert len(lines) == count + 2 + ("group" in words) and lines[-1] == "c.png: the curves"
    assert len(drawn) == count
    assert all((one.deviation is not None) == ("group" in words) for one in drawn)
    assert iio.imread("c.png").shape[:2] == (550, 1400 if "group" in words else 900)


def test_groups_are_named_by_the_settings_that_differ(capsys, there):
    rewrite(there / "runs" / "two", lambda config: config["ppo"].update(gamma=0.5))
    lines = run(capsys, "compare one two --group").splitlines()
    assert [line.split("  ")[0] for line in lines[1:3]] == ["gamma 0.99", "gamma 0.5"]
    rewrite(there / "runs" / "one", lambda config: config["ppo"].update(gamma=0.5))
    rewrite(there / "runs" / "one", lambda config: config["self_play"].update(self_play=True))
    lines = run(capsys, "compare one two --group").splitlines()
    assert [line.split("  ")[0] for line in lines[1:3]] == ["self_play True", "self_play False"]


def test_resume_takes_a_runs_name(capsys, there):
    assert main(["--resume", "on", "--eval-episodes", "0"]) == 0
    assert "curves are in runs/one" in capsys.readouterr().out


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_help(capsys, verb):
    try:
        code = main([verb, "--help"])
    except SystemExit as ended:
        code = ended.code
    assert code == 0
    assert f"usage: python -m trainer {verb}" in capsys.readouterr().out

"""report.html: complete, in one file, and harmless whatever a run's files contain."""

import base64
import json
import re
import weakref
from html.parser import HTMLParser
from pathlib import Path

import pytest
from run_support import make_run, summary
from verb_support import refused, run

from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.errors import RunError
from trainer.results import report
from trainer.results.html import escape
from trainer.results.svg import Line, chart, nice

EVIL = "<script>alert(1)</script>\"'&\u202e\x00\udc80$x$"
VOID = {"meta", "img", "path", "circle", "polyline"}


class Page(HTMLParser):
    """The elements, attributes and texts of a page, whose tags must be closed in order."""

    def __init__(self, content: bytes):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = [], [], [], []
        self.feed(content.decode())
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attributes]
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)


def test_a_report_has_the_numbers_curves_settings_machine_and_film(tmp_path):
    folder = make_run(tmp_path / "breakout-1", scores=(1.0, 5.0, 3.0), evaluation=300, greedy=410, ppo={"gamma": 0.5})
    (folder / "episode.gif").write_bytes(b"GIF89a film")
    report.write_report([folder], folder / "report.html")
    content = (folder / "report.html").read_bytes()
    page = Page(content)
    text = " ".join(page.texts)
    for part in ("breakout", "breakout-1, seed 1, started 2026-11-21 14:00", "298 to 302", "408 to 412", "sampled", "greedy",
                 "greedy actions, sticky 0, 0 no-ops, raw scores to game over or step 27,000", "gamma", "0.5", "a CPU", "2.8.0",
                 "Policy loss", "Value loss", "Entropy of the policy", "Speed, steps per second"):
        assert part in text
    assert page.tags.count("svg") == page.tags.count("polyline") == 6
    assert base64.b64encode(b"GIF89a film").decode() in content.decode()


def test_a_report_of_several_runs_has_them_side_by_side_with_statistics(tmp_path):
    folders = [make_run(tmp_path / f"run{seed}", seed=seed, evaluation=10 * seed, ppo={"gamma": 0.9 if seed < 3 else 0.99})
               for seed in (1, 2, 3, 4)]
    page = Page(report.page(folders))
    text = " ".join(page.texts)
    assert page.tags.count("polyline") == 4 * 6
    for part in ("4 runs", "run1", "run4", "gamma 0.99", "probability that a run with gamma 0.99 beats one with gamma 0.9: 1",
                 "human: 0 for random play"):
        assert part in text


@pytest.mark.parametrize("scored", [1, 2, 3])
def test_a_run_without_a_score_is_left_out_of_the_statistics_and_named(tmp_path, scored):
    folders = [make_run(tmp_path / f"run{seed}", seed=seed, scores=(1.0, 2.0) if seed <= scored else (None,))
               for seed in (1, 2, 3, 4)]
    text = " ".join(Page(report.page(folders)).texts)
    named = f"left out, since none of their episodes has ended yet: {', '.join(map(str, folders[scored:]))}"
    assert (named in text) == ("Over the seeds" in text) == (scored > 1)


@pytest.mark.parametrize("games", [("breakout", "pong"), ("gym:CartPole-v1", "cartpole")])
def test_runs_of_different_games_have_no_common_statistics(tmp_path, games):
    folders = [make_run(tmp_path / f"run{index}", game=game) for index, game in enumerate(games)]
    text = " ".join(Page(report.page(folders)).texts)
    assert ", ".join(games) in text and "Over the seeds" not in text and "There is no evaluation yet." in text


@pytest.mark.parametrize("count", [1, 2])
def test_nothing_of_a_runs_files_becomes_markup_and_a_page_asks_no_host(tmp_path, count):
    folders = []
    for index in range(count):
        folder = make_run(tmp_path / f"<img src=x onerror=alert({index})>", evaluation=1, greedy=2)
        saved = json.loads((folder / "config.json").read_text())
        saved["config"]["game"] = "gym:<script>alert(1)</script>"
        saved["config"]["ppo"][EVIL] = [EVIL]
        saved["config"]["env"] = {"options": {EVIL: EVIL}, "view": EVIL}
        saved["sessions"] = [saved["sessions"][0] | {"facts": {EVIL: {"a": EVIL}}}, {"facts": 5}, 7]
        (folder / "config.json").write_text(json.dumps(saved))
        (folder / "episode.gif").write_bytes(b"GIF89a<script>")
        folders.append(folder)
    content = report.page(folders)
    page = Page(content)
    assert "script" not in page.tags and page.tags.count("img") == count
    assert not {name for _, name, _ in page.attributes} & {"onerror", "href", "onload", "style"}
    assert all(value.startswith("data:image/gif;base64,") for _, name, value in page.attributes if name == "src")
    assert ("meta", "content", "default-src 'none'; img-src data:; style-src 'unsafe-inline'") in page.attributes
    assert not re.search(rb"https?:|url\(|@import|\x00", content)
    assert "\u202e" not in content.decode()


def test_a_film_is_bounded_and_a_larger_one_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "LARGEST_FILM", 100)
    monkeypatch.setattr(report, "LARGEST_FILMS", 150)
    folders = [make_run(tmp_path / f"run{seed}", seed=seed) for seed in (1, 2, 3, 4)]
    for folder, size in zip(folders, (101, 90, 90, 60), strict=True):
        (folder / "episode.gif").write_bytes(b"GIF89a".ljust(size))
    page = Page(report.page(folders))
    films = [value for tag, name, value in page.attributes if (tag, name) == ("img", "alt")]
    assert films == ["a film of run2", "a film of run4"]
    text = " ".join(page.texts)
    assert f"{folders[0] / 'episode.gif'} is not in this page: it has 101 bytes, and at most 100 are read" in text


def test_a_file_that_is_no_film_is_not_in_the_page(tmp_path):
    folder = make_run(tmp_path / "run")
    (folder / "episode.gif").write_bytes(b"<svg onload=alert(1)>")
    page = Page(report.page([folder]))
    assert "img" not in page.tags and any("is no GIF" in text for text in page.texts)


@pytest.mark.parametrize("scores", [(), (1.0,), (2.0, 2.0), tuple(float(k % 7) for k in range(5000)), (1e100, -1e100)])
def test_curves_of_any_number_of_iterations_are_drawn(tmp_path, scores):
    content = report.page([make_run(tmp_path / "run", scores=scores)])
    page = Page(content)
    assert ("nothing recorded" in " ".join(page.texts)) == (not scores)
    assert len(content) < 200_000 and not re.search(rb"\b(nan|inf)\b", content)


def test_the_axis_of_a_chart_ends_where_its_curves_end():
    drawn = chart([Line("a", [0, 61.4], [0, 1]), Line("b", [0, 50], [0, 1])], "steps", "two lines", "{:g}".format)
    ends = [pair.split()[-1] for pair in re.findall(r'points="([^"]+)"', drawn)]
    assert ends[0] == "338.0,10.0" and float(ends[1].split(",")[0]) < 338
    assert re.findall(r'text-anchor="middle">([\d.]+)</text>', drawn) == ["0", "20", "40", "60"]


@pytest.mark.parametrize(("score", "caption"), [(462.0, "run: an episode that scored 462 (sampled actions, sticky 0"),
                                                (None, "run")])
def test_the_caption_of_a_film_states_its_score_and_its_protocol(tmp_path, score, caption):
    folder = make_run(tmp_path / "run", evaluation=300)
    (folder / "episode.gif").write_bytes(b"GIF89a")
    saved = json.loads((folder / "evaluation.json").read_text()) | ({} if score is None else {"film_score": score})
    (folder / "evaluation.json").write_text(json.dumps(saved))
    texts = Page(report.page([folder])).texts
    assert any(text.startswith(caption) for text in texts)
    (folder / "evaluation.json").write_text(json.dumps(saved | {"film_score": "<b>"}))
    with pytest.raises(RunError, match=r"evaluation.json is damaged"):
        report.page([folder])


@pytest.mark.parametrize(("game", "kind", "usual"), [("breakout", {"view": "pixels"}, ("num_envs", "encoder")),
                                                     ("go", {"self_play": True}, ("snapshot_every", "memory"))])
def test_settings_stand_beside_those_of_the_preset(tmp_path, game, kind, usual):
    """Also those of another version."""
    config = preset(GameName(game), **kind).to_dict()
    config["ppo"]["gamma"] = 0.5
    folder = make_run(tmp_path / "run", game=game, **{name: config[name] for name in ("env", "policy", "ppo", "self_play")})
    saved = json.loads((folder / "config.json").read_text())
    saved["config"]["ppo"]["of_another_version"] = 7
    (folder / "config.json").write_text(json.dumps(saved))
    text = " ".join(Page(report.page([folder])).texts)
    changed = " ".join(text[text.index(" setting value preset"):text.index("All settings")].split())
    assert "gamma 0.5 0.99" in changed and "of_another_version 7 none" in changed
    assert not any(f" {name} " in changed for name in usual)


@pytest.mark.parametrize(("game", "column"), [("gym:CartPole-v1", "default"), ("gym:ALE/Pong-v5", "preset"),
                                              ("no_such_game", "default")])
def test_settings_without_a_preset_to_read_stand_beside_the_defaults(tmp_path, game, column):
    text = " ".join(Page(report.page([make_run(tmp_path / "run", game=game, ppo={"gamma": 0.5})])).texts)
    text = " ".join(text[:text.index("All settings")].split())
    assert f" setting value {column} " in text and " gamma 0.5 0.99" in text


def test_a_chart_maps_the_ends_of_its_axes_to_the_ends_of_its_frame():
    drawn = chart([Line("a", [0, 50, 100], [-100, -50, 0])], "steps", "a line")
    points = [tuple(map(float, pair.split(","))) for pair in re.search(r'points="([^"]+)"', drawn)[1].split()]
    assert points == [(60, 186), (199, 98), (338, 10)]


@pytest.mark.parametrize(("low", "high", "ticks"), [(0, 100, [0, 25, 50, 75, 100]), (-20.7, 9.3, [-30, -20, -10, 0, 10]),
                                                    (5, 5, [2, 4, 6, 8]), (0, 0, [-1, -0.5, 0, 0.5, 1]),
                                                    (-1e300, 1e300, [-1e300, -5e299, 0, 5e299, 1e300])])
def test_ticks_are_round_and_cover_the_numbers(low, high, ticks):
    assert nice(low, high) == ticks


def test_a_chart_of_the_largest_numbers_has_finite_coordinates():
    drawn = chart([Line("a", [1, 2], [-1.7e308, 1.7e308])], "steps", "largest")
    assert "polyline" in drawn and "inf" not in drawn and "nan" not in drawn


def test_a_long_text_is_cut():
    assert len(escape("x" * 10**6)) == 2000


def test_the_verb_writes_one_page_for_one_run_and_one_for_several(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for seed in (1, 2):
        make_run(tmp_path / "runs" / f"breakout-{seed}", seed=seed, evaluation=seed)
    assert run(capsys, "report breakout-1") == "runs/breakout-1/report.html: runs/breakout-1\n"
    assert run(capsys, "report breakout --out all.html") == "all.html: 2 runs\n"
    assert run(capsys, "report breakout") == "report.html: 2 runs\n"
    assert b"2 runs" in (tmp_path / "all.html").read_bytes() and (tmp_path / "report.html").exists()
    assert "--out must be none, or a file that ends in .html, not 'x.txt'" in refused(capsys, "report breakout --out x.txt")
    assert "--out must be in a folder that exists" in refused(capsys, "report breakout --out no/x.html")
    assert "RUN is missing" in refused(capsys, "report")


def test_an_old_evaluation_says_that_its_actions_are_unknown(tmp_path):
    folder = make_run(tmp_path / "run")
    old = summary(5)
    del old["protocol"], old["mean_interval"]
    (folder / "evaluation.json").write_text(json.dumps(old))
    text = " ".join(Page(report.page([folder])).texts)
    assert "unknown" in text and "by an earlier version that did not note which" in text


def test_a_report_names_the_no_ops_and_how_many_episodes_differ(tmp_path):
    folder = make_run(tmp_path / "run")
    (folder / "evaluation.json").write_text(json.dumps(
        summary(5, noop_max=30, different_episodes=100) | {"others": [summary(6, greedy=True, different_episodes=4)]}))
    cells = [text.strip() for text in Page(report.page([folder])).texts if text.strip()]
    start = cells.index("sampled")
    assert cells[start:start + 3] == ["sampled", "0", "30"] and cells[cells.index("greedy") + 2] == "0"
    assert "100 (4 different)" in cells and "100" in cells and "up to 30 no-ops" in " ".join(cells)


def test_one_run_has_its_facts_in_boxes_and_its_machine_in_sight(tmp_path):
    content = report.page([make_run(tmp_path / "run")]).decode()
    assert 'class="fact"' in content and "session 1 of 1" not in content
    both = report.page([tmp_path / "run", make_run(tmp_path / "other", seed=2)]).decode()
    assert 'class="fact"' not in both and "run, session 1 of 1" in both


def test_minutes_have_60_seconds_in_the_table_and_in_the_chart(tmp_path):
    """100 iterations of 6 seconds are 10 minutes."""
    folders = [make_run(tmp_path / f"run{seed}", seed=seed, scores=[1.0] * 100) for seed in (1, 2)]
    texts = Page(report.page(folders)).texts
    assert texts.count("10.0") == 3  # of each run, and the median of both
    labels = texts[:texts.index("minutes of training")]
    assert labels[-1] == "10"


def test_options_of_the_game_stand_among_the_settings(tmp_path):
    folder = make_run(tmp_path / "run", env={"options": {"lives": 1.0}})
    text = " ".join(Page(report.page([folder])).texts)
    assert "options lives=1.0 none" in " ".join(text.split())


def test_a_run_without_a_film_hides_no_other_run_s(tmp_path):
    folders = [make_run(tmp_path / f"run{seed}", seed=seed) for seed in (1, 2)]
    (folders[1] / "episode.gif").write_bytes(b"GIF89a film")
    assert b"a film of run2" in report.page(folders)


def test_the_metrics_of_many_runs_are_not_in_memory_at_once(tmp_path, monkeypatch):
    class Entries(list):
        pass

    real, kept = report.read_metrics, []

    def read(folder):
        assert [one() for one in kept] == [None] * len(kept)
        entries = Entries(real(folder))
        kept.append(weakref.ref(entries))
        return entries
    monkeypatch.setattr(report, "read_metrics", read)
    report.page([make_run(tmp_path / f"run-{seed}", seed=seed) for seed in (1, 2, 3)])
    assert len(kept) == 3


def test_curves_have_colours_of_their_own_and_all_points_that_fit():
    points = [float(k) for k in range(400)]
    drawn = chart([Line("a", points, points), Line("b", [0, 1], [0, 1])], "steps", "two lines")
    assert re.findall(r'class="curve (c\d+)"', drawn) == ["c0", "c1"]
    first, second = (len(pair.split()) for pair in re.findall(r'points="([^"]+)"', drawn))
    assert (first, second) == (400, 2)


def test_large_numbers_have_all_their_digits(tmp_path, monkeypatch):
    folder = make_run(tmp_path / "asterix-1", game="asterix", scores=(0.0, 26_832.4), evaluation=26_832.4)
    monkeypatch.chdir(folder)
    text = " ".join(Page(report.page([Path()])).texts)
    assert "26,832" in text and "26,830 to 26,834" in text and "e+04" not in text
    assert "asterix-1, seed 1" in text  # not the path "."

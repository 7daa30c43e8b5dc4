"""The short form of `python -m benchmarks.likeness`: exact games are identical, and a difference is found and drawn."""

from dataclasses import replace
from importlib.util import find_spec

import imageio.v3 as iio
import numpy as np
import pytest
from setup_support import ROOT

from benchmarks.cartridges.features import open_cartridge
from benchmarks.likeness import pairs, scores
from benchmarks.likeness.__main__ import COLUMNS, main
from benchmarks.likeness.games import GAMES, SET
from benchmarks.likeness.pairs import begin, compare, difference
from benchmarks.likeness.pictures import side_by_side
from benchmarks.likeness.players import SCRIPTS, player_of
from benchmarks.likeness.scores import here, on_cartridge
from benchmarks.likeness.table import BEGIN, END, old_rows

pytestmark = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py")


def test_exact_games_are_identical_from_all_starts_and_other_rows_stay(tmp_path):
    page = tmp_path / "page.md"
    old = f"| {' | '.join(COLUMNS[:4])} |\n| --- | --- | --- | --- |\n| enduro | 7 | 8 | 9% |\n| pong | old | old | old |\n"
    page.write_text(f"before\n{BEGIN}\n{old}\n{END}\nafter\n", encoding="utf-8")
    main(["pong", "asterix", "freeway", "--starts", "2", "--frames", "60", "--episodes", "0", "--scripted", "0", "--out",
          str(page), "--pictures", str(tmp_path)])
    text = page.read_text(encoding="utf-8")
    rows = {line.split()[1]: [cell.strip() for cell in line.strip("| ").split("|")] for line in text.splitlines()[5:-2] if line}
    assert [*rows] == ["pong", "asterix", "freeway", "enduro"]
    for game in ("pong", "asterix", "freeway"):
        assert rows[game][3:5] == ["100%", "none"] and float(rows[game][6]) < 0.1 and rows[game][9:] == ["not measured"] * 4
    assert rows["enduro"] == ["enduro", "7", "8", "9%", *["not measured"] * 9]
    assert text.startswith("before") and text.endswith("after\n") and "old" not in text
    assert iio.imread(tmp_path / "pong.png").shape == (428, 328, 3)


def test_a_film_shows_both_sides_and_is_small(tmp_path):
    main(["pong", "--starts", "1", "--frames", "10", "--episodes", "0", "--scripted", "0", "--film", str(tmp_path)])
    film = iio.imread(tmp_path / "pong.gif")
    assert film.shape == (60, 428, 328, 3) and (tmp_path / "pong.gif").stat().st_size < 300_000
    assert (film[:, :210, :160] == film[:, :210, 168:]).all() and (film[0] != film[-1]).any()


def test_every_compared_game_has_a_scripted_player_of_both_sides():
    assert set(SCRIPTS) == set(GAMES)
    for game in GAMES:
        theirs, player = open_cartridge(game), player_of(game)
        for _ in range(30):
            theirs.step(player(theirs.state(), np.random.default_rng(0)) if theirs.frames else 0)


@pytest.mark.parametrize("game, episodes, scripted", [
    ("breakout", 2, False), ("asterix", 2, False), ("freeway", 1, True), ("space_invaders", 1, True), ("seaquest", 1, False),
    ("asteroids_ufos", 1, False),
    *(pytest.param(game, 2, True, marks=pytest.mark.slow) for game in ("breakout", "pong", "asterix", "asteroids"))])
def test_equal_games_have_equal_scores_episode_by_episode(game, episodes, scripted):
    theirs, ours = (play(game, episodes, 3, player_of(game) if scripted else None) for play in (on_cartridge, here))
    assert np.array_equal(theirs, ours)
    assert theirs.any() or not scripted


@pytest.mark.parametrize("game", ["seaquest", "space_invaders", "asteroids", "asteroids_ufos"])
def test_our_game_begins_in_the_cartridges_state(game):
    pair = begin(game, np.random.default_rng(2), open_cartridge(game))
    ours, theirs = pair.states()
    mine, other = GAMES[game].objects(ours), GAMES[game].objects(theirs)
    assert all(np.array_equal(mine[name], other[name], equal_nan=True) for name in mine)


def test_a_game_that_refuses_all_starts_is_an_error(monkeypatch):
    monkeypatch.setattr("benchmarks.likeness.pairs.set_start", lambda pair, compared: False)
    monkeypatch.setitem(GAMES, "pong", replace(GAMES["pong"], start=SET, reach=10))
    monkeypatch.setattr(pairs, "TRIES", 3)
    with pytest.raises(RuntimeError, match="pong: 3 starts"):
        begin("pong", np.random.default_rng(2), open_cartridge("pong"))


def test_a_changed_game_is_found_at_once():
    pair = begin("pong", np.random.default_rng(1), open_cartridge("pong"))
    pair.ours.change(paddle=pair.ours.paddle - 8 if pair.ours.paddle > 60 else pair.ours.paddle + 8)
    assert compare(pair, 5).first == 1


def test_the_makers_strip_is_not_compared_and_pictures_show_the_difference():
    theirs = open_cartridge("seaquest")
    for _ in range(160):
        theirs.step(0)
    assert (theirs.screen() != theirs.masked()).any()
    assert difference(theirs.masked(), theirs) == (0.0, 0.0, 1.0)
    ours = theirs.masked()
    ours[50, 80] = 255 - ours[50, 80]
    drawn = side_by_side(ours, theirs.masked())[218:]
    assert (drawn == 255).all(-1).sum() == 1


@pytest.mark.parametrize("arguments, text", [
    (["chess"], "GAME must be one of breakout"),
    (["pong", "--starts", "0"], "argument --starts: must be an integer of at least 1, not 0"),
    (["pong", "--out", "missing.md"], "--out must be a file with a line"),
    (["pong", "--scripted", "-1"], "argument --scripted: must be an integer of at least 0, not -1"),
])
def test_wrong_arguments_are_refused_in_a_line(arguments, text, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert text in capsys.readouterr().err.splitlines()[-1]


def test_a_page_without_the_line_behind_the_table_is_refused_before_anything_is_played(tmp_path, monkeypatch, capsys):
    (tmp_path / "page.md").write_text(f"{END}\n{BEGIN}\n", encoding="utf-8")
    monkeypatch.setattr("benchmarks.likeness.__main__.compare_all", lambda *_: pytest.fail("this was played"))
    with pytest.raises(SystemExit):
        main(["pong", "--out", str(tmp_path / "page.md")])
    assert f"add this line and {END}" in capsys.readouterr().err.splitlines()[-1]


def test_the_error_of_a_mean_score_is_that_of_a_sample(monkeypatch):
    monkeypatch.setattr(scores, "on_cartridge", lambda *_: np.array([1.0, 2.0, 3.0, 4.0]))
    monkeypatch.setattr(scores, "here", lambda *_: np.array([5.0]))
    assert scores.both_sides("pong", 4, 0) == [f"2.5 ± {(5 / 3 / 4) ** 0.5:.2g}", "5 ± 0"]


@pytest.mark.parametrize("game", ["breakout", "seaquest", "space_invaders"])
def test_the_published_scores_of_the_scripted_player_are_those_of_our_game(game):
    table = (ROOT / "docs" / "likeness.md").read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    played = here(game, 10, 0, player_of(game))
    text = f"{played.mean():.4g} ± {scores.error(played):.2g}"
    assert old_rows(table, COLUMNS)[game,][11:] == [text, f"{text}, equal in each"]

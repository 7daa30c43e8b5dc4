"""The short form of `python -m benchmarks.likeness`: exact games are identical, and a difference is found and drawn."""

from importlib.util import find_spec

import imageio.v3 as iio
import numpy as np
import pytest

from benchmarks.cartridges.features import open_cartridge
from benchmarks.likeness.__main__ import BEGIN, END, main
from benchmarks.likeness.compare import begin, compare, difference
from benchmarks.likeness.games import GAMES
from benchmarks.likeness.pictures import side_by_side

pytestmark = pytest.mark.skipif(find_spec("ale_py") is None, reason="needs ale-py")


def test_pong_and_asterix_are_identical_from_all_starts(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    main(["pong", "asterix", "--starts", "2", "--frames", "60", "--episodes", "0", "--out", str(page),
          "--pictures", str(tmp_path)])
    text = page.read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| pong", "| asterix"))]
    assert len(rows) == 2 and all("100%" in row and "none" in row for row in rows), rows
    assert text.startswith("before") and text.endswith("after\n") and "old" not in text
    assert iio.imread(tmp_path / "pong.png").shape == (428, 328, 3)


@pytest.mark.parametrize("game", ["seaquest", "space_invaders", "asteroids"])
def test_our_game_begins_in_the_cartridges_state(game):
    pair = begin(game, np.random.default_rng(2), open_cartridge(game))
    ours, theirs = pair.states()
    mine, other = GAMES[game].objects(ours), GAMES[game].objects(theirs)
    assert all(np.array_equal(mine[name], other[name], equal_nan=True) for name in mine)


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
    (["pong", "--starts", "0"], "--starts must be an integer of at least 1, not 0"),
    (["pong", "--out", "missing.md"], "--out must be a file with a line"),
])
def test_wrong_arguments_are_refused_in_a_line(arguments, text, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert text in capsys.readouterr().err.splitlines()[-1]

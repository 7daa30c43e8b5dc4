"""Policies of Go against GNU Go (benchmarks/scores/gnu_go.py)."""

from types import SimpleNamespace

import numpy as np
import pytest
from go_board import GnuGo

from benchmarks.scores import gnu_go

BOARD = {"size": 5, "komi": 7.5}


class Passes:
    """A policy that always passes."""

    def begin(self):
        self.moves = 0

    def move(self, observation, mask):
        self.moves += 1
        return mask.shape[-1] - 1


@pytest.mark.skipif(GnuGo.PATH is None, reason="needs GNU Go: apt-get install gnugo")
@pytest.mark.parametrize("colour", gnu_go.COLOURS)
def test_a_policy_that_passes_loses_to_gnu_go(colour):
    opponent, player = GnuGo("--capture-all-dead"), Passes()
    game = gnu_go.play(player, opponent, BOARD | {"komi": 0.0}, colour, seed=1)
    opponent.close()
    assert game.result == -1 and game.colour == colour
    assert abs(len(game.moves) - 2 * player.moves) <= 1


@pytest.mark.skipif(GnuGo.PATH is None, reason="needs GNU Go: apt-get install gnugo")
def test_gnu_go_plays_by_the_seed_of_the_game():
    opponent = GnuGo("--capture-all-dead")
    first, again, *others = [gnu_go.play(Passes(), opponent, BOARD, "black", seed) for seed in (1, 1, *range(2, 12))]
    opponent.close()
    assert first == again and set(others) != {first}


def test_equal_games_count_once_in_the_interval():
    lost, won = gnu_go.Game("black", -1.0, (1, 2), False), gnu_go.Game("black", 1.0, (3, 4, 5, 6), True)
    assert gnu_go.row("me", [lost] * 29 + [won], "black") == [
        "me", "black", "30", "2", "3%", "0% to 68%", "2", "1"]
    assert gnu_go.row("me", [lost] * 30, "black")[3:6] == ["1", "0%", "0% to 79%"]


@pytest.mark.skipif(GnuGo.PATH is None, reason="needs GNU Go: apt-get install gnugo")
def test_the_arcade_s_agent_plays_a_legal_game(capsys):
    played = gnu_go.main(["go", "go", "--games", "2"])  # runs with one name are two policies
    for games in played:
        assert [game.colour for game in games] == ["black", "white"] and all(len(game.moves) > 10 for game in games)
    assert len(played) == capsys.readouterr().out.count("| both ") == 2


def test_the_interval_is_wilson_s():
    assert np.round(gnu_go.interval(0, 10), 4).tolist() == [0.0, 0.2775]
    assert gnu_go.interval(0, 60)[0] >= 0.0 and gnu_go.interval(60, 60)[1] <= 1.0  # no rounding beyond a share
    assert np.round(gnu_go.interval(5, 10), 4).tolist() == [0.2366, 0.7634]


@pytest.mark.parametrize(("words", "message"), [
    (["--games", "0"], "argument --games: must be an integer of at least 1, not 0"),
    (["nowhere"], "there is no run"),
])
def test_bad_options_are_one_line(words, message, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(gnu_go, "GnuGo", SimpleNamespace(PATH="gnugo"))
    with pytest.raises(SystemExit):
        gnu_go.main(words)
    assert message in capsys.readouterr().err

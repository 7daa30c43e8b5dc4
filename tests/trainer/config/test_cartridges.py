"""Cartridges of the console as games of trainings: their names and their presets."""

import pytest

from envs_c.gymnasium_env.ale import CARTRIDGES
from trainer.config.games import GameName, whole
from trainer.config.preset import preset


@pytest.mark.parametrize(("view", "encoder", "shown"), [("features", "bits", "features"), ("ram", "bits", "features"),
                                                         ("pixels", "pixels", "pixels"), ("nowhere", "bits", "features")])
def test_cartridges_share_a_preset_for_the_ram_and_one_for_pictures(view, encoder, shown):
    made = preset(GameName("atari:pong"), view=view)
    assert (made.policy.encoder, made.env.view, made.env.time_limit) == (encoder, shown, 27_000)


@pytest.mark.parametrize("game", [name for name in CARTRIDGES if name != "freeway"])  # whose episodes have 2,048 steps
def test_games_of_cartridges_are_compared_after_half_an_hour_at_most(game):
    assert preset(GameName(game)).env.time_limit == 27_000


def test_a_cartridge_in_a_file_is_named_by_its_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game = whole("atari:roms/mine.bin")
    assert game == f"atari:{tmp_path}/roms/mine.bin" and game.short == "atari:mine.bin"
    assert whole("atari:pong") == "atari:pong" and GameName("atari:pong").cartridge_file is None

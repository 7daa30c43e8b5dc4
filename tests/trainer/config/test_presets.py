"""Presets: those of the package, files of a user's own, and options that are added to them."""

import dataclasses
import re
import shutil
from pathlib import Path

import pytest

import envs_c
from trainer.config import Config
from trainer.config import preset as preset_module
from trainer.config.games import GameName
from trainer.config.options import parse_new
from trainer.config.preset import preset
from trainer.errors import ConfigError
from trainer.training import api

PRESETS = Path(preset_module.__file__).parent.parent / "presets"


@pytest.mark.parametrize("game", envs_c.games())
def test_presets_load(game):
    assert preset(GameName(game)).game == game


@pytest.mark.parametrize(("game", "env", "own"), [
    ("asterix", {}, {}), ("cartpole", {}, {}), ("breakout", {"noop_max": 30}, {"total_steps": 10_000_000}),
    ("pong", {"noop_max": 30}, {"total_steps": 8_000_000, "minibatch": 512}),
    ("freeway", {"noop_max": 30, "frame_skip": 8}, {"total_steps": 5_000_000, "minibatch": 512, "reward_scale": 5.0,
                                                    "entropy_coef": 0.03, "entropy_final": 0.005}),
])
def test_the_preset_for_pictures_keeps_the_environments_of_the_game_and_shares_the_rest(game, env, own):
    """tetris has no file of its own for pictures."""
    game = GameName(game)
    pixels, features, shared = preset(game, view="pixels"), preset(game), preset(GameName("tetris"), view="pixels")
    assert pixels.env == dataclasses.replace(features.env, view="pixels", num_envs=pixels.env.num_envs, **env)
    assert (pixels.policy, pixels.ppo) == (shared.policy, dataclasses.replace(shared.ppo, **own))
    assert pixels.policy.encoder == "pixels" and pixels.ppo != features.ppo


def test_self_play_has_settings_of_its_own_where_a_file_gives_them():
    alone, played = preset(GameName("go")), preset(GameName("go"), self_play=True)
    assert played.self_play.self_play and not alone.self_play.self_play
    assert played.env == alone.env and played.ppo.total_steps != alone.ppo.total_steps and played.policy.memory == "none"
    assert parse_new(GameName("go"), ["--self-play", "--seed", "1"]) == played == api.preset("go", self_play=True)
    assert parse_new(GameName("go"), ["--no-self-play"]) == alone == api.preset("go", self_play=False)
    assert preset(GameName("tetris"), self_play=True) == preset(GameName("tetris"))
    assert preset(GameName("go"), view="pixels", self_play=True) == preset(GameName("go"), view="pixels")


@pytest.mark.parametrize(("stem", "chosen"), [
    ("breakout_pixels", {"view": "pixels"}), ("freeway_pixels", {"view": "pixels"}), ("pong_pixels", {"view": "pixels"}),
    ("go_self_play", {"self_play": True}), ("breakout", {})])
def test_a_file_of_this_package_given_by_path_stands_for_the_whole_preset(stem, chosen):
    game, path = GameName(stem.partition("_")[0]), PRESETS / f"{stem}.toml"
    assert parse_new(game, ["--preset", str(path)]) == preset(game, **chosen) == api.preset(game, path)


def test_a_copy_of_a_preset_for_pictures_trains_from_pictures(tmp_path):
    path = shutil.copy(PRESETS / "breakout_pixels.toml", tmp_path / "mine.toml")
    assert parse_new(GameName("breakout"), ["--preset", str(path)]).env.view == "pixels"
    assert parse_new(GameName("pong"), ["--preset", str(PRESETS / "atari_ram.toml")]).env.view == "features"


def test_the_preset_of_a_game_of_one_s_own_holds_for_pictures_too(tmp_path):
    (tmp_path / "mine.toml").write_text("[ppo]\ngamma = 0.5")
    game = GameName(tmp_path / "mine.pyx")
    assert preset(game, view="pixels") == preset(game)
    assert preset(game).ppo.gamma == 0.5


def test_a_mark_of_the_byte_order_before_a_preset_is_no_part_of_it(tmp_path):
    (tmp_path / "mine.toml").write_text("[ppo]\ngamma = 0.5\n", encoding="utf-8-sig")
    assert preset_module.preset_file(GameName("breakout"), str(tmp_path / "mine.toml")).ppo.gamma == 0.5


def test_a_game_without_a_preset_has_the_defaults():
    assert preset(GameName("no_such_game")) == Config("no_such_game")
    assert preset(GameName("../breakout")) == Config("../breakout")


@pytest.mark.parametrize(("text", "sentence"), [
    ("[ppo]\ngama = 0.9", "presets/game.toml: unknown setting ppo.gama; did you mean gamma"),
    ("[learning]\ngamma = 0.9", "presets/game.toml: unknown setting learning"),
    ("gamma = 0.9", "presets/game.toml: unknown setting gamma; it is ppo.gamma: write it in the table ppo"),
    ("[ppo]\nnum_envs = 8", "presets/game.toml: unknown setting ppo.num_envs; it is env.num_envs: write it in the table env"),
    ("[ppo]\ngamma = 2", "presets/game.toml: ppo.gamma must be a number from 0 to 1, not 2"),
    ("[ppo", "presets/game.toml: "),
    ("[run]\nresume = 'runs/x'", "presets/game.toml: run.resume is no setting of a preset; write --resume runs/x"),
])
def test_a_bad_preset_is_refused_by_name(tmp_path, monkeypatch, text, sentence):
    (tmp_path / "game.toml").write_text(text)
    monkeypatch.setattr(preset_module.resources, "files", lambda package: tmp_path)
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        preset(GameName("game"))


@pytest.mark.parametrize(("options", "sentence"), [
    ("{lives = 99}", "option 'lives' of breakout must be an integer from 1 to 5"),
    ("{live = 3}", "unknown option 'live' for breakout; its options: lives, ")])
def test_a_users_preset_with_a_bad_option_of_the_game_is_refused_by_name(tmp_path, options, sentence):
    (tmp_path / "mine.toml").write_text(f"[env]\noptions = {options}")
    with pytest.raises(ConfigError, match=re.escape(f"{tmp_path / 'mine.toml'}: {sentence}")):
        preset_module.preset_file(GameName("breakout"), str(tmp_path / "mine.toml"))


@pytest.mark.parametrize(("words", "same"), [
    ("--self_play", "--self-play"), ("--self-play --no-self-play", ""), ("--no-self-play --self_play", "--self-play"),
    ("--view pixels --view features", ""), ("--view=features --view=pixels", "--view pixels"),
    ("--preset nowhere.toml --preset none", ""), ("--view features --preset {pixels}", "--preset {pixels} --view features"),
    ("--options size=5 --seed 2 --options opponent=1", "--seed 2 --options size=5 opponent=1"),
    ("--options=size=5 --options=opponent=1", "--options size=5 opponent=1"),
])
def test_the_last_of_an_option_given_twice_decides_the_preset_too(words, same):
    given, expected = (text.format(pixels=PRESETS / "breakout_pixels.toml").split() for text in (words, same))
    assert parse_new(GameName("go"), given) == parse_new(GameName("go"), expected)


def test_options_may_make_the_sizes_of_a_preset_fit(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[ppo]\nhorizon = 48\n[env]\nnum_envs = 64")
    made = parse_new(GameName("pong"), ["--preset", str(path), "--minibatch", "96"])
    assert (made.ppo.horizon, made.ppo.minibatch, made.env.num_envs) == (48, 96, 64)
    with pytest.raises(ConfigError, match=r"minibatch must be .* with 64 environments .* and a horizon of 48"):
        parse_new(GameName("pong"), ["--preset", str(path)])


@pytest.mark.parametrize(("words", "given", "options"), [
    (["lives=2"], {"lives": 2}, {"forecast": 1, "lives": 2}),
    (["forecast=0"], {"forecast": 0}, {"forecast": 0}),
    (["none"], {}, {}),
])
def test_options_are_added_to_those_of_the_preset(words, given, options):
    assert parse_new(GameName("seaquest"), ["--options", *words]).env.keywords == options
    assert api.preset("seaquest", options=given).env.keywords == options


def test_without_options_those_of_the_preset_stay():
    seeded = parse_new(GameName("seaquest"), ["--seed", "3"]).env.keywords
    assert seeded == api.preset("seaquest", seed=3).env.keywords == {"forecast": 1}

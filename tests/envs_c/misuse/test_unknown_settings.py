"""A setting that does not exist is a TypeError, as for any function, and an error of ours that suggests a name."""

import inspect

import gymnasium
import pytest
from gymnasium.envs import registration

import envs_c
from envs_c import catalog

BREAKOUT = "Arcade/Breakout-v0"
MAKERS = {
    "envs_c.make": lambda **settings: envs_c.make("breakout", **settings),
    "gymnasium.make": lambda **settings: gymnasium.make(BREAKOUT, **settings),
    "gymnasium.make_vec": lambda **settings: gymnasium.make_vec(BREAKOUT, **settings),
}
SETTINGS = [name for name in inspect.signature(envs_c.make).parameters if name not in ("name", "options")]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(("name", "suggestion"), [
    ("frameskips", "frame_skip"), ("n_envs", "num_envs"), ("livse", "lives"), ("num_thread", "num_threads"),
    ("stack_num", "frame_stack"), ("n_stack", "frame_stack"), ("grayscale_newaxis", "keepdim"), ("keep_dim", "keepdim"),
    ("framestack", "frame_stack")])
def test_a_misspelt_setting_is_a_type_error_with_a_suggestion(make, name, suggestion):
    with pytest.raises(TypeError, match=rf"make\(\) got an unexpected keyword argument '{name}': did you mean {suggestion}\?"
                       ) as caught:
        make(**{name: 3})
    assert isinstance(caught.value, envs_c.UnknownSetting) and isinstance(caught.value, envs_c.InvalidArgument)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_an_unknown_setting_lists_settings_and_the_games_options(make):
    with pytest.raises(envs_c.UnknownSetting) as caught:
        make(zzz=3)
    assert "did you mean" not in str(caught.value)
    assert f"The settings are {', '.join(SETTINGS)}; the options of breakout are lives" in str(caught.value)


@pytest.mark.parametrize(("options", "hint"), [
    ({"lives": 3}, r"as in make\('breakout', lives=3\)\. The settings are num_envs,"),
    ({"lives": 3, "rows": "x"}, r"as in make\('breakout', lives=3, rows='x'\)\."),
    (None, r"as in make\('breakout', NAME=VALUE\)\.")], ids=str)
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_options_in_a_dict_are_refused_with_how_to_pass_them(make, options, hint):
    with pytest.raises(envs_c.UnknownSetting, match=rf"argument 'options': pass the options of a game by name, {hint}"):
        make(options=options)


@pytest.mark.parametrize(("unknown", "hint"), [
    ({"points": 3}, r"it is an option of pong, for which write options=\{'points': 3\}$"),
    ({"zzz": 3}, r"pong has no such option either; help\(envs_c.VecEnv\) lists the settings$")], ids=str)
def test_the_engine_says_how_to_pass_an_option(unknown, hint):
    with pytest.raises(envs_c.UnknownSetting, match=rf"^VecEnv\(\) got an unexpected keyword argument '\w+': {hint}"):
        envs_c.VecEnv(envs_c.game("pong"), 4, **unknown)


@pytest.mark.parametrize(("game", "hint"), [("pong", "game\\('pong'\\)"), (None, "game\\('pong'\\)"), (5, "game")])
def test_the_engine_takes_a_game_and_no_name(game, hint):
    with pytest.raises(envs_c.InvalidArgument, match=f"^game must be a Game, not {game!r}: pass envs_c.{hint}.*envs_c.make"):
        envs_c.VecEnv(game, 4)


def test_the_engine_takes_settings_by_name_only():
    with pytest.raises(envs_c.InvalidArgument, match=r"without names, and further settings by name, not 3$"):
        envs_c.VecEnv(envs_c.game("pong"), 2, 3)


def test_ids_of_registered_games_and_the_engine_refuse_unknown_settings_too(toy, monkeypatch):
    monkeypatch.setattr(catalog, "_registered", {})
    monkeypatch.setattr(registration, "registry", dict(registration.registry))
    monkeypatch.setattr(catalog, "registry", registration.registry)
    envs_c.register(toy)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'lenght': did you mean length\?"):
        gymnasium.make(f"Arcade/{toy.title}-v0", lenght=5)
    with pytest.raises(TypeError, match="unknown option 'lenght' for toy; its options: length, wind"):
        envs_c.VecEnv(toy, options={"lenght": 5})

"""Environments of Gymnasium by module, file, class and ID; options, vectorization and wrappers; each mistake is one line."""

import re
from pathlib import Path

import gymnasium
import pytest
import torch
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from bridge.on_device.cartpole_tensors import CartPoleTensors
from trainer.__main__ import main
from trainer.config import Config, EnvConfig
from trainer.config.games import GameName, checked_game
from trainer.config.options import parse_new
from trainer.environments import SIMULATIONS, make_simulation, make_source
from trainer.errors import ConfigError, FileError, TrainerError

SUPPORT = Path(__file__).parents[2] / "support" / "own"
FILE = SUPPORT / "own_environments.py"
LINE = GameName("gym:own_environments:Line")


def made(game, **env):
    """The first vector environment of a game, closed."""
    source = make_source(checked_game(game), EnvConfig(**env), 2, 0)
    source.close()
    return source.envs[0]


@pytest.mark.parametrize("game", [LINE, "own_environments:Line", f"gym:{FILE}:Line", f"{FILE}:Line"])
@pytest.mark.parametrize(("vectorization", "kind"), [("auto", SyncVectorEnv), ("async", AsyncVectorEnv)])
def test_a_class_is_found_in_a_module_and_in_a_file(game, vectorization, kind):
    env = made(game, vectorization=vectorization)
    assert isinstance(env, kind) and env.single_observation_space == gymnasium.spaces.Discrete(6)


def test_a_file_s_path_becomes_absolute(monkeypatch):
    monkeypatch.chdir(SUPPORT)
    assert checked_game("own_environments.py:Line") == checked_game("gym:own_environments.py:Line") == f"gym:{FILE}:Line"
    assert GameName(f"gym:{FILE}:Line").short == "gym:own_environments.py:Line"


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """A function that writes fresh_environments.py, in a folder on sys.path, and returns its path."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(text):
        (tmp_path / "fresh_environments.py").write_text(text)
        return tmp_path / "fresh_environments.py"
    yield write
    gymnasium.registry.pop("Fresh-v0", None)
    monkeypatch.delitem(__import__("sys").modules, "fresh_environments", raising=False)


@pytest.mark.parametrize("by_file", [False, True])
def test_an_id_is_registered_by_its_module(fresh, by_file):
    file = fresh("import gymnasium\ngymnasium.register('Fresh-v0', 'own_environments:Line')\n")
    assert made(f"gym:{file if by_file else 'fresh_environments'}:Fresh-v0").spec.id == "Fresh-v0"


@pytest.mark.parametrize(("text", "sentence"), [
    ("import nothing_of_this_name", "running the file raised ModuleNotFoundError: No module named 'nothing_of_this_name' (.*"),
    ("x = 1\nraise OSError('no licence')", "running the file raised OSError: no licence (.*, line 2)"),
    ("def f(:", "running the file raised SyntaxError"),
    ("", "has no environment Line; it has no class of an environment"),
    ("import own_environments\nclass Lane(own_environments.Line):\n    pass", "has no environment Line; it has Lane"),
    ("Line = 3", "must be a class or a function that makes an environment, not the int 3"),
    ("def Line():\n    return 3", "cannot be made: "),
    ("import own_environments\nclass Line(own_environments.Line):\n    def __init__(self):\n        self.x = {}['a']",
     "cannot be made: raised KeyError: 'a' (.*fresh_environments.py, line 4)"),
])
def test_a_file_with_a_mistake_is_one_line_of_error(fresh, text, sentence):
    with pytest.raises(ConfigError, match=re.escape(sentence).replace(r"\.\*", ".*")) as error:
        made(f"{fresh(text)}:Line")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("game", "error", "sentence"), [
    ("no_file.py:Line", FileError, "there is no file .*no_file.py"),
    ("own_environments.py", ConfigError, "must be named FILE.py:CLASS, such as own_environments.py:MyEnv"),
    (f"{FILE}:", ConfigError, "must be named gym:ID"),
    ("gym:", ConfigError, "must be named gym:ID"),
    ("gym:no_module:Line", ConfigError, "there is no module no_module"),
    ("gym:own_environments:Lyne", ConfigError, "own_environments.py has no environment Lyne; it has Kinds, Line, Mixed"),
    ("gym:own_environments:Line-v0", ConfigError, "Environment `Line` doesn't exist"),
    ("gym:own_environments:NUMBER", ConfigError, "not the int 3"),
    ("gym:Nowhere-v0", ConfigError, "Environment `Nowhere` doesn't exist"),
])
def test_a_name_that_does_not_exist_is_refused(game, error, sentence):
    with pytest.raises(error, match=sentence):
        made(game)


@pytest.mark.parametrize(("words", "options"), [
    (["map_name=8x8", "is_slippery=false"], {"map_name": "8x8", "is_slippery": False}),
    (["a=TRUE", 'b="7"', "c=7", "d=0.5", "e=x=y", "f=1e3"], {"a": True, "b": "7", "c": 7, "d": 0.5, "e": "x=y", "f": 1000}),
])
def test_options_are_numbers_texts_true_and_false(words, options):
    config = parse_new(GameName("gym:X-v0"), ["--options", *words])
    assert config.env.keywords == options
    assert all(type(value) is type(options[name]) for name, value in config.env.keywords.items())
    assert Config.from_dict(config.to_dict()) == config
    from trainer.config.options import _option_text
    again = [f"{name}={_option_text(value)}" for name, value in config.env.options.items()]
    assert parse_new(GameName("gym:X-v0"), ["--options", *again]) == config


@pytest.mark.parametrize("words", [["lives"], ["=3"], ["lives="], ["a=1", "a=2"], ["a=nan"], ["a=inf"]])
def test_options_of_another_form_are_refused(words):
    with pytest.raises(ConfigError, match="options must be names of options, each once and with a value, such as lives=3"):
        parse_new(GameName("gym:X-v0"), ["--options", *words])


def test_a_text_option_reaches_the_environment():
    env = made("gym:FrozenLake-v1", options={"map_name": "8x8", "is_slippery": False})
    assert env.single_observation_space.n == 64


@pytest.mark.parametrize(("settings", "count"), [({}, 7), ({"wrap": "own_environments:short"}, 3),
                                                 ({"wrap": "own_environments:short", "vectorization": "async"}, 3),
                                                 ({"wrap": "own_environments:short,own_environments:longer"}, 3)])
def test_wrappers_are_applied_in_their_order(settings, count, monkeypatch):
    import own_environments
    monkeypatch.setattr(own_environments, "longer", lambda env: gymnasium.wrappers.TimeLimit(env, 5), raising=False)
    source = make_source(LINE, EnvConfig(**settings), 1, 0)
    env = source.envs[0]
    env.reset(seed=0)
    ends = [bool(terminated | truncated) for *_, terminated, truncated, _ in (env.step([0]) for _ in range(7))]
    assert ends.index(True) == count - 1
    source.close()


@pytest.mark.parametrize(("game", "settings", "sentence"), [
    ("gym:CartPole-v1", {"vectorization": "native", "wrap": "own_environments:short"},
     "vectorization must be auto, sync or async with wrappers, not 'native'"),
    (LINE, {"vectorization": "native"}, "vectorization must be auto, sync or async for gym:own_environments:Line, which"),
    (LINE, {"wrap": "own_environments:nothing"}, "wrap 'own_environments:nothing' must return a gymnasium.Env, not None"),
    (LINE, {"wrap": "own_environments:none_such"}, "own_environments.py has no none_such"),
    (LINE, {"wrap": "own_environments:NUMBER"}, "must be a class or a function, not the int 3"),
    (LINE, {"wrap": "builtins:object"}, "must accept 1 argument"),
    (LINE, {"wrap": "no_module:short"}, "there is no module no_module"),
    (LINE, {"wrap": "short"}, "wrap must be none, or import paths such as my_wrappers:small"),
    (LINE, {"wrap": "a:b,"}, "wrap must be none, or import paths such as my_wrappers:small"),
    (LINE, {"options": {"lenght": 3.0}}, "unexpected keyword argument 'lenght'"),
    (LINE, {"options": {"length": "long"}},
     "gym:own_environments:Line cannot be made with --options length=long: raised KeyError: 'line'"),
    ("gym:FrozenLake-v1", {"options": {"map_name": "9x9"}},
     "gym:FrozenLake-v1 cannot be made with --options map_name=9x9: raised KeyError: '9x9'"),
    ("gym:own_environments:Sized", {}, "argument: 'size' was raised from the environment creator for Sized with kwargs ({}); "
     "give it as an option, as in --options size=VALUE"),
    ("breakout", {"view": "ram"}, "view must be features or pixels for breakout, not 'ram': only a cartridge"),
    ("breakout", {"wrap": "own_environments:short"}, "wrap must be left out for breakout"),
    (LINE, {"sticky": 0.25, "frame_skip": 2}, "frame_skip and sticky must be left out for gym:own_environments:Line"),
    ("breakout", {"vectorization": "sync"}, "vectorization must be left out for breakout"),
])
def test_wrong_settings_of_environments_are_one_line_of_error(game, settings, sentence):
    with pytest.raises(TrainerError, match=re.escape(sentence)) as error:
        made(game, **settings)
    assert "\n" not in str(error.value)


def test_the_environment_s_own_vector_class_is_the_default_without_wrappers():
    assert type(made("gym:CartPole-v1")).__name__ == type(made("gym:CartPole-v1", vectorization="native")).__name__ \
        == "CartPoleVectorEnv"
    assert isinstance(made("gym:CartPole-v1", vectorization="sync"), SyncVectorEnv)
    assert isinstance(made("gym:CartPole-v1", wrap="own_environments:short"), SyncVectorEnv)


def test_a_class_of_a_vector_environment_is_native(monkeypatch):
    import own_environments
    monkeypatch.setattr(own_environments, "Lines", gymnasium.envs.classic_control.cartpole.CartPoleVectorEnv, raising=False)
    assert type(made("gym:own_environments:Lines")).__name__ == "CartPoleVectorEnv"


def test_a_newcomer_s_file_is_trained_evaluated_and_resumed_from_another_folder(tmp_path, monkeypatch, capsys):
    """And the agent learns from a Discrete observation."""
    monkeypatch.chdir(SUPPORT)
    run = str(tmp_path / "run")
    words = ["own_environments.py:Line", "--num-envs=16", "--horizon=16", "--minibatch=64", "--total-steps=8192",
             "--memory=none", "--learning-rate=0.01", "--num-threads=1", "--device=cpu", "--no-dashboard", "--no-gif",
             f"--run-dir={run}", "--eval-episodes=20", "--track=none"]
    assert main(words) == 0
    monkeypatch.chdir(tmp_path)
    assert main(["eval", run, "--episodes=20", "--device=cpu", "--greedy"]) == 0
    mean = re.findall(r"^greedy +own +own +20 +([\d.]+) ", capsys.readouterr().out, re.MULTILINE)[-1]
    assert float(mean) > 2.5  # half of 7 places have an even number
    assert main(["--resume", run, "--device=cpu", "--no-dashboard"]) == 0


@pytest.mark.parametrize(("name", "value"), [("time_limit", 7), ("reward_clip", 0.5), ("sticky", 0.25)])
def test_a_simulation_on_the_device_has_the_settings_of_its_environments(monkeypatch, name, value):
    made = {}

    class Recorded(CartPoleTensors):
        def __init__(self, num_envs, device, seed, **settings):
            made.update(settings, num_envs=num_envs, seed=seed)
            super().__init__(num_envs, device, seed, **settings)

    monkeypatch.setitem(SIMULATIONS, "tensors", Recorded)
    env = EnvConfig(sim="tensors", **{name: value})
    make_simulation(GameName("cartpole"), env, 4, 3, torch.device("cpu"), first=8)
    usual = {one: getattr(env, one) for one in ("time_limit", "reward_clip", "sticky")}
    assert made == usual | {"num_envs": 4, "seed": 3, "first": 8} and made[name] == value


def test_environments_of_a_part_have_the_seeds_of_their_numbers():
    """So the ranks of a job play different episodes."""
    parts = [make_source(GameName("gym:CartPole-v1"), EnvConfig(), 2, 5, first=first) for first in (0, 2)]
    assert [part.seed for part in parts] == [5, 7]
    for part in parts:
        part.close()

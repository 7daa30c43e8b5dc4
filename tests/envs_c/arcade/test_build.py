"""Games compiled to WebAssembly: their settings, games from outside the package, and what is not compiled."""

import hashlib
import json
import sys

import numpy as np
import pytest
from arcade_support import compiled, needs_browser_tools, node
from setup_support import ROOT, run
from support import TOY, play_core

import envs_c
from envs_c import outside
from envs_c.arcade import build
from envs_c.bare import emit
from envs_c.game import Game, Option
from envs_c.testing.play import actions_of

SETTINGS = [  # a game, the settings of its page, the same ones natively
    ("snake", {"options": {"size": 14, "wrap": 1}}, {"options": {"size": 14, "wrap": 1}}),
    ("snake", {"options": {"size": 4}, "view": "pixels"}, {"options": {"size": 4}, "view": "pixels"}),
    ("tmaze", {"sticky": 0.25, "timeLimit": 20, "frameSkip": 2}, {"sticky": 0.25, "time_limit": 20, "frame_skip": 2}),
    ("pong", {"noopMax": 30, "frameSkip": 1, "timeLimit": None, "options": {"points": 1}},
     {"noop_max": 30, "frame_skip": 1, "time_limit": None, "options": {"points": 1}}),
    ("cartpole", {"timeLimit": 0}, {"time_limit": 0}),
]
TABLE = "cdef int[1] TABLE\n\n\ncdef void fill() noexcept nogil:\n    TABLE[0] = 3\n\n\n"
FRAMES = ("    toy.frames += 1\n", "    toy.frames += TABLE[0]\n")  # a step of the toy reads the table


def through_node(game, folder, settings: dict, count: int, steps: int, seed: int) -> str:
    """The checksum of `play_core`, of random play in WebAssembly."""
    actions = actions_of(game, steps, count).copy()
    output = node("play.mjs", folder, game.name, seed, json.dumps({**settings, "count": count}), given=actions.tobytes())
    pictures = count * 3 * game.screen[0] * game.screen[1]
    return hashlib.blake2b(output[:-pictures], digest_size=8).hexdigest()


@needs_browser_tools
@pytest.mark.parametrize(("name", "there", "here"), SETTINGS, ids=[f"{row[0]}-{k}" for k, row in enumerate(SETTINGS)])
def test_settings_and_options_give_the_same_bits_as_natively(name, there, here):
    game = envs_c.game(name)
    found = through_node(game, compiled(game), there, 5, 150, 2**64 - 1)
    assert found == play_core(game, 5, 150, seed=2**64 - 1, **here)


@needs_browser_tools
def test_every_change_of_actions_and_features_by_an_option_is_described():
    for name in envs_c.games():
        game = envs_c.game(name)
        for option, values in build.variants(game).items():
            for value, found in values.items():
                env = envs_c.VecEnv(game, 1, options={option: int(value)})
                assert (found["actions"], found["featureShape"]) == (list(env.actions), list(env.observation_shape))
    assert {name for name in envs_c.games() if build.variants(envs_c.game(name))} == {
        "asteroids", "freeway", "go", "pacman", "seaquest", "snake", "space_invaders"}


def test_there_is_memory_for_the_value_of_an_option_with_the_most_actions_and_features():
    """Neither the first value nor the last one."""
    game = Game(name="maps", title="Maps", summary="Three maps.", version=1, screen=(84, 84), feature_dtype="float32",
                actions=lambda options: ("NOOP", "UP", "DOWN")[:3 if options["map"] == 1 else 2],
                feature_shape=lambda options: ((4, 40, 6)[int(options["map"])],), options={"map": Option(0, 0, 2, "the map")})
    facts = emit.facts(game).splitlines()
    assert {"#define BARE_MOST_ACTIONS 3", "#define BARE_MOST_FEATURES 40"} <= set(facts)
    assert {value: len(found["actions"]) for value, found in build.variants(game)["map"].items()} == {"1": 3, "2": 2}


def test_headers_replace_those_of_an_earlier_call_and_nothing_else(tmp_path):
    mine = tmp_path / "include" / "mine.h"
    mine.parent.mkdir()
    mine.write_text("mine")
    with pytest.raises(envs_c.InvalidArgument, match=r"include must be new, or hold Python's headers of an earlier call"):
        emit.copy_headers(mine.parent)
    assert mine.read_text() == "mine" and list(mine.parent.iterdir()) == [mine]
    mine.unlink()
    mine.parent.rmdir()
    for _ in range(2):
        emit.copy_headers(mine.parent)
        assert (mine.parent / "Python.h").is_file() and not (mine.parent / "old.h").exists()
        (mine.parent / "old.h").write_text("old")


def own_game(tmp_path, monkeypatch, text: str):
    """The `Game` of a .pyx with this text, compiled in a cache of its own."""
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ENVS_C_FLAGS", "-O0")
    path = tmp_path / "mine.pyx"
    path.write_text(text.replace('name="toy", title="Toy"', 'name="mine", title="Mine"'), encoding="utf-8")
    return outside.load(path)


def changed(*changes: tuple[str, str]) -> str:
    """The toy's text with changes, each of which must apply."""
    text = TOY.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


@needs_browser_tools
def test_a_game_from_outside_has_the_tables_of_its_prepare_natively_and_in_the_browser(tmp_path, monkeypatch):
    game = own_game(tmp_path, monkeypatch, changed(
        ("cdef void reset(", f"{TABLE}cdef void reset("), FRAMES, ("valid=valid)", "valid=valid, lives=NULL, prepare=fill)")))
    folder = tmp_path / "site"
    build.build(game, folder)
    native = play_core(game, 4, 60, seed=3)
    assert through_node(game, folder, {}, 4, 60, 3) == native
    without = own_game(tmp_path / "cache", monkeypatch, changed(("cdef void reset(", f"{TABLE}cdef void reset("), FRAMES))
    assert native != play_core(without, 4, 60, seed=3)


@needs_browser_tools
def test_a_game_that_fills_its_tables_when_imported_is_refused(tmp_path, monkeypatch):
    game = own_game(tmp_path, monkeypatch, changed(("cdef void reset(", f"{TABLE}fill()\n\n\ncdef void reset("), FRAMES))
    with pytest.raises(envs_c.ContractError, match=r"'mine' must fill its tables in prepare\(\), .* by fill\(\)"):
        build.build(game, tmp_path / "site")
    assert not list(tmp_path.glob("site/*"))


SET_AT_IMPORT = {  # a C variable of the file, and what step adds to the frames
    "a number": ("cdef int SPEED = 1", "SPEED"),
    "an array": ("cdef int[3] SPEEDS = [1, 2, 3]", "SPEEDS[0]"),
    "a loop": ("cdef int[3] SPEEDS\nfor _i in range(3):\n    SPEEDS[_i] = 1", "SPEEDS[0]"),
    "bytes": ('cdef const unsigned char* SPEEDS = b"\\1\\2"', "SPEEDS[0]"),
}


@pytest.mark.parametrize("kind", SET_AT_IMPORT)
def test_a_game_that_sets_its_variables_when_imported_is_refused(tmp_path, monkeypatch, kind):
    variable, read = SET_AT_IMPORT[kind]
    game = own_game(tmp_path, monkeypatch, changed(
        ("cdef void reset(", f"{variable}\n\n\ncdef void reset("), ("toy.frames += 1", f"toy.frames += {read}")))
    with pytest.raises(envs_c.ContractError, match=r"'mine' must set SPEEDS? in prepare\(\), .* when its file is imported"):
        emit.emit(game, tmp_path / "emitted")


def test_a_variable_that_only_the_description_reads_is_no_fault(tmp_path, monkeypatch):
    game = own_game(tmp_path, monkeypatch, changed(
        ("GAME = Game(", "cdef int LONGEST = 800\n\nGAME = Game("), ('"h": Option(20, 1, 800,', '"h": Option(20, 1, LONGEST,')))
    emit.emit(game, tmp_path / "emitted")


@needs_browser_tools
@pytest.mark.parametrize("name", ["sprites", "mine"])
def test_a_header_beside_the_game_joins_its_c_unless_it_has_the_games_name(tmp_path, monkeypatch, name):
    (tmp_path / f"{name}.h").write_text("static const int SPEED = 1;\n")
    game = own_game(tmp_path, monkeypatch, changed(
        ("cdef void reset(", f'cdef extern from "{name}.h":\n    const int SPEED\n\n\ncdef void reset('),
        ("toy.frames += 1", "toy.frames += SPEED")))
    if name == "sprites":
        build.build(game, tmp_path / "site")
        assert through_node(game, tmp_path / "site", {}, 4, 60, 3) == play_core(game, 4, 60, seed=3)
    else:
        with pytest.raises(envs_c.ContractError, match=r"mine\.h beside game 'mine' must have another name than the game"):
            emit.emit(game, tmp_path / "emitted")


def test_a_chunk_of_another_form_is_refused(tmp_path, monkeypatch):
    game = own_game(tmp_path, monkeypatch, changed(("mask, sizeof(Toy),", "mask, size,"), (
        "    run_chunk(", "    cdef size_t size = sizeof(Toy)\n    run_chunk(")))
    with pytest.raises(envs_c.ContractError, match="must call run_chunk in its chunk with the names of its functions"):
        emit.emit(game, tmp_path / "emitted")


def test_a_game_is_compiled_again_only_if_something_has_changed(tmp_path, monkeypatch):
    compiles = []

    def compile_game(game, scratch, simd):
        compiles.append((game.name, simd))
        (scratch / "game.wasm").write_bytes(b"wasm")

    monkeypatch.setattr(build, "compile_game", compile_game)
    build.build("tmaze", tmp_path)
    build.build("tmaze", tmp_path)
    assert compiles == [("tmaze", True)]
    build.build("tmaze", tmp_path, simd=False)
    monkeypatch.setattr(build.flags, "GAME_FLAGS", ["-O1"])
    build.build("tmaze", tmp_path, simd=False)
    assert compiles[1:] == [("tmaze", False)] * 2
    for damaged in ("", '{"name": "tm', "[]", "{}"):
        (tmp_path / "tmaze.json").write_text(damaged)
        build.build("tmaze", tmp_path)
    assert len(compiles) == 3 + 4


def test_without_ziglang_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr(build.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(envs_c.CompileFailed, match=r"without ziglang: pip install .*\[arcade\]'"):
        build.build_all(["pong"], build.Path("unused"))


@needs_browser_tools
def test_a_game_is_compiled_by_an_installed_package(tmp_path):
    run(sys.executable, "setup.py", "-q", "build_py", "--build-lib", tmp_path / "installed")  # all files but compiled modules
    for module in (ROOT / "envs_c").rglob("*.so"):
        (tmp_path / "installed" / module.relative_to(ROOT)).symlink_to(module)
    done = run(sys.executable, "-P", "-m", "envs_c.arcade.build", tmp_path / "games", "tmaze", cwd=tmp_path / "installed",
               PYTHONPATH=str(tmp_path / "installed"))
    assert done.returncode == 0, done.stderr
    game = envs_c.game("tmaze")
    assert through_node(game, tmp_path / "games", {}, 3, 50, 1) == play_core(game, 3, 50, seed=1)
    page = {path.relative_to(tmp_path / "installed") for path in (tmp_path / "installed" / "envs_c" / "arcade").rglob("*.js")}
    assert page == {path.relative_to(ROOT) for path in (ROOT / "envs_c" / "arcade").rglob("*.js")}


@needs_browser_tools
def test_a_description_lists_every_feature_by_name():
    about = build.describe(envs_c.game("breakout"))
    assert sum(row["count"] for row in about["features"]) == np.prod(about["featureShape"]) == 118
    assert json.loads(json.dumps(about, allow_nan=False)) == about

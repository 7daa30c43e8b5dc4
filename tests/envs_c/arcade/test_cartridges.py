"""The console in WebAssembly: a cartridge of the user's own gives the same bits there as natively, and the page holds none."""

import hashlib
import json
import shutil
from itertools import pairwise

import numpy as np
import own_rom
import pytest
from arcade_support import console, needs_browser_tools, node, whole_page
from support import play_core

import envs_c
from envs_c.arcade import cartridges as console_page
from envs_c.arcade import site
from envs_c.arcade.build import HERE
from envs_c.console import cartridges
from envs_c.testing.play import actions_of

WINDOW = 24  # bytes of a cartridge that would be a part of one
# plain, E0, FE, SC, PAL, DPC, 2 KB
KINDS = ("pong", "montezuma_revenge", "robotank", "elevator_action", "klax", "pitfall2", "combat")
STEPS = 120
OTHER = {"view": "pixels", "sticky": 0.25, "noop_max": 20, "time_limit": 50}


@pytest.fixture(scope="module")
def folder():
    """The console for browsers and its table."""
    return console()


def in_browser(folder, game, there: dict, count: int, steps: int, seed: int) -> tuple[str, bytes]:
    """The checksum of `play_core`, of random play in WebAssembly, and the pictures at the end."""
    actions = actions_of(game, steps, count).copy()
    settings = json.dumps({**there, "count": count})
    output = node("play.mjs", folder, game.name, seed, settings, game.path, given=actions.tobytes())
    pictures = count * 3 * game.screen[0] * game.screen[1]
    return hashlib.blake2b(output[:-pictures], digest_size=8).hexdigest(), output[-pictures:]


def native_pictures(game, count: int, steps: int, seed: int) -> bytes:
    env = envs_c.make(f"atari:{game.path}", num_envs=count, seed=seed, view="rgb", num_threads=1)
    env.reset(seed=seed)
    for actions in actions_of(game, steps, count):
        seen = env.step(actions)[0]
    return np.ascontiguousarray(seen).tobytes()


@needs_browser_tools
@pytest.mark.parametrize("name", [name if name in KINDS[:2] else pytest.param(name, marks=pytest.mark.slow)
                                  for name in sorted(cartridges.table(), key=lambda name: name not in KINDS)])
def test_a_cartridge_in_webassembly_gives_the_same_bits_and_pictures_as_natively(name, folder):
    pytest.importorskip("ale_py")
    game = cartridges.cartridge(f"atari:{name}")
    checksum, pictures = in_browser(folder, game, {}, 2, STEPS, 3)
    assert checksum == play_core(game, 2, STEPS, seed=3)
    assert pictures == native_pictures(game, 2, STEPS, 3)


@needs_browser_tools
@pytest.mark.parametrize(("there", "here"), [
    ({"view": "pixels", "sticky": 0.25, "noopMax": 20, "timeLimit": 50}, OTHER),
    ({"view": "ram", "frameSkip": 1, "options": {"full_action_space": 1}},
     {"view": "ram", "frame_skip": 1, "options": {"full_action_space": 1}}),
    ({"options": {"mode": 1, "difficulty": 1}}, {"options": {"mode": 1, "difficulty": 1}})])
def test_settings_and_options_of_a_cartridge_are_those_of_make(there, here, folder):
    pytest.importorskip("ale_py")
    game = cartridges.cartridge("atari:pong")
    assert in_browser(folder, game, there, 2, STEPS, 5)[0] == play_core(game, 2, STEPS, seed=5, **here)


@needs_browser_tools
@pytest.mark.parametrize("name", ["pong", "asteroids"])
def test_an_agent_that_plays_frame_by_frame_sees_the_pictures_of_its_training(name, folder):
    pytest.importorskip("ale_py")
    node("pictures.mjs", folder, cartridges.present()[name], STEPS)


@needs_browser_tools
def test_a_file_that_is_not_in_the_table_plays_too(tmp_path, folder):
    path = tmp_path / "own.bin"
    path.write_bytes(own_rom.DATA)
    with pytest.warns(UserWarning, match="not in the table"):
        game = cartridges.game_of_file(path)
    actions = actions_of(game, STEPS, 1).copy()
    name = f"atari_rom_{cartridges.md5_of(own_rom.DATA)[:12]}"
    output = node("play.mjs", folder, name, 3, "{}", path, given=actions.tobytes())
    pictures = 3 * game.screen[0] * game.screen[1]
    assert hashlib.blake2b(output[:-pictures], digest_size=8).hexdigest() == play_core(game, 1, STEPS, seed=3)


@needs_browser_tools
def test_wrong_files_and_options_are_refused_by_name(folder):
    node("cartridges.mjs", folder)


@needs_browser_tools
def test_the_digest_in_javascript_is_md5():
    data = np.random.default_rng(1).integers(0, 256, 200, np.uint8).tobytes()
    found = node("md5.mjs", given=data).decode().split()
    assert found == [hashlib.md5(data[:length], usedforsecurity=False).hexdigest() for length in range(201)]


def banks(size: int, begin: bytes) -> bytes:
    """A file without instructions whose banks of 4 KB begin with these bytes."""
    return b"".join(begin.ljust(4096, b"\xff") for _ in range(size // 4096))


@needs_browser_tools
@pytest.mark.parametrize(("data", "kind"), [
    (bytes(100), "plain"), (banks(4096, b""), "plain"), (banks(8192, b"\0" * 256), "F8SC"), (banks(8192, b""), "F8SC"),
    (banks(8192, bytes(range(128)) * 2), "F8"), (banks(8192, b"\0" * 255), "F8"), (banks(16384, b"\7" * 256), "F6SC"),
    (banks(16384, bytes(range(128)) * 2), "F6"), (banks(32768, b"\7" * 255), "F4"), (bytes(10240), "DPC")],
    ids=lambda value: value if isinstance(value, str) else f"{len(value)} bytes")
def test_the_page_takes_a_file_for_the_kind_that_the_console_takes_it_for(data, kind, folder):
    assert cartridges.filled(data, "")[1] == kind
    table = folder / console_page.TABLE
    assert json.loads(node("kinds.mjs", table, given=data)) == json.loads(table.read_text())["kinds"][kind]


@needs_browser_tools
def test_the_table_of_the_page_is_that_of_the_console(folder):
    table = json.loads((folder / console_page.TABLE).read_text())
    assert {row["name"] for row in table["games"].values()} == set(cartridges.table())
    assert table["agents"] == ["atari_pong"]


@pytest.mark.parametrize("part", ["console.pyx", "state.pxd", "cpu/alu.pxd", "tia/tia.pxd"])
def test_the_console_is_compiled_again_if_a_part_of_it_has_changed(part, tmp_path, monkeypatch):
    compiles = []

    def compile_console(scratch, simd):
        compiles.append(simd)
        (scratch / "game.wasm").write_bytes(b"wasm")

    sources = tmp_path / "console"
    shutil.copytree(console_page.SOURCE.parent, sources, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    monkeypatch.setattr(console_page, "SOURCE", sources / console_page.SOURCE.name)
    monkeypatch.setattr(console_page, "compile_console", compile_console)
    for _ in range(2):
        console_page.build_console(tmp_path / "page", [])
    assert compiles == [True]
    with (sources / part).open("a") as file:
        file.write("# another console\n")
    console_page.build_console(tmp_path / "page", [])
    assert compiles == [True, True]


def is_distinctive(window: bytes) -> bool:
    """True if these bytes are neither few values nor a row of numbers, which other files hold too."""
    steps = {(after - before) & 255 for before, after in pairwise(window)}
    return len(set(window)) > WINDOW // 2 and len(steps) > WINDOW // 2


def part_of_a_cartridge(data: bytes) -> str | None:
    """The name of a cartridge of which the data hold a part; None if of none."""
    for name, path in cartridges.present().items():
        rom = path.read_bytes()
        windows = (rom[at:at + WINDOW] for at in range(0, len(rom) - WINDOW, WINDOW))
        if any(is_distinctive(window) and window in data for window in windows):
            return name
    return None


@needs_browser_tools
def test_what_the_page_is_made_of_holds_no_part_of_a_cartridge(folder):
    pytest.importorskip("ale_py")
    rom = cartridges.present()["pong"].read_bytes()
    assert part_of_a_cartridge(b"before" + rom[100:1000] + b"after") == "pong"
    for path in [*folder.iterdir(), *(path for path in site.PAGE.rglob("*") if path.is_file()), *HERE.glob("agents/*")]:
        assert part_of_a_cartridge(path.read_bytes()) is None, path


@needs_browser_tools
@pytest.mark.slow
def test_the_whole_page_holds_no_part_of_a_cartridge():
    pytest.importorskip("ale_py")
    page = whole_page()
    assert (page / "console" / console_page.WASM).exists()
    for path in page.rglob("*"):
        assert not path.is_file() or part_of_a_cartridge(path.read_bytes()) is None, path

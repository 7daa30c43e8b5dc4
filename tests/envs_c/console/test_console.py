"""The console: cartridges beside ale-py, files of strangers, snapshots, and what `make` says about cartridges."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

import envs_c
from envs_c.console import cartridges
from envs_c.engine.state import LENGTH, MAGIC, close_state
from envs_c.errors import InvalidArgument, InvalidState, UnknownGame

pytest.importorskip("ale_py")

from benchmarks.console.comparison import PARTS, Console, compare

# Ten games: kinds of cartridges and of controls; some read collisions, some end frames late, some have modes.
TEN = ["amidar", "asterix", "double_dunk", "frostbite", "kaboom", "pong", "qbert", "seaquest", "solaris", "surround"]
RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "console.md"


def differing(name: str) -> set[str]:
    """The parts that differ by the published table."""
    row = next(line for line in RESULTS.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {name} "))
    return {part for part, cell in zip(PARTS, row.strip("|").split("|")[-len(PARTS):], strict=True) if cell.strip() != "-"}


@pytest.mark.parametrize("name", TEN)
def test_a_cartridge_plays_as_under_ale(name):
    found = compare(name, 240, seed=4)
    assert found["first"] == {}
    assert found["frames"] >= 240


@pytest.mark.slow
@pytest.mark.parametrize("name", cartridges.present())
def test_every_cartridge_plays_as_under_ale_but_where_the_table_says(name):
    assert set(compare(name, 2_000, seed=5)["first"]) <= differing(name)


def test_the_page_says_what_the_table_shows():
    page = (RESULTS.parents[2] / "docs" / "console.md").read_text(encoding="utf-8")
    lines = RESULTS.read_text(encoding="utf-8").splitlines()
    sums = [line for line in lines if line.startswith("Of ") or line.endswith("ends in all.")]
    assert len(sums) == 3
    assert all(line in page for line in sums)
    games = [line.split("|")[1].strip() for line in lines if re.match(r"\| \w+ +\| [\d,]+ ", line)]
    assert sorted(games) == sorted(cartridges.table())
    assert all(f"`{name}`" in page for name in games if differing(name))


@pytest.mark.parametrize("name", ["seaquest", "pong"])
def test_later_episodes_follow_from_the_console_not_from_the_seed(name):
    first, second = (Console(cartridges.cartridge(f"atari:{name}")) for _ in range(2))
    for console in (first, second):
        console.batch.reset()
        for action in (1, 3, 4, 0) * 10:
            console.act(action)
    assert np.array_equal(first.ram, second.ram)


def test_a_snapshot_goes_on_as_the_console_does():
    ours = Console(cartridges.cartridge("atari:qbert"))
    for action in (0, 2, 3, 5) * 20:
        ours.act(action)
    state, seen = ours.env.get_state(), []
    for _ in range(2):
        ours.env.set_state(state)
        for action in (2, 5, 3, 0, 1) * 10:
            ours.act(action)
        seen.append((ours.ram.copy(), ours.env.render()))
    assert all(np.array_equal(one, two) for one, two in zip(*seen, strict=True))


def test_a_changed_snapshot_is_refused_or_plays_on():
    ours, draw, refused = Console(cartridges.cartridge("atari:qbert")), random.Random(0), 0
    whole = ours.env.get_state()
    header = whole[: len(MAGIC) + LENGTH + int.from_bytes(whole[len(MAGIC): len(MAGIC) + LENGTH], "little")]
    signature = {key: value for key, value in json.loads(header[len(MAGIC) + LENGTH:]).items() if key not in ("count", "crc32")}
    for _ in range(300):
        raw = bytearray(whole[len(header):])
        for _ in range(draw.randint(1, 40)):
            raw[draw.randrange(1200)] = draw.randrange(256)  # the log of writes begins later
        try:
            ours.env.set_state(close_state(signature, 1, bytes(raw)))
        except InvalidState:
            refused += 1
            continue
        ours.act(draw.randrange(18))
        ours.env.render()
    assert 0 < refused < 300


@pytest.mark.parametrize("threads", [1, 3])
def test_environments_of_a_cartridge_do_not_depend_on_each_other(threads):
    actions = np.random.default_rng(0).integers(6, size=(20, 9))
    rams = []
    for count in (9, 1):
        env = envs_c.make("atari:pong", count, frame_skip=4, num_threads=threads, seed=0)
        env.reset(seed=0)
        for row in actions:
            observation = env.step(row[:count])[0]
        rams.append(observation[0])
    assert np.array_equal(*rams)


STRANGERS = [b"\xea", b"\x02" * 4096, bytes(4096), b"\x4c\x00\xf0" + bytes(8189), bytes(range(256)) * 64, b"\x85\x00" * 2048,
             b"\x60" * 16384, b"\x00" * 32768, b"\xff" * 3000]


@pytest.mark.filterwarnings("ignore:the cartridge")
@pytest.mark.parametrize("number", range(len(STRANGERS) + 12))
def test_any_bytes_play_without_reward(number, tmp_path):
    draw = random.Random(number)
    data = STRANGERS[number] if number < len(STRANGERS) else draw.randbytes(draw.choice([7, 2048, 4096, 5000, 8192, 16384]))
    path = tmp_path / "stranger.bin"
    path.write_bytes(data)
    ours = Console(cartridges.game_of_file(path))
    for _ in range(4):
        ours.act(draw.randrange(18))
        assert ours.reward[0] == 0 and ours.terminated[0] == 0
    assert ours.env.render().shape == (210, 160, 3)


@pytest.mark.parametrize("data, message", [(b"", "must be a file of 1 to 32,768 bytes"), (bytes(32769), "32,769")])
def test_a_file_of_another_size_is_no_cartridge(data, message, tmp_path):
    path = tmp_path / "no.bin"
    path.write_bytes(data)
    with pytest.raises(InvalidArgument, match=message):
        cartridges.game_of_file(path)


def test_an_unknown_name_suggests_a_similar_one():
    with pytest.raises(UnknownGame, match="seaquest"):
        envs_c.make("atari:seaqest")


def test_a_cartridge_that_is_not_there_is_named_with_how_to_get_it(monkeypatch):
    monkeypatch.setattr(cartridges, "present", dict)
    with pytest.raises(UnknownGame, match="atari:qbert is not on this machine: pip install ale-py"):
        envs_c.make("atari:qbert")

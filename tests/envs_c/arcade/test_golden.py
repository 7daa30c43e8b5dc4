"""The games in WebAssembly, run by node: the golden checksums of the native games, and their coloured pictures."""

import hashlib
import json

import pytest
from arcade_support import compiled, needs_browser_tools, node

import envs_c
from envs_c.testing.play import actions_of
from tools.isa.bare import pictures_after
from tools.isa.debian import ROOT
from tools.isa.golden import golden

FACTS = golden(ROOT / "tests")
SIZE = FACTS["GOLDEN_SIZE"]


def played(name: str, view: str, simd: bool) -> tuple[str, bool]:
    """The checksum of all outputs, and whether the pictures at the end are those of this Python's game."""
    game, count = envs_c.game(name), SIZE["num_envs"]
    actions = actions_of(game, SIZE["steps"], count).copy()
    settings = json.dumps({"view": view, "count": count})
    output = node("play.mjs", compiled(name, simd), name, SIZE["seed"], settings, given=actions.tobytes())
    pictures = pictures_after(game, actions, SIZE)
    checksum = hashlib.blake2b(output[:-len(pictures)], digest_size=8).hexdigest()
    return checksum, output[-len(pictures):] == pictures


@needs_browser_tools
@pytest.mark.parametrize("view", ["features", "pixels"])
@pytest.mark.parametrize("name", envs_c.games())
def test_a_game_in_webassembly_gives_the_golden_checksums_and_the_same_pictures(name, view):
    assert played(name, view, simd=True) == (FACTS["GOLDEN"][name, view], True)


@needs_browser_tools
@pytest.mark.parametrize("name", [name if name == "pong" else pytest.param(name, marks=pytest.mark.slow)
                                  for name in envs_c.games()])
def test_a_game_without_simd_gives_the_same_checksums(name):
    for view in ("features", "pixels"):
        assert played(name, view, simd=False) == (FACTS["GOLDEN"][name, view], True)

"""The console on the GPU: its kernels, compiled for the CPU and as PTX on the emulator, have the bits of the CPU's engine."""

import importlib.util

import numpy as np
import own_rom
import pytest
import torch
from game_runs import Pair, played
from games_on_cpu import EmulatedGame, GameOnCpu

import envs_c
from benchmarks.device_games import __main__ as device_games
from benchmarks.device_games import assembler
from bridge.on_device import cartridge as inserted
from bridge.on_device.games import DeviceGame
from envs_c.bare import device
from envs_c.console import cartridges

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")
PTXAS = assembler.find_ptxas()
DATA, OTHER = own_rom.another(1), own_rom.another(2)


@pytest.fixture(scope="module")
def own():
    return cartridges.game_of(DATA, None, own_rom.ROW)


@pytest.mark.parametrize("settings", [
    {}, {"view": "ram", "frame_skip": (2, 5), "sticky": 0.25}, {"autoreset": "same_step", "episodic_life": True},
    pytest.param({"view": "pixels"}, marks=pytest.mark.slow),
    pytest.param({"view": "pixels", "frame_skip": 1}, marks=pytest.mark.slow),
    pytest.param({"view": "pixels", "autoreset": "same_step", "noop_max": 5}, marks=pytest.mark.slow),
], ids=str)
def test_a_cartridge_plays_as_on_the_engine(own, settings):
    assert played(own, GameOnCpu(own, settings.get("view") == "pixels"), 3, 150, **settings) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ["breakout", "qbert", "seaquest", "air_raid"])
@pytest.mark.parametrize("view", ["features", "pixels"])
def test_cartridges_of_the_table_play_as_on_the_engine(name, view):
    game = envs_c.game(f"atari:{name}")
    played(game, GameOnCpu(game, view == "pixels"), 3, 300, view=view, noop_max=30, sticky=0.25)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["features", "pixels"])
def test_the_emulator_plays_a_frame_as_the_engine(own, view):
    pair = Pair(own, 1, EmulatedGame(own, view == "pixels"), seed=3, view=view, frame_skip=1)
    pair.batch.reset(None)  # many frames: some minutes on the emulator
    pair.device.set_state(pair.env.get_state())
    for name, one in pair.theirs.items():
        pair.ours[name].copy_(one)
    pair.step(np.random.default_rng(1))


def test_more_pictures_than_there_is_memory_to_paint_at_once_are_made(own, monkeypatch):
    monkeypatch.setattr(inserted, "ROOMS", 2)
    noted = []
    module = type("Noting", (), {"launch": lambda self, name, items, *values, block=0: noted.append((name, items, block))})()
    game = DeviceGame(own, 5, "cpu", module=module, view="pixels")
    game.observe(torch.zeros(5, 84, 84, dtype=torch.uint8))
    assert ("draw", 2 * inserted.PAINTERS, inserted.PAINTERS) in noted
    assert [name for name, *_ in noted].count("insert") == 1


@pytest.mark.slow
@pytest.mark.skipif(PTXAS is None, reason="ptxas, of CUDA, is not here")
@pytest.mark.parametrize("pixels", [False, True])
def test_registers_and_stack_are_bounded_on_all_architectures_and_nothing_spills(own, pixels):
    text = device.ptx(own, pixels=pixels)
    found = assembler.most([used for arch in device_games.ARCHITECTURES
                            for used in assembler.assembled(text, arch, PTXAS).values()])
    assert found.registers <= 255 and found.stack <= 1_200 and found.spills == 0, found


def test_all_cartridges_have_one_program(own, monkeypatch, tmp_path):
    monkeypatch.setenv("ENVS_C_CACHE", str(tmp_path))
    monkeypatch.setattr(device, "compiled", lambda game, pixels, folder: f"{game.name} {pixels}")
    assert device.ptx(own) == device.ptx(cartridges.game_of(OTHER, None, own_rom.ROW)) == "console False"

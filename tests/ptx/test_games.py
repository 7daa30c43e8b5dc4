"""The games as CUDA kernels, compiled from their one source: their PTX on the emulator has the bits of the CPU's engine."""

import importlib.util

import numpy as np
import pytest
import torch
from game_runs import Pair, played

import envs_c
from bridge.on_device.games import DeviceGame

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")

SHORT = ("cartpole", "tmaze", "pong")
GAMES = [pytest.param(name, marks=() if name in SHORT else pytest.mark.slow) for name in envs_c.catalog.built_in()]


def emulated(name: str, view: str = "features", **options):
    from games_on_cpu import EmulatedGame
    return EmulatedGame(envs_c.game(name), view == "pixels", **options)


@pytest.mark.parametrize("name", GAMES)
def test_every_game_has_the_bits_of_the_engine(name):
    played(envs_c.game(name), emulated(name), 3, 8, sticky=0.25, reward_clip=1.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", envs_c.catalog.built_in())
def test_every_picture_has_the_bytes_of_the_engine_s(name):
    played(envs_c.game(name), emulated(name, "pixels"), 1, 1, view="pixels")


@pytest.mark.parametrize("settings", [{}, {"autoreset": "same_step"}, {"frame_skip": (2, 5)},
                                      {"time_limit": 0, "sticky": 0.5}], ids=str)
def test_settings_and_ends_of_episodes(settings):
    settings = {"time_limit": 7} | settings
    episodes = played(envs_c.game("cartpole"), emulated("cartpole"), 33, 40, **settings)
    assert episodes > 33


def test_the_caller_resets_without_autoreset():
    pair, random = Pair(envs_c.game("cartpole"), 9, emulated("cartpole"), seed=3, autoreset="disabled",
                        time_limit=4), np.random.default_rng(2)
    pair.reset()
    for _ in range(9):
        pair.step(random)
        if (ended := pair.env.ended != 0).any():
            pair.reset(ended)
    assert pair.episodes >= 18


@pytest.mark.parametrize("settings", [{"episodic_life": True}, {"life_loss_info": True}, {"noop_max": 3},
                                      {"autoreset": "same_step"}], ids=str)
@pytest.mark.slow
def test_lives_and_no_op_starts(settings):
    played(envs_c.game("breakout"), emulated("breakout"), 3, 12, **settings)


def test_environments_that_are_held_do_not_step():
    pair, random = Pair(envs_c.game("cartpole"), 9, emulated("cartpole"), seed=3), np.random.default_rng(2)
    pair.reset()
    for _ in range(6):
        pair.step(random, random.random(9) < 0.5)


@pytest.mark.parametrize("call", ["reset", "step"])
@pytest.mark.parametrize("wrong", [torch.ones(8, dtype=torch.uint8), torch.ones(9, dtype=torch.bool),
                                   torch.ones(9, dtype=torch.uint8, device="meta")], ids=["shape", "dtype", "device"])
def test_a_wrong_selection_is_named_and_nothing_is_launched(monkeypatch, call, wrong):
    pair = Pair(envs_c.game("cartpole"), 9, emulated("cartpole"), seed=3)
    pair.reset()
    monkeypatch.setattr(pair.device.module, "launch", lambda *_, **__: pytest.fail("launched"))
    actions = (torch.zeros(9, dtype=torch.int32),) if call == "step" else ()
    with pytest.raises(ValueError, match=r"^selected must be a contiguous \(9,\) torch.uint8 on cpu, not"):
        getattr(pair.device, call)(*actions, **pair.ours, selected=wrong)


@pytest.mark.slow
def test_the_kernel_prepare_fills_tables_and_backdrop_as_the_c_compiler_s_does():
    game, modules = envs_c.game("pong"), [emulated("pong", "pixels", prepares=prepares) for prepares in (True, False)]
    one, other = (DeviceGame(game, 1, "cpu", module=module, view="pixels") for module in modules)
    assert torch.equal(one._sums, other._sums) and torch.equal(one._backdrop, other._backdrop)
    assert modules[0].tables
    for name in modules[0].tables:
        made, wanted = (module.module.globals.bytes[name] for module in modules)
        assert np.array_equal(made, wanted) and made.any(), name

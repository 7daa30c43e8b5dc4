"""`--sim device` for every game, on the device without a GPU. Its kernels are compiled for the CPU; tests/ptx emulates them."""

import importlib.util
from pathlib import Path

import pytest
import torch
from device_runs import config, contents, require_same, trained

import envs_c
from bridge.on_device.cartpole import CartPole
from bridge.source import GameSource
from trainer.errors import SettingError
from trainer.training.build import make_session
from trainer.training.train import iterate

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")

CAVE = str(Path(__file__).resolve().parents[2] / "examples" / "new_game" / "cave.pyx")
RUNS = {
    "features": {"game": "pong"},
    "masks": {"game": "go", "encoder": "mlp", "memory": "none", "options": {"size": 5}},
    "pictures": {"game": "breakout", "view": "pixels", "num_envs": 4, "epochs": 1, "frame_stack": 2},
    "a game of one's own": {"game": CAVE, "sticky": 0.25},
    "a cartridge": {"game": "atari:breakout", "encoder": "bits", "noop_max": 3, "time_limit": 9},
    "another frame skip": {"game": "cartpole", "frame_skip": 2, "time_limit": 7},
}


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS.keys())
def test_a_training_has_no_fault_and_equals_the_host_s(faulty, settings):
    made = trained(config(sim="device", **settings))
    assert faulty.graphs > 0 and all(len(slab.host) for slab in made.pipeline.slabs)
    require_same(contents(made), contents(trained(config("cpu", **settings))))
    assert not faulty.faults


def require_same_on_both(path: Path, settings: dict):
    """Assert that a checkpoint's training goes on with the same numbers on the host and on the device."""
    sessions = [make_session(config(sim=sim, **settings), resume=path) for sim in ("host", "device")]
    for one in sessions:
        for _ in range(2):
            iterate(one)
        one.pipeline.settle()
    require_same(*map(contents, sessions), tolerance=1e-6)


@pytest.mark.parametrize("first", ["host", "device"])
@pytest.mark.parametrize("settings", [{"game": "pong", "num_batches": 2}, {"game": "cartpole"},
                                      {"game": "cartpole", "sticky": 0.3}], ids=str)
def test_a_run_begun_on_one_side_resumes_on_the_other(faulty, tmp_path, first, settings):
    settings = {"time_limit": 9} | settings
    path = trained(config(sim=first, **settings), 2).save(tmp_path)
    require_same_on_both(path, settings)
    assert not faulty.faults


def test_a_run_from_before_snapshots_of_cartpole_on_the_device_resumes_on_both_sides(faulty, tmp_path, monkeypatch):
    settings = {"game": "cartpole", "time_limit": 9}
    with monkeypatch.context() as patch:
        patch.setattr(CartPole, "state", lambda self: {f"simulation.{name}": one for name, one in self.arrays().items()})
        path = trained(config(sim="device", **settings), 2).save(tmp_path)
    require_same_on_both(path, settings)


def test_a_run_resumed_on_the_host_has_its_batches_chosen_there(faulty, tmp_path):
    path = trained(config(sim="device", game="pong"), 1).save(tmp_path)
    resumed = make_session(config(sim="host", game="pong", num_batches=3), resume=path)
    assert len(resumed.pipeline.batches) == 3


@pytest.mark.parametrize("settings", [{"game": "pong"}, {"game": "cartpole"}], ids=str)
def test_a_game_that_has_changed_since_begins_new_episodes(faulty, tmp_path, monkeypatch, settings):
    made = trained(config(sim="device", **settings), 2)
    path = made.save(tmp_path)

    def other(self, state):
        raise envs_c.OtherVersion("this state has version 0")
    monkeypatch.setattr(type(made.pipeline.source), "restore", other)
    sessions = [make_session(config(sim="device", **settings), resume=path)]
    monkeypatch.setattr(GameSource, "restore", other)
    sessions.append(make_session(config(sim="host", **settings), resume=path))
    for one in sessions:
        iterate(one)
        one.pipeline.settle()
    assert "has changed since" in sessions[0].notes[0]
    require_same(*map(contents, sessions), tolerance=1e-6)


def test_a_rollout_copies_nothing(faulty):
    made = trained(config(sim="device", game="pong"))
    with faulty.schedule.part("rollout"):
        from trainer.rollout.actor import collect
        collect(made.actor)
    assert not [one for one in faulty.schedule.of("rollout") if one.kind in ("copy", "sync")]


@pytest.mark.parametrize(("device", "settings", "message"), [
    ("cpu", {"game": "pong", "sim": "device"}, "must be host on the device cpu, not 'device': its kernel needs a GPU"),
    ("cuda", {"game": "pong", "sim": "tensors"}, "must be host or device for pong, not 'tensors'"),
    ("cuda", {"game": "gym:Acrobot-v1", "sim": "device"}, "must be host for gym:Acrobot-v1, not 'device'"),
    ("cuda", {"game": "atari:pong", "sim": "tensors"}, "must be host or device for atari:pong, not 'tensors'"),
])
def test_what_cannot_be_played_there_is_an_error(faulty, device, settings, message):
    with pytest.raises(SettingError, match=message):
        make_session(config(device, **settings))


def test_the_views_in_colour_are_refused():
    from bridge.on_device.games import DeviceGame
    with pytest.raises(envs_c.InvalidArgument, match="view must be features or pixels on the device, not 'rgb'"):
        DeviceGame(envs_c.game("pong"), 1, torch.device("cuda"), view="rgb")

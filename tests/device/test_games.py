"""`--sim device` for every game, on the device without a GPU. Its kernels are compiled for the CPU; tests/ptx emulates them."""

import importlib.util

import pytest
import torch
from device_runs import config, contents, require_same, trained

import envs_c
from trainer.errors import SettingError
from trainer.training.build import make_session
from trainer.training.train import iterate

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")

RUNS = {
    "features": {"game": "pong"},
    "masks": {"game": "go", "encoder": "mlp", "memory": "none", "options": {"size": 5}},
    "pictures": {"game": "breakout", "view": "pixels", "num_envs": 4, "epochs": 1, "frame_stack": 2},
    "another frame skip": {"game": "cartpole", "frame_skip": 2, "time_limit": 7},
}


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS.keys())
def test_a_training_has_no_fault_and_equals_the_host_s(faulty, settings):
    made = trained(config(sim="device", **settings))
    assert faulty.graphs > 0 and all(len(slab.host) for slab in made.pipeline.slabs)
    require_same(contents(made), contents(trained(config("cpu", **settings))))
    assert not faulty.faults


@pytest.mark.parametrize("first", ["host", "device"])
def test_a_run_begun_on_one_side_resumes_on_the_other(faulty, tmp_path, first):
    settings = {"game": "pong", "time_limit": 9}
    path = trained(config(sim=first, **settings), 2).save(tmp_path)
    sessions = [make_session(config(sim=sim, **settings), resume=path) for sim in ("host", "device")]
    for one in sessions:
        for _ in range(2):
            iterate(one)
        one.pipeline.settle()
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
])
def test_what_cannot_be_played_there_is_an_error(faulty, device, settings, message):
    with pytest.raises(SettingError, match=message):
        make_session(config(device, **settings))


def test_the_views_in_colour_are_refused():
    from bridge.on_device.games import DeviceGame
    with pytest.raises(envs_c.InvalidArgument, match="view must be features or pixels on the device, not 'rgb'"):
        DeviceGame(envs_c.game("pong"), 1, torch.device("cuda"), view="rgb")

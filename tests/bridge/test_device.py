"""Training on the slow device, with captured graphs, and on the device itself equals training on the CPU bit for bit."""

import dataclasses
import tracemalloc

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.errors import ConfigError
from trainer.rollout.actor import collect
from trainer.training import build as build_module
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate


def config(game="cartpole", num_batches=1, *, num_envs=12, serial=False, view="features", frame_stack=1, memory="lstm",
           minibatch=None, num_threads=1, encoder="auto"):
    return Config(game, EnvConfig(num_envs=num_envs, num_batches=num_batches, num_threads=num_threads, view=view),
                  PolicyConfig(encoder_size=16, lstm_size=12, precision="float32", frame_stack=frame_stack, memory=memory,
                               encoder=encoder),
                  PPOConfig(horizon=8, minibatch=minibatch or num_envs * 4, total_steps=10**6, epochs=2),
                  RunConfig(seed=5, device="cpu", serial=serial))


def trained(settings, iterations=5) -> tuple[TrainingSession, list]:
    made = make_session(settings)
    metrics = [iterate(made) for _ in range(iterations)]
    made.pipeline.settle()
    return made, metrics


def same(one: TrainingSession, other: TrainingSession):
    for name, tensor in one.policy.state_dict().items():
        assert torch.equal(tensor, other.policy.state_dict()[name]), name
    for name in ("frames", "starts", "action", "log_prob", "value", "reward", "terminated", "truncated", "h", "c"):
        assert torch.equal(getattr(one.storage, name), getattr(other.storage, name)), name
    assert one.pipeline.state().keys() == other.pipeline.state().keys()
    for name, tensor in one.pipeline.state().items():
        assert torch.equal(tensor, other.pipeline.state()[name]), name


@pytest.mark.parametrize(("settings", "captures"), [
    pytest.param({"num_batches": 3}, False, id="three batches, eager"),
    pytest.param({}, True, id="one batch"),
    pytest.param({"num_batches": 3}, True, id="three batches"),
    pytest.param({"num_batches": 3, "serial": True}, True, id="serial"),
    pytest.param({"game": "go", "memory": "none"}, True, id="masks, no memory"),
    pytest.param({"game": "pong", "view": "pixels", "frame_stack": 3, "num_envs": 4}, True, id="stacked frames"),
])
def test_a_run_on_a_slow_device_equals_one_on_the_cpu(monkeypatch, slow_device, settings, captures):
    plain, metrics = trained(config(**settings))
    device = slow_device(captures=captures)
    monkeypatch.setattr(build_module, "open_device", lambda name: device)
    other, others = trained(config(**settings))
    same(plain, other)
    assert [m["loss_value"] for m in metrics] == [m["loss_value"] for m in others]
    assert (device.count["capture"] > 0) == captures


@pytest.mark.parametrize("memory", ["lstm", "mingru", "none"])
def test_every_graph_records_the_memory_that_it_uses(monkeypatch, slow_device, memory):
    """Otherwise the test device would find no fault in it."""
    device = slow_device(captures=True, slowest=0)
    monkeypatch.setattr(build_module, "open_device", lambda name: device)
    made, _ = trained(config(num_batches=2, memory=memory))
    learning = [graph for graph in device.graphs if graph.holds(made.learner.order)]
    after = made.learner.diagnostics.results  # of the explained variance
    steps = [graph for graph in device.graphs if not graph.holds(after)]
    assert (len(learning), len(steps)) == (1, 5)  # two batches: a step and a bootstrap each; and the returns
    adam, storage, actor = made.learner.optimizers.parts[0].torch, made.storage, made.actor
    for parameter in made.policy.parameters():
        for tensor in (parameter, parameter.grad, *adam.state[parameter].values()):
            assert learning[0].holds(tensor)
    assert all(learning[0].holds(tensor) for tensor in (storage.frames, storage.action, made.learner.advantage))
    for batch, slab in enumerate(made.pipeline.slabs):
        mine = [graph for graph in steps if graph.holds(slab.on_device["observation"])]
        assert [graph.holds(slab.host["observation"]) for graph in mine] == [True, True]
        assert [graph.holds(slab.actions) for graph in mine].count(True) >= 1
        weights = [tensor for name, tensor in actor.weights.items() if name != "heads_rows"]  # only a CPU's tiles read it
        for graph in mine:
            assert all(graph.holds(tensor) for tensor in (*weights, actor.h, storage.frames, storage.value))
            assert graph.holds(actor.steps[batch].clock.t)


def test_captured_work_uses_new_weights_and_a_new_rate_and_draws_new_samples(monkeypatch, slow_device):
    monkeypatch.setattr(build_module, "open_device", lambda name: slow_device(captures=True, slowest=0))
    made, _ = trained(config())
    before = {name: tensor.clone() for name, tensor in made.policy.state_dict().items()}
    collect(made.actor)
    first = made.storage.action.clone(), made.storage.value.clone()
    made.learner.set_rate(0.0)
    made.learner.update()
    assert all(torch.equal(tensor, before[name]) for name, tensor in made.policy.state_dict().items())
    made.learner.set_rate(0.1)
    made.learner.update()
    assert not torch.equal(made.policy.heads.weight, before["heads.weight"])
    made.actor.begin()
    assert torch.equal(made.actor.weights["heads"], made.policy.heads.weight.t())
    collect(made.actor)
    assert not torch.equal(made.storage.action, first[0])
    assert not torch.equal(made.storage.value, first[1])


@pytest.mark.parametrize("settings", [
    pytest.param({}, id="LSTM"),
    pytest.param({"num_batches": 3}, id="batches"),
    pytest.param({"game": "go", "encoder": "mlp"}, id="masks, bytes"),
    pytest.param({"memory": "none"}, id="no memory"),
])
def test_a_step_allocates_no_tensor_after_the_first_rollout(settings):
    made = make_session(config(**settings))
    for _ in range(2):
        collect(made.actor)
    assert asked_for(lambda: collect(made.actor)) == asked_for(made.actor.begin)  # one block per rollout, for a transpose


def asked_for(work) -> dict[str, int]:
    """Return the bytes that torch allocates during `work`, by operation."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        work()
    return {event.key: event.self_cpu_memory_usage for event in profiler.key_averages() if event.self_cpu_memory_usage > 0}


def test_a_rollout_leaves_nothing_behind_on_the_host():
    made = make_session(config("breakout", num_batches=2))
    for _ in range(20):
        collect(made.actor)
    made.pipeline.take_episodes()
    tracemalloc.start()
    try:
        collect(made.actor)
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(50):
            collect(made.actor)
        made.pipeline.take_episodes()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 20_000  # bytes, in 400 steps


def test_training_on_simulated_games_equals_training_on_the_cpu_s_games():
    """The simulation of CartPole has the same bits as the game."""
    played = config(num_envs=12)
    simulated = dataclasses.replace(played, env=dataclasses.replace(played.env, sim="tensors"))
    (host, metrics), (device, others) = trained(played), trained(simulated)
    for name, tensor in host.policy.state_dict().items():
        assert torch.equal(tensor, device.policy.state_dict()[name]), name
    assert [m["loss_value"] for m in metrics] == [m["loss_value"] for m in others]
    assert others[-1]["score_mean"] > 1


@pytest.mark.parametrize("captures", [False, True], ids=["eager", "captured"])
def test_a_run_of_games_on_a_slow_device_is_resumed_bit_for_bit(monkeypatch, tmp_path, slow_device, captures):
    played = config(num_envs=12)
    simulated = dataclasses.replace(played, env=dataclasses.replace(played.env, sim="tensors"))
    monkeypatch.setattr(build_module, "open_device", lambda name: slow_device(captures=captures, slowest=0.0005))
    whole, _ = trained(simulated, 6)
    part, _ = trained(simulated, 3)
    resumed = make_session(simulated, resume=part.save(tmp_path))
    for _ in range(3):
        iterate(resumed)
    resumed.pipeline.settle()
    whole.pipeline.make_caller_wait()
    resumed.pipeline.make_caller_wait()
    for name, tensor in whole.policy.state_dict().items():
        assert torch.equal(tensor, resumed.policy.state_dict()[name]), name


@pytest.mark.parametrize(("settings", "message"), [
    ({"game": "breakout"}, "sim must be host or device for breakout, not 'tensors'"),
    ({"view": "pixels"}, "sim must be host or device for cartpole with view"),
])
def test_unsupported_games_are_refused(settings, message):
    played = config(**settings)
    with pytest.raises(ConfigError, match=message):
        make_session(dataclasses.replace(played, env=dataclasses.replace(played.env, sim="tensors")))


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_the_kernel_s_games_need_a_gpu():
    played = config()
    with pytest.raises(ConfigError, match="sim must be host or tensors on the device cpu, not 'device': its kernel"):
        make_session(dataclasses.replace(played, env=dataclasses.replace(played.env, sim="device")))

"""Turns without Python between them, on the device without a GPU, and graphs that are launched without torch."""

import re

import pytest
import torch
from device_runs import Two, config, contents, require_same, trained

from bridge import BridgeError
from bridge.pipeline import Pipeline
from bridge.source import BoundGames
from bridge.spans import recording
from envs_c.errors import InvalidArgument
from trainer.rollout.actor import collect


def rollout_calls(double, made) -> dict[str, int]:
    """How often the driver's functions are called in a rollout."""
    before = dict(double.driver.calls)
    collect(made.actor)
    return {name: calls - before[name] for name, calls in double.driver.calls.items()}


@pytest.mark.parametrize("settings", [{}, {"num_batches": 2}, {"num_batches": 3, "game": "go", "encoder": "mlp",
                                                              "options": {"size": 5}}, {"game": "pong", "view": "pixels"}],
                         ids=["one batch", "two batches", "masks", "pictures"])
def test_a_training_whose_turns_need_no_python_is_that_of_the_cpu(double, settings):
    made = trained(config(**settings))
    batches = len(made.pipeline.batches)
    require_same(contents(made), contents(trained(config("cpu", **settings))))
    assert rollout_calls(double, made) == {"launch": 4 * batches, "record": 4 * batches, "wait": 3 * batches}
    assert not double.driver.errors


@pytest.mark.parametrize("settings", [
    {"serial": True}, {"game": "gym:CartPole-v1"},
    {"game": "go", "memory": "none", "encoder": "mlp", "options": {"size": 5},
     "self_play": {"self_play": True, "pool_size": 3, "snapshot_every": 1, "anchor_games": 0}}],
    ids=["serial", "Gymnasium's environments", "self-play"])
def test_turns_that_need_python_have_it(double, settings):
    assert rollout_calls(double, trained(config(**settings), 2))["launch"] == 0


def test_the_seconds_of_turns_without_python_are_counted(double, monkeypatch):
    made, finish = trained(config()), BoundGames.finish
    monkeypatch.setattr(BoundGames, "finish", lambda bound, log: (finish(bound, log), (0.0, 0.0))[1])  # those with Python
    pipeline, before = made.pipeline, made.pipeline.env_seconds
    assert rollout_calls(double, made)["launch"] == 4
    assert pipeline.env_seconds > before


def test_graphs_of_a_torch_that_does_not_tell_their_address_are_launched_by_torch(double, monkeypatch):
    monkeypatch.delattr(torch.cuda.CUDAGraph, "raw_cuda_graph_exec")
    made = trained(config(num_batches=2))
    require_same(contents(made), contents(trained(config("cpu", num_batches=2))))
    assert rollout_calls(double, made)["launch"] == 0


def test_the_thread_of_the_turns_has_their_gpu(double, monkeypatch):
    made, entered = trained(config()), []
    monkeypatch.setattr(type(made.pipeline.streams[0]), "enter", lambda stream: entered.append(stream))
    assert rollout_calls(double, made)["launch"] == 4 and entered[0] is made.pipeline.streams[0]


def test_a_trace_has_every_turn(double):
    made = trained(config())
    with recording():
        assert rollout_calls(double, made)["launch"] == 0
    assert rollout_calls(double, made)["launch"] == 4


def test_a_turn_that_does_not_wait_for_its_actions_is_found(faulty, monkeypatch):
    monkeypatch.setattr(faulty.driver, "wait", faulty.driver.step)
    with pytest.raises(BridgeError, match="error 700 at the wait of batch"):
        trained(config(num_batches=2))
    assert any("nothing orders two uses of the same memory: a step of the environments" in str(one) for one in faulty.faults)


@pytest.mark.parametrize(("name", "stage"), [("launch", "launch"), ("record", "record"), ("wait", "wait")])
def test_an_error_of_the_driver_names_its_call_and_its_batch(double, monkeypatch, name, stage):
    made = trained(config(num_batches=2))

    def broken(*arguments):
        raise RuntimeError("a lost device")
    monkeypatch.setattr(double.driver, name, broken)
    message = f"CUDA's driver has returned error 700 at the {stage} of batch 0, environments 0 to 2"
    with pytest.raises(BridgeError, match=re.escape(message)):
        collect(made.actor)


@pytest.mark.parametrize("mended", [False, True], ids=["an unknown action", "an action that is mended"])
def test_a_step_that_is_refused_is_done_by_python(double, monkeypatch, mended):
    """It raises its error; or the turns go on, and the result is that without the refusal."""
    made, changed, mends = trained(config(num_batches=2)), [], []
    slab, step, play = made.pipeline.slabs[1], double.driver.step, made.pipeline.play

    def step_with_wrong_action(event):
        step(event)
        if not changed and event == made.pipeline.streams[1]._event.ptr:
            changed.append(slab.host_actions[0])
            slab.host_actions[0] = 7

    def play_mended(batch):
        if changed and not mends:
            mends.append(batch)
            slab.host_actions[0] = changed[0]
        play(batch)
    monkeypatch.setattr(double.driver, "step", step_with_wrong_action)
    if not mended:
        with pytest.raises(InvalidArgument, match="the action of environment 3 must be from 0 to 1"):
            collect(made.actor)
        return
    monkeypatch.setattr(made.pipeline, "play", play_mended)
    collect(made.actor)
    assert len(mends) == 1
    collect(other := trained(config(num_batches=2)).actor)
    assert torch.equal(made.storage.frames.cpu(), other.storage.frames.cpu())


def test_a_graph_that_draws_random_numbers_of_torch_is_launched_by_torch(double):
    two = Two()
    plain, random = two.one.capture(two.write), two.one.capture(lambda: two.data.uniform_())
    for _ in range(3):
        plain()
        random()
    assert plain.direct and not random.direct
    assert two.one.driver_calls(plain) is not None and two.one.driver_calls(random) is None
    assert torch.cuda.default_generators[0].get_offset() == 3 * 4


def test_a_graph_that_is_no_more_cannot_be_launched(double):
    two = Two()
    replay = two.one.capture(two.write)
    calls = two.one.driver_calls(replay)
    assert calls is None  # before its first launch, which is torch's
    replay()
    assert two.one.driver_calls(replay).graph in double.launchable
    address = replay.address
    del replay
    assert address not in double.launchable


def test_turns_are_those_of_turn(double):
    """The same actions, returns and observations as from `turn` of each batch, with Python in between."""
    settings = config(num_batches=2, horizon=8, minibatch=24)
    fast = contents(trained(settings))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pipeline, "_without_python", lambda self, works: None)
        slow = contents(trained(settings))
    for name, tensor in fast.items():
        assert torch.equal(tensor, slow[name]), name

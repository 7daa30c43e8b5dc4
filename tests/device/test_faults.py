"""The device without a GPU finds mistakes of the host code, each planted here, although its results would be right."""

import numpy as np
import pytest
import torch
from cuda_double import DeviceFault
from device_runs import Two, config, trained
from gymnasium import spaces

from bridge import DeviceError, Slab, open_device
from bridge.actions import actions_of
from bridge.pipeline import Pipeline
from trainer.ppo import learner
from trainer.ppo.gradients import Gradients, flat_memory
from trainer.rollout.storage import Storage

UNORDERED, FREED = "nothing orders two uses of the same memory: ", "uses memory that was freed after its capture: "


def without_waits(monkeypatch, name: str):
    from bridge.cuda import CudaStream
    monkeypatch.setattr(CudaStream, name, lambda self: None)


def gradients_that_move(monkeypatch):
    """The fault of an earlier version: `backward` allocates the gradients anew for each step of the optimizer."""
    class Moving(Gradients):
        def backward(self, loss, first, gradient=None):
            if first:
                self.flat, self.memory = flat_memory(self.parameters)
            super().backward(loss, first, gradient)
    monkeypatch.setattr(learner, "Gradients", Moving)


def games_that_do_not_wait(monkeypatch):
    monkeypatch.setattr(Pipeline, "check", lambda self, stage, batch, call, *arguments:
                        None if stage == "wait for the actions" else call(*arguments))


def frames_that_move(monkeypatch):
    def roll(self):
        self.starts = self.starts.clone()
        for name, rows in self.last.items():
            getattr(self, name)[: self.before] = rows.clone()
    monkeypatch.setattr(Storage, "roll", roll)


PLANTED = {
    "gradients freed under a captured graph": (gradients_that_move, {"accumulate": 4, "minibatch": 4, "num_envs": 8},
                                               f"{FREED}.* writes .*float32"),
    "storage replaced under a captured graph": (frames_that_move, {}, f"{FREED}.* reads|writes .*float32"),
    "streams do not wait for the caller": (lambda patch: without_waits(patch, "wait_for_caller"), {}, UNORDERED),
    "the caller does not wait for the streams": (lambda patch: without_waits(patch, "make_caller_wait"), {}, UNORDERED),
    "the games do not wait for the actions": (games_that_do_not_wait, {}, f"{UNORDERED}a step of the environments"),
    "the host does not wait for its event": (lambda patch: without_waits(patch, "wait"), {"num_batches": 2},
                                             f"{UNORDERED}a step of the environments .*, written by sample_step on stream"),
    "Gymnasium's threads do not wait": (lambda patch: without_waits(patch, "wait"), {"game": "gym:Acrobot-v1"},
                                        "a step of the environments"),
    "serial": (lambda patch: without_waits(patch, "wait"), {"serial": True}, "a step of the environments"),
}


@pytest.mark.parametrize(("plant", "settings", "message"), PLANTED.values(), ids=PLANTED.keys())
def test_a_fault_of_the_training_is_found(faulty, monkeypatch, plant, settings, message):
    plant(monkeypatch)
    with pytest.raises(DeviceFault, match=message):
        trained(config(**settings))
    assert faulty.faults


@pytest.mark.parametrize(("first", "second", "fault"), [
    ("write", "read", True), ("read", "write", True), ("write", "write", True), ("read", "read", False)])
@pytest.mark.parametrize("captured", [False, True])
def test_work_of_two_streams_on_the_same_memory_must_be_ordered(faulty, first, second, fault, captured):
    two = Two()
    works = [(two.one, getattr(two, first)), (two.other, getattr(two, second))]
    if captured:
        works = [(stream, stream.capture(work)) for stream, work in works]
    (one, earlier), (other, later) = works
    one.run(earlier)
    if fault:
        with pytest.raises(DeviceFault, match=f"{UNORDERED}.* on stream 2 .*on stream 1"):
            other.run(later)
    else:
        other.run(later)


@pytest.mark.parametrize("by", ["the caller", "the host"])
def test_work_after_a_wait_is_ordered(double, by):
    two = Two()
    two.one.run(two.write)
    if by == "the caller":
        two.one.make_caller_wait()
        two.other.wait_for_caller()
    else:
        two.one.mark()
        two.one.wait()
    two.other.run(two.write)
    two.other.make_caller_wait()
    assert two.data.tolist() == [2.0] * 8


def test_streams_may_use_different_rows_of_the_same_tensor(double):
    two = Two()
    table = torch.zeros(4, 6, device="cuda:0")
    for stream in (two.one, two.other):
        stream.wait_for_caller()
    two.one.run(lambda: table[:, :3].add_(1))
    two.other.run(lambda: table[:, 3:].add_(2))
    for stream in (two.one, two.other):
        stream.make_caller_wait()
    assert table.sum().item() == 4 * 3 * 3


@pytest.mark.parametrize("use", ["write", "read"])
@pytest.mark.parametrize("freed", [True, False])
def test_a_graph_uses_the_addresses_of_its_capture(faulty, use, freed):
    two = Two()
    first = two.data
    replay = two.one.capture(getattr(two, use))
    replay()
    two.one.make_caller_wait()
    two.data = torch.full((8,), 5.0, device="cuda:0")
    if freed:
        del first
        with pytest.raises(DeviceFault, match=rf"{FREED}.*{use}s \(8,\) float32 of zeros"):
            replay()
    else:
        replay()
        two.one.make_caller_wait()
        assert first[0].item() == (2.0 if use == "write" else 0.0) and two.data[0].item() == 5.0


def test_a_replay_does_not_call_python_again(double):
    two, calls = Two(), []

    def work():
        calls.append(0)
        two.data.add_(len(calls))
    replay = two.one.capture(work)
    assert two.data.tolist() == [0.0] * 8  # a capture does no work
    for _ in range(3):
        replay()
    two.one.make_caller_wait()
    assert calls == [0] and two.data.tolist() == [3.0] * 8


def test_memory_freed_by_one_stream_must_not_be_used_by_another(faulty):
    """torch's allocator gives it to the next tensor of the first stream, whatever the other stream still does."""
    two = Two()
    scratch = torch.zeros(100, device="cuda:0")
    two.one.wait_for_caller()
    two.one.run(lambda tensors=[scratch]: tensors.pop().add_(1))
    del scratch
    with pytest.raises(DeviceFault, match=f"{UNORDERED}zeros on the default stream writes .* add_ on stream 1"):
        torch.zeros(100, device="cuda:0")


def test_memory_that_was_never_written_must_not_be_read(faulty):
    part = torch.empty(8, device="cuda:0")
    part[:4] = 1.0
    assert part[:4].sum().item() == 4.0
    with pytest.raises(DeviceFault, match="sum on the default stream reads memory that was never written"):
        part.sum()


class Flight:
    """A slab whose copy is in flight, or whose actions a kernel writes (direction "kernel")."""

    def __init__(self, direction: str):
        self.stream = open_device("cuda").stream()
        self.slab = Slab(4, (3,), "float32", device=open_device("cuda"), shared_actions=direction == "kernel")
        self.stream.wait_for_caller()
        self.stream.run(lambda: self.slab.actions.fill_(7))
        if direction != "kernel":
            getattr(self.slab, direction)(self.stream)
        self.stream.mark()


@pytest.mark.parametrize("direction", ["upload", "download", "kernel"])
def test_page_locked_memory_must_not_be_written_during_a_copy_or_a_kernel(faulty, direction):
    flight = Flight(direction)
    (flight.slab.host["reward"] if direction == "upload" else flight.slab.host_actions)[1] = 3
    with pytest.raises(DeviceFault, match="the host wrote to page-locked memory during a copy"):
        flight.stream.wait()


@pytest.mark.parametrize("direction", ["download", "kernel"])
def test_page_locked_memory_has_the_device_s_bytes_only_after_a_wait(double, direction):
    flight = Flight(direction)
    assert not np.array_equal(flight.slab.host_actions, [7] * 4)
    flight.stream.wait()
    assert np.array_equal(flight.slab.host_actions, [7] * 4)


@pytest.mark.parametrize(("space", "copies"), [(spaces.Discrete(3), False), (spaces.MultiDiscrete([3, 2]), True),
                                               (spaces.Box(-1, 1, (1,)), True)])
def test_only_actions_of_one_choice_are_written_to_page_locked_memory_by_a_kernel(double, space, copies):
    slab = Slab(4, (3,), "float32", device=open_device("cuda"), actions=actions_of(space))
    assert slab.copies_actions is copies and (slab.actions.data_ptr() != slab.host_actions.ctypes.data) is copies


def test_actions_are_copied_where_torch_gives_a_copy_of_page_locked_memory(double, monkeypatch):
    monkeypatch.setattr(torch, "as_tensor", lambda data, device: torch.zeros(16, dtype=torch.uint8, device=device))
    slab = Slab(4, (3,), "float32", device=open_device("cuda"), actions=actions_of(spaces.Discrete(3)))
    assert slab.copies_actions


def test_kernels_see_what_kernels_before_them_have_written_to_page_locked_memory(double):
    flight = Flight("kernel")
    flight.stream.run(lambda: flight.slab.actions.add_(1))
    flight.stream.mark()
    flight.stream.wait()
    assert flight.slab.host_actions.tolist() == [8] * 4


def test_two_streams_that_use_page_locked_memory_must_be_ordered(faulty):
    flight, other = Flight("kernel"), open_device("cuda").stream()
    with pytest.raises(DeviceFault, match=f"{UNORDERED}.* on stream 2 .*on stream 1"):
        other.run(lambda: flight.slab.actions.add_(1))


def test_memory_that_is_not_page_locked_cannot_be_used_by_kernels(double):
    with pytest.raises(RuntimeError, match="not registered with any CUDA device"):
        open_device("cuda").shared_bytes(np.zeros(64, np.uint8))


@pytest.mark.parametrize("pinned", [True, False])
def test_only_a_copy_of_page_locked_memory_goes_on_while_the_host_does(double, pinned):
    device, on_device = open_device("cuda"), torch.zeros(64, dtype=torch.uint8, device="cuda:0")
    host, stream = device.host_bytes(64) if pinned else np.zeros(64, np.uint8), device.stream()
    stream.wait_for_caller()
    host[:] = 9
    with double.schedule.part("copy"):
        stream.upload(on_device, host)
    assert [one.kind for one in double.schedule.of("copy")] == (["copy"] if pinned else ["copy", "sync"])
    stream.make_caller_wait()
    assert on_device.tolist() == [9] * 64
    if not pinned:
        with pytest.raises(RuntimeError, match="previous error during capture"):
            stream.capture(lambda: stream.upload(on_device, host))


def test_a_copy_must_stay_inside_its_allocation(faulty):
    device, on_device = open_device("cuda"), torch.zeros(64, dtype=torch.uint8, device="cuda:0")
    with pytest.raises(DeviceFault, match="beyond their allocation"):
        device.stream().upload(on_device, device.host_bytes(4096))


def test_too_little_memory_is_refused_in_a_sentence(faulty):
    with pytest.raises(DeviceError, match="the GPU has no 100,000,000 bytes left: use fewer environments"):
        open_device("cuda").device_bytes(np.zeros(100_000_000, np.uint8))
    with pytest.raises(DeviceError, match=r"page-locked memory .*use fewer environments"):
        open_device("cuda").host_bytes(1 << 40)


def test_tensors_of_host_and_device_do_not_mix(double):
    with pytest.raises(RuntimeError, match="expected all tensors on one device"):
        torch.zeros(4, device="cuda:0") + torch.ones(4)
    assert (torch.ones(4, device="cuda:0") + torch.tensor(2.0)).tolist() == [3.0] * 4

"""Captures of graphs on the device without a GPU: those that CUDA refuses, and what stays behind; and streams of a batch."""

import gc
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from cuda_double import DeviceFault
from cuda_double.install import installed
from cuda_double.schedule import launches
from device_runs import Two, config, contents, require_same, trained

from bridge import DeviceError, open_device
from bridge.graphs import Captured, Graphs
from trainer.rollout.actor import collect


@pytest.mark.parametrize("work", [
    lambda data: data.sum().item(), lambda data: data.cpu(), lambda data: data.nonzero(), lambda data: data[data > 0],
    lambda data: data.copy_(torch.ones(8)), lambda data: torch.cuda.synchronize()],
    ids=["item", "cpu", "nonzero", "mask", "pageable copy", "synchronize"])
def test_a_capture_refuses_what_waits_for_the_device(double, work):
    two = Two()
    with pytest.raises(RuntimeError, match="previous error during capture"):
        two.one.capture(lambda: work(two.data))
    two.one.run(lambda: two.data.add_(1))  # the stream goes on
    two.one.make_caller_wait()
    assert two.data.sum().item() == 8.0


def test_after_a_refused_capture_stream_and_pools_are_as_before_and_nothing_more_is_captured(double):
    two, graphs = Two(), Graphs()
    queued = Captured("a step", lambda: two.data.sum().item(), two.one, graphs)
    with pytest.warns(RuntimeWarning, match="a step cannot be captured as a graph"):
        for _ in range(4):
            queued()
    assert torch.cuda.current_stream().cuda_stream == 0 and not double.pools and double.graphs == 1
    assert torch.cuda.default_generators[0].get_offset() == 0  # not in a capture any more
    later = Captured("another", two.write, open_device("cuda").stream(), Graphs())
    two.one.make_caller_wait()
    later.stream.wait_for_caller()
    for _ in range(4):
        later()
    assert later.replay is None and double.graphs == 1
    later.stream.make_caller_wait()
    assert two.data.tolist() == [4.0] * 8


def test_a_training_after_a_refused_capture_is_that_of_the_cpu(double):
    two = Two()
    with pytest.raises(RuntimeError, match="previous error during capture"):
        two.one.capture(lambda: two.data.sum().item())
    captured = double.graphs
    require_same(contents(trained(config(num_batches=2))), contents(trained(config("cpu", num_batches=2))))
    assert double.graphs == captured


def test_a_graph_must_not_be_dropped_before_the_others_of_its_stream(faulty):
    two = Two()
    one, other = (two.one.capture(work) for work in (two.write, two.read))
    one()
    other()
    del other
    with pytest.raises(DeviceFault, match="another graph of its stream was dropped"):
        one()


def test_the_collector_does_not_free_an_old_graph_in_a_capture(double):
    two = Two()
    gc.collect()
    old = [two.other.capture(two.read)]
    old.append(old)  # only the collector frees it
    del old

    def work():
        two.write()
        assert len([[[]] for _ in range(10_000)]) == 10_000  # enough of them for a collection
    two.one.capture(work)
    assert gc.isenabled() and two.one.captures


def test_a_learner_keeps_its_graphs_after_a_refused_capture_of_others(double):
    made, two, launched = trained(config(), 3), Two(), {}
    for part in ("before", "after"):
        collect(made.actor)
        with double.schedule.part(part):
            made.learner.update()
        launched[part] = len(launches(double.schedule.of(part)))
        if part == "before":
            with pytest.raises(RuntimeError, match="previous error during capture"):
                two.one.capture(lambda: two.data.sum().item())
    assert launched["after"] == launched["before"] > 0


def test_a_new_policy_seeds_no_gpu(monkeypatch):
    seeds = []
    monkeypatch.setattr(torch.cuda, "manual_seed_all", seeds.append)
    trained(config("cpu"), 0)
    assert seeds == []


def test_an_error_of_captured_work_is_raised_and_leaves_stream_and_pools_as_before(double):
    two = Two()

    def broken():
        two.write()
        raise RuntimeError("not CUDA's")
    with pytest.raises(RuntimeError, match="not CUDA's"):
        two.one.capture(broken)
    assert torch.cuda.current_stream().cuda_stream == 0 and not double.pools


@pytest.mark.parametrize(("name", "index"), [("cuda:1", 1), ("cuda:01", 1), ("cuda:2", None), ("cuda:128", None),
                                             ("cuda:256", None), ("cuda:300", None), ("cuda:99999999999999999999", None)])
def test_a_gpu_s_number_is_never_taken_for_another(name, index):
    with installed(gpus=2):
        if index is not None:
            assert open_device(name).torch_device == torch.device("cuda", index)
            return
        with pytest.raises(DeviceError, match=f"^device must be one of the 2 GPUs here, cuda:0 to cuda:1, not '{name}'$"):
            open_device(name)


@pytest.mark.parametrize("call", ["wait", "enter"])
def test_another_thread_waits_for_the_second_gpu_without_a_context_on_the_first(call):
    with installed(gpus=2) as machine, ThreadPoolExecutor(1) as threads:
        stream = open_device("cuda:1").stream()
        stream.mark()
        threads.submit(getattr(stream, call)).result()
        assert threads.submit(lambda: machine.gpu).result() == 1


def test_batches_run_before_the_learner(double):
    made = trained(config(num_batches=2), 1)
    learner, batches = made.learner.stream, made.pipeline.streams
    priorities = {double.streams[one.pointer].priority for one in batches}
    assert max(priorities) < double.streams[learner.pointer].priority

"""Trainings on the device without a GPU: no fault, and the numbers of the CPU."""

import re

import pytest
import torch
from device_runs import config, contents, rank_contents, require_same, trained
from ranks_support import Pair

from trainer.kernels.lstm.steps import Steps
from trainer.play import evaluate
from trainer.rollout.actor import BatchStep
from trainer.training import batches, overlap
from trainer.training import build as build_module
from trainer.training.build import make_session
from trainer.training.train import iterate

H100 = "sm_90"
RUNS = {
    "features": {},
    "three batches": {"num_batches": 3},
    "serial": {"num_batches": 2, "serial": True},
    "masks, bytes, no memory": {"game": "go", "memory": "none", "encoder": "mlp"},
    "stacked frames": {"game": "pong", "view": "pixels", "frame_stack": 3, "num_envs": 4, "num_batches": 2, "epochs": 1},
    "minGRU": {"memory": "mingru", "layers": 2, "num_batches": 2},
    "accumulation, three graphs": {"accumulate": 4, "minibatch": 4, "num_envs": 8},
    "V-trace": {"vtrace": True},
    "priorities": {"priority_alpha": 0.6},
    "Muon": {"optimizer": "muon", "lr_schedule": "linear", "total_steps": 96},  # the graph reads a falling rate
    "normalized": {"normalize_observations": True, "normalize_rewards": True, "num_batches": 2},
    "rewards by the first steps": {"normalize_rewards": True, "normalize_steps": 20},
    "waiting for a signal": {"wait_for_signal": True, "num_batches": 2},
    "target_kl": {"target_kl": 1e-9, "epochs": 3},
    "overlap, three batches": {"overlap": True, "vtrace": True, "num_batches": 3, "normalize_observations": True},
    "overlap, Gymnasium": {"overlap": True, "game": "gym:Pendulum-v1", "epochs": 1},
    "Gymnasium": {"game": "gym:Acrobot-v1", "num_batches": 2},
    "Gymnasium, continuous actions": {"game": "gym:Pendulum-v1", "normalize_observations": True},
    "self-play": {"game": "go", "memory": "none", "encoder": "mlp", "num_envs": 4, "num_batches": 2, "options": {"size": 5},
                  "self_play": {"self_play": True, "pool_size": 3, "snapshot_every": 1, "anchor_games": 1}},
    "self-play, LSTM": {"game": "go", "encoder": "mlp", "num_envs": 4, "options": {"size": 5},
                        "self_play": {"self_play": True, "pool_size": 3, "snapshot_every": 1, "anchor_games": 0}},
    "overlap, self-play": {"overlap": True, "game": "go", "memory": "none", "encoder": "mlp", "num_envs": 4, "epochs": 1,
                           "options": {"size": 5}, "self_play": {"self_play": True, "snapshot_every": 1, "anchor_games": 0}},
    "games on the device": {"sim": "device"},
    "games on the device, in tensors": {"sim": "tensors", "serial": True},
}
# These launch kernels for an LSTM, for a minGRU and for continuous actions. tests/ptx emulates every kernel in more sizes.
EMULATED = ("features", "minGRU", "Gymnasium, continuous actions")


def runs():
    """The rows of RUNS; the others are emulated too by `pytest -m slow`."""
    for name, settings in RUNS.items():
        if name not in EMULATED:
            yield pytest.param(None, settings, id=name)
        yield pytest.param(H100, settings, id=f"{name}, emulated", marks=() if name in EMULATED else pytest.mark.slow)


@pytest.mark.parametrize(("double", "settings"), [*runs()], indirect=["double"])
def test_a_training_has_no_fault_and_equals_the_cpu_s(double, settings):
    made = contents(trained(config(**settings)))
    assert double.graphs > 0
    plain = settings | ({"sim": "tensors"} if settings.get("sim") == "device" else {})
    require_same(made, contents(trained(config("cpu", **plain))))


@pytest.mark.parametrize("double", [H100], indirect=True)
@pytest.mark.parametrize("settings", [{"frame_stack": 2}, {"lstm_size": 32}], ids=["single steps", "whole sequences"])
def test_bfloat16_is_close_to_the_cpu_s(double, settings):
    settings = settings | {"precision": "bfloat16"}
    made, plain = (contents(trained(config(device, **settings), 2)) for device in ("cuda", "cpu"))
    require_same(made, plain, tolerance=3e-2)
    assert any(one.name == "lstm_recurrence_32" for one in double.schedule.operations) == ("lstm_size" in settings)


@pytest.mark.parametrize("settings", [{}, {"overlap": True}], ids=str)
def test_work_without_graphs_equals_captured_work(double, monkeypatch, settings):
    captured = contents(trained(config(num_batches=2, **settings)))
    count = double.graphs
    monkeypatch.setattr(build_module, "GRAPHS", False)
    eager = contents(trained(config(num_batches=2, **settings)))
    assert double.graphs == count
    assert all(torch.equal(tensor, eager[name]) for name, tensor in captured.items())


def test_with_overlap_a_rollout_waits_for_nothing_of_the_update(double, monkeypatch):
    made = trained(config(overlap=True, num_batches=2))
    schedule = double.schedule

    def part_of(owner, name, function):
        def called(*arguments):
            with schedule.part(name):
                return function(*arguments)
        monkeypatch.setattr(owner, name, called)
    part_of(made.learner, "begin", made.learner.begin)
    part_of(overlap, "play", overlap.play)
    iterate(made)
    made.pipeline.settle()
    update, rollout = ({one.number for one in schedule.of(name)} for name in ("begin", "play"))
    assert update and rollout and max(update) < min(rollout)
    before = set()  # the operations that those of the rollout wait for
    waiting = [number for one in schedule.of("play") for number in one.after]
    while waiting:
        number = waiting.pop()
        if number not in before:
            before.add(number)
            waiting += schedule.operations[number].after
    assert before and not before & update


def test_work_that_cannot_be_captured_runs_without_a_graph_after_one_warning(double, monkeypatch):
    original = BatchStep._forward

    def synchronizing(self, over, h, c, **last):
        over.sum().item()
        return original(self, over, h, c, **last)
    monkeypatch.setattr(BatchStep, "_forward", synchronizing)
    with pytest.warns(RuntimeWarning, match="a batch step cannot be captured as a graph") as warned:
        made = contents(trained(config(num_batches=3)))
    assert len([one for one in warned if "a batch step" in str(one.message)]) == 1
    monkeypatch.undo()
    require_same(made, contents(trained(config("cpu"))))


def test_the_number_of_batches_is_chosen_by_playing_with_each(double, monkeypatch):
    monkeypatch.setattr(batches, "SECONDS", 0.0)
    made = trained(config(num_batches=0), 1)
    assert re.match(r"[124] \(measured microseconds per step .*, by number of batches: 1: \d+", made.facts["batches"])
    require_same(contents(made), contents(trained(config("cpu"), 1)))


@pytest.mark.parametrize("settings", [{}, {"game": "gym:Acrobot-v1", "normalize_observations": True, "num_batches": 2},
                                      {"sim": "tensors"}, {"overlap": True}], ids=str)
def test_a_resumed_training_goes_on_as_the_first_one_did(double, tmp_path, settings):
    made = trained(config(**settings), 2)
    path = made.save(tmp_path)
    resumed = [make_session(config(device, **settings), resume=path) for device in ("cuda", "cpu")]
    saves = made.pipeline.source.saves  # Gymnasium's environments begin anew
    for one in (*resumed, *([made] if saves else [])):
        for _ in range(2):
            iterate(one)
        one.pipeline.settle()
    require_same(contents(resumed[0]), contents(resumed[1]))
    if saves:
        require_same(contents(made), contents(resumed[0]))


@pytest.mark.parametrize("settings", [{}, {"game": "gym:Acrobot-v1", "options": {"max_episode_steps": 20}}], ids=str)
@pytest.mark.parametrize("greedy", [False, True])
def test_an_evaluation_has_the_scores_of_the_cpu_s(double, settings, greedy):
    results = []
    for device in ("cuda", "cpu"):
        made = make_session(config(device, **settings))
        results.append(evaluate.play(made.policy, made.config.game, made.config.env, episodes=3, seed=1, greedy=greedy))
    one, other = results
    assert one.returns.tolist() == other.returns.tolist() and one.lengths.tolist() == other.lengths.tolist()


# Of two ranks, in 2 epochs of 2 minibatches: graphs by their first operation, and collective calls.
IN_AN_UPDATE = {"select_sequences_16": 4, "linalg_vector_norm": 4,
                # the gradients, an epoch's diagnostics, and the sizes of rewards
                "c10d::allreduce_": 4 + 2 + 1,
                # the statistics of an epoch's advantages, those of the explained variance, and of the returns
                "c10d::allgather_": 2 + 2 + 3,
                "a wait of the host": 1}


@pytest.mark.slow
def test_two_ranks_have_no_fault_and_equal_those_on_the_cpu():
    pair = Pair()
    try:
        on_device, on_cpu = (pair(rank_contents, config(device, num_envs=8, num_batches=2)) for device in ("cuda", "cpu"))
    finally:
        pair.close()
    for (made, faults, queued), (plain, *_) in zip(on_device, on_cpu, strict=True):
        assert not faults
        require_same(made, plain)
        assert {name: queued.count(name) for name in IN_AN_UPDATE} == IN_AN_UPDATE




def test_weight_gradients_of_bfloat16_products_are_not_rounded(double):
    """The sum of 1,024 rows, of which bfloat16 keeps 8 bits."""
    steps, rows, units = 4, 256, 8
    generator = torch.Generator().manual_seed(3)
    x, gates = (torch.rand(steps, rows, size, generator=generator).bfloat16() for size in (units, 4 * units))
    inputs = torch.rand(steps + 1, rows, units, generator=generator).bfloat16()
    wanted = [gates.flatten(0, 1).double().t() @ one.flatten(0, 1).double() for one in (x, inputs[:-1])]
    x = x.to("cuda:0")
    sequence = Steps(steps, rows, units, x)
    sequence.gates.copy_(gates)
    sequence.inputs.copy_(inputs)
    *found, bias = sequence.gradients(x, None, None)
    for one, other in zip([*found, bias], [*wanted, gates.double().flatten(0, 1).sum(0)], strict=True):
        torch.testing.assert_close(one.cpu().double(), other, rtol=1e-5, atol=0)

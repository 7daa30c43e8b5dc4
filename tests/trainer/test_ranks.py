"""Two ranks of a job, over Gloo on the CPU, learn the same as a single process."""

from pathlib import Path

import numpy as np
import pytest
import ranks_support as work
import torch
from ranks_support import N, T, config
from trainer_support import same

from trainer.__main__ import main
from trainer.config.config import overlay
from trainer.ranks import ALONE
from trainer.runs import checkpoint
from trainer.training.shares import share_of

pytestmark = pytest.mark.xdist_group("ranks")  # one worker, since `pair` takes seconds to start


@pytest.fixture(scope="module")
def pair():
    made = work.Pair()
    yield made
    made.close()


def test_each_call_returns_the_same_on_all_ranks(pair):
    one, other = pair(work.talk)
    assert one["gather"] == [0, 1] and other["gather"] is None
    wanted = {"sum": [1.0, 3.0, 5.0], "rows": [[0, 0], [1, 1]], "everyone": ["rank 0", "rank 1"], "broadcast": 0,
              "any": (True, False, True), "refused": "rank 0 refuses"}
    for results in (one, other):
        assert {name: results[name] for name in wanted} == wanted


def test_a_single_process_has_the_same_calls():
    tensor = torch.ones(2)
    assert ALONE.sum_(tensor) is tensor and ALONE.rows(tensor).tolist() == [[1.0, 1.0]]
    assert (ALONE.everyone(3), ALONE.gather(3), ALONE.broadcast(lambda: 3)) == ([3], [3], 3)
    assert ALONE.any(True, False) == (True, False)
    assert ALONE.broadcast_slow(lambda go_on: [go_on(), 3]) == [None, 3]
    assert ALONE.device("cuda:1") == "cuda:1"
    assert share_of(config(), ALONE, "cpu") == config()


@pytest.mark.parametrize(("fails", "result"), [(False, "from rank 0"), (True, "rank 0 fails")])
def test_the_others_wait_for_a_slow_call_of_rank_0_for_longer_than_the_time_out(pair, fails, result):
    assert pair(work.slow, 12.0, 4.0, fails) == [[result, (True,)]] * 2
    pair.join()


@pytest.mark.parametrize("stops", [False, True])
def test_rank_0_judges_and_the_others_know_its_steps(pair, stops):
    settings = overlay(config(), {"run": {"judge_episodes": 1}})
    (scores, state), (none, same_state) = pair(work.judged, settings, stops)
    assert state == same_state and none == []
    assert (scores, state) == ([], [0, 0]) if stops else len(scores) > 1 and state[0] > state[1] > 0


def test_an_error_is_printed_by_one_rank(pair):
    assert sorted(pair(work.prints, "no such game")) == [False, True]
    assert pair(work.prints, "no such game") == [False, False]
    assert sorted(pair(work.prints, "another one")) == [False, True]


def test_a_rank_whose_partner_has_ended_raises_an_error(pair):
    pair.pools[1].submit(work.leave).result(60)
    error = pair.pools[0].submit(work.call_without_the_other).result(60)
    pair.join()
    assert "another rank has ended" in error


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the threads in /proc")
def test_a_rank_that_has_left_keeps_no_thread_that_could_abort_its_end(pair):
    threads = pair(work.left)
    pair.join()
    for before, after in threads:
        assert before and not after


def test_a_loss_that_is_not_finite_on_one_rank_raises_the_same_error_on_all(pair):
    one, other = pair(work.spoiled, config(epochs=1))
    assert one == other and "the gradient is nan in minibatch 1 of 1" in one


def test_ranks_with_different_settings_raise_an_error(pair):
    one, other = pair(work.alike, config())
    assert one == other == "rank 1 was started with num_envs 32, and rank 0 with 16; start all ranks with the same options"


def test_a_verb_is_not_for_torchrun(monkeypatch, capsys):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.setenv(name, "0")
    assert main(["eval", "last"]) == 2
    assert "eval must not be started with torchrun" in capsys.readouterr().err


GRADIENTS = {
    "lstm": {},
    "mingru": {"policy": {"memory": "mingru", "layers": 2}},
    "no memory, masks": {"game": "go", "policy": {"memory": "none"}},
    "weights": {"priority_alpha": 1.0},
    "accumulated": {"accumulate": 2, "minibatch": N * T // 2},
    "normalized": {"normalize_rewards": True, "policy": {"normalize_observations": True}},
    "rewards by the first steps": {"normalize_rewards": True, "normalize_steps": 100},
    "waiting for a signal": {"wait_for_signal": True},
}


@pytest.mark.parametrize("settings", GRADIENTS.values(), ids=GRADIENTS)
def test_two_ranks_have_the_gradient_of_one_with_both_halves(pair, settings):
    settings = config(env={"time_limit": 20} if "game" not in settings else {}, max_grad_norm=1e9, **settings)
    chosen = [[1, 2, 6, 9, 12, 15]]
    if settings.ppo.accumulate == 2:
        chosen.append([0, 3, 5, 8, 10, 11])
    wanted, seen = work.gradients(settings, chosen, ALONE)
    assert wanted.norm() > 0.01
    for got, parts in pair(work.gradients, settings, chosen):
        assert (got - wanted).norm() / wanted.norm() < 1e-5
        for mine, theirs in zip(parts, seen, strict=True):
            assert mine.keys() == theirs.keys()
            for name, part in mine.items():
                assert part == pytest.approx(theirs[name], rel=1e-4, abs=1e-6), name


def test_a_long_gradient_is_clipped_by_the_length_of_all_ranks_together(pair):
    chosen = [list(range(N))]
    long, _ = work.gradients(config(max_grad_norm=1e9), chosen, ALONE)
    for got, parts in pair(work.gradients, config(max_grad_norm=long.norm().item() / 2), chosen):
        torch.testing.assert_close(got, long / 2, rtol=1e-4, atol=1e-6)
        assert parts[0]["grad_norm"] == pytest.approx(long.norm().item(), rel=1e-5)


def test_moments_and_explained_variance_are_those_of_all_ranks(pair):
    rows = torch.randn(200, 3, generator=torch.Generator().manual_seed(0)) * 7 + 50
    rows[:, 2] -= 50
    rows[:100] += 3
    keep = rows[:, 2] > 0
    target = (rows[:, 0] + rows[:, 1])[keep].double()
    explained = 1 - rows[:, 0][keep].double().var(correction=0) / target.var(correction=0)
    for mean, deviation, got in pair(work.moments, rows):
        torch.testing.assert_close(mean, rows.double().mean(0))
        torch.testing.assert_close(deviation, rows.double().std(0, correction=0))
        assert got.item() == pytest.approx(explained.item(), rel=1e-5)


@pytest.mark.parametrize("rank", [None, 0, 1])
def test_a_reward_in_one_rank_is_a_signal_for_all(pair, rank):
    assert pair(work.signal, rank) == [0.0 if rank is None else 1.0] * 2


def test_all_ranks_share_one_shuffle_of_all_sequences(pair):
    (one, state), (other, same_state) = pair(work.orders, config())
    alone = torch.randperm(N, generator=torch.Generator().manual_seed(5)).tolist()
    assert one == [number for number in alone if number < N // 2] and other == [number for number in alone if number >= N // 2]
    assert torch.equal(state, same_state)


def test_ranks_draw_as_many_by_priority_each_and_the_mean_weight_of_all_steps_is_one(pair):
    (one, weights, steps), (other, more, others) = pair(work.drawn, config(minibatch=N * T // 2, priority_alpha=1.0))
    assert len(one) == len(other) == N // 4
    assert max(one) < N // 2 <= min(other)
    assert np.average(weights + more, weights=steps + others) == pytest.approx(1)
    assert np.average(weights, weights=steps) != pytest.approx(1, rel=1e-3)


def test_a_fault_on_one_rank_is_named_by_all_also_with_priorities(pair):
    one, other = pair(work.spoiled_by_priority, config(minibatch=N * T // 2, priority_alpha=0.7))
    assert one == other and "is nan in minibatch 1 of 2" in one


SAVED = {
    "our game": {"game": "breakout"},
    "stacked and normalized": {"normalize_rewards": True, "policy": {"normalize_observations": True, "frame_stack": 3}},
    "action masks": {"game": "go", "policy": {"memory": "mingru"}},
    "on the device": {"env": {"sim": "tensors"}},
    "gymnasium's": {"game": "gym:Acrobot-v1"},
    "overlap": {"overlap": True, "policy": {"normalize_observations": True, "frame_stack": 2}},
}


@pytest.mark.parametrize("settings", SAVED.values(), ids=SAVED)
def test_a_new_run_begins_with_the_same_checkpoint_on_one_rank_and_two(pair, tmp_path, settings):
    two = pair(work.trained, config(**settings), tmp_path / "two", 0)
    one = work.trained(config(**settings), tmp_path / "one", 0, None, ALONE)
    same(*(checkpoint.load(path)[0] for path in (two[0][0], one[0])))


@pytest.mark.parametrize("settings", SAVED.values(), ids=SAVED)
def test_a_checkpoint_does_not_depend_on_the_number_of_ranks(pair, tmp_path, settings):
    settings = config(**settings)
    written = pair(work.trained, settings, tmp_path / "two", 2)[0][0]
    by_one = work.trained(settings, tmp_path / "one", 0, written, ALONE)[0]
    by_two = pair(work.trained, settings, tmp_path / "two again", 0, by_one)[0][0]
    tensors, meta, _ = checkpoint.load(written)
    for other, other_meta, _ in map(checkpoint.load, (by_one, by_two)):
        if settings.game.startswith("gym:"):  # its environments begin new episodes, of which the memory knows nothing
            assert other["actor.over"].all() and not other["pipeline.slab.terminated"].any()
            assert not other["actor.h"].any() and not other["actor.c"].any()
            assert not other["optimizer.reward_norm.gathered"].any()
            new = ("actor.over", "actor.h", "actor.c", "pipeline.", "optimizer.reward_norm.gathered")
            tensors, other = ({name: tensor for name, tensor in one.items() if not name.startswith(new)}
                              for one in (tensors, other))
        same(tensors, other)
        assert other_meta == meta
    assert meta["iteration"] == 2


@pytest.mark.parametrize("settings", [{}, {"overlap": True, "policy": {"normalize_observations": True}}], ids=str)
def test_two_ranks_train_as_one_does(pair, tmp_path, settings):
    settings = config(epochs=3, env={"time_limit": 40}, **settings)
    (path, metrics, score, episodes), other = pair(work.trained, settings, tmp_path / "two", 3)
    assert other[2:] == (score, episodes)
    alone, wanted, wanted_score, wanted_episodes = work.trained(settings, tmp_path / "one", 3, None, ALONE)
    assert (score, episodes) == (pytest.approx(wanted_score), wanted_episodes)
    one, two = checkpoint.load(alone)[0], checkpoint.load(path)[0]
    for name in ("generator", "pipeline.environments"):
        assert torch.equal(one[name], two[name]), name
    for name in (name for name in one if name.startswith(("policy.", "optimizer."))):
        torch.testing.assert_close(two[name], one[name], rtol=1e-3, atol=1e-5, msg=name)
    for got, want in zip(metrics, wanted, strict=True):
        for name in ("loss_policy", "loss_value", "entropy", "kl", "grad_norm", "explained_variance", "score_mean", "episodes"):
            assert got[name] == pytest.approx(want[name], rel=1e-3, abs=1e-5), name


def test_a_run_goes_on_with_another_number_of_ranks(pair, tmp_path):
    settings = config(epochs=2)
    whole = work.trained(settings, tmp_path / "whole", 4, None, ALONE)
    half = work.trained(settings, tmp_path / "half", 2, None, ALONE)[0]
    (path, *_), _ = pair(work.trained, settings, tmp_path / "parts", 2, half)
    one, two = checkpoint.load(whole[0])[0], checkpoint.load(path)[0]
    assert torch.equal(one["pipeline.environments"], two["pipeline.environments"])
    torch.testing.assert_close(two["policy.heads.weight"], one["policy.heads.weight"], rtol=1e-3, atol=1e-5)
    assert checkpoint.read_meta(path)["iteration"] == 4


def test_weights_that_differ_are_an_error_and_not_saved(pair, tmp_path):
    one, other = pair(work.apart, config(), tmp_path)
    assert one == other and "state of rank 1 (of 2 ranks) differ from those of rank 0" in one
    assert not list(tmp_path.iterdir())

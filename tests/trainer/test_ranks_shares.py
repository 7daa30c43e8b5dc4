"""Shares of ranks: settings, devices, episodes and states of environments; no second process is started."""

from types import SimpleNamespace

import numpy as np
import pytest
import ranks_support as work
import torch
from ranks_support import N, T, config

import envs_c
from bridge.source import Episodes
from envs_c.engine.state import join_states, part_of_state
from envs_c.machine import cores
from trainer import ranks
from trainer.errors import ConfigError, RanksError
from trainer.process import in_torchrun, prints_for_job, torchrun_number
from trainer.ranks import ALONE, Ranks, own_device
from trainer.training.session import interleaved
from trainer.training.shares import share_of


class Four(Ranks):
    rank, size, local_size, joined = 3, 4, 4, True


@pytest.mark.parametrize(("settings", "message"), [
    ({"env": {"num_envs": 10}, "minibatch": 10 * T}, "num_envs must be a multiple of 4 with 4 ranks, such as 8 or 12, "
                                                     "not 10"),
    ({"env": {"num_envs": 2}, "minibatch": 2 * T}, "num_envs must be a multiple of 4 with 4 ranks, such as 4, not 2"),
    ({"minibatch": 2 * T}, "minibatch must be 128, 256 or 512 with 16 environments (num_envs) and 4 ranks, which take equal "
                           "parts of it, not 64"),
    ({"env": {"num_batches": 5}}, "num_batches must be an integer from 0 to 4 with that many environments on each of 4 "
                                   "ranks, not 5"),
])
def test_settings_that_ranks_cannot_share_are_refused(settings, message):
    with pytest.raises(ConfigError) as raised:
        share_of(config(**settings), Four(), "cpu")
    assert message in str(raised.value)


def test_far_more_threads_than_cores_are_refused(monkeypatch):
    monkeypatch.setattr("trainer.training.shares.cores", lambda: 2)
    share_of(work.config(env={"num_threads": 32}), ALONE, "cpu")
    with pytest.raises(ConfigError, match=r"^num_threads must be at most 32 on this machine, 16 for each core, not 1,000: 0"):
        share_of(work.config(env={"num_threads": 1000}), ALONE, "cpu")


@pytest.mark.parametrize(("local_size", "given", "threads"), [(4, 0, 2), (2, 0, 4), (1, 0, 8), (16, 0, 1), (2, 3, 3)])
def test_a_rank_has_its_share_of_the_cores_of_its_own_machine(monkeypatch, local_size, given, threads):
    monkeypatch.setattr("trainer.training.shares.cores", lambda: 8)
    ranks = Four()
    ranks.local_size = local_size
    assert share_of(config(env={"num_threads": given}), ranks, "cpu").env.num_threads == threads


def test_the_shares_of_all_ranks_add_up():
    settings = config(minibatch=4 * T, accumulate=2)
    share = share_of(settings, Four(), "cuda:3")
    assert (share.env.num_envs, share.ppo.minibatch, share.run.device) == (N // 4, T, "cuda:3")
    assert share.num_minibatches == settings.num_minibatches and share.env.num_threads == 1
    threads = share_of(work.without(settings, num_threads=0), Four(), "cpu").env.num_threads
    assert threads == max(1, cores() // 4)


def test_episodes_of_all_ranks_lie_evenly_among_each_other():
    def ended(*returns):
        return Episodes(np.array(returns, float), np.array(returns, np.int32), np.zeros(len(returns), np.int64))
    assert interleaved([ended(1, 2, 3, 4), ended(10, 20), ended()]).returns.tolist() == [1, 10, 2, 3, 20, 4]


@pytest.mark.parametrize(("name", "local_size", "count", "wanted"), [
    ("cpu", 2, 2, "cpu"), ("cuda", 2, 2, "cuda:1"), ("auto", 2, 2, "cuda:1"), ("cuda:0", 1, 1, "cuda:0"),
    ("cuda:0", 2, 2, "must be auto, cpu or cuda for 2 ranks on one machine, not cuda:0: each takes a GPU of its own"),
    ("auto", 2, 1, "2 ranks were started on a machine with 1 GPU, and each needs one; start 1 there"),
])
def test_each_rank_has_its_own_device(monkeypatch, name, local_size, count, wanted):
    monkeypatch.setattr(ranks, "why_no_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
    try:
        result = own_device(name, local_size - 1, local_size)
    except RanksError as error:
        result = str(error)
    assert wanted in result


def test_a_rank_that_sees_its_own_gpu_only_takes_it(monkeypatch):
    monkeypatch.setattr(ranks, "why_no_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda number: SimpleNamespace(uuid="GPU-7"))
    assert ranks.gpu_name() == "GPU-7" and own_device("cuda", 3, 4, own_gpus=True) == "cuda:0"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert ranks.gpu_name() == "" and own_device("cuda", 1, 2, own_gpus=True) == "cuda:1"


@pytest.mark.parametrize(("names", "wanted"), [(("GPU-1", "GPU-2"), "cuda:0"), (("GPU-1", "GPU-1"), "2 ranks were started")])
def test_ranks_agree_on_whether_each_sees_its_own_gpu(monkeypatch, names, wanted):
    monkeypatch.setattr(ranks, "why_no_gpu", lambda: "")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(ranks.dist, "new_group", lambda **options: None)
    monkeypatch.setattr(ranks, "gpu_name", lambda: names[1])
    rank = object.__new__(ranks.Joined)
    rank.rank = rank.local_rank = 1
    rank.size, rank.local_size, rank._timeout = 2, 2, None
    rank.everyone = lambda value: list(names) if isinstance(value, str) else [value, value]
    if wanted == "cuda:0":
        assert rank.device("cuda") == wanted
    else:
        with pytest.raises(RanksError, match=wanted):
            rank.device("cuda")


def test_a_missing_device_is_an_error(monkeypatch):
    monkeypatch.setattr(ranks, "why_no_gpu", lambda: "the GPU is in use")
    assert own_device("auto", 1, 2) == "cpu"
    with pytest.raises(RanksError, match="--device cuda is not possible: the GPU is in use"):
        own_device("cuda", 1, 2)


def test_torchrun_is_recognized_by_its_variables(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    assert not in_torchrun() and prints_for_job() and ranks.join() is ALONE
    monkeypatch.setenv("RANK", "1")  # one of the three: set by another program
    assert not in_torchrun() and prints_for_job()
    monkeypatch.setenv("WORLD_SIZE", "two")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert in_torchrun() and not prints_for_job() and torchrun_number("RANK") == 1
    with pytest.raises(RanksError, match=r"WORLD_SIZE must be an integer.*'two'"):
        ranks.join()


@pytest.mark.parametrize("game", ["breakout", "pacman"])
def test_a_part_of_the_environments_equals_the_same_rows_of_all(game):
    made = [envs_c.VecEnv(envs_c.game(game), N // 2, seed=5, first=k * N // 2) for k in range(2)]
    assert join_states([env.get_state() for env in made]) == envs_c.VecEnv(envs_c.game(game), N, seed=5).get_state()


def test_states_are_cut_and_joined_again():
    env = envs_c.VecEnv(envs_c.game("breakout"), 6, seed=1)
    state = env.get_state()
    parts = [part_of_state(state, k, 3) for k in range(3)]
    assert parts[1] == env.get_state([2, 3]) and join_states(parts) == state
    with pytest.raises(envs_c.InvalidState, match="6 environments, which cannot be divided into 4"):
        part_of_state(state, 0, 4)
    with pytest.raises(envs_c.InvalidState, match="different kinds"):
        join_states([state, envs_c.VecEnv(envs_c.game("pong"), 2, seed=1).get_state()])
    with pytest.raises(envs_c.InvalidState, match="damaged"):
        join_states([state[:-1], state])

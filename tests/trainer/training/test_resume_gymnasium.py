"""A resumed run on Gymnasium's environments, which cannot be saved, begins new episodes and forgets the old ones."""

from types import SimpleNamespace

import pytest
import torch
from foreign import config, registered

from trainer.environments import resumed_seed
from trainer.ppo.losses import losses, select
from trainer.rollout.actor import collect
from trainer.runs import checkpoint
from trainer.training.build import make_session
from trainer.training.train import iterate


@pytest.fixture
def toys():
    with registered() as made:
        yield made


def saved_run(folder, **settings):
    """The checkpoint of a run whose episodes go on beyond it, and its config."""
    settings = config(folder, options={"length": 1000}, **settings)
    session = make_session(settings)
    with torch.no_grad():
        session.policy.heads.weight.mul_(50)  # so that actions depend on the memory
    iterate(session)
    iterate(session)
    path = session.save(folder)
    session.close()
    return settings, path


@pytest.mark.parametrize("policy", [{"memory": "lstm"}, {"memory": "mingru"}, {"memory": "lstm", "frame_stack": 3}],
                         ids=["lstm", "mingru", "lstm, stacked frames"])
def test_the_first_ratio_after_a_resume_is_one(tmp_path, toys, policy):
    settings, path = saved_run(tmp_path, policy=policy)
    session = make_session(settings, resume=path)
    collect(session.actor)
    stored = session.storage
    assert stored.start[0].all()
    batch = select(session.policy, stored, stored.advantages(stored.reward[1:], 0.99, 0.95), torch.arange(4))
    with torch.no_grad():
        _, _, ratio = losses(session.policy, batch, session.config.ppo)
    assert (ratio - 1).abs().max() <= 1e-5
    session.close()


def test_rewards_before_the_resume_are_not_gathered_any_more(tmp_path, toys):
    settings, path = saved_run(tmp_path, ppo={"normalize_rewards": True})
    before = checkpoint.load(path).tensors
    session = make_session(settings, resume=path)
    norm = session.learner.reward_norm
    assert before["optimizer.reward_norm.gathered"].min() > 5 and not norm.gathered.any()
    assert norm.count == before["optimizer.reward_norm.count"] > 0  # the statistics stay
    session.close()


def test_all_environments_may_hold_their_noise_again(tmp_path, toys):
    """As at the start of a run: none of the new episodes has ended."""
    settings, _ = saved_run(tmp_path / "run", policy={"noise_hold": 4, "noise_hold_after": "truncation"})
    session = make_session(settings)
    session.actor.held.zero_()  # all have terminated
    path = session.save(tmp_path / "ended")
    session.close()
    session = make_session(settings, resume=path)
    assert session.actor.held.all()
    session.close()


def test_each_resume_begins_other_episodes_and_the_same_resume_the_same_ones(tmp_path, toys):
    settings, path = saved_run(tmp_path / "run")
    session = make_session(settings, resume=path)
    iterate(session)
    later = session.save(tmp_path / "run")
    session.close()
    seeds = []
    for resumed in (None, path, path, later):
        toys.clear()
        make_session(settings, resume=resumed).close()
        seeds.append([toy.seeds[-1] for toy in toys])
    start, one, again, other = seeds
    assert start == [1, 2, 3, 4] and one == again
    assert len({*start, *one, *other}) == 12
    assert one == [resumed_seed(1, 64) + i for i in range(4)]


@pytest.mark.parametrize(("seed", "first"), [
    (5, 5), (2**31 - 4, 2**31 - 4), (2**31 - 3, 2**20 - 3), (3_000_000_000, 853_564_928), (2**63 - 1, 2**30 - 1)])
def test_a_training_gives_its_environments_seeds_of_31_bits(tmp_path, toys, seed, first):
    make_session(config(tmp_path, seed=seed)).close()
    seeds = [toy.seeds[0] for toy in toys]
    assert seeds == [first + i for i in range(4)] and max(seeds) < 2**31


def test_the_environments_of_all_ranks_get_seeds_of_their_own(tmp_path, toys):
    session = make_session(config(tmp_path))
    seeds = []
    for rank in (0, 1):
        session.ranks = SimpleNamespace(rank=rank)
        session.begin_episodes()
        seeds += [toy.seeds[-1] for toy in toys]
    session.close()
    assert seeds == [resumed_seed(1, 0) + i for i in range(8)]


@pytest.mark.parametrize("seed", [0, 1, 2**62])
def test_seeds_of_resumed_runs_fit_ale_and_depend_on_run_and_step(seed):
    seeds = [resumed_seed(seed, step) for step in (0, 64, 2**40)] + [resumed_seed(seed + 1, 64)]
    assert len(set(seeds)) == 4 and all(0 <= one < 2**31 - 2**20 for one in seeds)

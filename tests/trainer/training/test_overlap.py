"""With `overlap` the next rollout is played while the last one is learned from: the same numbers however long each takes."""

import dataclasses
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from foreign import config as foreign_config
from foreign import registered
from trainer_support import config, same

from bridge import EnvironmentFailed
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig, SelfPlayConfig
from trainer.errors import LearningError, SettingError
from trainer.ppo.learner import Learner
from trainer.rollout.actor import collect
from trainer.runs import checkpoint
from trainer.self_play.pool import CURRENT
from trainer.training import overlap, train
from trainer.training.build import make_session
from trainer.training.profile import profile_run
from trainer.training.session import TrainingSession
from trainer.training.train import iterate


def settings(folder="", *, policy=None, env=None, iterations=8, **ppo) -> Config:
    made = config(folder, iterations=iterations)
    return dataclasses.replace(made, env=dataclasses.replace(made.env, **(env or {})),
                               policy=dataclasses.replace(made.policy, **(policy or {})),
                               ppo=dataclasses.replace(made.ppo, **({"overlap": True, "learning_rate": 0.02} | ppo)))


SELF_PLAY = Config("go", EnvConfig(num_envs=8, num_threads=1, options={"size": 5}),
                   PolicyConfig(encoder_size=16, lstm_size=12, encoder="mlp", precision="float32"),
                   PPOConfig(horizon=8, minibatch=32, total_steps=10_000, overlap=True, learning_rate=0.02),
                   RunConfig(device="cpu", dashboard=False),
                   SelfPlayConfig(self_play=True, pool_size=3, snapshot_every=1, anchor_games=0))


def trained(made: TrainingSession, iterations: int) -> TrainingSession:
    for _ in range(iterations):
        iterate(made)
    return made


def saved(made: TrainingSession, folder) -> dict[str, torch.Tensor]:
    """The tensors of a session's checkpoint, without nan; the session is closed."""
    tensors = checkpoint.load(made.save(folder)).tensors
    made.close()
    return {name: tensor.nan_to_num(9e9) if tensor.is_floating_point() else tensor for name, tensor in tensors.items()}


def stored(made: TrainingSession) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in made.actor.storage.state().items()}


def test_the_next_rollout_is_played_with_the_weights_before_the_update():
    plain, made = make_session(settings(overlap=False)), make_session(settings())
    rollouts = []
    for _ in range(2):
        collect(plain.actor)  # no learning in between
        rollouts.append(stored(plain))
    before = {name: tensor.clone() for name, tensor in made.policy.state_dict().items()}
    iterate(made)
    same(rollouts[1], stored(made))
    same(before, made.actor.policy.state_dict())
    after = {name: tensor.clone() for name, tensor in made.policy.state_dict().items()}
    assert not torch.equal(before["heads.weight"], after["heads.weight"])
    assert made.step == plain.config.batch_steps and made.actor.step == 2 * made.config.ppo.horizon
    iterate(made)
    same(after, made.actor.policy.state_dict())
    assert torch.equal(made.storage.action, rollouts[1]["action"])  # the learner has it now
    assert not torch.equal(made.storage.log_prob, rollouts[1]["log_prob"])  # of the present policy
    made.close()


def test_the_first_update_is_the_same_as_without_overlap():
    """Its rollout was played by the policy itself."""
    plain, made = (trained(make_session(settings(overlap=value)), 1) for value in (False, True))
    for name, tensor in plain.policy.state_dict().items():
        torch.testing.assert_close(made.policy.state_dict()[name], tensor, rtol=1e-3, atol=1e-4, msg=name)
    made.close()


def test_observations_are_normalized_by_all_rollouts_so_far():
    """The policy that plays and the one that learns have the same statistics, also of the rollout played ahead."""
    made = trained(make_session(settings(policy={"normalize_observations": True})), 3)
    norm, played = made.policy.normalizer, made.actor.policy.normalizer
    assert norm.count == 4 * made.storage.sample[..., 0].numel()
    assert (norm.factor != 1).all() and torch.equal(norm.factor, played.factor) and torch.equal(norm.shift, played.shift)
    made.close()


RUNS = {
    "cartpole": settings(),
    "V-trace again": settings(vtrace=True, env={"num_batches": 3}),
    "normalized, stacked": settings(normalize_rewards=True, policy={"normalize_observations": True, "frame_stack": 3}),
    "priorities, Muon": settings(priority_alpha=0.6, optimizer="muon"),
    "games in tensors": settings(env={"sim": "tensors", "sticky": 0.0}),
    "self-play": SELF_PLAY,
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_run_does_not_depend_on_the_speed_of_playing_and_learning(run, tmp_path, monkeypatch):
    def late(function):
        return lambda one: (time.sleep(0.05), function(one))[1]
    plain = saved(trained(make_session(run), 3), tmp_path / "plain")
    for owner, name in ((overlap, "play"), (Learner, "update")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, late(getattr(owner, name)))
            same(plain, saved(trained(make_session(run), 3), tmp_path / name))


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_resumed_run_equals_one_that_never_stopped(run, tmp_path):
    whole = trained(make_session(run), 4)
    part = trained(make_session(run), 2)
    resumed = make_session(run, resume=part.save(tmp_path / "part"))
    assert resumed.overlap.ready and resumed.actor.step == 3 * run.ppo.horizon
    same(*(saved(made, tmp_path / name) for name, made in (("whole", whole), ("resumed", trained(resumed, 2)))))
    part.close()


@pytest.mark.parametrize("overlaps", [False, True])
def test_a_run_does_not_depend_on_the_thread_of_its_iterations(overlaps, tmp_path):
    run = settings(overlap=overlaps, env={"num_batches": 3})
    whole, threaded = trained(make_session(run), 4), make_session(run)
    for _ in range(4):
        with ThreadPoolExecutor(1) as fresh:
            fresh.submit(iterate, threaded).result()
    same(saved(whole, tmp_path / "whole"), saved(threaded, tmp_path / "threaded"))


def test_the_first_checkpoint_has_no_rollout_and_begins_the_same_run(tmp_path):
    first = make_session(settings())
    path = first.save(tmp_path / "first")
    assert not [name for name in checkpoint.load(path).tensors if name.startswith("ahead.")]
    same(*(saved(trained(made, 2), tmp_path / name)
           for name, made in (("one", first), ("other", make_session(settings(), resume=path)))))


def test_a_checkpoint_without_overlap_has_no_rollout_and_one_with_it_is_checked(tmp_path):
    plain = trained(make_session(settings(overlap=False)), 1)
    assert plain.overlap is None and plain.storage is plain.actor.storage and plain.learner.catch_up is None
    assert not [name for name in saved(plain, tmp_path / "plain") if name.startswith("ahead.")]
    made = trained(make_session(settings()), 1)
    path = made.save(tmp_path / "made")
    content = checkpoint.load(path)
    del content.tensors["ahead.value"]
    with pytest.raises(checkpoint.CheckpointError, match=r"it must have ahead\.value, which is missing"):
        made.restore(content, path)
    made.close()


def test_the_current_policy_as_opponent_plays_with_the_weights_of_the_rollout():
    made = trained(make_session(SELF_PLAY), 2)
    policy, weights = made.league.pool.player(CURRENT)
    assert policy is made.actor.policy is not made.policy and weights is made.actor.weights
    newest, _ = made.league.pool.player(made.league.pool.members[-1])
    same(newest.state_dict(), made.policy.state_dict())  # the learned policy joins, not the one that plays
    made.close()


@pytest.fixture
def toys():
    with registered() as made:
        yield made


def test_gymnasium_s_environments_begin_new_episodes_after_a_resume(toys, tmp_path):
    run = foreign_config(tmp_path, options={"length": 1000}, ppo={"overlap": True})
    made = trained(make_session(run), 2)
    resumed = make_session(run, resume=made.save(tmp_path))
    assert not resumed.overlap.ready and resumed.actor.step == 2 * run.ppo.horizon
    resumed.overlap.fetch()
    assert resumed.storage.start[0].all()  # the rollout of the old episodes is dropped
    for one in (made, trained(resumed, 1)):
        one.close()


def test_an_environment_that_fails_costs_its_rollout_and_no_update(toys, tmp_path):
    """A Toy fails in its step 20, in the third rollout of 8 steps, which is played during the second update."""
    run = foreign_config(tmp_path / "run", options={"fault": 20}, ppo={"overlap": True, "total_steps": 32 * 8})
    with pytest.raises(EnvironmentFailed, match="the cartridge is hot"):
        train.train(run)
    content = checkpoint.load(checkpoint.latest(tmp_path / "run"))
    assert content.meta["iteration"] == 2 and not [name for name in content.tensors if name.startswith("ahead.")]
    toys.clear()
    resumed = trained(make_session(run, resume=checkpoint.latest(tmp_path / "run")), 1)
    assert resumed.iteration == 3
    resumed.close()


@pytest.mark.parametrize(("step", "iteration"), [(3, 1), (12, 2)])
def test_a_bad_number_is_named_with_its_environment_and_step(tmp_path, monkeypatch, step, iteration):
    """In the first rollout, which is learned from at once, and in the second one, played during the first update."""
    made = make_session(settings(policy={"normalize_observations": True}, horizon=8, minibatch=128))
    finish, calls = made.pipeline._bound[0].finish, []

    def broken(log):
        calls.append(None)
        result = finish(log)
        if len(calls) == step:
            made.pipeline.slabs[0].reward[5] = torch.nan
        return result
    monkeypatch.setattr(made.pipeline._bound[0], "finish", broken)
    made.saved = tmp_path / "checkpoint"
    with pytest.raises(LearningError) as error:
        trained(made, iteration)
    assert made.iteration == iteration - 1
    assert f"environment 5 returned nan in its reward in step {step}; " in train.explain(made, error.value)
    made.close()


def test_an_error_of_the_learning_is_raised_when_the_rollout_has_ended(monkeypatch):
    made, playing, began = make_session(settings()), threading.Event(), threading.Event()
    play = overlap.play

    def slow(actor):
        began.set()
        time.sleep(0.1)
        play(actor)
        playing.set()
    made.overlap.fetch()
    monkeypatch.setattr(overlap, "play", slow)

    def interrupted():
        began.wait()
        raise KeyboardInterrupt
    monkeypatch.setattr(made.learner, "update", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.overlap.update()
    assert playing.is_set()
    made.close()


def test_an_interrupt_ends_with_a_checkpoint_that_goes_on_as_if_there_was_none(tmp_path, monkeypatch):
    run, update, calls = settings(tmp_path / "run", lr_schedule="constant"), Learner.update, []

    def interrupted(learner):
        calls.append(None)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)  # while the third rollout is played
        return update(learner)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Learner, "update", interrupted)
        train.train(run)
    path = checkpoint.latest(tmp_path / "run")
    assert checkpoint.load(path).meta["iteration"] == len(calls) == 2
    whole, resumed = trained(make_session(run), 4), trained(make_session(run, resume=path), 2)
    same(saved(whole, tmp_path / "whole"), saved(resumed, tmp_path / "resumed"))


def test_a_profile_on_the_cpu_is_refused(tmp_path):
    with pytest.raises(SettingError, match="overlap must be false for a profile on the CPU, which records one thread"):
        profile_run(settings(), 1, tmp_path / "trace.json")
    assert not (tmp_path / "trace.json").exists()

"""Slab and pipeline: the same results for any number of batches, on a slow device, and with captured graphs."""

import hashlib
import threading
import warnings

import numpy as np
import pytest
import torch

import envs_c
from bridge import Pipeline, Slab, TransferError
from bridge.source import EpisodeLog, Episodes


def make(num_batches=1, device=None, num_envs=10, num_threads=1, game="breakout", serial=False, graphs=True, **settings):
    env = envs_c.VecEnv(envs_c.game(game), num_envs, seed=3, num_threads=num_threads, **settings)
    return Pipeline(env, num_batches, device, serial=serial, graphs=graphs)


class Player:
    """Random play. Keeps a copy of everything in the slabs.

    seed: of the random actions.
    """

    def __init__(self, pipeline, seed=0):
        self.pipeline, self.random = pipeline, np.random.default_rng(seed)
        self.slabs = {batch.index: [] for batch in pipeline.batches}
        self.rolls = torch.zeros(1000, pipeline.num_envs, dtype=torch.int32)  # by step; one piece of memory for captured work
        self.steps = 0
        self.work = [self._work(batch) for batch in pipeline.batches]

    def _work(self, batch):
        slab, place = self.pipeline.slab(batch), [0]

        def work():
            self.slabs[batch.index].append([part.clone() for part in slab.on_device.values()])
            slab.actions.copy_(self.rolls[place[0]][batch.lo: batch.hi])
            place[0] += 1
        return work

    def play(self, steps) -> str:
        """Play and return the hash of everything in the slabs."""
        for _ in range(steps):
            self.play_step()
        self.pipeline.settle()
        return self.digest(steps)

    def play_step(self):
        pipeline = self.pipeline
        self.rolls[self.steps] = torch.from_numpy(self.random.integers(0, pipeline.num_actions, pipeline.num_envs))
        self.steps += 1
        for batch in pipeline.batches:
            pipeline.turn(batch, self.work[batch.index])

    def digest(self, steps) -> str:
        """Return the hash of the first `steps` steps. It does not depend on the number of batches."""
        digest = hashlib.sha256()
        for step in range(steps):
            for parts in zip(*(self.slabs[batch.index][step] for batch in self.pipeline.batches), strict=True):
                digest.update(torch.cat(parts).numpy().tobytes())
        return digest.hexdigest()


def play(pipeline, steps, seed=0) -> str:
    return Player(pipeline, seed).play(steps)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("masked", [0, 5])
def test_a_slab_is_one_allocation_of_aligned_parts(dtype, masked):
    slab = Slab(3, (7,), dtype, masked)
    starts = {name: part.ctypes.data for name, part in slab.host.items()}
    first = starts["observation"]
    for name, part in slab.host.items():
        assert starts[name] % 64 == 0
        assert first <= starts[name] <= starts[name] + part.nbytes <= first + slab.nbytes
        assert getattr(slab, name).data_ptr() == starts[name]  # on the CPU both are the same memory
    assert len(set(starts.values())) == len(starts)
    assert (slab.action_mask is None) == (masked == 0)


def test_a_slab_gives_back_its_contents():
    slab = Slab(3, (7,), "float32")
    slab.host["observation"][:] = np.arange(21).reshape(3, 7)
    kept = slab.contents()
    slab.host["observation"][:] = 0
    slab.restore(kept)
    assert slab.observation.flatten().tolist() == list(range(21))
    for spoiled, message in (({}, "observation is missing"),
                             ({**kept, "reward": torch.zeros(2)}, r"reward must be \(3,\) .*, not \(2,\)")):
        with pytest.raises(ValueError, match=message):
            slab.restore(spoiled)


@pytest.mark.parametrize("num_batches", [2, 3, 10])
def test_batches_carry_the_same_as_one(num_batches):
    whole, split = make(), make(num_batches)
    for pipeline in (whole, split):
        pipeline.reset()
    assert play(whole, 300) == play(split, 300)


@pytest.mark.parametrize("captures", [False, True], ids=["eager", "captured"])
@pytest.mark.parametrize("serial", [False, True], ids=["in flight", "serial"])
@pytest.mark.parametrize("num_batches", [1, 2, 5])
def test_a_slow_device_with_streams_out_of_order_changes_nothing(slow_device, num_batches, serial, captures):
    plain = make(game="cartpole")
    slow = make(num_batches, slow_device(captures=captures), game="cartpole", serial=serial)
    for pipeline in (plain, slow):
        pipeline.reset()
    assert play(plain, 60) == play(slow, 60)
    ended = sorted(plain.take_episodes().environments)
    assert len(ended) > 10 and sorted(slow.take_episodes().environments) == ended


def test_a_driver_that_did_not_wait_would_be_caught(slow_device):
    plain, wrong = make(), make(2, slow_device(impatient=True))
    for pipeline in (plain, wrong):
        pipeline.reset()
    wanted = play(plain, 60)
    wrong_player = Player(wrong)
    for _ in range(60):
        wrong_player.play_step()
    wrong.make_caller_wait()
    assert wrong_player.digest(60) != wanted


def test_games_play_while_the_device_works_on_another_batch(slow_device):
    pipeline = make(2, slow_device(slowest=0))
    pipeline.reset()
    first, second = pipeline.batches
    played = threading.Event()
    finish = pipeline._bound[second.index].finish

    def finished(log):
        done = finish(log)
        played.set()
        return done

    def held_up():  # ends after the other batch's games have played
        if not played.wait(timeout=30):
            raise RuntimeError("the cores waited for the device")
    pipeline.turn(second, lambda: None)
    pipeline._bound[second.index].finish = finished
    pipeline.turn(first, held_up)
    pipeline.turn(second, lambda: None)
    pipeline.settle()
    assert played.is_set()


@pytest.mark.parametrize("captures", [False, True], ids=["eager", "captured"])
@pytest.mark.parametrize("kind", ["upload", "run", "download"])
def test_an_error_names_batch_and_shapes_and_leaves_the_host_s_buffers(slow_device, kind, captures):
    plain, pipeline = make(2), make(2, slow_device(fails=(kind, 20), captures=captures))
    for each in (plain, pipeline):
        each.reset()
    written = [[], []]  # by batch: the slab's contents at each step
    player = Player(plain)
    for _ in range(20):
        for batch in plain.batches:
            written[batch.index].append(plain.slab(batch).contents())
        player.play(1)
    with pytest.raises(TransferError, match=rf"batch [01] of 2, environments \d to \d.*observation \(5, 118\) float32.*this "
                                            f"{kind} fails on purpose"):
        play(pipeline, 20)
    for batch in pipeline.batches:
        now = pipeline.slab(batch).contents()
        assert any(all(torch.equal(now[name], part) for name, part in then.items()) for then in written[batch.index])


def test_a_failed_capture_warns_once_and_the_work_goes_on(slow_device):
    plain, slow = make(), make(3, slow_device(fails=("capture", 0), captures=True))
    for pipeline in (plain, slow):
        pipeline.reset()
    with pytest.warns(RuntimeWarning, match="cannot be captured as a graph.*fails on purpose") as warned:
        assert play(plain, 20) == play(slow, 20)
    assert len(warned) == 1


def test_nothing_is_captured_without_graphs(slow_device):
    device = slow_device(captures=True)
    pipeline = make(2, device, graphs=False)
    pipeline.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        play(pipeline, 10)
    assert device.count["capture"] == 0 and device.count["upload"] == 20


def test_batches_are_even_and_cover_all():
    ranges = [(b.lo, b.hi) for b in make(3, num_envs=10).batches]
    assert ranges == [(0, 3), (3, 6), (6, 10)]


def test_episodes_are_reported_once_and_raw():
    pipeline = make(2, num_envs=8, game="cartpole", reward_clip=0.25)
    pipeline.reset()
    total, ended = np.zeros(8), []
    work = [pipeline.slab(batch).actions.zero_ for batch in pipeline.batches]
    for _ in range(200):
        for batch in pipeline.batches:
            pipeline.turn(batch, work[batch.index])
            pipeline.play(batch)
            rows, slab = slice(batch.lo, batch.hi), pipeline.slab(batch)
            total[rows] += slab.reward.numpy() * 4  # undoes the clipping of 1 to 0.25
            over = np.flatnonzero(slab.terminated.numpy()) + batch.lo
            ended.extend(zip(over.tolist(), total[over].tolist(), strict=True))
            total[over] = 0
    episodes = pipeline.take_episodes()
    assert len(episodes.returns) > 50
    assert list(zip(episodes.environments.tolist(), episodes.returns.tolist(), strict=True)) == ended
    assert episodes.lengths.tolist() == episodes.returns.tolist()
    assert len(pipeline.take_episodes().returns) == 0


@pytest.mark.parametrize("num_batches", [3, 1])
def test_a_restored_pipeline_goes_on_bit_for_bit_with_any_number_of_batches(num_batches):
    pipeline = make(3)
    pipeline.reset()
    play(pipeline, 100)
    state = pipeline.state()
    wanted = play(pipeline, 100, seed=1)
    other = make(num_batches)
    other.restore(state)
    assert play(other, 100, seed=1) == wanted


@pytest.mark.parametrize(("arguments", "message"), [
    ({"num_batches": 0}, "num_batches must be from 1 to the number of environments, 10, not 0"),
    ({"num_batches": 11}, "num_batches must be from 1 to the number of environments, 10, not 11"),
    *[({"num_batches": value}, f"^num_batches must be an integer from 1 to the number of environments, 10, not {value!r}$")
      for value in (2.0, "2", None, True)],
    ({"device": "cpu"}, "^device must be one that open_device returns, or None for the CPU, not 'cpu'$"),
    ({"view": "both"}, "^view must be 'features', 'pixels', 'rgb' or 'ram' in the pipeline, not 'both'"),
    ({"autoreset": "same_step"}, "autoreset must be 'next_step', not 'same_step'"),
])
def test_wrong_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


def test_other_objects_are_refused():
    with pytest.raises(envs_c.InvalidArgument, match=r"^envs must be an envs_c.VecEnv or Gymnasium vector .*, not \[\[1\]\]$"):
        Pipeline([[1]])


def test_the_episode_log_needs_room():
    env = envs_c.VecEnv(envs_c.game("cartpole"), 4, seed=0, time_limit=1)
    slab = Slab(4, env.observation_shape, env.observation_dtype)
    batch = env.bind(0, 4, actions=slab.host_actions, **slab.host)
    batch.reset()
    assert batch.step() == 4
    with pytest.raises(envs_c.InvalidArgument, match=r"ended episodes .* more than 3 elements, not 3"):
        batch.copy_ended(np.empty(3), np.empty(3, np.int32), np.empty(4, np.int64), 0)
    log = EpisodeLog(1)
    log.add(Episodes(np.ones(1), np.ones(1, np.int32), np.array([7])))
    log.reserve(4)
    batch.copy_ended(*log.columns, 1)
    log.count = 5
    assert log.take().environments.tolist() == [7, 0, 1, 2, 3] and log.count == 0

"""Training on a GPU; `pytest -m gpu`. The tests of the kernels are in tests/trainer/kernels, under the same mark."""

import warnings
from dataclasses import replace

import pytest
import torch

import envs_c
from bridge import DeviceError, Pipeline, Slab, open_device, probe, why_no_gpu
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.games import GameName
from trainer.config.preset import preset
from trainer.rollout.actor import collect
from trainer.training import batches
from trainer.training import build as build_module
from trainer.training.build import make_session
from trainer.training.session import TrainingSession
from trainer.training.train import iterate

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(why_no_gpu()), reason=why_no_gpu()), pytest.mark.usefixtures("exact")]

WRITTEN = ("reward", "terminated", "truncated", "start")  # by the games, with each observation


def config(game="breakout", num_batches=1, *, device="cuda", num_envs=96, serial=False, view="features", frame_stack=1,
           memory="lstm", precision="float32", epochs=2, accumulate=1):
    return Config(game, EnvConfig(num_envs=num_envs, num_batches=num_batches, view=view),
                  PolicyConfig(encoder_size=32, lstm_size=24, precision=precision, frame_stack=frame_stack, memory=memory),
                  PPOConfig(horizon=16, minibatch=num_envs * 16 // max(2, accumulate), total_steps=10**6, epochs=epochs,
                            accumulate=accumulate),
                  RunConfig(seed=5, device=device, serial=serial))


def eagerly(monkeypatch):
    """Sessions capture no graphs."""
    monkeypatch.setattr(build_module, "GRAPHS", False)


def trained(settings, iterations=6) -> TrainingSession:
    made = make_session(settings)
    for _ in range(iterations):
        iterate(made)
    made.pipeline.settle()
    return made


def close(one: TrainingSession, other: TrainingSession, tolerance=2e-3):
    """One weight in 10,000 may differ by more: where a gradient is near 0, Adam steps by its sign."""
    for name, tensor in one.policy.state_dict().items():
        alike = torch.isclose(tensor.cpu(), other.policy.state_dict()[name].cpu(), rtol=tolerance, atol=tolerance)
        assert (~alike).float().mean() <= 1e-4, name


SETTINGS = [
    pytest.param({}, id="one batch"),
    pytest.param({"num_batches": 4}, id="four batches"),
    pytest.param({"num_batches": 3, "serial": True}, id="serial"),
    pytest.param({"game": "go", "memory": "none", "num_batches": 2}, id="masks, no memory"),
    pytest.param({"game": "pong", "view": "pixels", "frame_stack": 3, "num_envs": 16}, id="stacked frames"),
    pytest.param({"game": "cartpole", "precision": "bfloat16"}, id="bfloat16"),
    pytest.param({"accumulate": 4}, id="accumulation, four graphs"),
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_captured_work_equals_the_same_work_done_eagerly(monkeypatch, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # a capture that failed
        captured = trained(config(**settings))
    eagerly(monkeypatch)
    plain = trained(config(**settings))
    assert (captured.storage.action == plain.storage.action).float().mean() > 0.98  # an action near the boundary may differ
    close(captured, plain, 2e-2 if settings.get("precision") == "bfloat16" else 2e-3)


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_first_rollout_on_the_gpu_is_that_on_the_cpu(settings):
    gpu, cpu = (make_session(config(**settings, device=device)) for device in ("cuda", "cpu"))
    for made in (gpu, cpu):
        collect(made.actor)
        made.pipeline.settle()
    torch.cuda.synchronize()
    tolerance = 3e-2 if settings.get("precision") == "bfloat16" else 1e-4
    agreed = torch.ones(cpu.storage.action.shape[1], dtype=torch.bool)  # environments with equal actions so far
    for t, actions in enumerate(cpu.storage.action):
        for name in WRITTEN:
            assert torch.equal(getattr(gpu.storage, name)[t].cpu()[agreed], getattr(cpu.storage, name)[t][agreed]), (name, t)
        torch.testing.assert_close(gpu.storage.value[t].cpu()[agreed], cpu.storage.value[t][agreed], rtol=tolerance,
                                   atol=tolerance)
        agreed &= gpu.storage.action[t].cpu() == actions
    assert agreed.float().mean() > 0.9  # an action near the boundary may differ


@pytest.mark.parametrize("settings", [{"num_batches": 2}, {"num_batches": 8}, {"num_batches": 8, "serial": True}])
def test_batches_do_not_change_the_learning(settings):
    close(trained(config(), 3), trained(config(**settings), 3))


def test_every_stored_observation_is_one_that_the_games_wrote():
    """The games replay the stored actions. This fails if a buffer is overwritten while it is copied."""
    made = make_session(config(num_batches=4, num_envs=512))
    env = envs_c.VecEnv(envs_c.game("breakout"), 512, seed=5)
    again = Pipeline(env)
    again.reset()
    slab = again.slabs[0]
    for _ in range(6):
        collect(made.actor)
        torch.cuda.synchronize()
        stored = {name: getattr(made.storage, name).cpu() for name in ("frames", "reward", "action")}
        for t in range(made.storage.horizon):
            assert torch.equal(slab.observation, stored["frames"][t])
            assert torch.equal(slab.reward, stored["reward"][t])
            again.turn(again.batches[0], lambda actions=stored["action"][t]: slab.actions.copy_(actions))
            again.settle()


def test_nothing_is_allocated_after_the_first_iterations():
    made = trained(config(num_batches=4), 6)
    torch.cuda.synchronize()

    def counted():
        statistics = torch.cuda.memory_stats()
        return statistics["allocation.all.allocated"], statistics["segment.all.allocated"]
    before = counted()
    for _ in range(5):
        collect(made.actor)
    torch.cuda.synchronize()
    assert counted()[0] - before[0] <= 5 * 4  # a few numbers per rollout, none per step
    for _ in range(5):
        iterate(made)
    assert counted()[1] == before[1]          # and no new memory on the device


def test_host_buffers_are_page_locked():
    from cupy.cuda import runtime
    slab = Slab(64, (118,), "float32", device=open_device("cuda"))
    for array in (slab.host["observation"], slab.host_actions):
        assert runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost


def test_kernels_and_copies_write_page_locked_memory_without_a_copy_to_the_host():
    device = open_device("cuda")
    host = device.host_bytes(64)
    shared = device.shared_bytes(host)
    assert shared.data_ptr() == host.ctypes.data and shared.is_cuda
    for write, expected in ((lambda: shared.fill_(7), 7), (lambda: shared.copy_(torch.full_like(shared, 9)), 9)):
        write()
        torch.cuda.synchronize()
        assert (host == expected).all()
    assert (shared + 1).tolist() == [10] * 64


def test_too_much_memory_is_refused_in_a_sentence():
    device = open_device("cuda")
    with pytest.raises(DeviceError, match=r"page-locked memory.*num_envs"):
        device.host_bytes(1 << 46)


def test_a_gpu_that_is_not_there_is_named():
    with pytest.raises(DeviceError, match=r"device must be .*, not 'cuda:99'"):
        open_device("cuda:99")


@pytest.mark.parametrize(("saved_on", "resumed_on"), [("cuda", "cpu"), ("cpu", "cuda"), ("cuda", "cuda")])
def test_a_checkpoint_of_one_device_goes_on_another(tmp_path, saved_on, resumed_on):
    made = trained(config("cartpole", device=saved_on), 4)
    path = made.save(tmp_path)
    other = make_session(config("cartpole", device=resumed_on), resume=path)
    assert other.step == made.step
    for session in (made, other):
        for _ in range(2):
            iterate(session)
    close(made, other)


def test_the_probe_measures_this_machine():
    assert "a launch: " in probe.table(probe.measure(open_device("cuda")))


def test_the_number_of_batches_is_chosen_by_playing_with_each():
    made = make_session(config(num_batches=0, num_envs=512))
    assert len(made.pipeline.batches) in batches.COUNTS and "by number of batches: 1: " in made.facts["batches"]


def test_training_on_the_gpu_learns():
    settings = preset(GameName("cartpole"))
    made = make_session(replace(settings, run=replace(settings.run, device="cuda")))
    while made.step < settings.ppo.total_steps and (made.score_mean() or 0.0) < 200:
        iterate(made)
    assert made.score_mean() > 200  # random play: 22

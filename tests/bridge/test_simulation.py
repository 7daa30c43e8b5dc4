"""CartPole on the device against the compiled game: tensors and kernel give the same bits in every step."""

import numpy as np
import pytest
import torch
from simulation_support import Core, N, buffers, hold, kernel, same, tensors
from torch.utils._python_dispatch import TorchDispatchMode

import envs_c
from bridge.errors import DeviceError
from bridge.on_device.cartpole import MODULE, CartPoleKernel
from bridge.on_device.recent import RECENT


@pytest.fixture(params=[tensors, kernel], ids=["tensors", "kernel"])
def make(request):
    """Both implementations, without a GPU."""
    return request.param


@pytest.mark.parametrize("settings", [
    {}, {"sticky": 0.25, "time_limit": 20}, {"time_limit": 1}, {"time_limit": 0, "reward_clip": 0.5},
    {"time_limit": 8, "reward_clip": (2, 3), "sticky": 1.0},
], ids=str)
def test_a_simulation_gives_the_bits_of_the_compiled_game_in_every_step(make, settings):
    core, out = Core(N, 1, **settings), buffers(N)
    simulation = make(**settings)
    simulation.reset(*out)
    assert same(core, out)
    episodes, lengths, late = hold(simulation, core, out, 600)  # the longest episodes have 500 steps
    assert episodes > N and (late > 100) == (settings.get("time_limit") != 0)
    assert simulation.episodes.item() == episodes
    assert simulation.length_sum.item() == lengths


@pytest.mark.parametrize("seed", [0, 12345, 2**63, 2**64 - 1])
def test_seed_and_reset_use_the_random_numbers_of_the_game(make, seed):
    core, out = Core(N, seed), buffers(N)
    simulation = make(seed=seed)
    for _ in range(3):
        simulation.reset(*out)
        assert same(core, out)
        hold(simulation, core, out, 30)
        core.batch.reset()


@pytest.mark.parametrize(("num_envs", "blocks", "threads"), [(1, 1, 1), (1, 2, 32), (3, 1, 2), (1023, 9, 64), (1023, 16, 64)])
def test_the_number_of_environments_and_the_grid_change_nothing(num_envs, blocks, threads):
    for simulation in (tensors(num_envs), kernel(num_envs, blocks=blocks, threads=threads)):
        core, out = Core(num_envs, 1), buffers(num_envs)
        simulation.reset(*out)
        hold(simulation, core, out, 60)


@pytest.mark.parametrize("work", [2, 30])
def test_more_work_per_step_gives_the_same_bits(make, work):
    core, out = Core(N, 1, sticky=0.1), buffers(N)
    simulation = make(work=work, sticky=0.1)
    simulation.reset(*out)
    hold(simulation, core, out, 150)


def test_cleared_totals_count_anew(make):
    core, out = Core(N, 1), buffers(N)
    simulation = make()
    simulation.reset(*out)
    hold(simulation, core, out, 50)
    simulation.clear_totals()
    assert simulation.episodes.item() == simulation.length_sum.item() == 0
    episodes, lengths, _ = hold(simulation, core, out, 50)
    assert (simulation.episodes.item(), simulation.length_sum.item()) == (episodes, lengths)


@pytest.mark.parametrize(("time_limit", "steps"), [(3, 60), (1, 2 * RECENT + 11), (0, 100)])
def test_the_newest_episodes_of_each_environment_are_taken_in_their_order_and_once(make, time_limit, steps):
    core, out, random = Core(N, 1, time_limit=time_limit), buffers(N), np.random.default_rng(2)
    simulation = make(time_limit=time_limit)
    simulation.reset(*out)
    for _ in range(2):
        expected, taken = [[] for _ in range(N)], [[] for _ in range(N)]
        for _ in range(steps):
            actions = core.choose(random)
            core.step(actions)
            simulation.step(torch.from_numpy(actions), *out)
            for i in np.flatnonzero(core.env.ended):
                expected[i].append((core.env.ended_return[i], core.env.ended_length[i]))
        for score, length, i in zip(*(part.tolist() for part in simulation.take_ended()), strict=True):
            taken[i].append((score, length))
        assert taken == [episodes[-RECENT:] for episodes in expected]
        assert max(map(len, expected)) > (RECENT if time_limit == 1 else 2)


def test_a_restored_simulation_goes_on_with_the_same_bits(make):
    """Each implementation restores the other's state too."""
    core, out = Core(N, 1, sticky=0.25), buffers(N)
    simulation = make(sticky=0.25)
    simulation.reset(*out)
    hold(simulation, core, out, 40)
    state = simulation.state()
    simulation.reset(*out)  # must not change `state`, which holds copies
    for other in (tensors, kernel):
        again, resumed = Core(N, 1, sticky=0.25), other(seed=2, sticky=0.25)
        random = np.random.default_rng(2)
        for _ in range(40):
            again.step(again.choose(random))
        resumed.restore(state)
        hold(resumed, again, out, 60)


@pytest.mark.parametrize("sticky", [0.0, 0.25])
def test_the_simulation_and_the_compiled_game_take_each_other_s_snapshots(make, sticky):
    core, out = Core(N, 1, sticky=sticky), buffers(N)
    simulation = make(sticky=sticky)
    simulation.reset(*out)
    hold(simulation, core, out, 45)
    ours, theirs = simulation.state()["environments"], core.env.get_state()
    assert not sticky or ours.numpy().tobytes() == theirs  # without it the simulation keeps no last action
    core.env.seed(7)
    core.batch.reset()
    core.env.set_state(ours.numpy().tobytes())
    simulation = make(seed=2, sticky=sticky)
    simulation.restore({"environments": torch.frombuffer(bytearray(theirs), dtype=torch.uint8)})
    hold(simulation, core, out, 45)


@pytest.mark.parametrize("broken", [
    lambda state: state[:-1], lambda state: envs_c.VecEnv(envs_c.game("cartpole"), 3).get_state(),
    lambda state: envs_c.VecEnv(envs_c.game("pong"), N).get_state()], ids=["cut", "another number", "another game"])
def test_a_state_that_does_not_fit_is_refused_and_nothing_changes(make, broken):
    simulation, out = make(), buffers(N)
    simulation.reset(*out)
    before = {name: tensor.clone() for name, tensor in simulation.arrays().items()}
    state = broken(simulation.state()["environments"].numpy().tobytes())
    with pytest.raises(envs_c.InvalidState):
        simulation.restore({"environments": torch.frombuffer(bytearray(state), dtype=torch.uint8)})
    assert all(torch.equal(before[name], tensor) for name, tensor in simulation.arrays().items())


def test_reseeded_environments_begin_as_new_ones_do(make):
    core, out = Core(N, 9, first=3), buffers(N)
    simulation = make(seed=1, first=3)
    simulation.reset(*out)
    simulation.reseed(9)
    simulation.reset(*out)
    assert same(core, out)
    hold(simulation, core, out, 20)


@pytest.mark.parametrize(("settings", "message"), [
    ({"num_envs": 0}, "num_envs"), ({"seed": -1}, "seed"), ({"time_limit": -1}, "time_limit"), ({"sticky": 1.5}, "sticky"),
    ({"reward_clip": -1}, "reward_clip"), ({"work": 0}, "work"),
])
def test_a_wrong_setting_is_named(make, settings, message):
    with pytest.raises(envs_c.InvalidArgument, match=f"^{message} "):
        make(**settings)


@pytest.mark.parametrize(("position", "wrong", "name"), [
    (0, torch.zeros(N), "actions"), (0, torch.zeros(N + 1, dtype=torch.int32), "actions"),
    (1, torch.zeros(4, N).T, "observation"), (2, torch.zeros(N, dtype=torch.float64), "reward"),
    (3, torch.zeros(2 * N)[::2], "terminated"), (4, torch.zeros(N, device="meta"), "truncated"),
])
def test_a_wrong_buffer_is_named_and_no_buffer_is_written(make, position, wrong, name):
    simulation, out = make(), buffers(N)
    simulation.reset(*out)
    before = simulation.state()
    given = [torch.zeros(N, dtype=torch.int32), *out]
    given[position] = wrong
    with pytest.raises(ValueError, match=f"^{name} must be a contiguous"):
        simulation.step(*given)
    assert torch.equal(before["environments"], simulation.state()["environments"])


def test_a_step_before_the_first_reset_and_a_kernel_without_a_gpu_are_refused(make):
    with pytest.raises(envs_c.NotReset, match="reset"):
        make().step(torch.zeros(N, dtype=torch.int32), *buffers(N))
    with pytest.raises(DeviceError, match="GPU"):
        CartPoleKernel(1, "cpu", 1)


def test_a_simulation_has_the_game_s_spaces(make):
    simulation, core = make(), Core(N, 1)
    assert simulation.actions == core.env.actions and simulation.num_actions == 2
    assert simulation.observation_shape == core.env.observation_shape
    assert simulation.observation_dtype == core.env.observation_dtype


@pytest.mark.parametrize("settings", [{}, {"sticky": 0.5}, {"time_limit": 0}, {"work": 2}], ids=str)
def test_a_step_in_tensors_allocates_no_tensor(settings):
    """Each operation writes to an existing tensor or returns a view of one."""
    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            schema = operation._schema
            if not any(result.alias_info for result in schema.returns) and not schema.is_mutable:
                made.append(schema.name)
            return operation(*args, **(kwargs or {}))

    simulation, out, made = tensors(**settings), buffers(N), []
    simulation.reset(*out)
    actions = torch.zeros(N, dtype=torch.int32)
    with Watch():
        simulation.step(actions, *out)
        assert made == []
        torch.zeros(1)
    assert made == ["aten::zeros"]


@pytest.mark.parametrize("arch", ["sm_75", "sm_86", "sm_90"])
def test_nvrtc_compiles_the_kernel_without_a_gpu(arch):
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, compiles the kernels")
    assert MODULE.compile(arch)[:4] == b"\x7fELF"

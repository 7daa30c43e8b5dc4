"""The model of a GPU's time (benchmarks/gpu_model): its simulation against times by hand, its record, and cubins."""

import json
import re
from dataclasses import replace

import pytest

from benchmarks.gpu_model import __main__ as command
from benchmarks.gpu_model import games, report
from benchmarks.gpu_model.cubin import Usage, usage
from benchmarks.gpu_model.devices import DEVICES, Costs, Device
from benchmarks.gpu_model.record import Iteration, Operation, Part, record
from benchmarks.gpu_model.simulate import Machine, Setting, simulate
from trainer.log.numbers import count

PLAIN = Device("plain", "sm_90", 1, 65536, 2048, 1 << 16, 1e9, 1e12, 1e12, 1e9, 1)  # a byte takes a nanosecond
NONE = Costs(node=0, kernel=0, copy=0, graph=0, operation=0, sync=0, turn=0, python=0, memory=1, products=1, product=0, step=0)
SECOND = 10**9  # bytes that take a second


def kernel(stream: int = 1, seconds: float = 1, after: tuple[int, ...] = (), flops: float = 0) -> Operation:
    return Operation("kernel", "work", stream, 0 if flops else seconds * SECOND, flops, "", 128, after)


def sequences(rows: int, steps: int, flops: float, seconds: float = 0) -> Operation:
    return Operation("kernel", "sequences", 1, seconds * SECOND, flops, "", 128, (), steps, rows)


def copy(direction: str, stream: int = 1, seconds: float = 1) -> Operation:
    return Operation("copy", "copy", stream, seconds * SECOND, 0, direction, 0, ())


def wait(*after: int) -> Operation:
    return Operation("sync", "wait", -1, 0, 0, "", 0, after)


ROWS = [  # operations, costs, the time when all is done
    ([kernel(), kernel()], {}, 2),
    ([kernel(1), kernel(2)], {}, 2),                                  # the GPU is one
    ([kernel(1), kernel(2)], {"node": 3}, 5),                         # latencies of two streams pass together
    ([kernel(1), kernel(1)], {"node": 3}, 8),
    ([kernel(1), kernel(2, after=(0,))], {"node": 3}, 8),
    ([copy("to device", 1), copy("to device", 2)], {}, 2),            # one engine a direction
    ([copy("to device", 1), copy("to host", 2)], {}, 1),
    ([copy("to device", 1), kernel(1)], {"copy": 2}, 4),
    ([copy("on device", 1)], {}, 2),                                  # read and written
    ([replace(kernel(1), shared=3e9)], {}, 3),                        # a kernel whose bytes go over the bus
    ([kernel(flops=2e12)], {}, 2),
    ([kernel(flops=1e9)], {"product": 3}, 3),
    ([kernel(flops=2e12)], {"products": 0.5}, 4),
    ([sequences(rows=16, steps=3, flops=16)], {"step": 0.5}, 3 * 0.5),
    ([sequences(rows=17, steps=3, flops=17)], {"step": 0.5}, 2 * 3 * 0.5),     # two blocks, one multiprocessor
    ([sequences(rows=16, steps=2, flops=2e12)], {"step": 0.5}, 2 * (0.5 + 1)),
    ([sequences(rows=4, steps=2, flops=0.5e12)], {}, 2 * 1),                   # a block of few costs as much
    ([sequences(rows=16, steps=2, flops=16, seconds=9)], {"step": 0.5}, 9),
    ([Operation("launch", "graph", 1, 0, 0, "", 0, ()), kernel()], {"graph": 2}, 2 + 1),
    ([kernel(), wait(0), kernel()], {"sync": 1}, 2 + 0),              # the wait passes while the kernel works
    ([kernel(), Operation("wait", "event", 2, 0, 0, "", 0, (0,)), kernel(2, 1)], {}, 2),
]


@pytest.mark.parametrize(("operations", "costs", "seconds"), ROWS)
def test_a_list_of_operations_takes_the_time_computed_by_hand(operations, costs, seconds):
    machine = Machine(PLAIN, replace(NONE, **costs), "bfloat16")
    machine.queue(operations, {}, graph=True)
    machine.settle()
    assert machine.host == pytest.approx(seconds)


def part(*operations: Operation) -> Part:
    return Part(operations, operations, (4, 8))


def iteration(step=(), minibatch=()) -> Iteration:
    return Iteration(part(*step), part(), part(*minibatch), part(), horizon=2, precision="bfloat16")


@pytest.mark.parametrize(("batches", "seconds"), [(1, 2 * (4 + 4) + 4), (2, 2 + 2 * 4 + 4)])
def test_two_batches_play_while_the_gpu_works_on_the_other(batches, seconds):
    """4 s of games and 4 s of the GPU a step, in one batch or in two halves; then 4 s of learning."""
    made = iteration([kernel(seconds=4 / batches)], [kernel(seconds=4)])
    setting = Setting(num_envs=4, minibatch=8, batches=batches, cores=1, game_seconds=1)
    assert simulate(made, setting, PLAIN, NONE).seconds == pytest.approx(seconds)


def test_what_is_free_is_never_slower_and_games_that_take_all_the_time_are_named():
    made = iteration([kernel(seconds=0.01)], [kernel(seconds=0.01)])
    setting = Setting(num_envs=4, minibatch=8, batches=1, cores=1, game_seconds=1)
    gains = report.limits(made, setting, PLAIN, Costs(), simulate(made, setting, PLAIN, Costs()))
    assert min(gains.values()) >= 1 - 1e-9
    assert next(iter(gains)) == "games"


@pytest.fixture(scope="module")
def recorded():
    return record("cartpole", horizon=4, precision="float32", memory="lstm", width=8)


def test_the_record_has_a_step_s_copies_and_grows_with_the_number_of_environments(recorded):
    def copied(size):
        return sum(one.bytes for one in recorded.step.at(size) if one.direction == "to device")
    assert [one.direction for one in recorded.step.small if one.kind == "copy"] == ["to device"]
    sample, = [one for one in recorded.step.at(1000) if one.name == "sample_step"]
    assert sample.shared == 1000 * 4  # an int32 for each action
    assert copied(1000) == pytest.approx(1000 * (copied(5) - copied(4)) + copied(0), rel=1e-6)
    assert copied(1000) > 1000 * 4 * 4  # four float32 features


def test_bytes_and_flop_of_a_third_size_are_on_the_line_of_the_two(recorded, monkeypatch):
    from benchmarks.gpu_model import record as module
    monkeypatch.setattr(module, "LARGE", 16)
    other = record("cartpole", horizon=4, precision="float32", memory="lstm", width=8)
    for one, two in zip(recorded.minibatch.at(8), other.minibatch.large, strict=True):
        assert (one.name, one.flops) == (two.name, pytest.approx(two.flops))
        assert one.bytes == pytest.approx(two.bytes, rel=0.05, abs=600)  # memory is given in blocks of 512 bytes


def test_a_kernel_for_whole_sequences_is_recorded_with_its_steps_sequences_and_flop():
    made = record("cartpole", horizon=4, precision="bfloat16", memory="lstm", width=32)
    for one in [one for one in made.minibatch.at(10) if one.name.startswith("lstm_recurrence")]:
        assert (one.steps, one.rows, one.flops) == (4, 10, 2 * 4 * 10 * 4 * 32 * 32)
    assert len([one for one in made.minibatch.at(10) if one.steps]) == 2


SOURCE = """extern "C" __global__ void shares(float* x) {
    __shared__ float part[256]; part[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = part[255 - threadIdx.x]; }
extern "C" __global__ void spills(float* x, int at) {
    float many[400]; for (int k = 0; k < 400; k++) many[k] = x[k] * k; x[0] = many[at]; many[at] = 0; x[1] = many[at + 1]; }
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100", "sm_120"])
def test_shared_memory_registers_and_stack_are_read_from_a_cubin(arch, tmp_path):
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, compiles the kernels")
    from bridge.nvrtc import CudaModule
    (tmp_path / "some.cu").write_text(SOURCE)
    found = usage(CudaModule(tmp_path / "some.cu").compile(arch))
    assert found["shares"].shared >= 1024
    assert found["shares"].stack == 0
    assert found["spills"].stack >= 1600
    assert 2 <= found["shares"].registers <= 64


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", pytest.param("sm_100", marks=pytest.mark.slow), "sm_120"])
def test_our_kernels_spill_nothing_and_half_of_a_multiprocessor_s_threads_fit(arch):
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, compiles the kernels")
    from bridge.nvrtc import BLOCK
    from trainer.kernels.checks import sources
    for name, one in [found for module in sources.modules(bf16=False) for found in usage(module.compile(arch)).items()]:
        assert one.stack == 0, name
        assert one.occupancy(DEVICES["h100"], BLOCK) >= 0.5, name


@pytest.mark.parametrize(("device", "bf16"), [pytest.param("rtx2080", False, marks=pytest.mark.slow), ("h100", True)])
def test_the_table_of_registers_has_each_kernel_of_our_cuda_sources(device, bf16):
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, compiles the kernels")
    from trainer.kernels.checks import sources
    listed = [row[0] for row in report.kernel_rows(DEVICES[device])]
    assert any(one.startswith("lstm_recurrence") for one in listed) == bf16
    for module in sources.modules(bf16=bf16):
        text = module.path.read_text(encoding="utf-8")
        names = re.findall(r'extern "C" __global__ void\s+(?:__launch_bounds__\([^)]*\)[\s\\]*)?(\w+?)(?:##\w+)?\(', text)
        assert len(names) > 1
        for name in names:
            assert any(one.startswith(name) for one in listed), name


@pytest.mark.parametrize(("registers", "shared", "block", "part"), [
    (32, 0, 128, 1.0), (64, 0, 128, 0.5), (255, 0, 128, 0.125), (32, 1 << 15, 128, 0.4375), (33, 0, 1024, 0.5)])
def test_occupancy_is_the_least_of_threads_registers_and_shared_memory(registers, shared, block, part):
    assert Usage(registers, shared, 0).occupancy(DEVICES["h100"], block) == pytest.approx(part)


def test_another_file_than_a_cubin_is_an_error():
    with pytest.raises(ValueError, match="ELF"):
        usage(b"\x7fELF\x01 of 32 bits")


@pytest.mark.parametrize(("words", "text"), [
    (["--minibatch", "100"], "--minibatch must be a multiple"), (["--batches", "3"], "--batches must divide"),
    (["--cores", "0"], "argument --cores: must be"), (["--game", "pongo"], "pongo"), (["--device", "gtx"], "--device")])
def test_a_wrong_option_is_named(words, text, capsys):
    with pytest.raises(SystemExit):
        command.main(words)
    assert text in capsys.readouterr().err


def test_games_beside_a_gpu_without_bfloat16_are_modelled_in_float32_on_the_cores_that_were_asked_for():
    setting = Setting(num_envs=64, minibatch=64, batches=1, cores=4, game_seconds=1e-7)
    devices = [DEVICES["rtx2080"], DEVICES["h100"]]
    (row,) = games.rows(["cartpole"], {"cartpole": 1e-7}, setting, devices, Costs(), horizon=4, memory="lstm", width=8)
    cells = dict(zip(games.columns(devices, setting.cores), row, strict=True))
    made = record("cartpole", horizon=4, precision="float32", memory="lstm", width=8)
    assert cells["RTX 2080: on 4 cores"] == count(simulate(made, setting, devices[0], Costs()).steps_per_second)


def test_other_systems_are_modelled_with_their_own_horizon_and_width(monkeypatch):
    sizes = []
    monkeypatch.setattr(command, "record", lambda game, **given: sizes.append((given["horizon"], given["width"])))
    monkeypatch.setattr(report, "against", lambda *arguments: [])
    command.checks(Costs(), 1e-7)
    assert sizes == [(64, 128)] * 3


def test_the_command_prints_json_and_writes_a_timeline(tmp_path, capsys):
    command.main(["--device", "h100", "--game", "cartpole", "--num-envs", "64", "--horizon", "4", "--minibatch", "64",
                  "--width", "8", "--game-ns", "50", "--json", "--trace", str(tmp_path / "trace.json")])
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer["steps_per_second"] > 0
    assert set(answer["without"]) >= {"games", "memory"}
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {"host", "copies to device"} <= {one["args"]["name"] for one in events if one["ph"] == "M"}

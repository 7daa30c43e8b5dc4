"""The kernels of whole LSTM sequences (trainer/kernels/lstm/sequence.cu) as NVRTC compiles them, on the emulator: they equal
plain torch, for any number of sequences and steps; planted faults are caught; nothing is spilled."""

import lstm_twin
import pytest
import torch
from kernel_devices import close
from ptx_runs import MAIN, on_all

from benchmarks.gpu_model.cubin import usage
from bridge import nvrtc
from bridge.nvrtc import CudaModule
from trainer import kernels
from trainer.kernels import choose
from trainer.kernels.lstm import cuda, recurrence
from trainer.kernels.lstm.recurrence import lstm_recurrence, lstm_recurrence_backward

F32, BF16 = torch.float32, torch.bfloat16
BATCHES = (1, 3, 16, 17, 40)  # a block has 16 sequences
NEW_GPU = (9, 0)


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    """torch says that the GPU is new enough."""
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, is not there to compile CUDA sources")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: NEW_GPU)


@pytest.fixture
def emulate(monkeypatch):
    """A function that sends CPU tensors to the kernels on the emulator, and returns the bytes that were written."""
    from ptx import EmulatedModule
    from ptx.compiler import architectures
    from ptx.launch import Written

    def use(arch: str = "sm_90", module=None, **settings):
        if arch not in architectures():
            pytest.skip(f"this NVRTC does not compile for {arch}")
        written = Written()
        monkeypatch.setitem(choose.DEVICES, "cpu", choose.CUDA)
        emulated = EmulatedModule(module or recurrence.module, arch, written=written, **settings)
        monkeypatch.setattr(recurrence, "module", emulated)
        return written
    return use


def draw(steps: int, batch: int, n: int) -> dict[str, torch.Tensor]:
    """The inputs of both passes; a fifth of the steps begins an episode."""
    torch.manual_seed(steps * batch + n)
    keep = (torch.rand(steps + 1, batch) > 0.2).float()
    products, weight_h = 2 * torch.randn(steps, batch, 4 * n), torch.randn(4 * n, n) / n ** 0.5
    h = torch.randn(batch, n).tanh() * keep[0, :, None]
    return {"products": products.to(BF16), "weight_h": weight_h.to(BF16), "bias": torch.randn(4 * n), "keep": keep,
            "h": h.to(BF16), "c": torch.randn(batch, n), "dhidden": torch.randn(steps, batch, n).to(BF16)}


def both_passes(products, weight_h, bias, keep, h, c, dhidden, *, place: bool = False) -> list[torch.Tensor]:
    """gates, inputs, cells, hidden and dgates. place: gates take the memory of the products, then dgates that of the gates."""
    (steps, batch), n = products.shape[:2], products.shape[2] // 4
    gates = products.clone() if place else torch.empty_like(products)
    inputs, hidden = torch.empty(steps + 1, batch, n, dtype=BF16), torch.empty(steps, batch, n, dtype=BF16)
    cells = torch.empty(steps + 1, batch, n)
    inputs[0], cells[0] = h, c
    lstm_recurrence(gates if place else products, weight_h, bias, keep, gates, inputs, cells, hidden)
    activated = gates.clone()
    dgates = gates if place else torch.empty_like(gates)
    lstm_recurrence_backward(gates, weight_h, keep, cells, dhidden, dgates)
    return [activated, inputs, cells, hidden, dgates]


def check(steps: int, batch: int, n: int, written):
    drawn = draw(steps, batch, n)
    with kernels.use_reference():
        wanted = both_passes(**drawn)
    with written:
        ours = both_passes(**drawn)
    assert written.all(*ours)  # no element is left out
    for mine, other in zip(ours, wanted, strict=True):
        close(mine, other, BF16)
    same = [(mine == other).float().mean() for mine, other in zip(ours, wanted, strict=True) if mine.dtype == BF16]
    assert min(same) > 0.98  # the others differ in the last bit


@pytest.mark.parametrize("steps", [1, 5])
@pytest.mark.parametrize(("arch", "batch"), on_all(BATCHES, 17))
def test_sequences_equal_plain_torch(batch, steps, arch, emulate):
    check(steps, batch, 32, emulate(arch))


@pytest.mark.parametrize(("arch", "batch", "n"), [(MAIN, 3, 64), (MAIN, 17, 128), ("sm_80", 3, 128), ("sm_120", 3, 128)])
def test_more_units_equal_plain_torch(batch, n, arch, emulate):
    check(5, batch, n, emulate(arch))


@pytest.mark.parametrize(("batch", "n"), [
    (17, 32), *(pytest.param(batch, 32, marks=pytest.mark.slow) for batch in (1, 3, 16, 40)),
    pytest.param(17, 128, marks=pytest.mark.slow)])
def test_64_steps_equal_plain_torch(batch, n, emulate):
    check(64, batch, n, emulate())


@pytest.mark.parametrize(("steps", "batch", "n"), [(1, 3, 32), (6, 17, 32), (5, 19, 64)])
def test_a_policy_s_unroll_and_its_gradients_equal_float64_autograd(steps, batch, n, emulate, monkeypatch):
    monkeypatch.setattr(cuda, "lstm_forward", None)  # single steps would fail
    emulate()
    arguments = lstm_twin.draw(steps, batch, 24, n, BF16)
    ours = lstm_twin.unroll(*arguments)
    for mine, wanted in zip(ours, lstm_twin.plain(*arguments), strict=True):
        close(mine, wanted, BF16)


def test_outputs_can_take_the_memory_of_inputs(emulate):
    emulate()
    drawn = draw(3, 17, 32)
    for mine, wanted in zip(both_passes(**drawn, place=True), both_passes(**drawn), strict=True):
        assert torch.equal(mine, wanted)


@pytest.mark.parametrize("blocks", [1, 2])
def test_fewer_blocks_than_the_sequences_need_change_no_bit(blocks, emulate, monkeypatch):
    drawn = draw(4, 40, 32)
    emulate()
    wanted = both_passes(**drawn)
    monkeypatch.setattr(nvrtc, "WAVES", 1)
    emulate(multiprocessors=blocks)
    for mine, other in zip(both_passes(**drawn), wanted, strict=True):
        assert torch.equal(mine, other)


@pytest.mark.parametrize("part", [slice(0, 1), slice(1, 6), slice(6, 20)], ids=str)
def test_a_sequence_s_bits_do_not_depend_on_the_others(part, emulate):
    emulate()
    drawn = draw(4, 20, 32)
    all_rows = {"products": 1, "dhidden": 1, "keep": 1, "h": 0, "c": 0}  # name: the dimension of sequences
    few = {name: one[:, part] if all_rows.get(name) else one[part] if name in all_rows else one for name, one in drawn.items()}
    few = {name: one.contiguous() for name, one in few.items()}
    for mine, wanted in zip(both_passes(**few), both_passes(**drawn), strict=True):
        assert torch.equal(mine, wanted[:, part])


def test_a_nan_stays_in_its_sequence_from_its_step_on(emulate):
    emulate()
    drawn = draw(4, 17, 32)
    drawn["keep"].fill_(1.0)
    drawn["products"][2, 5, 7] = torch.nan
    _, _, _, hidden, dgates = both_passes(**drawn)
    wanted = torch.zeros(4, 17, dtype=torch.bool)
    wanted[2:, 5] = True
    assert torch.equal(hidden.isnan().any(-1), wanted)
    assert torch.equal(dgates.isnan().any(-1).any(0), wanted.any(0))


# Planted faults

BARRIER = "            __syncthreads();\n"
OUTSIDE, RACE = "outside every live allocation", "without a barrier between"
FAULTS = {  # a change of sequence.cu, and the fault
    "no barrier": (BARRIER, "", RACE),
    "no barrier before the first step": ("        __syncthreads();\n        for", "        for", f"{RACE}|never written"),
    "one tile": ("tiles[(t + 1) & 1]", "tiles[0]", f"{RACE}|never written"),
    "one tile, backward": ("tiles[t & 1]", "tiles[0]", f"{RACE}|never written"),
    "another row stride": ("+ 8 * r) * WIDTH + unit", "+ 8 * r) * (WIDTH - 8) + unit", "never written"),
    "rows not aligned": ("const int PAD = 8;", "const int PAD = 4;", "is not aligned"),
    "a row that is not there": ("begin + lane / 4 + 8 * r < batch", "begin + lane / 4 + 8 * r <= batch", OUTSIDE),
    "a step too far": ("t + 1 < steps", "t < steps", OUTSIDE),
}


@pytest.fixture
def plant(tmp_path):
    """A function that returns the module with one change of its source."""
    def changed(old: str, new: str, sizes: str = "RECURRENCE(32)\n") -> CudaModule:
        text, _, _ = recurrence.module.path.read_text().partition("RECURRENCE(32)\n")
        assert old in text
        text += sizes
        (tmp_path / "sequence.cu").write_text(text.replace(old, new))
        return CudaModule(tmp_path / "sequence.cu", recurrence.module.headers)
    return changed


@pytest.mark.parametrize(("old", "new", "text"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_caught(old, new, text, plant, emulate):
    from ptx import Fault
    written = emulate(module=plant(old, new))
    with written, pytest.raises(Fault, match=text):
        both_passes(**draw(3, 17, 32))


@pytest.mark.parametrize(("old", "new"), [
    ("kept[r] = kept_next[r];", ""), ("h[0] * kept_next[r], h[1]", "h[0], h[1]"), ("at[9 * N] << 16", "at[8 * N] << 16"),
    ("sums[1][2 * r + e]) * kept_next[r]", "sums[1][2 * r + e])"), ("dc[r][e] *= kept_next[r];", "")])
def test_wrong_arithmetic_differs_from_plain_torch(old, new, plant, emulate):
    written = emulate(module=plant(old, new))
    with pytest.raises(AssertionError):
        check(5, 17, 32, written)


# Sizes, devices and arguments

@pytest.mark.parametrize(("dtype", "n", "capability", "takes"), [
    (BF16, 128, (9, 0), True), (BF16, 64, (8, 0), True), (BF16, 32, (12, 0), True), (BF16, 128, (7, 5), False),
    (F32, 128, (9, 0), False), (BF16, 48, (9, 0), False), (BF16, 256, (9, 0), False)])
def test_sizes_dtypes_and_devices_without_a_kernel_do_single_steps(dtype, n, capability, takes, emulate, monkeypatch):
    emulate()
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: capability)
    assert recurrence.supports(torch.zeros(1), dtype, 1, n) == takes


def test_a_kernel_that_was_replaced_and_the_reference_do_single_steps_and_a_cpu_has_a_version_of_its_own(emulate, monkeypatch):
    def version():
        lstm_twin.unroll(*lstm_twin.draw(1, 2, 24, 32, BF16))
        return kernels.picked()["lstm_sequence"]

    assert version() in ("cpu", "reference")  # cpu where it multiplies bfloat16
    emulate()
    assert version() == "cuda"
    with kernels.use_reference():
        assert version() == "reference"
    monkeypatch.setattr(choose, "_replaced", frozenset({"lstm_sequence", "lstm_forward", "lstm_backward"}))
    assert version() == "reference"


REFUSED = {  # (error, its text, change of valid inputs)
    "units": (ValueError, "no kernel for the recurrence of torch.bfloat16 on 'cpu' with 40 units", {
        "weight_h": torch.zeros(160, 40, dtype=BF16)}),
    "weight_h": (ValueError, r"weight_h must have the shape \(128, 32\), not \(96, 32\)", {
        "weight_h": torch.zeros(96, 32, dtype=BF16)}),
    "bias": (TypeError, "bias must be torch.float32, not torch.bfloat16", {"bias": torch.zeros(128, dtype=BF16)}),
    "keep": (ValueError, r"keep must have the shape \(4, 3\), not \(3, 3\)", {"keep": torch.zeros(3, 3)}),
    "dhidden": (ValueError, "dhidden must be contiguous", {"dhidden": torch.zeros(3, 32, 3, dtype=BF16).mT}),
}


@pytest.mark.parametrize(("error", "text", "change"), REFUSED.values(), ids=REFUSED)
def test_invalid_arguments_are_refused(error, text, change, emulate):
    emulate()
    with pytest.raises(error, match=text):
        both_passes(**draw(3, 3, 32) | change)


# What a GPU's assembler makes of it

REGISTERS = 65536  # of a multiprocessor


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100", "sm_120"])
def test_weights_stay_in_registers_and_a_block_fits_on_every_gpu(arch):
    found = usage(recurrence.module.compile(arch))
    assert found.keys() == {f"lstm_recurrence{way}_{n}" for way in ("", "_backward") for n in recurrence.UNITS}
    for name, one in found.items():
        n = int(name.rpartition("_")[2])
        assert one.stack == 0, name                                              # nothing is spilled
        assert n // 2 < one.registers <= min(128, REGISTERS // (recurrence.THREADS * n)), name  # the weights are there
        assert one.shared <= 48 << 10, name                                      # no opt-in to more is needed


def test_too_few_registers_show_as_spills(plant):
    module = plant("__launch_bounds__(4 * N)", "__launch_bounds__(4 * N, 2)", "RECURRENCE(128)\n")  # two on a multiprocessor
    assert usage(module.compile("sm_90"))["lstm_recurrence_128"].stack > 0


def test_every_kernel_of_the_source_has_a_case(emulate, monkeypatch):
    from ptx.launch import compiled
    launched, original = set(), recurrence.module

    class Watched(CudaModule):
        def launch(self, name, *values, **settings):
            launched.add(name)
    emulate()
    monkeypatch.setattr(recurrence, "module", Watched(original.path, original.headers))
    for n in recurrence.UNITS:
        both_passes(**draw(1, 1, n))
    assert launched == set(compiled(original.path, "sm_90", tuple(original.headers)).entries)

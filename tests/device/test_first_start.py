"""The check of the kernels at a trainer's first start on a GPU, on the device without one."""

import json
import warnings

import pytest
import torch
from cuda_double.install import installed
from device_runs import config, contents, require_same, trained

from bridge import open_device
from bridge.errors import DeviceError
from bridge.nvrtc import CudaModule
from bridge.on_device import cartpole
from trainer.kernels import choose
from trainer.kernels.checks import cases, first_start
from trainer.kernels.checks.sources import OWNERS
from trainer.kernels.lstm import recurrence
from trainer.policy.load import load_policy
from trainer.training.build import make_session

# A kernel, a line of its source, and the line with a fault.
PLANTED = {
    "lstm_forward": ("float g = number(gx[k + 2 * n]) + number(gh[k + 2 * n])", "float g = number(gx[k + 2 * n])"),
    "lstm_backward": ("float d = dc[u] * keep_next[row];", "float d = dc[u];"),
    "sample": ("may_hold(hold, held, k)),\n                               log_prob + k);",
               "may_hold(hold, held, k)) ^ 0x80000000u,\n                               log_prob + k);"),
    "categorical": ("(int)actions, action[k],\n                                 dlog_prob[k], dentropy[k], dlogits",
                    "(int)actions, action[k],\n                                 dlog_prob[k], 0.0f, dlogits"),
    "gaussian_sample": ("row_gaussian_sample(row, log_deviation, (int)n, seed,",
                        "row_gaussian_sample(row, log_deviation, (int)n, seed + 1,"),
    "gaussian": ("(int)n, dlog_prob[k], dentropy[k],", "(int)n, dentropy[k], dlog_prob[k],"),
    "advantages": ("advantage + k, (int)steps, batch, gamma,", "advantage + k, (int)steps, batch, 1.0f,"),
    "stack_frames": ("start_stride, back);", "start_stride, 0);"),
}


@pytest.fixture(autouse=True)
def new_user(tmp_path, monkeypatch):
    """A cache folder of the test's own, and a process that has checked nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(first_start, "_done", [])
    monkeypatch.setattr(first_start, "ROWS", (33,))
    monkeypatch.setattr(choose, "_replaced", frozenset())


@pytest.fixture(params=[None])
def unchecked(request):
    """A Machine in the place of CUDA, whose kernels were never checked. They are compiled for the CPU, or emulated (sm_90)."""
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, has NVRTC's version")
    with installed(request.param, checked=False) as machine:
        yield machine
        machine.synchronize_all("the end of the test")
    assert not machine.faults, machine.faults


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """A function that plants a fault in a copy of the source."""
    def changed(kernel: str):
        before, after = PLANTED[kernel]
        (owner, text), = [(one, text) for one in OWNERS if before in (text := one.module.path.read_text())]
        assert text.count(before) == 1
        (tmp_path / "cuda.cu").write_text(text.replace(before, after))
        monkeypatch.setattr(owner, "module", CudaModule(tmp_path / "cuda.cu", owner.module.headers))
    return changed


@pytest.fixture
def runs(monkeypatch):
    """The groups that were compared."""
    titles, original = [], first_start.compare

    def compare(group, device, rows):
        titles.append(group.title)
        return original(group, device, rows)
    monkeypatch.setattr(first_start, "compare", compare)
    return titles


def start(**settings):
    """A training's start in a new process of the user's."""
    first_start._done.clear()
    made = make_session(config(**settings))
    if made.device.type == "cuda":
        torch.cuda.synchronize()
    made.close()


@pytest.mark.parametrize(("kernel", "settings"), [
    ("lstm_forward", {}), ("lstm_backward", {}), ("sample", {}), ("categorical", {}), ("advantages", {"vtrace": True}),
    ("stack_frames", {"frame_stack": 3, "num_batches": 2}), ("gaussian_sample", {"game": "gym:Pendulum-v1"}),
    ("gaussian", {"game": "gym:Pendulum-v1"})], ids=str)
def test_a_wrong_kernel_is_named_and_a_training_goes_on_with_plain_torch(unchecked, plant, kernel, settings):
    plant(kernel)
    with pytest.warns(RuntimeWarning, match=rf"on a device without a GPU .*: {kernel} \([^)]*\); plain torch is used .* please "
                                            r"report it with the file that insertcoin selftest writes \(docs/gpu.md") as warned:
        made = contents(trained(config(**settings)))
    assert choose.replaced() == {kernel, f"{kernel}_backward"} and not first_start.memory_file().exists()
    assert len(warned) == 1  # all work was captured too
    assert unchecked.graphs > 0
    require_same(made, contents(trained(config("cpu", **settings))))


@pytest.mark.parametrize("unchecked", ["sm_90"], indirect=True)
def test_a_training_does_single_steps_in_place_of_a_wrong_kernel_for_whole_sequences(unchecked, tmp_path, monkeypatch):
    before, after = "dc[r][e] *= kept_next[r];", ""
    text = recurrence.module.path.read_text()
    assert text.count(before) == 1
    (tmp_path / "sequence.cu").write_text(text.replace(before, after))
    monkeypatch.setattr(first_start, "ROWS", (3,))
    monkeypatch.setattr(recurrence, "module", CudaModule(tmp_path / "sequence.cu", recurrence.module.headers))
    with pytest.warns(RuntimeWarning, match=r"on a device without a GPU .*: lstm_sequence \([^)]*\); plain torch is used"):
        trained(config(precision="bfloat16", lstm_size=32), 2)
    captured = {one.name for one in unchecked.schedule.operations if one.graph is not None}
    assert "lstm_backward_bf16" in captured and not any("lstm_recurrence" in name for name in captured)


@pytest.mark.parametrize("unchecked", ["sm_90"], indirect=True)
def test_right_kernels_are_remembered_after_one_line_and_not_checked_again(unchecked, runs, capsys):
    start()
    line, = capsys.readouterr().err.splitlines()
    assert line.startswith("kernels: equal to plain torch on a device without a GPU (driver ") and "checked once" in line
    for _ in range(2):
        start()
    assert runs == ["kernels"] and not choose.replaced() and not capsys.readouterr().err


@pytest.mark.parametrize(("name", "value"), [("gpu", "another"), ("driver", "1.2"), ("version", "0.0"), ("nvrtc", "1.0"),
                                             ("sources", "")])
def test_another_gpu_driver_or_version_is_checked_again(unchecked, monkeypatch, runs, name, value):
    monkeypatch.setattr(first_start, "compare", lambda group, device, rows: runs.append(group.title) or [])
    first_start.remember(first_start.facts_of(cases.KERNELS, torch.device("cuda:0")))
    start()
    assert not runs
    original = first_start.facts_of
    monkeypatch.setattr(first_start, "facts_of", lambda *arguments: original(*arguments) | {name: value})
    start()
    assert runs == ["kernels"]


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff\0", b"{}", b"[1, [], null]", b'"x"', None], ids=str)
def test_a_damaged_memory_is_ignored_and_written_anew(unchecked, runs, monkeypatch, content):
    monkeypatch.setattr(first_start, "compare", lambda group, device, rows: runs.append(group.title) or [])
    file = first_start.memory_file()
    file.parent.mkdir(parents=True)
    file.mkdir() if content is None else file.write_bytes(content)
    start()
    start()
    if content is None:
        assert runs == ["kernels"] * 2
    else:
        assert runs == ["kernels"] and len(json.loads(file.read_bytes())) == 1


def test_a_memory_that_cannot_be_written_is_said_in_a_line(unchecked, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(first_start, "compare", lambda group, device, rows: [])
    (tmp_path / "cache").write_text("a file")
    start()
    note, line = capsys.readouterr().err.splitlines()
    assert note.startswith("note: ") and "the next start checks the kernels again" in note and line.startswith("kernels: equal")


def test_the_kernel_of_games_on_the_device_is_checked_if_it_is_used(unchecked, runs):
    start()
    start(sim="device")
    start(sim="device")
    assert runs == ["kernels", "CartPole on the device"]


def test_games_on_the_device_are_played_in_tensors_if_their_kernel_is_wrong(unchecked, tmp_path, monkeypatch):
    text = cartpole.MODULE.path.read_text()
    path = tmp_path / "cartpole.cu"
    path.write_text(text.replace("9.8", "9.9"))
    assert path.read_text() != text
    module = CudaModule(path)
    monkeypatch.setattr(cases, "CARTPOLE_MODULE", module)
    monkeypatch.setitem(cartpole.CartPoleKernel.__init__.__kwdefaults__, "module", module)
    with pytest.warns(RuntimeWarning, match="differ from plain torch on .*: cartpole"):
        made = trained(config(sim="device"))
    assert type(made.pipeline.source).__name__ == "CartPoleTensors"
    require_same(contents(made), contents(trained(config("cpu", sim="tensors"))))


def test_a_policy_that_is_loaded_is_checked_too(unchecked, runs, tmp_path):
    path = make_session(config("cpu")).save(tmp_path)
    load_policy(path, "cuda")
    assert runs == ["kernels"]


def test_a_kernel_that_fails_is_an_error_of_one_line(unchecked, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    monkeypatch.setattr(first_start, "compare", fail)
    with pytest.raises(DeviceError, match=r"^kernels cannot run on .* \(CUDA error.*\): use the CPU \(.*\), and report"):
        start()


def test_a_gpu_without_bfloat16_is_checked_without_the_kernels_for_whole_sequences(unchecked, monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device=None: (7, 5))
    start()
    assert first_start.remembered() and not any("lstm_recurrence" in one.name for one in unchecked.schedule.operations)


def test_the_check_changes_no_random_number(unchecked):
    torch.manual_seed(3)
    wanted = torch.rand(4)
    torch.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first_start.check_kernels(torch.device("cuda:0"))
    assert torch.equal(torch.rand(4), wanted)


def test_nothing_is_checked_on_the_cpu(runs):
    start(device="cpu")
    assert not runs and not first_start.memory_file().exists()


@pytest.mark.parametrize(("text", "shown"), [
    ("Attempting to run cuBLAS, but there was no current CUDA context! Attempting to set the primary context...", 0),
    ("another sentence of torch", 1),
])
def test_a_harmless_warning_of_torch_s_gradients_is_left_out(double, text, shown):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        open_device("cuda")
        warnings.warn(text, stacklevel=1)
    assert len(caught) == shown

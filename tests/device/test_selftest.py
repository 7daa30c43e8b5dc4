"""The parts of `insertcoin selftest` on the device without a GPU."""

import json

import pytest
from cuda_double.install import installed

from bridge import probe
from bridge.graphs import Captured
from trainer.commands.main import run as run_command
from trainer.kernels.actions import cuda as actions
from trainer.kernels.lstm import cuda as lstm
from trainer.kernels.mingru import cuda as mingru
from trainer.kernels.rollout import cuda as rollout
from trainer.kernels.rollout import reference
from trainer.selftest import checks, figures, page, visit
from trainer.training.train import iterate


def failed(results) -> list[str]:
    return [one["check"] for one in results if one["passed"] is False]


@pytest.fixture
def fast():
    """A Machine in the place of CUDA, with kernels compiled for the CPU."""
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, has NVRTC's version")
    with installed() as machine:
        yield machine


def test_every_kernel_passes_its_check(fast):
    results = list(checks.kernels((1, 33, 129)))
    launching = {name for owner in (actions, lstm, mingru, rollout) for name, one in vars(owner).items()
                 if getattr(one, "__module__", "") == owner.__name__}
    checked = {one["check"] for one in results}
    assert not failed(results)
    assert "cartpole" in checked and all(name in checked or name.removesuffix("_backward") in checked for name in launching)


def test_a_kernel_that_differs_fails_its_check(fast, monkeypatch):
    original = reference.advantages
    monkeypatch.setattr(reference, "advantages", lambda *arguments: original(*arguments) + 0.01)
    results = list(checks.kernels((1, 33)))
    assert failed(results) == ["advantages"]
    assert "V-trace, 33 rows: 0.0" in next(one["detail"] for one in results if one["check"] == "advantages")


@pytest.mark.parametrize("changes", [{"num_batches": 2}, {"accumulate": 4}], ids=str)
def test_captured_graphs_pass_their_checks(fast, changes):
    small = {"num_envs": 8, "horizon": 4} | changes
    results = list(checks.capture({"small": small}, 3))
    assert len(results) == 3 and not failed(results)


@pytest.mark.filterwarnings("ignore:.*cannot be captured")
def test_work_that_cannot_be_captured_fails_its_check(fast, monkeypatch):
    def refuse(self):
        self.graphs.give_up(self.name, RuntimeError("refused"))
    monkeypatch.setattr(Captured, "_capture", refuse)
    results = list(checks.capture({"small": {"num_envs": 8, "horizon": 4}}, 3))
    assert failed(results) == ["small: all work is captured"] and "refused" in results[0]["detail"]


def test_graphs_that_are_replayed_too_rarely_fail_their_check(fast, monkeypatch):
    def every_other_time(self):
        original = self.stream.capture(self.work)
        calls = []

        def replay():
            calls.append(0)
            if len(calls) % 2:
                original()
        self.replay = replay
    monkeypatch.setattr(Captured, "_capture", every_other_time)
    assert failed(checks.capture({"small": {"num_envs": 8, "horizon": 4}}, 3)) == [
        "small: as without graphs", "small: the first rollout is the CPU's"]


def test_several_batches_pass_their_checks(fast, monkeypatch):
    monkeypatch.setattr(checks, "seconds", lambda made: 0.001)
    original = checks.config
    monkeypatch.setattr(checks, "config", lambda *arguments, **changes: original(*arguments, **changes | {
        "num_envs": 16, "horizon": 4}))
    results = list(checks.overlap(counts=(2,)))
    assert len(results) == 3 and not failed(results)
    assert results[-1]["detail"] == "serial: 1.00 ms, 2 batches: 1.00 ms"


@pytest.mark.parametrize("leaks", [False, True])
def test_memory_that_grows_fails_its_check(fast, monkeypatch, leaks):
    import torch
    kept, original = [], checks.iterate

    def iterate(made):
        original(made)
        if leaks:
            kept.append(torch.zeros(100_000, device="cuda"))
    monkeypatch.setattr(checks, "iterate", iterate)
    config = checks.config
    monkeypatch.setattr(checks, "config", lambda **changes: config(**changes | {"num_envs": 16, "horizon": 4}))
    results = list(checks.memory(4))
    assert failed(results) == (["later iterations take no memory of the device"] if leaks else [])


@pytest.mark.parametrize("error", [RuntimeError, AssertionError, ImportError])
def test_a_part_that_raises_any_error_ends_with_a_failed_check_that_names_it(monkeypatch, error):
    def broken():
        yield checks.check("kernels", "one", True, "")
        raise error("CUDA error")
    monkeypatch.setitem(checks.CHECKS, "kernels", broken)
    assert [(one["check"], one["passed"], one["detail"]) for one in checks.results("kernels")] == [
        ("one", True, ""), ("runs to its end", False, f"{error.__name__}: CUDA error")]


# The command

@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """A machine with a GPU, whose programs print what the test gives them: a dict of outputs and errors by part."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bridge.why_no_gpu", lambda: "")
    monkeypatch.setattr(visit.torch.cuda, "get_device_name", lambda: "NVIDIA H100 80GB HBM3")
    monkeypatch.setattr(visit, "program", lambda command, seconds: run(command))
    for folder in ("tests", "benchmarks/gpu_model"):
        (tmp_path / folder).mkdir(parents=True)
    measured = {"copies": "GB/s 12", "choice": "4 (of estimates)", "figures": [
        {"num_envs": 8192, "batches": batches, "serial": serial, "steps_per_second": 4e6, "rollout_steps_per_second": 6e6,
         "iteration_ms": 131.0, "rollout_ms": 100.0, "games_ms": 50.0, "idle": 0.25, "copy_bytes": 4096, "bandwidth": 0.9}
        for batches, serial in ((1, True), (1, False), (4, False))]}
    passed = {"part": "kernels", "check": "sample", "passed": True, "detail": "a | b"}
    lines = [{"copies": measured["copies"]}, {"choice": measured["choice"]}, *({"figure": one} for one in measured["figures"])]
    programs = {**dict.fromkeys(checks.CHECKS, ("", "")), "kernels": (json.dumps(passed), ""),
                "figures": ("\n".join(map(json.dumps, lines)), ""),
                "benchmarks.gpu_model": (json.dumps([{"steps_per_second": 6e6, "rollout_ms": 80.0}]), ""),
                "pytest": ("...\n12 passed in 3 s", ""), "calls": []}

    def run(command):
        programs["calls"].append(command)
        return programs[next(name for name in programs if name in command)]
    return programs


def selftest(*argv: str) -> int:
    return run_command(["selftest", *argv])


def written(tmp_path) -> tuple[str, dict]:
    text = (tmp_path / "insertcoin_selftest.md").read_text()
    return text, json.loads(text.split("```json\n")[1].split("```")[0])


def test_one_file_has_the_checks_the_copies_and_the_model_beside_the_figures(gpu, tmp_path, capsys):
    assert selftest() == 0
    text, content = written(tmp_path)
    assert "| kernels | sample | yes | a / b |" in text and "GB/s 12" in text and "batches: 4 (of" in text
    assert "Not done" not in text and "pytest" not in text
    assert "| serial | 4.00M |  |  | 100.00 |  | 6.00M | 131.00 | 50.00 | 25% | 4,096 | 90% |" in text
    assert "| 4 | 4.00M | 6.00M | 1.50 | 100.00 | 80.00 | 6.00M | 131.00 | 50.00 | 25% | 4,096 | 90% |" in text
    assert content["facts"]["gpu"] == "NVIDIA H100 80GB HBM3"
    assert {"driver", "torch", "cpu", "python"} <= content["facts"].keys()
    models = [call[call.index("benchmarks.gpu_model") + 1:] for call in gpu["calls"] if "benchmarks.gpu_model" in call]
    assert [call[:2] for call in models] == [["--device", "h100"]] * 2
    assert "1 checks passed, 0 failed; please send insertcoin_selftest.md" in capsys.readouterr().out


def test_the_full_visit_measures_all_sizes_runs_the_tests_and_has_no_limit_of_time(gpu, tmp_path):
    assert selftest("--full", "--num-envs", "8192,32768", "--iterations", "10") == 0
    assert "`pytest -m gpu`: 12 passed in 3 s" in written(tmp_path)[0]
    figures = next(call for call in gpu["calls"] if "figures" in call)
    assert figures[-4:] == ["--num-envs", "8192,32768", "--iterations", "10"]
    assert visit.Clock(None).left(3.0) is None and 1.0 <= visit.Clock(2.0).left(3.0) <= 2.0


@pytest.mark.parametrize(("part", "code"), [("kernels", 1), ("pytest", 1), ("figures", 0), ("benchmarks.gpu_model", 0)])
def test_a_part_that_fails_is_named_and_the_others_are_in_the_file(gpu, tmp_path, part, code):
    gpu[part] = "", f"{part} was ended after 3 seconds"
    assert selftest("--full") == code
    text, content = written(tmp_path)
    assert f"{part} was ended after 3 seconds" in text and "## Not done: " in text
    assert bool(content["checks"]) == (part != "kernels") and bool(content["figures"]) == (part != "figures")


def test_the_results_before_a_crash_are_in_the_file(gpu, tmp_path):
    lines = gpu["figures"][0].splitlines()
    failed = json.dumps({"problem": "8192 environments, 4: OutOfMemoryError"})
    gpu["figures"] = "\n".join([*lines[:3], failed, '{"figure": {"nu']), "an illegal address"
    gpu["capture"] = json.dumps({"part": "capture", "check": "first", "passed": True, "detail": ""}), "an illegal address"
    assert selftest() == 1
    text, content = written(tmp_path)
    assert [one["check"] for one in content["checks"]] == ["sample", "first"] and len(content["figures"]) == 1
    assert "## Not done: capture\n\n```\nan illegal address" in text
    assert "8192 environments, 4: OutOfMemoryError\nan illegal" in text


def test_a_failed_check_is_printed_and_is_the_exit_code(gpu, tmp_path, capsys):
    gpu["memory"] = json.dumps({"part": "memory", "check": "c", "passed": False, "detail": "grew"}), ""
    assert selftest() == 1
    assert "failed: memory, c: grew" in capsys.readouterr().err and "**NO**" in written(tmp_path)[0]


def test_a_gpu_that_the_model_does_not_know_has_figures_without_it(gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(visit.torch.cuda, "get_device_name", lambda: "NVIDIA GeForce GTX 1080")
    assert selftest() == 0
    assert "the model does not know NVIDIA GeForce GTX 1080; it has h100" in written(tmp_path)[0]


def test_outside_the_repository_its_parts_are_named_as_missing(gpu, tmp_path):
    for folder in ("tests", "benchmarks/gpu_model"):
        (tmp_path / folder).rmdir()
    assert selftest("--full") == 1
    text, _ = written(tmp_path)
    assert all(f"not here: {path} is a part of the repository; run this command in its folder" in text
               for path in ("tests", "benchmarks/gpu_model"))


def test_without_a_gpu_one_line_says_what_is_missing(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bridge.why_no_gpu", lambda: "CuPy is not installed: make cuda")
    assert selftest() == 2
    printed = capsys.readouterr()
    assert printed.err == "error: the self-test needs a GPU: CuPy is not installed: make cuda\n" and not printed.out
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("argv", "sentence"), [
    (["--out", "nowhere/file.md"], "--out must be in a folder that exists, not 'nowhere'"),
    (["--out", "tests"], "--out must be a file, not the folder 'tests'"),
    (["--num-envs", "0"], "--num-envs must be numbers of environments with commas, such as 8192,32768, not '0'"),
    (["--iterations", "0"], "--iterations must be an integer of at least 1, not 0"),
    (["--part", "model"], "--part must be all, kernels, capture, overlap, memory, figures, probe, games, cartridges, "
     "simulations or training, not 'model'")])
def test_a_wrong_option_is_one_line(gpu, capsys, argv, sentence):
    assert selftest(*argv) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {sentence}") and error.count("\n") == 1 and not gpu["calls"]


@pytest.mark.parametrize("part", ["memory", "figures"])
def test_a_part_alone_prints_a_line_of_json_for_each_result(gpu, monkeypatch, capsys, part):
    monkeypatch.setattr(checks, "results", lambda name: [name, 1])
    monkeypatch.setattr(figures, "results", lambda sizes, iterations: [*sizes, iterations])
    assert selftest("--part", part, "--num-envs", "64,128", "--iterations", "2") == 0
    printed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert printed == {"memory": ["memory", 1], "figures": [64, 128, 2]}[part]
    assert not gpu["calls"]


def test_a_measured_session_leaves_no_memory_of_the_device(fast, monkeypatch):
    monkeypatch.setattr(figures, "HORIZON", 4)
    monkeypatch.setattr(figures, "figures_of", lambda session, costs, iterations: [iterate(session) for _ in range(3)])
    monkeypatch.setattr(figures.torch.cuda, "empty_cache", lambda: None)
    live = []
    for batches, serial in ((1, True), (2, False), (2, False)):
        figures.measure(figures.config(8, batches, serial), None, 1)
        live.append(fast.device.live)
    assert live[0] == live[1] == live[2] < fast.device.peak / 10  # constants that torch's modules keep


def test_a_measurement_that_fails_is_named_and_the_next_one_runs(monkeypatch):
    def measure(settings, costs, iterations):
        if settings.env.num_batches == 2:
            raise MemoryError("no memory")
        return settings.env.num_batches
    monkeypatch.setattr(figures, "measure", measure)
    monkeypatch.setattr(figures, "VARIANTS", (("1", 1, False), ("2", 2, False), ("4", 4, False)))
    monkeypatch.setattr(figures, "open_device", lambda name: None)
    monkeypatch.setattr(figures, "choice", lambda *arguments: "4")
    for name in ("measure", "table"):
        monkeypatch.setattr(probe, name, lambda given: "a table")
    assert list(figures.results([64], 1)) == [
        {"copies": "a table"}, {"choice": "4"}, {"figure": 1}, {"problem": "64 environments, 2: MemoryError: no memory"},
        {"figure": 4}]


@pytest.mark.slow
def test_the_figures_that_are_measured_are_those_that_the_file_shows(fast, monkeypatch):
    monkeypatch.setattr(figures, "HORIZON", 4)
    monkeypatch.setattr(figures, "VARIANTS", (("serial", 1, True), ("2", 2, False)))
    monkeypatch.setattr(probe, "SIZES", (512, 4096))
    copies, choice, *found = json.loads(json.dumps(list(figures.results([8], 1))))
    measured = [one["figure"] for one in found]
    serial, two = map(page.row, measured)
    assert serial[0] == "serial" and two[0] == "2" and len(two) == len(page.COLUMNS) and "a launch: " in copies["copies"]
    assert all(one["num_envs"] == 8 and one["games_ms"] > 0 for one in measured) and choice["choice"][0].isdigit()


def test_the_model_knows_the_devices_that_the_command_names():
    from benchmarks.gpu_model.devices import DEVICES
    assert set(visit.MODELS) == set(DEVICES)

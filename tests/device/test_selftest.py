"""The parts of `python -m bridge.selftest` on the device without a GPU."""

import json

import pytest
from cuda_double.install import installed

from benchmarks import gpu as gpu_benchmark
from bridge import selftest as visit
from bridge.graphs import Captured
from trainer.kernels import reference
from trainer.kernels.cuda import rows as cuda
from trainer.training import selftest


def failed(results) -> list[str]:
    return [one["check"] for one in results if one["passed"] is False]


@pytest.fixture
def fast():
    """A Machine in the place of CUDA, with kernels compiled for the CPU."""
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, has NVRTC's version")
    with installed() as machine:
        yield machine


def test_every_kernel_passes_its_check(fast):
    results = list(selftest.kernels((1, 33, 129)))
    launching = {name for name, one in vars(cuda).items() if getattr(one, "__module__", "") == cuda.__name__ and name[0] != "_"}
    checked = {one["check"] for one in results}
    assert not failed(results)
    assert "cartpole" in checked and all(name in checked or name.removesuffix("_backward") in checked for name in launching)


def test_a_kernel_that_differs_fails_its_check(fast, monkeypatch):
    original = reference.advantages
    monkeypatch.setattr(reference, "advantages", lambda *arguments: original(*arguments) + 0.01)
    results = list(selftest.kernels((1, 33)))
    assert failed(results) == ["advantages"]
    assert "V-trace, 33 rows: 0.0" in next(one["detail"] for one in results if one["check"] == "advantages")


@pytest.mark.parametrize("changes", [{"num_batches": 2}, {"accumulate": 4}], ids=str)
def test_captured_graphs_pass_their_checks(fast, changes):
    small = {"num_envs": 8, "horizon": 4} | changes
    results = list(selftest.capture({"small": small}, 3))
    assert len(results) == 3 and not failed(results)


@pytest.mark.filterwarnings("ignore:.*cannot be captured")
def test_work_that_cannot_be_captured_fails_its_check(fast, monkeypatch):
    def refuse(self):
        self.graphs.give_up(self.name, RuntimeError("refused"))
    monkeypatch.setattr(Captured, "_capture", refuse)
    results = list(selftest.capture({"small": {"num_envs": 8, "horizon": 4}}, 3))
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
    assert failed(selftest.capture({"small": {"num_envs": 8, "horizon": 4}}, 3)) == [
        "small: as without graphs", "small: the first rollout is the CPU's"]


def test_several_batches_pass_their_checks(fast, monkeypatch):
    monkeypatch.setattr(selftest, "seconds", lambda made: 0.001)
    original = selftest.config
    monkeypatch.setattr(selftest, "config", lambda *arguments, **changes: original(*arguments, **changes | {
        "num_envs": 16, "horizon": 4}))
    results = list(selftest.overlap(counts=(2,)))
    assert len(results) == 3 and not failed(results)
    assert results[-1]["detail"] == "serial: 1.00 ms, 2 batches: 1.00 ms"


@pytest.mark.parametrize("leaks", [False, True])
def test_memory_that_grows_fails_its_check(fast, monkeypatch, leaks):
    import torch
    kept, original = [], selftest.iterate

    def iterate(made):
        original(made)
        if leaks:
            kept.append(torch.zeros(100_000, device="cuda"))
    monkeypatch.setattr(selftest, "iterate", iterate)
    config = selftest.config
    monkeypatch.setattr(selftest, "config", lambda **changes: config(**changes | {"num_envs": 16, "horizon": 4}))
    results = list(selftest.memory(4))
    assert failed(results) == (["later iterations take no memory of the device"] if leaks else [])


def test_a_part_that_raises_is_a_failed_check_and_the_next_one_runs(monkeypatch):
    def broken():
        yield selftest.check("kernels", "one", True, "")
        raise RuntimeError("CUDA error")

    def memory():
        yield selftest.check("memory", "two", True, "")
    monkeypatch.setattr(selftest, "CHECKS", (broken, memory))
    assert [(one["check"], one["passed"]) for one in selftest.results()] == [
        ("one", True), ("runs to its end", False), ("two", True)]


# The command

@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """A machine with a GPU, whose programs print what the test gives them: a dict of outputs by module."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(visit, "why_no_gpu", lambda: "")
    monkeypatch.setattr(visit.torch.cuda, "get_device_name", lambda: "NVIDIA H100 80GB HBM3")
    figures = [{"batches": batches, "serial": serial, "steps_per_second": 4e6, "rollout_ms": 100.0, "games_ms": 50.0}
               for batches, serial in ((1, True), (1, False), (4, False))]
    passed = [{"part": "kernels", "check": "sample", "passed": True, "detail": "a | b"}]
    programs = {"trainer.training.selftest": (json.dumps(passed), ""), "benchmarks.gpu": ("# The page", ""),
                "benchmarks.gpu_model": (json.dumps([{"steps_per_second": 6e6, "rollout_ms": 80.0}]), "")}
    calls = []

    def program(module, *arguments, seconds):
        calls.append((module, *arguments))
        if "--json" in arguments and module == "benchmarks.gpu" and not programs[module][1]:
            with open(arguments[-1], "w") as file:
                json.dump(figures, file)
        return programs[module]
    monkeypatch.setattr(visit, "program", program)
    programs["calls"] = calls
    return programs


def written(tmp_path) -> tuple[str, dict]:
    text = (tmp_path / "insertcoin_selftest.md").read_text()
    return text, json.loads(text.split("```json\n")[1].split("```")[0])


def test_one_file_has_the_checks_and_the_model_beside_the_figures(gpu, tmp_path, capsys):
    assert visit.main([]) == 0
    text, content = written(tmp_path)
    assert "| kernels | sample | yes | a / b |" in text and "# The page" in text and "Not done" not in text
    assert "| serial | 4,000,000 |  |  | 100.00 |  |" in text
    assert "| 4 | 4,000,000 | 6,000,000 | 1.50 | 100.00 | 80.00 |" in text
    assert content["facts"]["gpu"] == "NVIDIA H100 80GB HBM3"
    assert {"driver", "torch", "cpu", "python"} <= content["facts"].keys()
    assert [call[1:3] for call in gpu["calls"] if call[0] == "benchmarks.gpu_model"] == [("--device", "h100")] * 2
    assert "1 checks passed, 0 failed; please send insertcoin_selftest.md" in capsys.readouterr().out


@pytest.mark.parametrize(("module", "code"), [("trainer.training.selftest", 1), ("benchmarks.gpu", 0),
                                              ("benchmarks.gpu_model", 0)])
def test_a_part_that_fails_is_named_and_the_others_are_in_the_file(gpu, tmp_path, module, code):
    gpu[module] = "", f"{module} was ended after 3 seconds"
    assert visit.main([]) == code
    text, content = written(tmp_path)
    assert f"{module} was ended after 3 seconds" in text and "## Not done: " in text
    assert bool(content["checks"]) == (code == 0) and bool(content["figures"]) == (module != "benchmarks.gpu")


def test_a_failed_check_is_printed_and_is_the_exit_code(gpu, tmp_path, capsys):
    gpu["trainer.training.selftest"] = json.dumps([{"part": "memory", "check": "c", "passed": False, "detail": "grew"}]), ""
    assert visit.main([]) == 1
    assert "failed: memory, c: grew" in capsys.readouterr().err and "**NO**" in written(tmp_path)[0]


def test_a_gpu_that_the_model_does_not_know_has_figures_without_it(gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(visit.torch.cuda, "get_device_name", lambda: "NVIDIA GeForce GTX 1080")
    assert visit.main([]) == 0
    assert "the model does not know NVIDIA GeForce GTX 1080; it has h100" in written(tmp_path)[0]


def test_without_a_gpu_one_line_says_what_is_missing(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(visit, "why_no_gpu", lambda: "CuPy is not installed: make cuda")
    assert visit.main([]) == 2
    printed = capsys.readouterr()
    assert printed.err == "error: the self-test needs a GPU: CuPy is not installed: make cuda\n" and not printed.out
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_is_one_line(gpu, capsys):
    assert visit.main(["--out", "nowhere/file.md"]) == 2
    assert "error: cannot write nowhere/file.md: No such file" in capsys.readouterr().err and not gpu["calls"]


@pytest.mark.parametrize(("module", "arguments", "seconds", "output", "problem"), [
    ("this_module_is_missing", (), 9, "", "not here: this_module_is_missing is a part of the repository"),
    ("this_package.is_missing", (), 9, "", "not here: this_package.is_missing is a part of the repository"),
    ("json.tool", ("--help",), 30, "usage: ", ""),
    ("json.tool", ("nowhere.json",), 30, "", "json.tool ended with code "),
    ("http.server", ("0",), 0.3, "", "http.server was ended after 0 seconds"),
])
def test_a_program_that_is_missing_fails_or_hangs_is_a_problem(module, arguments, seconds, output, problem):
    printed, why = visit.program(module, *arguments, seconds=seconds)
    assert printed.startswith(output) and why.startswith(problem) and bool(why) == bool(problem)


@pytest.mark.slow
def test_the_figures_of_benchmarks_gpu_are_those_that_the_file_shows(fast, monkeypatch):
    monkeypatch.setattr(gpu_benchmark, "HORIZON", 4)
    figures = gpu_benchmark.measure(gpu_benchmark.config(8, 2, False, 2), costs=None, iterations=1)
    cells = gpu_benchmark.row(figures)
    assert cells[0] == "2" and len(cells) == 9
    assert visit.figures_row(figures, {2: {"steps_per_second": 1e6, "rollout_ms": 3.0}})[2] == "1,000,000"
    assert json.loads(json.dumps(figures))["num_envs"] == 8 and figures["games_ms"] > 0


def test_the_modules_that_the_command_runs_exist():
    assert all(map(visit._exists, ("trainer.training.selftest", "benchmarks.gpu", "benchmarks.gpu_model")))
    from benchmarks.gpu_model.devices import DEVICES
    assert set(visit.MODELS) == set(DEVICES)

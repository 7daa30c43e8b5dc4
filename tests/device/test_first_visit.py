"""`insertcoin selftest --visit`: its order, its file as it grows, parts that fail; its parts on a device without a GPU."""

import importlib.util
import json
import sys
from types import SimpleNamespace

import device_runs
import pytest
from cuda_double.install import installed

from bridge import probe
from envs_c.console.cartridges import present
from trainer.commands.main import run as run_command
from trainer.selftest import cartridges, checks, figures, first_visit, simulations
from trainer.selftest.first_visit import Part

zig = pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="zig compiles the games")
ORDER = ["build", "kernels", "tests", "a refused capture", "races", "probe", "games", "cartridges", "simulations", "training",
         "trace, host", "trace, device"]


@pytest.fixture
def fast():
    """A Machine in the place of CUDA, with kernels compiled for the CPU."""
    pytest.importorskip("cupy", reason="CuPy, of the extra cuda, has NVRTC's version")
    with installed() as machine:
        yield machine


@pytest.fixture
def gpu(monkeypatch, tmp_path):
    """A machine with a GPU, in an empty folder. Its memory can be changed."""
    properties = SimpleNamespace(total_memory=80 << 30)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bridge.why_no_gpu", lambda: "")
    monkeypatch.setattr(first_visit, "facts", lambda: {"gpu": "NVIDIA H100 80GB HBM3"})
    monkeypatch.setattr(first_visit.torch.cuda, "get_device_properties", lambda device: properties)
    return properties


def visit() -> int:
    return run_command(["selftest", "--visit"])


def written(tmp_path) -> str:
    return (tmp_path / "insertcoin_selftest.md").read_text()


def test_the_parts_run_in_their_order_and_a_small_gpu_has_smaller_figures(gpu, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr(first_visit, "missing", lambda part: "")
    monkeypatch.setattr(first_visit, "run", lambda command, seconds, take: ran.append(command) or "")
    assert visit() == 0
    gpu.total_memory = 8 << 30
    assert visit() == 0
    one, other = ran[:len(ORDER)], ran[len(ORDER):]
    assert len(one) == len(other) == len(ORDER)
    assert [part.name for part in first_visit.parts(tmp_path, 0)] == ORDER
    assert one[2][-1] == f"--ignore={one[3][-1]}" == "--ignore=tests/trainer/test_gpu_refused.py"  # which runs alone, then
    assert [line[-1] for line in (one[8], other[8])] == ["1024,8192,65536", "1024,8192"]
    assert sum(part.seconds for part in first_visit.parts(tmp_path, 1 << 40)) < 3600


def test_the_file_has_each_line_at_once_and_a_part_that_crashes_ends_no_other(gpu, tmp_path, monkeypatch):
    crash = "import os; print('{\"a\": 1}', flush=True); print('half', flush=True); os.kill(os.getpid(), 11)"
    reads = ("import time; text = ''\n"
             "while 'half' not in text: text = open('insertcoin_selftest.md').read(); time.sleep(0.05)\n"
             "print('it is running' in text and '{\"a\": 1}' in text)")
    failing = json.dumps({"part": "games", "check": "pong", "passed": False, "detail": "reward"})
    python = [sys.executable, "-c"]
    monkeypatch.setattr(first_visit, "parts", lambda folder, memory: [
        Part("crash", [*python, crash], 60, ()), Part("reads", [*python, reads], 60, ()),
        Part("absent", [*python, "1"], 60, ("compute-sanitizer-of-nobody",)),
        Part("hangs", [*python, "print('before', flush=True); import time; time.sleep(60)"], 2, ()),
        Part("no program", ["./nothing"], 60, ()), Part("check", [*python, f"print({failing!r})"], 60, ())])
    assert visit() == 1
    text = written(tmp_path)
    results = dict(line.strip("| ").split(" | ")[::2] for line in text.splitlines() if line.count(" | ") == 2)
    assert results["reads"] == "done" and "\nTrue\n" in text
    assert "ended with code -11" in results["crash"] and '{"a": 1}\nhalf\n' in text
    assert results["absent"] == "not here: compute-sanitizer-of-nobody"
    assert "was ended after 2 seconds" in results["hangs"] and "\nbefore\n" in text
    assert "./nothing does not start" in results["no program"] and results["check"] == "pong: reward"


def test_problems_of_a_part_are_its_result():
    assert not first_visit.failed(['{"passed": true}', "12 passed", "3", '{"figure": 1}', '{"ha'])
    lines = ['{"problem": "no memory"}', '{"passed": false, "check": "a", "detail": "b"}']
    assert first_visit.failed(lines) == "no memory; a: b"


# The measurements

@zig
def test_games_on_the_device_are_compared_with_the_cpu_s(fast, monkeypatch):
    found = list(simulations.games(["pong", "g2048"], {"features": 20, "pixels": 2}, num_envs=3))
    assert [one["check"] for one in found] == ["pong, features", "g2048, features", "pong, pixels", "g2048, pixels"]
    assert all(one["passed"] for one in found), found
    original = simulations.DeviceGame.step

    def step(self, actions, observation, reward, *others, **named):
        original(self, actions, observation, reward, *others, **named)
        reward += 1

    monkeypatch.setattr(simulations.DeviceGame, "step", step)
    (one,) = simulations.games(["cartpole"], {"features": 3}, num_envs=2)
    assert one["passed"] is False and one["detail"] == "reward differs at step 0"
    (one,) = simulations.games(["nothing"], {"features": 3})
    assert one["passed"] is False and one["detail"].startswith("UnknownGame: ")


@zig
@pytest.mark.skipif("breakout" not in present(), reason="the cartridge comes with ale-py")
def test_the_console_on_the_device_is_compared_with_the_cpu_s_and_measured(fast, monkeypatch):
    monkeypatch.setattr(cartridges, "GAMES", ("breakout", "no_such_game"))
    monkeypatch.setattr(cartridges, "SECONDS", 0.0)
    found = list(cartridges.results({"features": 3, "pixels": 1}, sizes=(2,)))
    assert [(one["check"], one["passed"]) for one in found[:2]] == [
        ("atari:breakout, features", True), ("atari:breakout, pixels", True)]
    speeds = [one["speed"] for one in found[2:]]
    assert [(one["view"], one["num_envs"]) for one in speeds] == [("features", 2), ("pixels", 2)]
    assert all(one["steps_per_second"] > 0 for one in speeds)


def test_without_a_cartridge_the_console_is_left_out_by_name(monkeypatch):
    monkeypatch.setattr(cartridges, "GAMES", ())
    (one,) = cartridges.results()
    assert one["passed"] is None and "ale-py" in one["detail"]


@zig
def test_trainings_are_measured_with_all_simulations(fast, monkeypatch):
    monkeypatch.setattr(figures, "HORIZON", 4)
    monkeypatch.setattr(figures, "WARM_UP", (1, 0.0))
    monkeypatch.setattr(probe, "SIZES", (512, 4096))
    original = simulations.make_session

    def make_session(settings):
        if settings.ppo.overlap:
            raise MemoryError("no memory")
        return original(settings)
    monkeypatch.setattr(simulations, "make_session", make_session)
    found = list(simulations.simulations([8], 1))
    assert [one["problem"].rpartition("}")[2] for one in found if "problem" in one] == [": MemoryError: no memory"] * 4
    speeds = [one["speed"] for one in found if "speed" in one]
    assert [(one["sim"], one["memory"]) for one in speeds] == [
        ("host", "lstm"), ("host", "mingru"), ("device", "lstm"), ("device", "mingru")]
    assert all(one["steps_per_second"] > 0 for one in speeds)


def test_a_training_to_some_points_is_a_check(fast, monkeypatch):
    asked = []
    monkeypatch.setattr(probe, "SIZES", (512, 4096))
    monkeypatch.setattr(simulations, "preset", lambda game: (asked.append(str(game)), device_runs.config("cpu"))[1])
    (one,) = simulations.training(1.0, 60.0, "cartpole")
    assert asked == ["cartpole"] and fast.graphs > 0  # on the device
    assert one["passed"] and one["check"] == "cartpole reaches 1 points" and " steps, mean score " in one["detail"]
    (one,) = simulations.training(1e9, 0.0, "cartpole")
    assert one["passed"] is False


def test_the_first_rollout_is_compared_without_tf32(fast, monkeypatch):
    import torch
    allowed, original = [], checks.collect
    monkeypatch.setattr(checks, "collect", lambda actor: (allowed.append(torch.backends.cudnn.allow_tf32), original(actor)))
    assert checks.first_rollout("small", {"num_envs": 8, "horizon": 4})["passed"]
    assert allowed == [False, False] and torch.backends.cudnn.allow_tf32

"""The precision of a run follows from the hardware's features; only "measure" measures."""

import json

import gymnasium
import numpy as np
import pytest
import torch

from envs_c import machine
from trainer.config import Config, EnvConfig, PolicyConfig, PPOConfig, RunConfig
from trainer.config.games import GameName
from trainer.environments import make_source
from trainer.policy import precision
from trainer.runs import checkpoint
from trainer.training import train
from trainer.training.build import decide

INTEL, AMD = "vendor_id\t: GenuineIntel\n", "vendor_id\t: AuthenticAMD\n"
CPUS = {  # name: (/proc/cpuinfo, dtype, reason)
    "Sapphire Rapids": (INTEL + "flags\t\t: avx512f avx512_bf16 amx_bf16 amx_tile\n", "bfloat16", "the CPU has amx_bf16"),
    "Zen 5": (AMD + "flags\t\t: avx512f avx512_bf16\n", "bfloat16", "the CPU has avx512_bf16"),
    "Cooper Lake": (INTEL + "flags\t\t: avx512f avx512_bf16\n", "float32", "neither amx_bf16 nor AMD's avx512_bf16"),
    "Ice Lake": (INTEL + "flags\t\t: avx512f avx512_vnni\n", "float32", "neither"),
    "Zen 3": (AMD + "flags\t\t: avx2\n", "float32", "neither"),
    "Graviton 3": ("Features\t: fp asimd bf16 sve\n", "float32", "neither"),
    "no cpuinfo, as on macOS": (None, "float32", "neither"),
}


@pytest.fixture
def cpu(monkeypatch, tmp_path):
    """A function: from now on the process has the CPU of this entry of CPUS."""
    def has(name):
        file = tmp_path / "cpuinfo"
        file.unlink(missing_ok=True)
        if CPUS[name][0] is not None:
            file.write_text(CPUS[name][0])
        monkeypatch.setattr(machine, "CPUINFO", file)
    return has


@pytest.fixture
def no_clock(monkeypatch):
    """Reading a clock to choose the precision fails."""
    def read():
        raise AssertionError("the choice read a clock")
    monkeypatch.setattr(precision, "time", type("Time", (), {"perf_counter": staticmethod(read)}))


@pytest.mark.parametrize("name", CPUS)
def test_auto_follows_the_cpu_s_features(cpu, no_clock, name):
    cpu(name)
    dtype, reason = precision.choose("auto", "cpu")
    assert dtype == getattr(torch, CPUS[name][1]) and CPUS[name][2] in reason


@pytest.mark.parametrize(("capability", "dtype"), [((7, 5), torch.float32), ((8, 0), torch.bfloat16), ((8, 9), torch.bfloat16),
                                                   ((10, 0), torch.bfloat16)])
def test_auto_follows_the_gpu_s_compute_capability(monkeypatch, no_clock, capability, dtype):
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    assert precision.choose("auto", "cuda:1") == (dtype, f"compute capability {capability[0]}.{capability[1]}")


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_a_precision_that_was_asked_for_is_taken(no_clock, name):
    assert precision.choose(name, "cpu") == (getattr(torch, name), "as asked")


class Clock:
    """A simulated clock for products.

    seconds: of a product, by dtype.
    disturbed: numbers of calls of `measured` that take 50 times as long.
    """

    def __init__(self, seconds, disturbed=()):
        self.seconds, self.disturbed, self.order = seconds, set(disturbed), []

    def product(self, rows, dtype, device):
        return dtype

    def measured(self, dtype, device, calls):
        self.order.append(dtype)
        return self.seconds[dtype] * (50 if len(self.order) in self.disturbed else 1)


@pytest.mark.parametrize(("ratio", "dtype"), [(1.4, torch.float32), (1.6, torch.bfloat16), (10, torch.bfloat16)])
@pytest.mark.parametrize("disturbed", [range(0), range(5, 90), range(6, 200, 6), range(5, 200, 6)],
                         ids=["quiet", "busy for a while", "one dtype slow at times", "the other slow at times"])
def test_measure_takes_turns_and_the_median(monkeypatch, ratio, dtype, disturbed):
    clock = Clock({torch.float32: 1e-4 * ratio, torch.bfloat16: 1e-4}, disturbed)
    monkeypatch.setattr(precision, "_product", clock.product)
    monkeypatch.setattr(precision, "_seconds", clock.measured)
    assert precision.choose("measure", "cpu")[0] == dtype
    turns = clock.order[4:]  # after the warm-up
    assert len(turns) == 2 * precision.ROUNDS[1] and turns == list(precision.DTYPES) * precision.ROUNDS[1]


def test_measure_is_limited_in_time_on_slow_hardware(monkeypatch):
    clock = Clock({torch.float32: 0.01, torch.bfloat16: 0.5})
    monkeypatch.setattr(precision, "_product", clock.product)
    monkeypatch.setattr(precision, "_seconds", clock.measured)
    assert precision.choose("measure", "cpu")[0] == torch.float32
    assert len(clock.order) == 4 + 2 * precision.ROUNDS[0]


def test_measure_waits_for_a_gpu_before_and_after_the_work(monkeypatch):
    events = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device: events.append("wait"))
    monkeypatch.setattr(precision, "time", type("Time", (), {"perf_counter": lambda: events.append("clock") or 0.0}))
    precision._seconds(lambda: events.append("work"), torch.device("cuda"), 3)
    assert events == ["wait", "clock", "work", "work", "work", "wait", "clock"]


def test_measure_keeps_the_number_of_threads():
    before = torch.get_num_threads()
    precision.choose("measure", "cpu")
    assert torch.get_num_threads() == before


@pytest.mark.gpu
def test_the_table_names_the_faster_precision_of_this_gpu():
    assert precision.choose("auto", "cuda")[0] == precision.choose("measure", "cuda")[0]


def settings(folder, **run) -> Config:
    return Config("cartpole", EnvConfig(num_envs=4, num_threads=1), PolicyConfig(encoder_size=8, lstm_size=8),
                  PPOConfig(horizon=8, minibatch=32, total_steps=96),
                  RunConfig(device="cpu", dashboard=False, eval_episodes=0, gif=False, run_dir=str(folder), **run))


@pytest.mark.parametrize(("first", "then"), [("Zen 5", "Zen 3"), ("Zen 3", "Sapphire Rapids")])
def test_a_run_records_its_precision_with_the_reason_and_keeps_it_when_resumed(tmp_path, cpu, first, then):
    folder, name = tmp_path / "run", CPUS[first][1]
    cpu(first)
    train.train(settings(folder, stop_at=64))
    cpu(then)
    assert decide(settings(folder, resume=str(folder))).precision == getattr(torch, name)
    train.train(settings(folder, resume=str(folder)))
    reasons = [session["facts"]["precision"] for session in json.loads((folder / "config.json").read_text())["sessions"]]
    assert reasons[0].startswith(f"{name} (") and CPUS[first][2] in reasons[0]
    assert reasons[1] == f"{name} (as the run was started)"
    meta = checkpoint.read_meta(checkpoint.latest(folder))
    assert (meta["precision"], meta["config"]["policy"]["precision"]) == (name, "auto")


class Kinds(gymnasium.Env):
    """Observes one of `count` kinds, and a number."""

    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, count):
        self.observation_space = gymnasium.spaces.Dict({"kind": gymnasium.spaces.Discrete(count),
                                                        "number": gymnasium.spaces.Box(-np.inf, np.inf, (1,), np.float32)})


@pytest.mark.parametrize(("count", "normalizes", "why"), [
    (256, True, ""), (257, True, "the observations name one of more than 256 kinds"),
    (256, False, "the observations are floats that are not normalized (--normalize-observations)")])
def test_observations_that_bfloat16_cannot_tell_apart_are_read_in_float32(monkeypatch, count, normalizes, why):
    monkeypatch.setitem(gymnasium.registry, "Kinds-v0", gymnasium.envs.registration.EnvSpec("Kinds-v0", Kinds))
    source = make_source(GameName("gym:Kinds-v0"), EnvConfig(options={"count": count}), 1, 0)
    assert precision.why_float32(source, normalizes) == why

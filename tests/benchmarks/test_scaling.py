"""The scaling benchmark: its fits, the effect of more work on the results (none), and a short run of the command."""

import math
import sys

import numpy as np
import pytest

from benchmarks.speed import scaling
from benchmarks.speed.scaling import Point, curves, fit, grid
from benchmarks.speed.simulations import Bridged, Games, GymnasiumVector, repeated, ways
from bridge import why_no_gpu

SIZES = grid(1_000_000)


@pytest.mark.parametrize(("flat", "slope"), [(5e-6, 2e-9), (1e-3, 1e-6), (2e-7, 2e-8), (1e-2, 1e-7)])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_at_the_turn_the_flat_and_the_linear_part_are_equal(flat, slope, noise):
    seconds = (flat + slope * np.array(SIZES)) * (1 + noise * np.random.default_rng(0).uniform(-1, 1, len(SIZES)))
    found = fit(SIZES, seconds)
    assert found.turn == pytest.approx(flat / slope, rel=1e-6 if noise == 0 else 0.35)
    assert found.flat == pytest.approx(flat, rel=1e-6 if noise == 0 else 0.1)


@pytest.mark.parametrize(("seconds", "turn", "text"), [
    ([2.0, 2.0, 2.0, 2.0], math.inf, "flat throughout"),
    ([3.0, 2.0, 2.0, 1.9], math.inf, "flat throughout"),
    ([1.0, 10.0, 100.0, 1000.0], 0.0, "linear throughout"),
    ([1.0, 20.0, 300.0, 4000.0], 0.0, "linear throughout"),
    ([51.0, 60.0, 150.0, 1050.0], 50.0, "50"),
    ([1234.0 + 1, 1234.0 + 10, 1234.0 + 100, 1234.0 + 1000], 1234.0, "flat throughout"),
])
def test_a_curve_may_be_flat_or_linear_throughout(seconds, turn, text):
    found = fit([1, 10, 100, 1000], seconds)
    assert found.turn == pytest.approx(turn, abs=1e-6) and str(found) == text


def test_two_points_have_no_fit():
    assert fit([1, 2], [1.0, 1.0]) is None


@pytest.mark.parametrize(("most", "sizes"), [(1, [1]), (3, [1, 3]), (8, [1, 3, 8]), (1000, [1, 3, 10, 30, 100, 300, 1000])])
def test_sizes_go_up_by_about_three_to_the_most(most, sizes):
    assert grid(most) == sizes


def test_points_are_split_into_curves():
    points = [Point("a", 1, 1, 0.1), Point("a", 10, 1, 0.2), Point("a", 10, 3, 0.3),
              Point("b", 4, 1, 0.4), Point("b", 2, 1, 0.5)]
    against_envs, against_work = curves(points, 10)
    assert against_envs == {"a": [(1, 0.1), (10, 0.2)], "b": [(2, 0.5), (4, 0.4)]}
    assert against_work == {"a": [(1, 0.2), (3, 0.3)]}


def observations(simulation) -> list[np.ndarray]:
    """Return the observations of five steps."""
    shown = []
    for _ in range(5):
        simulation.step()
        simulation.finish()
        if isinstance(simulation, Games):
            shown.append(simulation.batch.buffers[1].copy())
        elif isinstance(simulation, Bridged):
            shown.append(simulation.pipeline.slabs[0].observation.numpy().copy())
        else:
            shown.append(simulation.env.unwrapped.state.copy())
    simulation.close()
    return shown


@pytest.mark.parametrize("make", [Games, GymnasiumVector, lambda num_envs, work: Bridged("cpu", num_envs, work)],
                         ids=["games", "gymnasium", "bridge"])
def test_more_work_gives_the_same_steps(make):
    plain, worked = observations(make(9, 1)), observations(make(9, 7))
    assert all(np.array_equal(one, other) for one, other in zip(plain, worked, strict=True))
    assert not np.array_equal(plain[0], plain[1])


def test_more_work_in_a_process_gives_the_same_episodes():
    plain, worked = repeated(1), repeated(7)
    plain.reset(seed=1), worked.reset(seed=1)
    for action in np.random.default_rng(0).integers(0, 2, 200):
        first, second = plain.step(action), worked.step(action)
        assert np.array_equal(first[0], second[0]) and first[1:4] == second[1:4]
        if first[2]:
            plain.reset(), worked.reset()


def test_simulations_that_cannot_run_are_named():
    found, missing = ways("cpu", 3)
    assert [way.name for way in found[:3]] == ["our games, CPU", "torch tensors, CPU", "Gymnasium vector, CPU"]
    assert "GPU" in missing[0] and "stable-baselines3" in missing[1]


def run(monkeypatch, folder, **options) -> str:
    """Run the command for a short time and return its page."""
    options = {"max_work": 3, "work_envs": 3, "processes": 1, "seconds": 300, "out": folder, **options}
    monkeypatch.setattr(scaling, "LONGEST", 0.02)
    monkeypatch.setattr(sys, "argv", ["benchmarks/speed/scaling.py", *(f"--{name.replace('_', '-')}={value}"
                                                                 for name, value in options.items())])
    scaling.main()
    assert (folder / "scaling.png").read_bytes().startswith(b"\x89PNG")
    return (folder / "scaling.md").read_text(encoding="utf-8")


def test_the_command_writes_tables_and_a_picture(monkeypatch, tmp_path, capsys):
    text = run(monkeypatch, tmp_path, device="cpu", max_envs=10)
    assert text == capsys.readouterr().out.removesuffix("\n")
    for name in ("our games, CPU", "torch tensors, CPU", "Gymnasium vector, CPU", "turns linear at", "(scaling.png)"):
        assert name in text
    assert "No time was left" not in text


def test_points_without_time_are_counted(monkeypatch, tmp_path):
    text = run(monkeypatch, tmp_path, device="cpu", max_envs=10, seconds=0.001)
    assert "No time was left for" in text and "our games, CPU" in text


@pytest.mark.gpu
@pytest.mark.skipif(bool(why_no_gpu()), reason=why_no_gpu())
def test_the_command_measures_a_gpu(monkeypatch, tmp_path):
    text = run(monkeypatch, tmp_path, device="cuda", max_envs=5000)
    for name in ("torch tensors, GPU", "torch tensors, GPU graph", "kernel, GPU", "kernel, GPU graph",
                 "our games, bridge to GPU", "1024 threads, us"):
        assert name in text


@pytest.mark.skipif(not why_no_gpu(), reason="a GPU is here")
def test_a_missing_gpu_is_an_error(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, tmp_path, device="cuda")
    assert "device is 'cuda'" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "message"), [
    (["--max-envs", "0"], "argument --max-envs: must be an integer of at least 1, not 0"),
    (["--processes", "-1"], "argument --processes: must be an integer of at least 1, not -1"),
])
def test_a_wrong_option_is_named(monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["benchmarks/speed/scaling.py", *arguments])
    with pytest.raises(SystemExit):
        scaling.main()
    assert message in capsys.readouterr().err

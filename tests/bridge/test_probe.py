"""The probe measures copies in both directions and chooses a number of batches that hides them."""

import pytest

from bridge import probe
from bridge.probe import SIZES, Costs, choose

DIRECTIONS = [(name, kind) for name in ("to the device", "to the host") for kind in ("pinned", "pageable")]


def costs(bandwidth=20e9, latency=5e-6, launch=10e-6, host=5e-6) -> Costs:
    return Costs({column: [latency + size / bandwidth for size in SIZES] for column in DIRECTIONS}, launch, host)


@pytest.mark.parametrize(("made", "size", "num_envs", "games", "wanted"), [
    pytest.param(costs(), 2_000_000, 4096, 500e-6, {2}, id="copies hidden behind the games"),
    pytest.param(costs(latency=0, launch=0, host=0), 2_000_000, 4096, 5e-3, {1}, id="cheap copies"),
    pytest.param(costs(latency=300e-6, launch=300e-6, host=200e-6), 4096, 64, 10e-6, {1}, id="expensive small copies"),
    pytest.param(costs(), 1_000, 3, 500e-6, {1}, id="few environments"),
])
def test_the_choice_hides_copies_without_making_them_too_small(made, size, num_envs, games, wanted):
    choice = choose(made, size, num_envs, games)
    assert choice.num_batches in wanted
    assert choice.estimates[choice.num_batches] <= probe.WORTH * min(choice.estimates.values())
    assert all(count <= num_envs for count in choice.estimates)
    assert f"{choice.num_batches}: " in choice.reason


def test_the_cost_of_larger_copies_is_extrapolated():
    made = costs(latency=0)
    assert probe.copy_seconds(made, 4 * SIZES[-1]) == pytest.approx(4 * probe.copy_seconds(made, SIZES[-1]))
    assert probe.copy_seconds(made, SIZES[3]) == pytest.approx(SIZES[3] / 20e9)


def test_copies_are_measured_in_both_directions(slow_device, monkeypatch):
    monkeypatch.setattr(probe, "SIZES", SIZES[:3])
    monkeypatch.setattr(probe, "ROUNDS", 3)
    device = slow_device(slowest=0.0005)
    measured = probe.measure(device)
    assert set(measured.copies) == set(DIRECTIONS)
    assert all(len(times) == 3 and min(times) > 0 for times in measured.copies.values())
    assert device.count["upload"] == device.count["download"] >= 2 * 3 * 3
    assert measured.launch >= measured.host > 0
    assert probe.table(measured).count("\n") == 4

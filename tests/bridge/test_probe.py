"""The probe measures copies in both directions, and launches."""

import pytest

from bridge import probe
from bridge.probe import SIZES, Costs

DIRECTIONS = [(name, kind) for name in ("to the device", "to the host") for kind in ("pinned", "pageable")]


def costs(bandwidth=20e9, latency=5e-6, launch=10e-6, host=5e-6) -> Costs:
    return Costs({column: [latency + size / bandwidth for size in SIZES] for column in DIRECTIONS}, launch, host)


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

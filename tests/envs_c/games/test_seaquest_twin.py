"""Seaquest equals its plain twin, twins/seaquest_twin.py, field by field."""

import numpy as np
import pytest
from sea import PLAYS, Sea
from seaquest_twin import Twin


@pytest.mark.parametrize("settings", [
    {"seed": 1}, {"seed": 2, "first_level": 2}, {"seed": 3, "first_level": 9},
    {"seed": 4, "endless_oxygen": 1, "silent_submarines": 1, "early_patrol": 1}])
def test_equals_its_plain_twin_in_every_field(settings):
    sea, random, action = Sea(**settings), np.random.default_rng(settings["seed"]), 0
    twin = Twin(sea.fields())
    for frame in range(1100):
        if random.random() < 0.15:
            action = int(random.integers(18))
        if frame % 300 == 200 and sea.phase == PLAYS:
            sea.change(oxygen=30, crew=int(random.integers(7)), y=int(random.integers(13, 20)))
            twin = Twin(sea.fields())
        over = sea.step(action)
        assert over == twin.step(action), f"frame {frame}"
        if over[1]:
            break
        assert sea.fields() == twin.fields(), f"frame {frame}"

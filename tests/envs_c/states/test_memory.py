"""Memory of many environments: hardly more than their observations and states; too many are an error before they are made."""

import copy
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector.utils import batch_space

import envs_c
from envs_c import machine
from envs_c.gymnasium_env import batched

PEAK = """
import json, resource, sys
import numpy as np
import envs_c
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def play(num_envs):
    env = envs_c.make("breakout", num_envs, view="pixels", copy=False, num_threads=1)
    observation, _ = env.reset(seed=1)
    env.step(np.zeros(num_envs, np.int32))
    return observation.nbytes + num_envs * env.core.stride
play(10)
before = peak()
size = play(int(sys.argv[1]))
print(json.dumps([peak() - before, size]))
"""


@pytest.mark.skipif(sys.platform != "linux" or "SANITIZE" in os.environ, reason="needs Linux's peak memory, and no sanitizer")
def test_many_environments_take_hardly_more_than_their_observations_and_states():
    done = subprocess.run([sys.executable, "-c", PEAK, "20000"], capture_output=True, text=True, check=True)
    taken, size = json.loads(done.stdout)
    assert size > 20_000 * 84 * 84
    assert taken < 1.3 * size


@pytest.mark.parametrize("settings", [{"view": "pixels"}, {"view": "pixels", "frame_stack": 3}, {}], ids=str)
def test_the_batched_space_is_gymnasiums(settings):
    env = envs_c.make("breakout", 5, **settings)
    ours, theirs = env.observation_space, batch_space(env.single_observation_space, 5)
    assert ours == theirs and theirs == ours and repr(ours) == repr(theirs)
    for name in ("low", "high", "bounded_below", "bounded_above"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
    assert ours.is_bounded() == theirs.is_bounded()
    ours.seed(3), theirs.seed(3)
    assert np.array_equal(ours.sample(), theirs.sample())
    assert pickle.loads(pickle.dumps(ours)) == theirs
    assert env.reset()[0] in ours


def test_the_batched_space_of_a_million_has_one_copy_of_the_bounds():
    space = batched(envs_c.make("breakout", view="pixels").single_observation_space, 1_000_000)
    assert space.shape == (1_000_000, 84, 84)
    assert space.is_bounded() and repr(space).startswith("Box(0, 255, (1000000, 84, 84)")
    assert not {"low", "high", "bounded_below", "bounded_above"} & vars(space).keys()


@pytest.mark.parametrize("name", ["low", "high"])
def test_a_bound_of_the_batched_space_can_be_written_like_gymnasiums(name):
    env = envs_c.make("breakout", 5)
    ours, theirs = env.observation_space, batch_space(env.single_observation_space, 5)
    for space in (ours, theirs):
        getattr(space, name)[1, 0] += 0.5
    assert ours == theirs and ours != envs_c.make("breakout", 5).observation_space
    ours.seed(3), theirs.seed(3)
    assert np.array_equal(ours.sample(), theirs.sample())
    assert not ours.contains(batch_space(env.single_observation_space, 4).low)
    for other in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert other == theirs and np.array_equal(getattr(other, name), getattr(theirs, name))


@pytest.fixture
def little_memory(tmp_path, monkeypatch):
    """A machine with 100 MB of free memory."""
    file = tmp_path / "meminfo"
    file.write_text("MemTotal: 500000 kB\nMemAvailable: 97656 kB\n", encoding="utf-8")
    monkeypatch.setattr(machine, "MEMORY", file)


@pytest.mark.parametrize(("settings", "message"), [
    ({"num_envs": 1 << 24, "view": "pixels"}, r"16,777,216 environments of breakout need 12\d\.\d GB of memory \(states "
                                              r"[\d.]+ GB, observations 118\.4 GB\), but 100\.0 MB are free: make fewer"),
    ({"num_envs": 14_000, "view": "pixels"}, "14,000 environments of breakout need"),
    ({"num_envs": 8_000, "view": "pixels", "autoreset": "same_step"}, r"last observations 56\.4 MB"),
    ({"num_envs": 2_000, "view": "pixels", "frame_stack": 10}, r"stacked frames 141\.1 MB"),
], ids=str)
def test_what_does_not_fit_is_an_error_before_it_is_allocated(little_memory, settings, message):
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError, match=message):
            envs_c.make("breakout", **settings)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_what_fits_is_made(little_memory):
    envs_c.make("breakout", 4_000, view="pixels").close()


def test_a_system_that_does_not_say_its_free_memory_refuses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "MEMORY", tmp_path / "none")
    assert machine.free_memory() is None
    envs_c.make("breakout", 100).close()


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs Linux")
def test_the_free_memory_is_a_part_of_all():
    assert 1 << 20 < machine.free_memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
